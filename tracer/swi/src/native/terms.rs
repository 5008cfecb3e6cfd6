//! Reading terms where the engine keeps them: a handler runs between two instructions, where the
//! foreign language interface is not to be called with terms.
//!
//! The tags of cells are the same in all versions. An address in a cell is a distance from the
//! global stack, or, in later versions, the address itself: found out by looking at terms that
//! Prolog passes.

use std::ffi::CStr;
use std::sync::OnceLock;

use super::words::{WORD, word};
use crate::ffi;

/// The three lowest bits of a cell, and the two above.
const TAG: usize = 0x7;
const STRING: usize = 0x4;
const ATOM: usize = 0x5;
const COMPOUND: usize = 0x6;
const REFERENCE: usize = 0x7;
const STORAGE: usize = 0x3 << 3;
const GLOBAL: usize = 0x1 << 3;

/// References and qualifications that are followed.
const MOST: usize = 64;

/// How a cell tells an address.
#[derive(Debug, Clone, Copy)]
enum Addresses {
    Absolute,
    /// From one word below the base of the global stack, which is so many bytes into the engine's
    /// data.
    FromBase(usize),
}

/// What is known of terms.
#[derive(Debug)]
struct TermFacts {
    addresses: Addresses,
    /// Where the engine's data have the base of the global stack.
    global: usize,
    /// Of `M:G`.
    qualified: ffi::Functor,
    /// Of `G, H` and the like: goals of which the first argument is one.
    control: [ffi::Functor; 5],
}

static FOUND: OnceLock<TermFacts> = OnceLock::new();

/// How many words before and behind the base of the local stack the engine may keep that of the
/// global stack.
const NEAR: usize = 48;

/// Finds out how cells tell addresses. `cells` are those of compound terms with the functor
/// `functor`; `local` is where the engine at `engine` keeps the base of the local stack. Nothing
/// is read of terms if it is not found.
pub(crate) fn learn(engine: usize, local: usize, cells: &[usize], functor: ffi::Functor) {
    let first = local.saturating_sub(NEAR * WORD);
    let found = (first..local + NEAR * WORD)
        .step_by(WORD)
        .filter(|&at| at != local)
        .find_map(|at| {
            [Addresses::FromBase(at), Addresses::Absolute]
                .into_iter()
                // SAFETY: words of the engine's data.
                .find(|&addresses| unsafe { tells(engine, at, addresses, cells, functor) })
                .map(|addresses| (at, addresses))
        });
    if let Some((global, addresses)) = found {
        // SAFETY: atoms and functors, which are never freed.
        let functor = |name: &CStr, arity| unsafe {
            ffi::PL_new_functor(ffi::PL_new_atom(name.as_ptr()), arity)
        };
        FOUND.get_or_init(|| TermFacts {
            addresses,
            global,
            qualified: functor(c":", 2),
            control: [
                functor(c",", 2),
                functor(c";", 2),
                functor(c"->", 2),
                functor(c"*->", 2),
                functor(c"\\+", 1),
            ],
        });
    }
}

/// Whether the terms lie in the stack whose base and top are at `stack`, if addresses are told so.
///
/// # Safety
/// `stack` is among the engine's stacks.
unsafe fn tells(
    engine: usize,
    stack: usize,
    addresses: Addresses,
    cells: &[usize],
    functor: ffi::Functor,
) -> bool {
    // SAFETY: the caller's promise.
    let [base, top, limit] = [0, 1, 2].map(|at| unsafe { word(engine, stack + at * WORD) });
    let is_stack = base > 1 << 16 && base <= top && top <= limit && base % WORD == 0;
    let is_inside =
        |address: usize| address >= base && address < top && address.is_multiple_of(WORD);
    let is_compound = |&cell: &usize| {
        let mut cell = cell;
        for _ in 0..MOST {
            let address = address(engine, addresses, cell);
            if !is_inside(address) || !is_mapped(address) {
                return false;
            }
            // SAFETY: mapped memory of the engine's; what lies between is no stack, perhaps, but
            // can be read.
            let content = unsafe { word(address, 0) };
            match cell & TAG {
                COMPOUND => return content == functor,
                REFERENCE => cell = content,
                _ => return false,
            }
        }
        false
    };
    is_stack && cells.iter().all(is_compound)
}

/// Whether there is memory at an address.
pub(super) fn is_mapped(address: usize) -> bool {
    const PAGE: usize = 4096;
    let mut resident = 0;
    let page = (address & !(PAGE - 1)) as *mut libc::c_void;
    // SAFETY: the system looks at its tables, and writes one byte.
    unsafe { libc::mincore(page, 1, &raw mut resident) == 0 }
}

fn address(engine: usize, addresses: Addresses, cell: usize) -> usize {
    match addresses {
        Addresses::Absolute => cell >> 7,
        // SAFETY: a word of the engine's data.
        Addresses::FromBase(at) => unsafe {
            (cell >> 5)
                .wrapping_add(word(engine, at))
                .wrapping_sub(WORD)
        },
    }
}

impl TermFacts {
    /// What is in a cell, behind references.
    ///
    /// # Safety
    /// The address of a term's cell.
    unsafe fn follow(&self, engine: usize, at: usize) -> usize {
        // SAFETY: the caller's promise; references lead to cells.
        unsafe {
            let mut content = word(at, 0);
            for _ in 0..MOST {
                if content & TAG != REFERENCE {
                    break;
                }
                content = word(address(engine, self.addresses, content), 0);
            }
            content
        }
    }
}

/// A number that changes when cells change because stacks are moved: 0 if they never do. `local` is
/// the base of the local stack of the engine at `engine`. `None` if that is not known.
pub(crate) fn stacks(engine: usize, local: usize) -> Option<usize> {
    let terms = FOUND.get()?;
    Some(match terms.addresses {
        // SAFETY: a word of the engine's data.
        Addresses::Absolute => unsafe { word(engine, terms.global) ^ local.rotate_left(32) },
        Addresses::FromBase(_) => 0,
    })
}

/// How far above the base of the global stack that ends. `None` if that is not known.
pub(crate) fn global_top(engine: usize) -> Option<usize> {
    let at = FOUND.get()?.global;
    // SAFETY: words of the engine's data.
    unsafe { Some(word(engine, at + WORD) - word(engine, at)) }
}

/// How far above the base of the global stack the compound term or string begins that a cell leads
/// to. `None` if it is none.
pub(crate) fn place_of(engine: usize, cell: usize) -> Option<usize> {
    let terms = FOUND.get()?;
    let leads = matches!(cell & TAG, COMPOUND | STRING) && cell & STORAGE == GLOBAL;
    // SAFETY: a word of the engine's data.
    let base = unsafe { word(engine, terms.global) };
    leads.then(|| address(engine, terms.addresses, cell).wrapping_sub(base))
}

/// How a goal is qualified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Qualified {
    /// With this module.
    With(ffi::Atom),
    /// Not at all.
    Not,
    /// It is no goal, or cannot be read.
    Unknown,
}

/// The module of the goal in a cell; of the first one, if it is a control structure.
///
/// # Safety
/// `cell` is the address of a term's cell, of the engine at `engine`.
pub(crate) unsafe fn module_of(engine: usize, cell: usize) -> Qualified {
    let Some(terms) = FOUND.get() else {
        return Qualified::Unknown;
    };
    // SAFETY: the caller's promise; cells of terms lead to terms.
    let follow = |at: usize| unsafe { terms.follow(engine, at) };
    let mut module = Qualified::Not;
    let mut goal = follow(cell);
    for _ in 0..MOST {
        if goal & TAG == ATOM {
            return module;
        }
        if goal & (TAG | STORAGE) != COMPOUND | GLOBAL {
            return Qualified::Unknown;
        }
        let at = address(engine, terms.addresses, goal);
        // SAFETY: a compound term is its functor and its arguments.
        let functor = unsafe { word(at, 0) };
        if module == Qualified::Not && terms.control.contains(&functor) {
            goal = follow(at + WORD);
            continue;
        }
        if functor != terms.qualified {
            return module;
        }
        let name = follow(at + WORD);
        if name & (TAG | STORAGE) != ATOM {
            return Qualified::Unknown;
        }
        module = Qualified::With(name);
        goal = follow(at + 2 * WORD);
    }
    Qualified::Unknown
}
