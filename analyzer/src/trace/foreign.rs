//! What a file that is not a trace looks like: a word of help for whoever gave the wrong path.

const BEGINNINGS: &[(&[u8], &str)] = &[
    (b"\x89PNG", "a PNG image"),
    (b"\x7fELF", "an ELF executable or library"),
    (b"\x1f\x8b", "gzip data; decompress it first"),
    (b"\x28\xb5\x2f\xfd", "Zstandard data; decompress it first"),
    (b"\xfd7zXZ", "xz data; decompress it first"),
    (b"BZh", "bzip2 data; decompress it first"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"%PDF", "a PDF document"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"SQLite format 3", "an SQLite database"),
    (b"PAR1", "a Parquet file"),
    (b"ARROW1", "an Arrow file"),
    (
        b"\x89PMT",
        "a trace that was copied in text mode; copy it again in binary mode",
    ),
    (b"PMT\r", "a trace that lost its first byte"),
];

/// How much of a file is looked at to call it text or nothing.
const SAMPLE: usize = 4096;

/// What the beginning of a file looks like, with an article.
pub(super) fn looks_like(bytes: &[u8]) -> Option<&'static str> {
    for (beginning, what) in BEGINNINGS {
        if bytes.starts_with(beginning) {
            return Some(what);
        }
    }
    let sample = &bytes[..bytes.len().min(SAMPLE)];
    if sample.iter().all(|&byte| byte == 0) {
        return Some("zeros: nothing was ever written to it");
    }
    let text = match std::str::from_utf8(sample) {
        Ok(text) => text,
        // A character may be cut at the end of the sample.
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&sample[..error.valid_up_to()]).ok()?
        }
        Err(_) => return None,
    };
    let printable = |c: char| !c.is_control() || matches!(c, '\n' | '\r' | '\t' | '\x0c');
    text.chars().all(printable).then_some("text")
}

/// The end of the sentence "not a trace".
pub(super) fn clause(looks_like: &Option<&'static str>) -> String {
    looks_like
        .map(|what| format!("; it looks like {what}"))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_mistakes_are_recognised() {
        assert_eq!(looks_like(b"\x89PNG\r\n\x1a\n..."), Some("a PNG image"));
        assert_eq!(
            looks_like(":- initialization(main). % é".as_bytes()),
            Some("text")
        );
        assert_eq!(
            looks_like(&[0; 9000]),
            Some("zeros: nothing was ever written to it")
        );
        assert!(
            looks_like(b"\x89PMT\n\x1a\n")
                .unwrap()
                .contains("text mode")
        );
        assert_eq!(looks_like(b"\x01\x02\xff\xfe"), None);
    }
}
