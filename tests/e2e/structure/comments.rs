//! Long lines with comments.

use portmortem_tests::{Outcome, Sandbox};

use super::{checked, faults, sound};

/// A file in which `LONG` stands for a text of 101 columns.
fn file([name, text]: [&str; 2]) -> Outcome {
    let text = text.replace("LONG", &"é".repeat(101));
    checked(&Sandbox::new(), &[(name, &text)])
}

faults! { file says " has 1 lines of comments of more than 100 columns, not 0":
    rust: ["src/lib.rs", "// LONG\n"];
    rust_after_code: ["src/lib.rs", "fn f() {} // LONG\n"];
    rust_in_a_block: ["src/lib.rs", "/*\n  LONG\n*/\n"];
    rust_in_a_nested_block: ["src/lib.rs", "/* /* */\n  LONG\n*/\n"];
    rust_inside_of_code: ["src/lib.rs", "fn f(/* LONG */) {}\n"];
    rust_after_a_string: ["src/lib.rs", "const X: &str = \"//\"; // LONG\n"];
    c: ["x.c", "int x; // LONG\n"];
    c_in_a_block: ["x.h", "/*\n * LONG\n */\n"];
    prolog: ["x.pl", "x. % LONG\n"];
    prolog_in_a_block: ["x.pl", "/** <module> X\n\nLONG\n*/\n"];
    python: ["x.py", "x = '#' # LONG\n"];
    python_documentation: ["x.py", "def f():\n    \"\"\"X\n\n    LONG\n    \"\"\"\n"];
    shell: ["x.sh", "echo \"#\" '\"' # LONG\n"];
    shell_after_text: ["x.sh", "cat <<'END'\nit's\nEND\necho # LONG\n"];
    script: ["x", "#!/bin/sh\n# LONG\n"];
    script_in_python: ["x", "#!/usr/bin/env python3\n\"\"\"LONG\"\"\"\n"];
    script_of_ci: [".ci/run", "#!/bin/sh\n# LONG\n"];
    makefile: ["Makefile", "all: x # LONG\n"];
    toml: ["x.toml", "x = '#' # LONG\n"];
}

sound! { file:
    rust_string: ["src/lib.rs", "const X: &str = \"// LONG /* \";\nconst Y: &str = r#\"\" // LONG\"#;\n"];
    code_below: ["src/lib.rs", "/* x\n */\nconst X: &str = \"LONG\";\n// x\n"];
    c_string: ["x.c", "char *x = \"/* LONG */\";\n"];
    prolog_quoted: ["x.pl", "x('% LONG', \"/* LONG\").\nx(0'%, 'LONG').\n"];
    python_string: ["x.py", "x = \"\"\"\n# LONG\n\"\"\"\nf(\n    \"LONG\"\n)\n"];
    shell_string: ["x.sh", "echo \"# LONG\" '# LONG' $#LONG ${#LONG} x#LONG\n"];
    shell_text: ["x.sh", "cat <<END\n# LONG\nEND\n"];
    toml_string: ["x.toml", "x = \"\"\"\n# LONG\n\"\"\"\ny = \"# LONG\"\n"];
    not_a_script: ["x", "# LONG\n"];
    built: ["target/x.rs", "// LONG\n"];
}
