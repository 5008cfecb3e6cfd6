//! Which traces are meant, and what they are called.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf, absolute};

use anyhow::{Context, Result, bail};
use glob::MatchOptions;

/// A trace among others.
#[derive(Debug)]
pub(super) struct Input {
    /// Its file, as it was given.
    pub path: PathBuf,
    /// What the tables call it; no two have the same name.
    pub name: String,
}

/// All traces, those listed in the file `from` too, in the order given, each once. A pattern that matches nothing stays,
/// so that opening it fails and is reported.
///
/// # Errors
/// If there are none, a pattern is malformed, or the list cannot be read.
pub(super) fn inputs(traces: &[PathBuf], from: Option<&Path>) -> Result<Vec<Input>> {
    let mut paths = Vec::new();
    for path in traces {
        expand(path, &mut paths)?;
    }
    if let Some(list) = from {
        let bytes = read(list).with_context(|| format!("cannot read {}", list.display()))?;
        let lines = bytes.split(|&byte| byte == b'\n');
        for line in lines.filter(|line| !line.is_empty()) {
            expand(Path::new(OsStr::from_bytes(line)), &mut paths)?;
        }
    }
    if paths.is_empty() {
        bail!("no traces given");
    }
    let mut known = HashSet::new();
    let mut places = Vec::with_capacity(paths.len());
    paths.retain(|path| {
        let place = absolute(path).unwrap_or_else(|_| path.clone());
        let new = known.insert(place.clone());
        if new {
            places.push(place);
        }
        new
    });
    let inputs = paths.into_iter().zip(names(&places));
    Ok(inputs.map(|(path, name)| Input { path, name }).collect())
}

fn read(list: &Path) -> io::Result<Vec<u8>> {
    if list != Path::new("-") {
        return fs::read(list);
    }
    let mut bytes = Vec::new();
    io::stdin().read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The files that a path means: itself if it is there, else those that match it as a pattern.
fn expand(path: &Path, paths: &mut Vec<PathBuf>) -> Result<()> {
    let pattern = path
        .to_str()
        .filter(|text| text.contains(['*', '?', '[']) && !path.exists());
    let before = paths.len();
    if let Some(pattern) = pattern {
        let like_a_shell = MatchOptions {
            require_literal_leading_dot: true,
            ..MatchOptions::new()
        };
        let found = glob::glob_with(pattern, like_a_shell)
            .with_context(|| format!("{pattern} is not a pattern"))?;
        for file in found {
            paths.push(file.context("cannot look for traces")?);
        }
    }
    if paths.len() == before {
        paths.push(path.to_owned());
    }
    Ok(())
}

/// Names for files, given by different absolute paths: the last component without its extension, and
/// where that is the same as many components before it as tell the files apart.
fn names(places: &[PathBuf]) -> Vec<String> {
    let parts: Vec<Vec<String>> = places.iter().map(|place| parts(place)).collect();
    let mut depths = vec![1; places.len()];
    loop {
        let names: Vec<String> = parts
            .iter()
            .zip(&depths)
            .map(|(parts, &depth)| name(parts, depth))
            .collect();
        let mut times = HashMap::<&str, usize>::new();
        for name in &names {
            *times.entry(name).or_default() += 1;
        }
        let mut all_differ = true;
        for ((depth, name), parts) in depths.iter_mut().zip(&names).zip(&parts) {
            if times[name.as_str()] > 1 && *depth <= parts.len() {
                *depth += 1;
                all_differ = false;
            }
        }
        if all_differ {
            return names;
        }
    }
}

/// The components of a path without its root, as text; what is not text is escaped.
fn parts(place: &Path) -> Vec<String> {
    let normal = place.components().filter_map(|component| match component {
        Component::Normal(part) => Some(part),
        _ => None,
    });
    let text = |part: &OsStr| match part.to_str() {
        Some(text) => text.to_owned(),
        None => part.as_bytes().escape_ascii().to_string(),
    };
    normal.map(text).collect()
}

/// The last `depth` of the components, without extension; all of them with it if there are fewer.
fn name(parts: &[String], depth: usize) -> String {
    let whole = parts[parts.len().saturating_sub(depth)..].join("/");
    if depth > parts.len() {
        return whole;
    }
    let file = parts.last().map_or("", String::as_str);
    let stem = Path::new(file).file_stem().and_then(OsStr::to_str);
    let extension = file.len() - stem.map_or(file.len(), str::len);
    whole[..whole.len() - extension].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(places: &[&str]) -> Vec<String> {
        names(&places.iter().map(PathBuf::from).collect::<Vec<_>>())
    }

    #[test]
    fn a_name_is_as_long_as_it_must_be() {
        assert_eq!(named(&["/data/a.pmt", "/data/b"]), ["a", "b"]);
        assert_eq!(
            named(&["/x/mon/run.pmt", "/x/tue/run.pmt", "/x/other.1.pmt"]),
            ["mon/run", "tue/run", "other.1"]
        );
        assert_eq!(
            named(&["/1/a/run.pmt", "/2/a/run.pmt", "/2/b/run.pmt", "/run.pmt"]),
            ["1/a/run", "2/a/run", "b/run", "run.pmt"]
        );
        assert_eq!(
            named(&["/a/run.pmt", "/a/run.bak"]),
            ["a/run.pmt", "a/run.bak"]
        );
        assert_eq!(named(&["/", "/.pmt"]), ["", ".pmt"]);
    }

    #[test]
    fn what_is_not_text_differs_too() {
        let places = [b"/a/\xff.pmt", b"/a/\xfe.pmt"].map(|p| PathBuf::from(OsStr::from_bytes(p)));
        assert_eq!(names(&places), ["\\xff", "\\xfe"]);
    }

    fn expanded(path: &Path) -> Vec<PathBuf> {
        let mut paths = Vec::new();
        expand(path, &mut paths).unwrap();
        paths
    }

    #[test]
    fn patterns_are_expanded_unless_there_is_such_a_file() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::create_dir(at("sub")).unwrap();
        for name in ["b.pmt", "a.pmt", "c.txt", ".d.pmt", "sub/e.pmt"] {
            fs::write(at(name), "").unwrap();
        }
        assert_eq!(expanded(&at("*.pmt")), [at("a.pmt"), at("b.pmt")]);
        assert_eq!(
            expanded(&at("**/*.pmt")),
            [at("a.pmt"), at("b.pmt"), at("sub/e.pmt")]
        );
        assert_eq!(expanded(&at("?.xyz")), [at("?.xyz")]);
        fs::write(at("*.pmt"), "").unwrap();
        assert_eq!(expanded(&at("*.pmt")), [at("*.pmt")]);
    }
}
