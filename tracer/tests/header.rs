//! The C header is generated; this fails when the committed one is not current.

use std::fs;
use std::path::Path;

#[test]
fn committed_header_is_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).unwrap();
    let inline = fs::read_to_string(root.join("src/inline.h")).unwrap();
    let mut fresh = Vec::new();
    cbindgen::Builder::new()
        .with_config(config)
        .with_src(root.join("src/capi.rs"))
        .with_src(root.join("src/capi/roles.rs"))
        .with_trailer(inline.trim_end())
        .generate()
        .unwrap()
        .write(&mut fresh);
    let fresh = String::from_utf8(fresh)
        .unwrap()
        .replace("# Safety", "Requires:");
    let path = root.join("include/portmortem.h");
    if std::env::var_os("PORTMORTEM_BLESS").is_some() {
        fs::write(&path, &fresh).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        fresh == committed,
        "include/portmortem.h is not current: run this test with PORTMORTEM_BLESS=1"
    );
}
