//! Opening and closing, what is known of a whole trace, and rows of tables.

use std::path::PathBuf;

use portmortem_analyzer::remarks;
use portmortem_analyzer::tables::{Cell, Table};

use crate::error::{Culprit, Error, Holds};
use crate::events::Dicts;
use crate::ffi::Term;
use crate::handle;
use crate::opened::Opened;
use crate::terms::{TermList, Terms, new_refs, put_number, text, unify};

/// `open_trace(+Path, +AcceptsDamage, -Trace)`
pub(crate) fn open_trace([path, accepts_damage, trace]: [Term; 3]) -> Holds {
    let accepts_damage = text(accepts_damage)? == "true";
    let opened = Opened::open(PathBuf::from(text(path)?), accepts_damage)?;
    handle::unify_new(trace, opened)
}

/// `close_trace(+Trace)`
pub(crate) fn close_trace([trace]: [Term; 1]) -> Holds {
    handle::close(trace)?;
    Ok(true)
}

/// `is_open(+Trace)`
pub(crate) fn is_open([trace]: [Term; 1]) -> Holds {
    match handle::get(trace) {
        Ok(_) => Ok(true),
        Err(Error::Existence(..)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// `stream_ids(+Trace, -Streams)`: the numbers of its streams.
pub(crate) fn stream_ids([trace, streams]: [Term; 2]) -> Holds {
    let opened = handle::get(trace)?;
    let (mut list, id) = (TermList::in_place_of(streams), new_refs(1));
    for stream in opened.trace.streams() {
        put_number(id, stream.id.into())?;
        list.push(id)?;
    }
    list.end()?;
    Ok(true)
}

/// `table_names(-Tables)`
pub(crate) fn table_names([tables]: [Term; 1]) -> Holds {
    put_texts(tables, Table::ALL.iter().map(|table| table.name()))?;
    Ok(true)
}

/// `table_rows(+Trace, +Table, -Rows)`: the rows of a table, which is not `events`.
///
/// It is a function of its own: where all tables are written in line with what catches panics, the
/// optimiser of LLVM 22 does not end.
#[inline(never)]
pub(crate) fn table_rows([trace, table, rows]: [Term; 3]) -> Holds {
    let opened = handle::get(trace)?;
    let name = text(table)?;
    let analysis = opened.analysis()?;
    let Some(table) = Table::from_name(&name).filter(|table| *table != Table::Events) else {
        let names: Vec<_> = Table::ALL.iter().map(|table| table.name()).collect();
        let known = format!("tables are {}", names.join(", "));
        return Err(Error::Domain(
            "portmortem_table",
            Culprit::Text(name),
            known,
        ));
    };
    let mut terms = Terms::new();
    let keys = terms.keys(table.columns().iter().map(|column| column.name));
    let mut dicts = Dicts::new(table.name(), keys, rows);
    analysis
        .tables()
        .rows(table, |cells| dicts.push(&mut terms, None, cells))?;
    opened.check_whole()?;
    dicts.list.end()?;
    Ok(true)
}

fn put_texts<'n>(list: Term, texts: impl Iterator<Item = &'n str>) -> Result<(), Error> {
    let (mut terms, text) = (Terms::new(), new_refs(1));
    let mut list = TermList::in_place_of(list);
    for of in texts {
        terms.put_atom(text, of)?;
        list.push(text)?;
    }
    list.end()
}

/// `info(+Trace, +Key, -Value)`: as `portmortem info --format json` says it.
pub(crate) fn info([trace, key, value]: [Term; 3]) -> Holds {
    let opened = handle::get(trace)?;
    let (trace, header) = (&opened.trace, opened.trace.header());
    let told = new_refs(1);
    let mut terms = Terms::new();
    let path = opened.path.to_string_lossy();
    match text(key)?.as_str() {
        "trace" => terms.put_atom(told, &path)?,
        "command" => put_texts(told, header.command.iter().map(String::as_str))?,
        "directory" => terms.put_atom(told, &header.directory)?,
        "engine" => terms.put_atom(told, &header.engine)?,
        "recorder" => terms.put_atom(told, &remarks::recorder(trace))?,
        "machine" => terms.put_atom(told, &header.machine)?,
        "began" => put_number(told, header.started_unix)?,
        "ended" => terms.put_atom(told, &remarks::ending(trace))?,
        "mode" => terms.put_atom(told, &remarks::modes(trace))?,
        "bytes" => put_number(told, trace.file_size())?,
        "predicates" => put_number(told, trace.predicates().len() as u64)?,
        "streams" => put_number(told, trace.streams().len() as u64)?,
        "events" => put_number(told, opened.whatever_it_is()?.events())?,
        "lost_events" => put_number(told, opened.whatever_it_is()?.profile.lost_events())?,
        "in_order" => {
            let in_order = trace.end().is_some() && opened.whatever_it_is()?.profile.is_in_order();
            terms.put_cell(told, Cell::Bool(in_order))?;
        }
        "losses" => {
            let losses = remarks::losses(opened.whatever_it_is()?, usize::MAX);
            put_texts(told, losses.iter().map(String::as_str))?;
        }
        _ => return Ok(false),
    }
    opened.check_whole()?;
    Ok(unify(value, told))
}
