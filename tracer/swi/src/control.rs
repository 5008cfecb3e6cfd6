//! The foreign predicates behind `library(portmortem)`: beginning and ending a recording, naming
//! predicates.

use std::ffi::c_int;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use portmortem_tracer::format::{Clause, Header, Mode, Record, Site};
use portmortem_tracer::pattern::PredicatePattern;
use portmortem_tracer::{Keep, NewPredicate, Options, Recorder};

use crate::asking;
use crate::calibrate::{self, RecordingMode};
use crate::collections::Stop;
use crate::ending;
use crate::engine::Engine;
use crate::engines;
use crate::entered::EnteredClause;
use crate::ffi::{self, AgcHook, Atom, FALSE, Foreign, TRUE, Term};
use crate::native::inferences;
use crate::recording::{self, Recording, Selection};
use crate::symbolic;
use crate::values::{self, integer, strings, text, unify_string};
use crate::watcher;

/// `open(+Settings, -Error)`: begins a recording. `Settings` is a list of texts `key=value`;
/// `Error` is unified with an empty string, or with why it did not work.
pub(crate) fn open(settings: Term, error: Term) -> Foreign {
    let message = match open_settings(&strings(settings)) {
        Ok(()) => String::new(),
        Err(message) => message,
    };
    unify_string(error, &message)
}

fn open_settings(settings: &[String]) -> Result<(), String> {
    let mut request = OpenRequest::default();
    for setting in settings {
        let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
        request.set(key, value)?;
    }
    if recording::is_open() {
        return Err("a recording is in progress; end it with pm_stop/0".to_owned());
    }
    let recorder = Recorder::create_with(
        &request.output,
        &request.header(),
        &request.options,
        recording::ids(),
    )
    .map_err(|error| error.to_string())?;
    if request.options.keep == Keep::Figures {
        let name = request
            .output
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        recorder.note(&format!(
            "the newest events are here, and those around slow calls and marks; figures of all events are \
             in {name}.figures"
        ));
    }
    if request.symbolic {
        symbolic::begin();
    }
    recording::start(Recording {
        recorder,
        selection: request.selection,
        of_trials: false,
        tails: !request.mode.byrd && !request.mode.no_tail,
        clauses: request.clauses,
        symbolic: request.symbolic,
        stack_limit: request.stack_limit,
        home: request.home,
        pseudo: Default::default(),
    });
    Ok(())
}

/// What `open/2` was asked for.
#[derive(Default)]
struct OpenRequest {
    output: PathBuf,
    engine: String,
    command: Vec<String>,
    directory: Option<String>,
    home: PathBuf,
    mode: Mode,
    options: Options,
    selection: Selection,
    clauses: bool,
    symbolic: bool,
    stack_limit: usize,
}

impl OpenRequest {
    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "output" => self.output = PathBuf::from(value),
            "engine" => value.clone_into(&mut self.engine),
            "command" => self.command.push(value.to_owned()),
            "directory" => self.directory = Some(value.to_owned()),
            "home" => self.home = PathBuf::from(value),
            "byrd" => self.mode.byrd = value == "true",
            "symbolic" => self.symbolic = value == "true",
            "clauses" => self.clauses = value == "true",
            // How clauses are instrumented is decided elsewhere.
            "goal_ports" => {}
            "tail" => self.mode.no_tail = value != "true",
            "include" => self.selection.include.push(PredicatePattern::new(value)),
            "exclude" => self.selection.exclude.push(PredicatePattern::new(value)),
            "arguments" => self.selection.arguments.push(PredicatePattern::new(value)),
            "values" => self.selection.values.push(PredicatePattern::new(value)),
            "force" => self.options.overwrite = value == "true",
            "max_size" => {
                let bytes = value
                    .parse()
                    .map_err(|_| format!("max_size: not a size: {value}"))?;
                self.options.max_size = Some(bytes);
            }
            "figures_beyond" => {
                let size = value
                    .parse()
                    .map_err(|_| format!("figures_beyond: not a size: {value}"))?;
                self.options.keep = Keep::FiguresBeyond(size);
            }
            "stack_limit" => self.stack_limit = value.parse().unwrap_or(usize::MAX),
            "keep" => {
                self.options.keep = match value {
                    "last" => Keep::Last,
                    "figures" => Keep::Figures,
                    _ => Keep::First,
                };
            }
            _ => return Err(format!("unknown setting {key}")),
        }
        Ok(())
    }

    fn header(&self) -> Header {
        let mut header = Header::of_this_process(&self.engine);
        header.command.clone_from(&self.command);
        if let Some(directory) = &self.directory {
            header.directory.clone_from(directory);
        }
        header.mode = self.mode;
        header
    }
}

/// `recorded_with(+Technique, +Settings)`: says in the trace how ports are made, `ports` or
/// `stubs`, and what is known of their cost.
pub(crate) fn recorded_with(technique: Term, settings: Term) -> Foreign {
    let way = RecordingMode::of(technique, settings);
    let trials = calibrate::trials(&way);
    recording::with(|current| {
        current.recorder.technique(way.technique);
        if let Some(trials) = trials {
            current.recorder.recording_costs(&Record::Trials(trials));
        }
    });
    TRUE
}

/// `watched(+Descriptor)`: `portmortem record` waits for the end of this process at the other end
/// of this socket.
pub(crate) fn watched(descriptor: Term) -> Foreign {
    if let Ok(descriptor) = i32::try_from(integer(descriptor)) {
        watcher::begin(descriptor);
    }
    TRUE
}

/// `program_begins`: what this thread does from here on is the program's.
pub(crate) fn program_begins() -> Foreign {
    inferences::begin();
    // SAFETY: the reference is used for one assignment.
    if let Some(engine) = unsafe { engines::existing() } {
        engine.inferences = inferences::made();
    }
    TRUE
}

/// `keep_atoms(+Yes)`: while this is 1, a collection of atoms frees none that has a name.
pub(crate) fn keep_atoms(yes: Term) -> Foreign {
    extern "C" fn none(_: Atom) -> c_int {
        0
    }
    static OF_THE_PROGRAM: Mutex<Option<AgcHook>> = Mutex::new(None);
    let mut kept = OF_THE_PROGRAM
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    // SAFETY: both are functions of the kind that the engine calls, and the library stays loaded.
    unsafe {
        if integer(yes) == 1 {
            *kept = ffi::PL_agc_hook(Some(none));
        } else {
            ffi::PL_agc_hook(kept.take());
        }
    }
    TRUE
}

/// `close`: ends the recording; the program goes on.
pub(crate) fn close() -> Foreign {
    Foreign::from(ending::stop())
}

/// `recording`: whether there is a recording to be ended.
pub(crate) fn is_recording() -> Foreign {
    Foreign::from(recording::is_open())
}

/// `selected(+Module, +Name, +Arity, +Default)`: whether to record a predicate.
pub(crate) fn selected(module: Term, name: Term, arity: Term, default: Term) -> Foreign {
    let (module, name) = (text(module), values::name(name));
    let by_default = text(default) == "true";
    let arity = integer(arity);
    let chosen =
        recording::with(|current| current.selection.selects(by_default, &module, &name, arity));
    Foreign::from(chosen == Some(true))
}

/// `excluded(+Module, +Name, +Arity)`: whether a predicate is to be left out by name.
pub(crate) fn excluded(module: Term, name: Term, arity: Term) -> Foreign {
    let (module, name, arity) = (text(module), values::name(name), integer(arity));
    let excluded = recording::with(|current| current.selection.excludes(&module, &name, arity));
    Foreign::from(excluded == Some(true))
}

/// `selected_in(+Module)`: whether there can be predicates to record in a module.
pub(crate) fn selected_in(module: Term) -> Foreign {
    let module = text(module);
    let chosen = recording::with(|current| current.selection.selects_in(&module));
    Foreign::from(chosen == Some(true))
}

/// `predicate(+Module, +Name, +Arity, +File, +Line, -Id)`: names a predicate in the trace. `File`
/// is empty if unknown.
pub(crate) fn predicate(
    module: Term,
    name: Term,
    arity: Term,
    file: Term,
    line: Term,
    id: Term,
) -> Foreign {
    let (module, name, file) = (text(module), values::name(name), text(file));
    let (arity, line) = (integer(arity), integer(line));
    let given = recording::with(|current| {
        let file = current.file_name(&file);
        let file = Some(file.as_str()).filter(|file| !file.is_empty());
        current.predicate(NewPredicate {
            file,
            line,
            ..NewPredicate::named(&module, &name, arity)
        })
    });
    let Some(given) = given else { return FALSE };
    // SAFETY: a term of our own argument list.
    Foreign::from(ffi::truth(unsafe {
        ffi::PL_unify_int64(id, i64::from(given))
    }))
}

/// `site(+Callee, +Caller, +Clause, +Goal, +File, +Line, +ThenFails, -Site)`: the id of a goal in
/// a clause. `File` is empty if unknown; `ThenFails` is 1 if the clause fails after the goal,
/// else 0. While nothing is recorded, the id is that of the predicate called.
#[allow(
    clippy::too_many_arguments,
    reason = "they are those of the foreign predicate"
)]
pub(crate) fn site(
    callee: Term,
    caller: Term,
    clause: Term,
    goal: Term,
    file: Term,
    line: Term,
    then_fails: Term,
    id: Term,
) -> Foreign {
    let callee = integer(callee);
    let file = text(file);
    let given = recording::with(|current| {
        let file = current.file_name(&file);
        current.recorder.site(Site {
            callee,
            caller: integer(caller),
            clause: integer(clause),
            goal: integer(goal),
            line: integer(line),
            file: (!file.is_empty()).then(|| current.recorder.file(&file)),
            then_fails: integer(then_fails) == 1,
        })
    });
    // SAFETY: a term of our own argument list.
    Foreign::from(ffi::truth(unsafe {
        ffi::PL_unify_int64(id, i64::from(given.unwrap_or(callee)))
    }))
}

/// `clause(+Predicate, +Number, +File, +Line, -Clause)`: what `'$pm_clause'/1` is to be called
/// with at the beginning of a clause's body. `File` is empty if unknown.
pub(crate) fn clause(predicate: Term, number: Term, file: Term, line: Term, id: Term) -> Foreign {
    let file = text(file);
    let given = recording::epoch().and_then(|epoch| {
        let id = recording::with(|current| {
            let file = current.file_name(&file);
            current.recorder.clause(Clause {
                predicate: integer(predicate),
                number: integer(number),
                line: integer(line),
                file: (!file.is_empty()).then(|| current.recorder.file(&file)),
            })
        });
        Some(EnteredClause { epoch, id: id? })
    });
    let Some(given) = given else { return FALSE };
    // SAFETY: a term of our own argument list.
    Foreign::from(ffi::truth(unsafe {
        ffi::PL_unify_int64(id, given.to_raw())
    }))
}

/// `keeps_arguments(+Module, +Name, +Arity, +Id)`: whether what calls of a predicate are made
/// with is to be recorded. If so, the trace says it.
pub(crate) fn keeps_arguments(module: Term, name: Term, arity: Term, id: Term) -> Foreign {
    let (module, name, arity) = (text(module), text(name), integer(arity));
    let keeps = recording::with(|current| {
        let keeps = current.selection.keeps_arguments(&module, &name, arity);
        if keeps {
            current.recorder.keeps_arguments(integer(id));
        }
        keeps
    });
    Foreign::from(keeps == Some(true))
}

/// `center(+Name, -Id)`: the id of a cost centre, or failure while nothing is recorded.
pub(crate) fn center(name: Term, id: Term) -> Foreign {
    if recording::epoch().is_none() {
        return FALSE;
    }
    let name = text(name);
    let Some(given) = recording::with(|current| current.recorder.cost_center(&name)) else {
        return FALSE;
    };
    symbolic::mark(given, given);
    // SAFETY: a term of our own argument list.
    Foreign::from(ffi::truth(unsafe {
        ffi::PL_unify_int64(id, i64::from(given))
    }))
}

/// `in_center(+PredicateId, +Name)`: every box of the predicate is in this cost centre.
pub(crate) fn in_center(predicate: Term, name: Term) -> Foreign {
    let (predicate, name) = (integer(predicate), text(name));
    let center = recording::with(|current| {
        let center = current.recorder.cost_center(&name);
        current.recorder.in_cost_center(predicate, center);
        center
    });
    if let Some(center) = center {
        symbolic::mark(predicate, center);
    }
    TRUE
}

/// `wrappers_changed`: what was remembered about code addresses no longer holds.
pub(crate) fn wrappers_changed() -> Foreign {
    recording::wrappers_changed();
    TRUE
}

/// `resuming`: a delimited continuation is about to be resumed.
pub(crate) fn resuming() -> Foreign {
    recording::continuation_resumed();
    TRUE
}

/// `note(+Text)`: something a reader of the report should know.
pub(crate) fn note(remark: Term) -> Foreign {
    let remark = text(remark);
    recording::with(|current| current.recorder.note(&remark));
    TRUE
}

/// `keep_atom(+Atom)`: the atom is never collected.
pub(crate) fn keep_atom(atom: Term) -> Foreign {
    let mut kept: ffi::Atom = 0;
    // SAFETY: a term of our own argument list, and the atom it holds.
    unsafe {
        if ffi::truth(ffi::PL_get_atom(atom, &raw mut kept)) {
            ffi::PL_register_atom(kept);
        }
    }
    TRUE
}

/// `mark(+Text)`: a remark in the calling engine's stream.
pub(crate) fn mark(remark: Term) -> Foreign {
    let remark = text(remark);
    // SAFETY: the state is used within this call only.
    if let Some(engine) = unsafe { engines::current() } {
        engine.note_waiting_if_long();
        engine.stream.mark(&remark);
    }
    TRUE
}

/// `pause`: the calling engine's new boxes are not recorded until `resume`.
pub(crate) fn pause() -> Foreign {
    suspend(|engine| engine.set_paused(true))
}

/// `resume`: ends a pause.
pub(crate) fn resume() -> Foreign {
    go_on(|engine| engine.set_paused(false))
}

/// `own_begin`: what follows is code of `library(portmortem)`: a pause that nests.
pub(crate) fn own_begin() -> Foreign {
    // What is collected in code of our own belongs to no box, so there is nothing to look for.
    if engine_is(Engine::is_in_own) {
        return with_engine(Engine::enter_own);
    }
    suspend(Engine::enter_own)
}

/// `own_end`: the traced program goes on.
pub(crate) fn own_end() -> Foreign {
    if engine_is(Engine::is_deep_in_own) {
        return with_engine(Engine::leave_own);
    }
    go_on(Engine::leave_own)
}

/// `set_up_begin(-Begin)`: the recorder begins to note what it needs of the program.
pub(crate) fn set_up_begin(begin: Term) -> Foreign {
    // SAFETY: the state is used within this call only.
    let engine = unsafe { engines::existing() };
    let tick = engine.filter(|engine| engine.has_active_box());
    let tick = tick.map_or(0, Engine::begin_set_up);
    // SAFETY: a term of our own argument list.
    Foreign::from(ffi::truth(unsafe {
        ffi::PL_unify_int64(begin, tick.cast_signed())
    }))
}

/// `set_up_end(+Begin)`: that is over, which has begun so.
pub(crate) fn set_up_end(begin: Term) -> Foreign {
    let mut tick = 0;
    // SAFETY: a term of our own argument list and a place for its value; the state as above.
    let (_, engine) = unsafe { (ffi::PL_get_int64(begin, &raw mut tick), engines::existing()) };
    // 0 if no box was active then: such time belongs to no box.
    if let Some(engine) = engine.filter(|_| tick > 0) {
        engine.note_set_up(tick.cast_unsigned());
    }
    TRUE
}

fn engine_is(condition: impl FnOnce(&Engine) -> bool) -> bool {
    // SAFETY: the state is used within this call only.
    unsafe { engines::current() }.is_some_and(|engine| condition(engine))
}

/// Recording is suspended: what was collected until now is the program's.
fn suspend(action: impl FnOnce(&mut Engine)) -> Foreign {
    if let Err(Stop::Exception) = asking::look_if_long() {
        return FALSE;
    }
    with_engine(action)
}

/// Recording goes on: what was collected until now belongs to no box. Also after an exception,
/// which passes on.
fn go_on(action: impl FnOnce(&mut Engine)) -> Foreign {
    let looked = asking::look();
    with_engine(action);
    Foreign::from(!matches!(looked, Err(Stop::Exception)))
}

fn with_engine(action: impl FnOnce(&mut Engine)) -> Foreign {
    // SAFETY: the state is used within this call only.
    if let Some(engine) = unsafe { engines::current() } {
        action(engine);
    }
    TRUE
}
