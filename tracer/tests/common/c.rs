//! Compiles C programs against the header and the library of this build.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The directory with the library that cargo built together with this program.
fn library_directory() -> PathBuf {
    let program = std::env::current_exe().expect("the path of this program");
    program
        .ancestors()
        .skip(1)
        .take(2)
        .find(|directory| directory.join("libportmortem_tracer.so").exists())
        .expect("cargo builds the shared library beside its tests")
        .to_owned()
}

/// Flags that whoever runs the tests wants: `tools/test-memory` instruments C like Rust.
fn wanted_flags() -> Vec<String> {
    let flags = std::env::var("PORTMORTEM_TEST_CFLAGS").unwrap_or_default();
    flags.split_whitespace().map(str::to_owned).collect()
}

/// Compiles `tests/c/<name>.c` into `directory` and returns the program.
pub(crate) fn compile(name: &str, directory: &Path, flags: &[&str]) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = directory.join(name);
    let library = library_directory();
    let status = Command::new("cc")
        .args([
            "-std=c11",
            "-D_GNU_SOURCE",
            "-O2",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-pthread",
        ])
        .args(flags)
        .args(wanted_flags())
        .arg("-I")
        .arg(root.join("include"))
        .arg(root.join("tests/c").join(name).with_extension("c"))
        .arg("-o")
        .arg(&program)
        .arg("-L")
        .arg(&library)
        .arg("-lportmortem_tracer")
        .arg(format!("-Wl,-rpath,{}", library.display()))
        .status()
        .expect("a C compiler, cc, is needed");
    assert!(status.success(), "cc could not compile {name}.c");
    program
}
