//! One event of a stream: what it means and its bytes.
//!
//! An event is a tag with the low bits of the tick delta, the rest of the delta, and the arguments
//! (`FORMAT.md`). A typical exit takes two bytes, a typical call three.

use super::varint;

/// A port of a box that control passed, or a change of the recording itself. Meanings: `ARCHITECTURE.md`,
/// "Events".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A new box of `predicate`, called by the active box.
    Call {
        /// Id of the predicate, or of a site of it.
        predicate: u32,
    },
    /// A last call whose caller's frame is gone: the active box departs into `predicate`.
    Tail {
        /// Id of the predicate, or of a site of it.
        predicate: u32,
    },
    /// The active box exits and leaves no choicepoint.
    ExitDet,
    /// The active box exits and can be re-entered.
    ExitNondet,
    /// The newest re-enterable box is entered again.
    Redo,
    /// The active box fails.
    Fail,
    /// An exception leaves the active box.
    Exception,
    /// The `count` newest re-enterable boxes lost their choicepoints.
    Cut {
        /// How many boxes.
        count: u32,
    },
    /// Recording is suspended: the time until [`Event::Resume`] belongs to no box.
    Pause,
    /// Recording goes on.
    Resume,
    /// Events were lost here; the state of the stream is unknown from here on.
    Gap {
        /// How many, 0 if unknown.
        lost: u64,
    },
    /// A remark of the traced program.
    Mark {
        /// Text id.
        text: u32,
    },
    /// The innermost logical box of the active one enters a clause: its head has been unified. No port.
    Clause {
        /// Clause id.
        clause: u32,
    },
    /// What the innermost logical box of the active one was called with. No port.
    Arguments(Arguments),
    /// A table is complete. No port.
    Table(CompleteTable),
    /// What an argument of a call is, at the call or at an exit. No port.
    Value(ArgumentValue),
    /// What the innermost logical box of the active one does with something that threads share. No
    /// port.
    Sync(SyncCall),
}

/// What a call does with a mutex, a message queue or a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyncCall {
    /// What it does.
    pub role: SyncRole,
    /// Id of what threads share.
    pub shared: u32,
}

/// What a call does with something that threads share ([`SyncCall`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum SyncRole {
    /// It locks a mutex, and unlocks it when its box is left.
    Holds = 0,
    /// It has locked a mutex when it exits.
    Locks = 1,
    /// It unlocks a mutex; all that the thread holds if the name is empty.
    Unlocks = 2,
    /// It takes a message out of a queue. That of a thread has the name of the thread.
    Receives = 3,
    /// It puts a message into a queue.
    Sends = 4,
    /// It waits for the end of a thread.
    Joins = 5,
}

/// What a table has when it is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompleteTable {
    /// Id of the predicate whose table it is.
    pub predicate: u32,
    /// Answers in it.
    pub answers: u32,
    /// Nodes of the trie that holds them.
    pub nodes: u32,
}

/// What an argument of a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArgumentValue {
    /// 0 at the call, which is that of the innermost logical box of the active one. At an exit of
    /// the active box: 1 of the last call in it that has values, 2 of the first one if there are
    /// several.
    pub when: u8,
    /// Which one, from 1.
    pub argument: u8,
    /// What is known of it.
    pub kind: ValueKind,
    /// How many cells it has, or [`ValueKind::Fresh`] ones; 0 if that is not known or it is
    /// unbound.
    pub size: u32,
    /// The hash of it, if it is [`ValueKind::Ground`] or [`ValueKind::NotGround`]; else 0.
    pub hash: u64,
}

/// What is known of an argument ([`ArgumentValue`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum ValueKind {
    /// It is an unbound variable without attributes.
    Unbound = 0,
    /// There is no variable in it. It has a size and a hash.
    Ground = 1,
    /// There is a variable in it. It has a size, in which a variable is a cell, and a hash, for
    /// which all variables are the same.
    NotGround = 2,
    /// It has more cells than are looked at, or is not to be found.
    Unknown = 3,
    /// Said of it besides, at exits: so many cells of the stack that it consists of are newer than
    /// the call. If that is not said, none are.
    Fresh = 4,
}

/// What an event says of the arguments of a call. [`Arguments::Hash`], [`Arguments::NotGround`] or [`Arguments::TooLarge`] comes once for each
/// call; before it there may be the sizes of some arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arguments {
    /// Each argument is ground or unbound. The hash is that of all of them, and of which are unbound and the same variable.
    Hash(u64),
    /// Some argument is a term with a variable in it, or a variable with attributes: there is no hash.
    NotGround,
    /// There was more of the arguments than is looked at: there is no hash.
    TooLarge,
    /// An argument is an integer.
    Integer {
        /// Which one, from 1.
        argument: u8,
        /// The integer.
        value: i64,
    },
    /// An argument is a proper list.
    List {
        /// Which one, from 1.
        argument: u8,
        /// Number of its elements.
        length: u64,
    },
}

impl ValueKind {
    /// Whether cells of it are counted.
    #[must_use]
    pub fn has_size(self) -> bool {
        matches!(self, Self::Ground | Self::NotGround | Self::Fresh)
    }

    /// Whether it has a hash.
    #[must_use]
    pub fn has_hash(self) -> bool {
        matches!(self, Self::Ground | Self::NotGround)
    }
}

impl SyncRole {
    const ALL: [Self; 6] = [
        Self::Holds,
        Self::Locks,
        Self::Unlocks,
        Self::Receives,
        Self::Sends,
        Self::Joins,
    ];
}

pub(crate) const TAG_BITS: u32 = 3;
pub(crate) const TAG_EXTENDED: u8 = 0;
pub(crate) const TAG_CALL: u8 = 1;
pub(crate) const TAG_TAIL: u8 = 2;
pub(crate) const TAG_EXIT_DET: u8 = 3;
pub(crate) const TAG_EXIT_NONDET: u8 = 4;
pub(crate) const TAG_REDO: u8 = 5;
pub(crate) const TAG_FAIL: u8 = 6;
pub(crate) const TAG_CUT: u8 = 7;

pub(crate) const CODE_EXCEPTION: u8 = 1;
pub(crate) const CODE_PAUSE: u8 = 2;
pub(crate) const CODE_RESUME: u8 = 3;
pub(crate) const CODE_GAP: u8 = 4;
pub(crate) const CODE_MARK: u8 = 5;
pub(crate) const CODE_CLAUSE: u8 = 6;
const CODE_ARGUMENTS: u8 = 7;
const CODE_TABLE: u8 = 8;
const CODE_VALUE: u8 = 9;
const CODE_SYNC: u8 = 10;
const CODE_SKIP: u8 = 11;

const ARGUMENTS_HASH: u8 = 0;
const ARGUMENTS_NOT_GROUND: u8 = 1;
const ARGUMENTS_TOO_LARGE: u8 = 2;
const ARGUMENTS_INTEGER: u8 = 3;
const ARGUMENTS_LIST: u8 = 4;

/// In the byte that says what is known of an argument, and when: bits of the first.
const KIND_BITS: u32 = 3;

/// The longest encoding of an event: head byte, nine bytes of delta, code, then kind, number of an
/// argument, five bytes of its size and a hash, or three numbers of five bytes.
pub const MAX_EVENT_BYTES: usize = 26;

/// Why bytes are not an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EventError {
    /// The bytes end inside the event.
    #[error("the event is cut off")]
    Truncated,
    /// No such extended event in this version of the format.
    #[error("unknown event code {0}")]
    UnknownCode(u8),
    /// No such word on arguments in this version of the format.
    #[error("unknown kind {0} of what is known of arguments")]
    UnknownArguments(u8),
    /// No such role in this version of the format.
    #[error("unknown role {0} of a call among threads")]
    UnknownRole(u8),
    /// A number does not fit its type.
    #[error("a number in the event is too large")]
    Overflow,
}

impl From<varint::VarintError> for EventError {
    fn from(error: varint::VarintError) -> Self {
        match error {
            varint::VarintError::Truncated => Self::Truncated,
            varint::VarintError::Overflow => Self::Overflow,
        }
    }
}

/// Appends a `SKIP`: in the part of a trace it stands for so many events, from 1, which together
/// changed no box. It takes their numbers, and is no event.
pub fn encode_skip(events: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(&[TAG_EXTENDED, 0, CODE_SKIP]);
    varint::write(events.saturating_sub(1), out);
}

/// For how many events a `SKIP` stands, and how many bytes it took; `None` if `bytes` does not
/// begin with one.
#[must_use]
pub fn decode_skip(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut at = 3;
    if bytes.get(..at)? != [TAG_EXTENDED, 0, CODE_SKIP] {
        return None;
    }
    let events = u64::from(small(bytes, &mut at).ok()?) + 1;
    Some((events, at))
}

/// A use of an event, compiled into the decoder once for each kind of event. So the program tells the kinds apart
/// once, not a second time after decoding.
pub trait Take {
    /// The result.
    type Taken;

    /// Takes an event, its tick delta, and how many bytes it took.
    fn take(self, event: Event, delta: u64, length: usize) -> Self::Taken;
}

/// How many bytes an event takes that [`Event::short_end`] finds.
pub const SHORT_END: usize = 2;

/// The ticks in the first two bytes of an event that has no more of them.
#[inline(always)]
fn short_delta(word: u64) -> u64 {
    (word & 0xff) >> TAG_BITS | (word & 0x7f00) >> TAG_BITS
}

impl Event {
    /// Appends the event to `out`; `delta` is in ticks since the previous event of the stream.
    pub fn encode(self, delta: u64, out: &mut Vec<u8>) {
        let (tag, code, argument) = self.parts();
        out.push(tag | (((delta & 31) as u8) << TAG_BITS));
        varint::write(delta >> 5, out);
        if tag == TAG_EXTENDED {
            out.push(code);
        }
        if let Some(value) = argument {
            varint::write(value, out);
        }
        match self {
            Self::Arguments(arguments) => arguments.encode(out),
            Self::Table(table) => {
                for number in [table.predicate, table.answers, table.nodes] {
                    varint::write(number.into(), out);
                }
            }
            Self::Value(value) => value.encode(out),
            Self::Sync(call) => {
                out.push(call.role as u8);
                varint::write(call.shared.into(), out);
            }
            _ => {}
        }
    }

    /// Reads one event: the event, its tick delta, and how many bytes it took.
    ///
    /// # Errors
    /// [`EventError`] if `bytes` does not begin with a whole event of this format version.
    #[inline]
    pub fn decode(bytes: &[u8]) -> Result<(Self, u64, usize), EventError> {
        struct Give;
        impl Take for Give {
            type Taken = (Event, u64, usize);
            #[inline(always)]
            fn take(self, event: Event, delta: u64, length: usize) -> Self::Taken {
                (event, delta, length)
            }
        }
        match Self::take_short(bytes, Give) {
            Some(decoded) => Ok(decoded),
            None => Self::decode_any(bytes),
        }
    }

    /// Whether `bytes` begin with a failure, not a determinate exit, and the ticks before that.
    /// `None` if they begin with another event, or with one that comes 4096 ticks or more after the
    /// one before. It takes [`SHORT_END`] bytes.
    #[inline(always)]
    #[must_use]
    pub fn short_end(bytes: &[u8]) -> Option<(bool, u64)> {
        let word = u64::from(u16::from_le_bytes(*bytes.first_chunk()?));
        let tag = word as u8 & 7;
        let is_end = word & 0x8000 == 0 && (tag == TAG_EXIT_DET || tag == TAG_FAIL);
        is_end.then_some((tag == TAG_FAIL, short_delta(word)))
    }

    /// Reads one event and hands it to `taker`. `None` if it comes 4096 ticks or more after the one before, has
    /// an argument of more than three bytes, or is near the end of `bytes`. Then [`Event::decode`] reads it.
    #[inline(always)]
    pub fn take_short<T: Take>(bytes: &[u8], taker: T) -> Option<T::Taken> {
        let word = u64::from_le_bytes(*bytes.first_chunk()?);
        if word & 0x8000 != 0 {
            return None;
        }
        let delta = short_delta(word);
        let argument = || medium(word >> 16);
        Some(match word as u8 & 7 {
            TAG_CALL => {
                let (predicate, length) = argument()?;
                taker.take(Self::Call { predicate }, delta, 2 + length)
            }
            TAG_TAIL => {
                let (predicate, length) = argument()?;
                taker.take(Self::Tail { predicate }, delta, 2 + length)
            }
            TAG_EXIT_DET => taker.take(Self::ExitDet, delta, 2),
            TAG_EXIT_NONDET => taker.take(Self::ExitNondet, delta, 2),
            TAG_REDO => taker.take(Self::Redo, delta, 2),
            TAG_FAIL => taker.take(Self::Fail, delta, 2),
            TAG_CUT => {
                let (count, length) = argument()?;
                taker.take(Self::Cut { count }, delta, 2 + length)
            }
            _ => return None,
        })
    }

    #[cold]
    fn decode_any(bytes: &[u8]) -> Result<(Self, u64, usize), EventError> {
        let head = *bytes.first().ok_or(EventError::Truncated)?;
        let mut at = 1;
        let high = varint::read(bytes, &mut at)?;
        if high >> 59 != 0 {
            return Err(EventError::Overflow);
        }
        let delta = high << 5 | u64::from(head >> TAG_BITS);
        let event = match head & 7 {
            TAG_CALL => Self::Call {
                predicate: small(bytes, &mut at)?,
            },
            TAG_TAIL => Self::Tail {
                predicate: small(bytes, &mut at)?,
            },
            TAG_EXIT_DET => Self::ExitDet,
            TAG_EXIT_NONDET => Self::ExitNondet,
            TAG_REDO => Self::Redo,
            TAG_FAIL => Self::Fail,
            TAG_CUT => Self::Cut {
                count: small(bytes, &mut at)?,
            },
            _ => extended(bytes, &mut at)?,
        };
        Ok((event, delta, at))
    }

    fn parts(self) -> (u8, u8, Option<u64>) {
        match self {
            Self::Call { predicate } => (TAG_CALL, 0, Some(predicate.into())),
            Self::Tail { predicate } => (TAG_TAIL, 0, Some(predicate.into())),
            Self::ExitDet => (TAG_EXIT_DET, 0, None),
            Self::ExitNondet => (TAG_EXIT_NONDET, 0, None),
            Self::Redo => (TAG_REDO, 0, None),
            Self::Fail => (TAG_FAIL, 0, None),
            Self::Cut { count } => (TAG_CUT, 0, Some(count.into())),
            Self::Exception => (TAG_EXTENDED, CODE_EXCEPTION, None),
            Self::Pause => (TAG_EXTENDED, CODE_PAUSE, None),
            Self::Resume => (TAG_EXTENDED, CODE_RESUME, None),
            Self::Gap { lost } => (TAG_EXTENDED, CODE_GAP, Some(lost)),
            Self::Mark { text } => (TAG_EXTENDED, CODE_MARK, Some(text.into())),
            Self::Clause { clause } => (TAG_EXTENDED, CODE_CLAUSE, Some(clause.into())),
            Self::Arguments(_) => (TAG_EXTENDED, CODE_ARGUMENTS, None),
            Self::Table(_) => (TAG_EXTENDED, CODE_TABLE, None),
            Self::Value(_) => (TAG_EXTENDED, CODE_VALUE, None),
            Self::Sync(_) => (TAG_EXTENDED, CODE_SYNC, None),
        }
    }
}

impl Arguments {
    fn encode(self, out: &mut Vec<u8>) {
        match self {
            Self::Hash(hash) => {
                out.push(ARGUMENTS_HASH);
                out.extend_from_slice(&hash.to_le_bytes());
            }
            Self::NotGround => out.push(ARGUMENTS_NOT_GROUND),
            Self::TooLarge => out.push(ARGUMENTS_TOO_LARGE),
            Self::Integer { argument, value } => {
                out.extend_from_slice(&[ARGUMENTS_INTEGER, argument]);
                varint::write((value << 1 ^ value >> 63) as u64, out);
            }
            Self::List { argument, length } => {
                out.extend_from_slice(&[ARGUMENTS_LIST, argument]);
                varint::write(length, out);
            }
        }
    }

    fn decode(bytes: &[u8], at: &mut usize) -> Result<Self, EventError> {
        Ok(match byte(bytes, at)? {
            ARGUMENTS_HASH => Self::Hash(word(bytes, at)?),
            ARGUMENTS_NOT_GROUND => Self::NotGround,
            ARGUMENTS_TOO_LARGE => Self::TooLarge,
            ARGUMENTS_INTEGER => {
                let argument = byte(bytes, at)?;
                let bits = varint::read(bytes, at)?;
                let value = (bits >> 1) as i64 ^ -((bits & 1) as i64);
                Self::Integer { argument, value }
            }
            ARGUMENTS_LIST => {
                let argument = byte(bytes, at)?;
                let length = varint::read(bytes, at)?;
                Self::List { argument, length }
            }
            kind => return Err(EventError::UnknownArguments(kind)),
        })
    }
}

fn byte(bytes: &[u8], at: &mut usize) -> Result<u8, EventError> {
    let byte = *bytes.get(*at).ok_or(EventError::Truncated)?;
    *at += 1;
    Ok(byte)
}

fn word(bytes: &[u8], at: &mut usize) -> Result<u64, EventError> {
    let rest = bytes.get(*at..).and_then(<[u8]>::first_chunk);
    *at += size_of::<u64>();
    Ok(u64::from_le_bytes(*rest.ok_or(EventError::Truncated)?))
}

impl ArgumentValue {
    fn encode(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[(self.when << KIND_BITS) | self.kind as u8, self.argument]);
        if self.kind.has_size() {
            varint::write(self.size.into(), out);
        }
        if self.kind.has_hash() {
            out.extend_from_slice(&self.hash.to_le_bytes());
        }
    }

    #[cold]
    fn decode(bytes: &[u8], at: &mut usize) -> Result<Self, EventError> {
        let first = byte(bytes, at)?;
        let kind = match first & ((1 << KIND_BITS) - 1) {
            0 => ValueKind::Unbound,
            1 => ValueKind::Ground,
            2 => ValueKind::NotGround,
            3 => ValueKind::Unknown,
            4 => ValueKind::Fresh,
            kind => return Err(EventError::UnknownArguments(kind)),
        };
        let argument = byte(bytes, at)?;
        let size = match kind.has_size() {
            true => small(bytes, at)?,
            false => 0,
        };
        let hash = match kind.has_hash() {
            true => word(bytes, at)?,
            false => 0,
        };
        Ok(Self {
            when: first >> KIND_BITS,
            argument,
            kind,
            size,
            hash,
        })
    }
}

/// A varint of up to three bytes at the low end of a word: its value and length.
#[inline(always)]
fn medium(word: u64) -> Option<(u32, usize)> {
    let word = word as u32;
    if word & 0x80 == 0 {
        Some((word & 0x7f, 1))
    } else if word & 0x8000 == 0 {
        Some((word & 0x7f | (word >> 1) & 0x3f80, 2))
    } else if word & 0x80_0000 == 0 {
        let value = word & 0x7f | (word >> 1) & 0x3f80 | (word >> 2) & 0x1f_c000;
        Some((value, 3))
    } else {
        None
    }
}

fn small(bytes: &[u8], at: &mut usize) -> Result<u32, EventError> {
    u32::try_from(varint::read(bytes, at)?).map_err(|_| EventError::Overflow)
}

#[cold]
fn extended(bytes: &[u8], at: &mut usize) -> Result<Event, EventError> {
    let code = byte(bytes, at)?;
    Ok(match code {
        CODE_EXCEPTION => Event::Exception,
        CODE_PAUSE => Event::Pause,
        CODE_RESUME => Event::Resume,
        CODE_GAP => Event::Gap {
            lost: varint::read(bytes, at)?,
        },
        CODE_MARK => Event::Mark {
            text: small(bytes, at)?,
        },
        CODE_CLAUSE => Event::Clause {
            clause: small(bytes, at)?,
        },
        CODE_ARGUMENTS => Event::Arguments(Arguments::decode(bytes, at)?),
        CODE_TABLE => Event::Table(CompleteTable {
            predicate: small(bytes, at)?,
            answers: small(bytes, at)?,
            nodes: small(bytes, at)?,
        }),
        CODE_VALUE => Event::Value(ArgumentValue::decode(bytes, at)?),
        CODE_SYNC => {
            let role = byte(bytes, at)?;
            let known = SyncRole::ALL.get(usize::from(role)).copied();
            Event::Sync(SyncCall {
                role: known.ok_or(EventError::UnknownRole(role))?,
                shared: small(bytes, at)?,
            })
        }
        _ => return Err(EventError::UnknownCode(code)),
    })
}
