//! Circles among modules of Rust.

use portmortem_tests::{Outcome, Sandbox};

use super::{checked, faults, sound};

const ROOT: &str = "mod a;\nmod b;\n";
const B: &str = "use crate::a::A;\npub struct B;\npub fn g() {}\n";
const A_WITH_G: &str = "pub struct A;\nuse crate::b::g;\n";

/// A crate with a module `b` that imports `a::A`.
fn with_a(a: &str) -> Outcome {
    of([ROOT, a, B])
}

/// The same, where `a` ends with a module of tests.
fn with_tests(a: &str) -> Outcome {
    with_a(&format!(
        "{a}#[cfg(test)]\nmod tests {{\n    fn t() {{}}\n}}\n"
    ))
}

/// A crate of a root and the modules `a` and `b`.
fn of([root, a, b]: [&str; 3]) -> Outcome {
    tree(&[("src/lib.rs", root), ("src/a.rs", a), ("src/b.rs", b)])
}

fn tree(files: &[(&str, &str)]) -> Outcome {
    checked(&Sandbox::new(), files)
}

faults! { with_a says "error: src/{a,b}: ":
    written_out: "pub struct A;\nfn f() { crate::b::g() }\n";
    in_a_function: "pub struct A;\nfn f() {\n    use super::b::g;\n    g()\n}\n";
    in_a_macro: "pub struct A;\nmacro_rules! m { () => { $crate::b::g() } }\n";
    alias_of_the_crate: "use crate as x;\npub struct A;\nfn f() { x::b::g() }\n";
    alias_in_a_function: "pub struct A;\nfn f() {\n    use crate as x;\n    x::b::g()\n}\n";
    alias_of_the_parent: "use super::{self as up};\npub struct A;\nfn f() { up::b::g() }\n";
    alias_of_an_alias: "use crate as x;\nuse x as y;\npub struct A;\nfn f() { y::b::g() }\n";
    own_name_of_the_crate: "extern crate self as me;\npub struct A;\nfn f() { me::b::g() }\n";
    raw_identifier: "pub struct A;\nfn f() { crate::r#b::g() }\n";
    after_self: "pub struct A;\nuse self::super::b::g;\n";
    from_below: "pub struct A;\nmod inner {\n    use super::super::b::g;\n}\n";
    slashes_in_a_string: "pub struct A;\nfn f() { h(\"http://h\"); crate::b::g() }\n";
    quote_as_a_character: "pub struct A;\nfn f() { h('\"'); crate::b::g(); h('\"') }\n";
    escaped_characters: "pub struct A;\nfn f() { h('\\'', '\"', b'\\\\'); crate::b::g(); h('\"') }\n";
    quote_in_a_raw_string: "pub struct A;\nfn f() { h(r#\"\" // \"#); crate::b::g() }\n";
    between_lifetimes: "pub struct A;\nfn f<'a>(x: &'a str) { h('\"'); crate::b::g::<'a>('\"') }\n";
    after_a_nested_comment: "pub struct A;\n/* /* // */ \" */ use crate::b::g;\n/* \" */\n";
    comment_in_a_tree: "pub struct A;\nuse crate::{ // ;\n    /* ; */ b::g,\n};\n";
    in_an_attribute: "#[derive(crate::b::g)]\npub struct A;\n";
    not_of_tests: "pub struct A;\n#[cfg(not(test))]\nmod inner {\n    use crate::b::g;\n}\n";
    of_tests_and_others: "pub struct A;\n#[cfg(any(test, unix))]\nuse crate::b::g;\n";
}

faults! { with_tests says "error: src/{a,b}: ":
    after_an_import: "#[cfg(test)]\nuse std::fmt;\npub struct A;\nuse crate::b::B;\n";
    after_a_function: "pub struct A;\n#[cfg(test)]\nfn t() {}\nfn f() {\n    crate::b::g()\n}\n";
    after_a_constant: "pub struct A;\n#[cfg(test)]\nconst T: X = X { y: 1 };\nuse crate::b::g;\n";
    after_a_module: "pub struct A;\n#[cfg(test)]\nmod x {\n    fn t() {}\n}\nuse crate::b::g;\n";
    after_a_field: "pub struct A {\n    #[cfg(test)]\n    t: X<u8>,\n    b: crate::b::B,\n}\n";
    after_a_value: "pub struct A;\nfn f() {\n    S {\n        #[cfg(test)]\n        t: X { y: 1 },\n\
        b: crate::b::g(),\n    }\n}\n";
    after_an_arm: "pub struct A;\nfn f() {\n    match 1 {\n        #[cfg(test)]\n        1 => {}\n\
        _ => crate::b::g(),\n    }\n}\n";
    after_a_statement: "pub struct A;\nfn f() {\n    #[cfg(test)]\n    if x() {} else {}\n\
        crate::b::g()\n}\n";
}

faults! { of says "error: src/{a,b}: ":
    private_import_above: ["mod a;\nmod b;\nuse b::g;\n", "pub struct A;\nuse super::g;\n", B];
    private_alias_above: ["mod a;\nmod b;\nuse b as c;\n",
        "pub struct A;\nfn f() { super::c::g() }\n", B];
    all_from_above: ["mod a;\nmod b;\nuse b::g;\n", "use super::*;\npub struct A;\nfn f() { g() }\n", B];
    path_from_above: [ROOT, "use super::*;\npub struct A;\nfn f() { b::g() }\n", B];
    handed_on_with_all: ["mod a;\nmod b;\npub use b::*;\n", "pub struct A;\nuse crate::g;\n", B];
    inline_module: ["mod a {\n    pub struct A;\n    fn f() { super::b::g() }\n}\nmod b;\n", "", B];
    method: [ROOT, "pub struct A;\nfn f(a: &A) { a.only() }\n",
        "use crate::a::A;\nimpl A {\n    pub(crate) fn only(&self) {}\n}\n"];
    method_of_the_type: [ROOT, "pub struct A<T>(T);\nfn f() { A::<u8>::only() }\n",
        "impl<T> super::a::A<T>\nwhere\n    T: Copy,\n{\n    pub const fn only() {}\n}\n"];
    method_of_itself: [ROOT, "pub struct A;\nimpl A {\n    fn f() { Self::only() }\n}\n",
        "use crate::a::A;\nimpl A {\n    pub(super) fn only() {}\n}\n"];
    textual_macro: ["#[macro_use]\nmod b;\nmod a;\n", "pub struct A;\nmake!();\n",
        "macro_rules! make { () => {} }\nuse crate::a::A;\n"];
}

faults! { tree says "/{a,b}: ":
    module_with_a_path: &[("src/lib.rs", "mod a;\n#[path = \"x/y.rs\"]\nmod b;\n"),
        ("src/x/y.rs", B), ("src/a.rs", A_WITH_G)];
    path_on_some_machines: &[("src/lib.rs", "mod a;\n#[cfg_attr(unix, path = \"x/y.rs\")]\nmod b;\n"),
        ("src/x/y.rs", B), ("src/a.rs", A_WITH_G)];
    second_file_of_a_module: &[("src/lib.rs", "mod a;\n#[cfg(x)]\nmod b;\n#[cfg(y)]\n#[path = \"y.rs\"]\nmod b;\n"),
        ("src/b.rs", B), ("src/y.rs", ""), ("src/a.rs", A_WITH_G)];
    below_a_module_with_a_path: &[("src/lib.rs", "#[path = \"x/y.rs\"]\nmod c;\n"),
        ("src/x/y.rs", ROOT), ("src/x/a.rs", "pub struct A;\nuse super::b::g;\n"),
        ("src/x/b.rs", "use super::a::A;\n")];
    below_an_inline_module: &[("src/lib.rs", "mod c {\n    mod a;\n    mod b;\n}\n"),
        ("src/c/a.rs", "pub struct A;\nuse super::b::g;\n"), ("src/c/b.rs", "use super::a::A;\n")];
    included: &[("src/lib.rs", ROOT), ("src/b.rs", B), ("src/x.rs", "use crate::b::g;\n"),
        ("src/a.rs", "pub struct A;\ninclude!(\"x.rs\");\n")];
    in_the_program: &[("src/lib.rs", ""), ("src/main.rs", ROOT), ("src/b.rs", B), ("src/a.rs", A_WITH_G)];
    where_the_manifest_says: &[("Cargo.toml", "[package]\nname = \"x\"\n[lib]\npath = \"y/z.rs\"\n"),
        ("y/z.rs", ROOT), ("y/b.rs", B), ("y/a.rs", A_WITH_G)];
    in_tests_of_a_package: &[("tests/all/main.rs", ROOT), ("tests/all/b.rs", B),
        ("tests/all/a.rs", A_WITH_G)];
}

sound! { with_a:
    nothing: "pub struct A;\n";
    in_a_module_of_tests: "pub struct A;\n#[cfg(test)]\nmod tests {\n    use crate::b::g;\n}\n";
    among_conditions: "pub struct A;\n#[cfg(all(unix, test))]\nmod t {\n    use crate::b::g;\n}\n";
    import_of_tests: "pub struct A;\n#[cfg(test)]\npub(crate) use crate::b::{B, g};\n";
    function_of_tests: "pub struct A;\n#[cfg(test)]\n#[allow(unused)]\npub fn t() { crate::b::g() }\n";
    file_of_tests: "#![cfg(test)]\npub struct A;\nuse crate::b::g;\n";
    in_comments: "pub struct A;\n// crate::b::g\n/* /* crate::b::g */ crate::b::g */\n//! crate::b\n";
    in_strings: "const X: &str = \"crate::b::g \\\" crate::b::g\";\npub struct A;\n";
    in_raw_strings: "const X: &str = r##\"\"# use crate::b::g;\"##;\npub struct A;\n";
    name_that_is_alike: "pub struct A;\nmod b {\n    pub fn g() {}\n}\nfn f() { b::g(); self::b::g() }\n";
    name_of_another_crate: "pub struct A;\nuse ::b::g;\nuse std::b;\nfn f() { b::g() }\n";
    own_function: "use super::*;\npub struct A;\nfn g() {}\nfn f() { g() }\n";
    field: "pub struct A { b: u8 }\nfn f(a: A, b: u8) -> bool { a.b != b }\n";
    precise_capturing: "pub struct A;\nfn f<'b>(x: &'b A) -> impl Sized + use<'b> {}\n";
}

sound! { of:
    method_of_several: [ROOT, "pub struct A;\nfn f(a: &A) { a.only() }\ntrait T { fn only(&self); }\n",
        "use crate::a::A;\nimpl A {\n    pub fn only(&self) {}\n}\n"];
    method_that_is_not_seen: [ROOT, "pub struct A;\nfn f(a: &A) { a.len() }\n",
        "use crate::a::A;\nimpl A {\n    fn len(&self) {}\n}\n"];
    method_of_an_unknown_type: ["mod a;\nmod b;\npub mod d {\n    pub struct D;\n}\n",
        "pub struct A;\nfn f(v: &[u8]) { v.len() }\n",
        "use crate::{a::A, d::D};\nimpl D {\n    pub fn len(&self) {}\n}\n"];
    method_of_a_trait: [ROOT, "pub struct A;\nfn f(a: &A) { a.to_string() }\n",
        "use crate::a::A;\nimpl std::fmt::Display for A {\n    fn to_string(&self) {}\n}\n"];
    macro_of_its_own: [ROOT, "pub struct A;\nmacro_rules! m { () => {} }\nm!();\n",
        "use crate::a::A;\nmacro_rules! m { () => {} }\n"];
    comparison: [ROOT, "pub struct A;\nfn f(m: u8) -> bool { m != 1 }\n",
        "use crate::a::A;\nmacro_rules! m { () => {} }\n"];
}
