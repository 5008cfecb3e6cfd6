//! The instructions of the engine's virtual machine: their labels, names and operands, found in
//! the engine's data.
//!
//! A cell of threaded code is the address of a label in the engine's interpreter. Two of the
//! engine's tables connect labels and instructions:
//!
//! - `wam_table[n]` is the label of instruction `n`; behind it lie the supervisors that
//!   predicates share;
//! - `dewam_table[label - offset]` is the number of the instruction with that label.
//!
//! Neither is exported. A candidate in the engine's data proves itself: both tables agree on
//! every instruction.

use std::ffi::{CStr, c_char};
use std::ops::Range;

use super::image::Image;
use super::words::{CodeWord, WORD, word};

/// The number of an instruction.
pub(crate) type Op = u8;

/// What matters of an instruction to a recorder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum InstructionKind {
    /// Control goes on behind it, and it calls nothing.
    #[default]
    Other,
    /// Calls the predicate that operand 1 names (`I_CALL`).
    Call,
    /// Calls the predicate that operand 2 names (`I_CALLM`).
    CallInModule,
    /// Calls the predicate that operand 3 names (`I_CALLATM`, `I_CALLATMV`).
    CallAtModule,
    /// A last call of the predicate that operand 1 names, if the engine finds it to be one
    /// (`I_DEPART`).
    Depart,
    /// The same of operand 2 (`I_DEPARTM`).
    DepartInModule,
    /// The same of operand 3 (`I_DEPARTATM`, `I_DEPARTATMV`).
    DepartAtModule,
    /// A last call for certain (`I_LCALL`).
    LastCall,
    /// A last call of the running predicate (`I_TCALL`).
    LastCallSelf,
    /// `call/1`.
    CallGoal,
    /// `call/N`; operand 1 is the number of added arguments.
    CallClosure,
    /// Operand 1 is the distance from behind it to an alternative (`C_OR`, and `T_TRY_…` of
    /// compiled tries).
    Alternative,
    /// Operand 1 is the distance from behind it to where control goes on (`C_JMP`).
    Jump,
    /// Operand 2 is the distance from behind it to an alternative (`C_NOT`, `C_IFTHENELSE`,
    /// `C_SOFTIF`).
    Condition,
    /// Removes choicepoints (`I_CUT` and the like).
    Cut,
    /// The condition that began last has held: its alternative is removed with its other
    /// choicepoints (`C_CUT`).
    Commit,
    /// `catch/3` calls its goal.
    Catch,
    /// `setup_call_cleanup/3` or one of its kind calls its goal.
    CallCleanup,
    /// The goal of `catch/3` has exited.
    ExitCatch,
    /// That goal has exited.
    ExitCleanup,
    /// The body of a clause begins (`I_ENTER`, `I_SSU_COMMIT`, `I_SSU_CHOICE`).
    Enter,
    /// Selects the clauses of a predicate, after its arguments were qualified (`S_STATIC` and the
    /// like).
    Select,
    /// Leaves the frames up to that of `reset/3` (`I_SHIFT`, `I_SHIFTCP`).
    Shift,
    /// The supervisor of the closure that a wrapper calls (`S_WRAP`).
    Wrap,
    /// The wrapper of a predicate is called (`S_CALLWRAPPER`).
    CallWrapper,
    /// A predicate in C is about to run (`I_FOPEN`, `I_FOPENNDET`).
    ForeignOpen,
    /// A foreign predicate is entered again (`I_FREDO`).
    ForeignRedo,
    /// The first call of a predicate (`S_VIRGIN`).
    Virgin,
    /// `fail` (`I_FAIL`), and the end of a negated goal (`C_FAIL`).
    Fail,
    /// The end of a clause.
    Exit,
    /// The end of a fact (`I_EXITFACT`).
    ExitFact,
    /// A breakpoint (`D_BREAK`).
    Break,
}

impl InstructionKind {
    /// Whether it is a last call if the engine finds it to be one.
    pub(crate) fn departs(self) -> bool {
        matches!(
            self,
            Self::Depart | Self::DepartInModule | Self::DepartAtModule
        )
    }

    /// Whether it calls a goal that is an argument.
    pub(crate) fn calls_goal(self) -> bool {
        matches!(
            self,
            Self::CallGoal | Self::CallClosure | Self::Catch | Self::CallCleanup
        )
    }

    /// Whether it calls a predicate that may return to the cell behind.
    pub(crate) fn returns(self) -> bool {
        matches!(
            self,
            Self::Call
                | Self::CallInModule
                | Self::CallAtModule
                | Self::Depart
                | Self::DepartInModule
                | Self::DepartAtModule
                | Self::CallGoal
                | Self::CallClosure
        )
    }
}

const KINDS: [(&str, InstructionKind); 52] = [
    ("I_CALL", InstructionKind::Call),
    ("I_CALLM", InstructionKind::CallInModule),
    ("I_CALLATM", InstructionKind::CallAtModule),
    ("I_CALLATMV", InstructionKind::CallAtModule),
    ("I_DEPART", InstructionKind::Depart),
    ("I_DEPARTM", InstructionKind::DepartInModule),
    ("I_DEPARTATM", InstructionKind::DepartAtModule),
    ("I_DEPARTATMV", InstructionKind::DepartAtModule),
    ("I_LCALL", InstructionKind::LastCall),
    ("I_TCALL", InstructionKind::LastCallSelf),
    ("I_USERCALL0", InstructionKind::CallGoal),
    ("I_CALL1", InstructionKind::CallGoal),
    ("I_USERCALLN", InstructionKind::CallClosure),
    ("I_CALLN", InstructionKind::CallClosure),
    ("C_OR", InstructionKind::Alternative),
    ("C_JMP", InstructionKind::Jump),
    ("C_NOT", InstructionKind::Condition),
    ("C_IFTHENELSE", InstructionKind::Condition),
    ("C_SOFTIF", InstructionKind::Condition),
    ("I_CUT", InstructionKind::Cut),
    ("C_CUT", InstructionKind::Commit),
    ("C_LCUT", InstructionKind::Cut),
    ("C_LSCUT", InstructionKind::Cut),
    ("C_LCUTIFTHEN", InstructionKind::Cut),
    ("I_CUTCHP", InstructionKind::Cut),
    ("I_DET", InstructionKind::Cut),
    ("I_CATCH", InstructionKind::Catch),
    ("I_CALLCLEANUP", InstructionKind::CallCleanup),
    ("I_EXITCATCH", InstructionKind::ExitCatch),
    ("I_EXITCLEANUP", InstructionKind::ExitCleanup),
    ("I_ENTER", InstructionKind::Enter),
    ("I_SSU_COMMIT", InstructionKind::Enter),
    ("I_SSU_CHOICE", InstructionKind::Enter),
    ("S_STATIC", InstructionKind::Select),
    ("S_DYNAMIC", InstructionKind::Select),
    ("S_INCR_DYNAMIC", InstructionKind::Select),
    ("S_MULTIFILE", InstructionKind::Select),
    ("S_TRUSTME", InstructionKind::Select),
    ("S_LIST", InstructionKind::Select),
    ("I_SHIFT", InstructionKind::Shift),
    ("I_SHIFTCP", InstructionKind::Shift),
    ("S_WRAP", InstructionKind::Wrap),
    ("S_CALLWRAPPER", InstructionKind::CallWrapper),
    ("I_FOPEN", InstructionKind::ForeignOpen),
    ("I_FOPENNDET", InstructionKind::ForeignOpen),
    ("I_FREDO", InstructionKind::ForeignRedo),
    ("S_VIRGIN", InstructionKind::Virgin),
    ("I_EXIT", InstructionKind::Exit),
    ("I_EXITFACT", InstructionKind::ExitFact),
    ("D_BREAK", InstructionKind::Break),
    ("I_FAIL", InstructionKind::Fail),
    ("C_FAIL", InstructionKind::Fail),
];

/// Of an instruction, as far as a recorder must know it.
#[derive(Debug, Clone)]
pub(crate) struct Instruction {
    pub(crate) label: CodeWord,
    pub(crate) name: String,
    pub(crate) kind: InstructionKind,
    operands: Operands,
}

/// What a predicate that is implemented in C leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ForeignKind {
    /// No choicepoint.
    Semidet,
    /// Perhaps one of its own.
    Nondet,
}

impl Instruction {
    /// What a predicate leaves that is implemented in C and whose code begins with it. `None` if
    /// no such code does.
    pub(crate) fn begins_foreign(&self) -> Option<ForeignKind> {
        match self.name.as_str() {
            "I_FOPENNDET" => Some(ForeignKind::Nondet),
            name if name == "I_FOPEN" || name.starts_with("I_FCALLDET") => {
                Some(ForeignKind::Semidet)
            }
            _ => None,
        }
    }

    /// Whether it cannot fail, and calls nothing: it builds an argument of a goal, makes a
    /// variable,
    /// or does nothing.
    pub(crate) fn always_succeeds(&self) -> bool {
        let tests = ["B_UNIFY", "B_EQ", "B_NEQ"];
        let builds = self.name.starts_with("B_") || self.name.starts_with("L_");
        self.name == "I_TRUE"
            || self.name.starts_with("C_VAR")
            || builds && !tests.iter().any(|prefix| self.name.starts_with(prefix))
    }

    /// Whether the body of a clause without a head may begin with it, and the engine never looks
    /// for its label.
    pub(crate) fn begins_bodies(&self) -> bool {
        let of_body = ["A_", "B_", "C_", "I_"];
        of_body.iter().any(|prefix| self.name.starts_with(prefix))
            && !["C_CUT", "C_FASTCOND", "I_CUT", "B_FIRSTVAR"].contains(&self.name.as_str())
            && ![
                "I_EXIT",
                "I_F",
                "I_CALLCLEANUP",
                "I_CATCH",
                "I_RESET",
                "I_YIELD",
            ]
            .iter()
            .any(|prefix| self.name.starts_with(prefix))
            || self.name == "I_FAIL"
    }
}

#[derive(Debug, Clone, Copy)]
enum Operands {
    /// So many cells.
    Fixed(usize),
    /// So many cells, and one indirect datum: a header that tells its length, and its words.
    Indirect(usize),
    /// Not known how many: code with such an instruction is left alone.
    Unknown,
}

/// Instructions that are followed by an indirect datum.
const INDIRECT: [&str; 10] = [
    "H_STRING", "B_STRING", "H_MPZ", "B_MPZ", "A_MPZ", "H_MPQ", "B_MPQ", "A_MPQ", "T_STRING",
    "T_MPZ",
];

/// How the instructions begin that try an alternative in the code of a trie: the answers of a
/// table.
const TRIE_TRY: &str = "T_TRY_";

/// Of those, the ones with an indirect datum behind the distance.
const INDIRECT_AFTER_JUMP: [&str; 2] = ["T_TRY_STRING", "T_TRY_MPZ"];

/// The header of indirect data has its length in words in the bits from here on.
const INDIRECT_LENGTH_SHIFT: u32 = 10;

/// `code_info` of the engine: the description of an instruction.
#[repr(C)]
struct CodeInfo {
    name: *const c_char,
    number: u32,
    flags: u8,
    operands: u8,
    operand_types: [u8; 5],
}

/// The engine's number of operands where it depends on them.
const DYNAMIC: u8 = 255;

/// All instructions, by number, and where the engine's tables of them are.
#[derive(Debug)]
pub(crate) struct Instructions {
    by_op: Vec<Instruction>,
    /// Where the engine keeps the pointer to the table from labels to numbers.
    pub(crate) decode_table: *mut *mut Op,
    /// Where the engine keeps the labels.
    pub(crate) labels: *mut CodeWord,
    /// The lowest label, and one more than the highest.
    pub(crate) range: Range<CodeWord>,
}

// SAFETY: the pointers lead to data of the engine, which stays where it is; writes are atomic.
unsafe impl Send for Instructions {}
// SAFETY: as above.
unsafe impl Sync for Instructions {}

/// How many words behind the labels are looked at for supervisors.
const SHARED_WORDS: usize = 64;

impl Instructions {
    /// The supervisors that predicates share lie behind the labels: a length of 0, one
    /// instruction, and `I_EXIT`.
    pub(crate) fn shared_supervisors(&self) -> Vec<usize> {
        let Some(exit) = self.named("I_EXIT") else {
            return Vec::new();
        };
        let exit = self.get(exit).label;
        let first = self.labels as usize + self.len() * WORD;
        let cells = (0..SHARED_WORDS).map(|index| first + index * WORD);
        // SAFETY: the engine's data goes on for longer than that.
        let is_one = |cell: &usize| unsafe {
            word(*cell, 0) == 0
                && self.range.contains(&word(*cell, WORD))
                && word(*cell, 2 * WORD) == exit
        };
        cells.filter(is_one).map(|cell| cell + WORD).collect()
    }

    /// Searches the engine's data. `None` if there are no such tables: another compiler has made
    /// the engine.
    pub(crate) fn find(image: &Image) -> Option<Self> {
        let tables = image
            .data
            .iter()
            .find_map(|data| CodeData::find(image, data))?;
        let count = tables.count;
        let descriptions = image
            .data
            .iter()
            .find_map(|data| descriptions(image, data, count))?;
        let by_op = (0..count)
            .map(|op| {
                // SAFETY: as many descriptions and labels as there are instructions.
                unsafe { instruction(&*descriptions.add(op), tables.labels.add(op).read()) }
            })
            .collect();
        Some(Self {
            by_op,
            decode_table: tables.decode_table,
            labels: tables.labels,
            range: tables.range,
        })
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.by_op.len()
    }

    pub(crate) fn get(&self, op: Op) -> &Instruction {
        &self.by_op[usize::from(op)]
    }

    /// The number of the instruction of that name, which is in upper case.
    pub(crate) fn named(&self, name: &str) -> Option<Op> {
        let position = self.by_op.iter().position(|known| known.name == name)?;
        Op::try_from(position).ok()
    }

    /// The code of a predicate in C begins with this instruction: in later versions, that is the
    /// one that calls a function which leaves no choicepoint.
    pub(crate) fn opens_foreign(&mut self, op: Op) {
        if self.get(op).name.starts_with("I_FCALLDET") {
            for instruction in &mut self.by_op {
                if instruction.name.starts_with("I_FCALLDET") {
                    instruction.kind = InstructionKind::ForeignOpen;
                }
            }
        }
    }

    /// Their numbers.
    pub(crate) fn ops(&self) -> impl Iterator<Item = Op> + use<> {
        0..self.by_op.len() as Op
    }

    /// How many cells an instruction takes with its operands, if that is always the same.
    pub(crate) fn fixed_length(&self, op: Op) -> Option<usize> {
        match self.get(op).operands {
            Operands::Fixed(operands) => Some(1 + operands),
            Operands::Indirect(_) | Operands::Unknown => None,
        }
    }

    /// How many cells an instruction takes with its operands. `None` if that is not known.
    ///
    /// # Safety
    /// `cell` is the place of this instruction in threaded code.
    pub(crate) unsafe fn length(&self, op: Op, cell: *const CodeWord) -> Option<usize> {
        match self.get(op).operands {
            Operands::Fixed(operands) => Some(1 + operands),
            Operands::Indirect(before) => {
                // SAFETY: the header follows the label and the operands before it.
                let header = unsafe { cell.add(1 + before).read() };
                Some(2 + before + (header >> INDIRECT_LENGTH_SHIFT))
            }
            Operands::Unknown => None,
        }
    }
}

/// `PL_code_data` of the engine: `dewam_table`, `dewam_table_offset`, in some versions
/// `jump_table`, and `wam_table`.
struct CodeData {
    decode_table: *mut *mut Op,
    labels: *mut CodeWord,
    count: usize,
    range: Range<CodeWord>,
}

/// There are more instructions than that in every version.
const FEWEST: usize = 100;

impl CodeData {
    fn find(image: &Image, data: &Range<usize>) -> Option<Self> {
        let word = size_of::<usize>();
        let first = data.start.next_multiple_of(word);
        let last = data.end.saturating_sub((FEWEST + 3) * word);
        (first..last)
            .step_by(word)
            .find_map(|at| Self::proven(image, data, at as *mut usize))
    }

    /// What begins at `at` if it is that: every label has its own number.
    fn proven(image: &Image, data: &Range<usize>, at: *mut usize) -> Option<Self> {
        // SAFETY: `find` leaves room for so many words.
        let (table, offset) = unsafe { (at.read(), at.add(1).read()) };
        if !image.text.contains(&offset) || table < 1 << 16 || table % 8 != 0 {
            return None;
        }
        [2, 3].into_iter().find_map(|skip| {
            // SAFETY: words of the same data.
            let labels = unsafe { at.add(skip) };
            let room = (data.end - labels as usize) / size_of::<usize>();
            let count = (0..room.min(256))
                // SAFETY: within the data.
                .take_while(|&n| image.text.contains(&unsafe { labels.add(n).read() }))
                .count();
            // SAFETY: as counted.
            let known = unsafe { std::slice::from_raw_parts(labels, count) };
            let (lowest, highest) = (*known.iter().min()?, *known.iter().max()?);
            if count < FEWEST || lowest != offset {
                return None;
            }
            // SAFETY: the engine's table has an entry for each address between the labels, if
            // this is it. That `lowest` equals the offset in front of it leaves no other reading.
            let agrees = |op: usize| unsafe {
                (table as *const Op).add(known[op] - offset).read() == op as Op
            };
            (1..count).all(agrees).then(|| Self {
                decode_table: at.cast(),
                labels,
                count,
                range: lowest..highest + 1,
            })
        })
    }
}

/// The engine's descriptions: as many as there are instructions, numbered from 0.
fn descriptions(image: &Image, data: &Range<usize>, count: usize) -> Option<*const CodeInfo> {
    let size = size_of::<CodeInfo>();
    let first = data.start.next_multiple_of(8);
    let last = data.end.checked_sub(count * size)?;
    let is_description = |at: usize, number: usize| {
        // SAFETY: within the data, which is initialised.
        let info = unsafe { &*((at + number * size) as *const CodeInfo) };
        info.number as usize == number && image.whole.contains(&(info.name as usize))
    };
    (first..last)
        .step_by(8)
        .find(|&at| (0..count).all(|number| is_description(at, number)))
        .map(|at| at as *const CodeInfo)
}

/// # Safety
/// A description of the engine's.
unsafe fn instruction(info: &CodeInfo, label: CodeWord) -> Instruction {
    // SAFETY: the engine's own name.
    let name = unsafe { CStr::from_ptr(info.name) }
        .to_string_lossy()
        .to_ascii_uppercase();
    let known = KINDS.iter().find(|(known, _)| *known == name);
    let kind = match known {
        Some(&(_, kind)) => kind,
        None if name.starts_with(TRIE_TRY) => InstructionKind::Alternative,
        None => InstructionKind::Other,
    };
    let operands = match info.operands {
        DYNAMIC if INDIRECT.contains(&name.as_str()) => Operands::Indirect(0),
        DYNAMIC if INDIRECT_AFTER_JUMP.contains(&name.as_str()) => Operands::Indirect(1),
        DYNAMIC => Operands::Unknown,
        fixed => Operands::Fixed(fixed.into()),
    };
    Instruction {
        label,
        kind,
        name,
        operands,
    }
}
