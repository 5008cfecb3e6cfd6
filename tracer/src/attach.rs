//! How `portmortem attach` and a program that listens find each other, and what they say.
//!
//! The program has a socket named by its process in a directory that only its user can enter. A
//! message is its length, 32 bits with the lowest byte first, and a text of words, each ended by a
//! zero byte. The one who attaches says [`Message::Start`] and gets [`Message::Started`] or
//! [`Message::Refused`]; then [`Message::Stop`], or it closes its end, and gets
//! [`Message::Stopped`]. If the recording has ended by itself, that one comes before.

use std::io::{self, Error, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

/// The version of what is said. One that attaches says its own first.
const VERSION: &str = "portmortem-attach-1";

/// The longest message, in bytes.
const LONGEST: usize = 1 << 20;

/// The name of the directory of sockets, within one of the user's own.
const DIRECTORY: &str = "portmortem";

/// What one side says to the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// Begin to record, with these settings, each `key=value`.
    Start(Vec<String>),
    /// The recording has begun.
    Started,
    /// There is no recording, for this reason.
    Refused(String),
    /// End the recording.
    Stop,
    /// The recording has ended, and the trace is closed.
    Stopped,
}

impl Message {
    /// Sends a message.
    ///
    /// # Errors
    /// If the other side is gone, or the message is too long.
    pub fn send(&self, mut to: impl Write) -> io::Result<()> {
        let words: Vec<&str> = match self {
            Self::Start(settings) => {
                let first = [VERSION, "start"].into_iter();
                first.chain(settings.iter().map(String::as_str)).collect()
            }
            Self::Started => vec!["started"],
            Self::Refused(reason) => vec!["refused", reason],
            Self::Stop => vec!["stop"],
            Self::Stopped => vec!["stopped"],
        };
        if words.iter().any(|word| word.contains('\0')) {
            return Err(wrong("a word with a zero byte"));
        }
        let text: String = words.iter().flat_map(|word| [word, "\0"]).collect();
        let length = u32::try_from(text.len()).ok();
        let length = length.filter(|&length| length as usize <= LONGEST);
        let length = length.ok_or_else(|| wrong("a message of more than 1 MB"))?;
        let bytes = [&length.to_le_bytes(), text.as_bytes()].concat();
        to.write_all(&bytes)
    }

    /// The next message.
    ///
    /// # Errors
    /// [`ErrorKind::UnexpectedEof`] if the other side is gone; [`ErrorKind::InvalidData`] if what
    /// it says is no message of this version.
    pub fn receive(mut from: impl Read) -> io::Result<Self> {
        let mut length = [0; 4];
        from.read_exact(&mut length)?;
        let length = u32::from_le_bytes(length) as usize;
        if length > LONGEST {
            return Err(wrong("a message of more than 1 MB"));
        }
        let mut text = vec![0; length];
        from.read_exact(&mut text)?;
        let text = String::from_utf8(text).map_err(|_| wrong("a text that is not UTF-8"))?;
        let words: Vec<&str> = text.split_terminator('\0').collect();
        Ok(match words[..] {
            [VERSION, "start", ref settings @ ..] => {
                Self::Start(settings.iter().map(|&word| word.to_owned()).collect())
            }
            ["started"] => Self::Started,
            ["refused", reason] => Self::Refused(reason.to_owned()),
            ["stop"] => Self::Stop,
            ["stopped"] => Self::Stopped,
            _ => return Err(wrong("another version of Portmortem is there")),
        })
    }
}

fn wrong(what: &str) -> Error {
    Error::new(ErrorKind::InvalidData, what.to_owned())
}

/// The directories that a user's programs may have their sockets in, the usual one first: below
/// `XDG_RUNTIME_DIR`, or in the directory for temporary files. `variable` gives the values of the
/// program's environment variables.
pub fn directories(user: u32, variable: impl Fn(&str) -> Option<PathBuf>) -> Vec<PathBuf> {
    let absolute = |name: &str| variable(name).filter(|path| path.is_absolute());
    let below = |path: PathBuf| path.join(format!("{DIRECTORY}-{user}"));
    let mut all = Vec::new();
    all.extend(absolute("XDG_RUNTIME_DIR").map(|path| path.join(DIRECTORY)));
    all.extend(absolute("TMPDIR").map(below));
    all.push(below(PathBuf::from("/tmp")));
    all
}

/// The socket of a process.
#[must_use]
pub fn socket(directory: &Path, process: u32) -> PathBuf {
    directory.join(format!("{process}.sock"))
}

/// The process whose socket has that name.
#[must_use]
pub fn process_of(socket: &Path) -> Option<u32> {
    let name = socket.file_name()?.to_str()?;
    name.strip_suffix(".sock")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_arrive_as_they_were_sent() {
        let all = [
            Message::Start(vec!["output=/tmp/a=b.pmt".to_owned(), String::new()]),
            Message::Started,
            Message::Refused("not today".to_owned()),
            Message::Stop,
            Message::Stopped,
        ];
        let mut bytes = Vec::new();
        for message in &all {
            message.send(&mut bytes).unwrap();
        }
        let mut rest = bytes.as_slice();
        for message in &all {
            assert_eq!(Message::receive(&mut rest).unwrap(), *message);
        }
        let end = Message::receive(&mut rest).unwrap_err();
        assert_eq!(end.kind(), ErrorKind::UnexpectedEof);
    }

    #[test]
    fn what_is_no_message_is_an_error() {
        let mut zero = Vec::new();
        assert!(Message::Refused("\0".to_owned()).send(&mut zero).is_err());
        for bytes in [
            &b"\xff\xff\xff\xff"[..],
            b"\x02\0\0\0x\0",
            b"\x01\0\0\0\xff",
        ] {
            let error = Message::receive(bytes).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidData);
        }
    }

    #[test]
    fn sockets_are_named_by_processes() {
        let none = directories(7, |_| None);
        assert_eq!(none, [PathBuf::from("/tmp/portmortem-7")]);
        let all = directories(7, |name| Some(Path::new("/of").join(name)));
        assert_eq!(all[0], Path::new("/of/XDG_RUNTIME_DIR/portmortem"));
        assert_eq!(all[1], Path::new("/of/TMPDIR/portmortem-7"));
        assert_eq!(process_of(&socket(&all[0], 12)), Some(12));
        assert_eq!(process_of(Path::new("/x/y.sock")), None);
    }
}
