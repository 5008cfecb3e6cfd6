//! The format of Valgrind's Callgrind, for `KCachegrind` and `callgrind_annotate`.
//!
//! A function is a predicate; its cost is its self time, at the line of its first clause. A call
//! has the time served for the caller, which over all callers is the inclusive time. It is at the
//! line of its goal where that is known: in the file of the calling predicate, and for net times,
//! which sites do not have, if all calls of the pair come from one goal. Else it is at the line of
//! the caller's first clause.
//!
//! All predicates and calls are written: a viewer folds by itself. Where no call was seen but time
//! was served (it was before the range of time that is looked at), one call is written: viewers
//! take a cost without a call for self time.

use std::io::{self, Write};

use indexmap::IndexSet;

use super::{Graph, LeftOut, Metric};
use crate::figures::Caller;
use crate::trace::names::printable;
use crate::trace::{PredicateIndex, SiteIndex};

/// As Callgrind calls a file that is not known.
const UNKNOWN_FILE: &str = "???";

/// Writes the call graph.
///
/// # Errors
/// If the output fails.
pub fn write(graph: &Graph, out: &mut dyn Write) -> io::Result<LeftOut> {
    let analysis = graph.analysis;
    let event = match graph.metric {
        Metric::NetTime => "net_ns",
        _ => "ns",
    };
    let command = printable(&analysis.trace.header().command.join(" "));
    let total = graph.size(graph.total_ticks());
    writeln!(
        out,
        "# callgrind format\nversion: 1\ncreator: portmortem {}\ncmd: {command}\npositions: line\nevents: {event}\n\
         summary: {total}",
        env!("CARGO_PKG_VERSION")
    )?;
    let mut writer = CallgrindWriter {
        graph,
        files: WrittenNames::default(),
        functions: WrittenNames::default(),
        out,
    };
    writer.function(Caller::Root)?;
    for predicate in analysis.tables().used_predicates() {
        writer.function(Caller::Predicate(predicate))?;
    }
    writeln!(writer.out, "\ntotals: {total}")?;
    Ok(LeftOut::default())
}

struct CallgrindWriter<'a, 'o> {
    graph: &'a Graph<'a>,
    files: WrittenNames,
    functions: WrittenNames,
    out: &'o mut dyn Write,
}

impl CallgrindWriter<'_, '_> {
    /// A predicate with its calls.
    fn function(&mut self, caller: Caller) -> io::Result<()> {
        let graph = self.graph;
        let profile = &graph.analysis.profile;
        let (file, line) = self.place(caller);
        let file = self.files.name(&file);
        let function = self.functions.name(graph.analysis.caller(caller));
        let own = caller
            .predicate()
            .map_or(0, |of| graph.predicate_ticks(of).0);
        writeln!(
            self.out,
            "\nfl={file}\nfn={function}\n{line} {}",
            graph.size(own)
        )?;
        let pairs = (caller, 0)..=(caller, PredicateIndex::MAX);
        for (&(_, callee), figures) in profile.edges.range(pairs) {
            let sites = self.sites(caller, callee);
            let whole = graph.served_ticks(caller, callee);
            match (graph.metric, &sites[..]) {
                (_, &[(line, calls, _)]) => self.call(callee, line, calls, whole)?,
                // Times of goals that run inside each other would add up to more.
                (Metric::SelfTime, [_, ..])
                    if whole == sites.iter().map(|&(_, _, served)| served).sum::<u64>() =>
                {
                    for &(line, calls, served) in &sites {
                        self.call(callee, line, calls, served)?;
                    }
                }
                _ => self.call(callee, line, figures.calls, whole)?,
            }
        }
        Ok(())
    }

    /// The goals that made the calls of a pair: line, calls and ticks served of each.
    fn sites(&self, caller: Caller, callee: PredicateIndex) -> Vec<(u32, u64, u64)> {
        let analysis = self.graph.analysis;
        let (own_file, own_line) = match caller.predicate().and_then(|of| analysis.source(of)) {
            Some((file, line)) => (Some(file), line),
            None => (None, 0),
        };
        let keys = (caller, callee, None)..=(caller, callee, Some(SiteIndex::MAX));
        let place = |site: Option<SiteIndex>| {
            let info = site.and_then(|site| analysis.trace.sites().get(site as usize));
            info.filter(|info| info.line > 0)
                .filter(|info| info.file.and_then(|file| analysis.trace.file(file)) == own_file)
                .map_or(own_line, |info| info.line)
        };
        let sites = analysis.profile.sites.range(keys);
        sites
            .map(|(&(_, _, site), figures)| (place(site), figures.calls, figures.served_ticks))
            .collect()
    }

    fn call(
        &mut self,
        callee: PredicateIndex,
        line: u32,
        calls: u64,
        ticks: u64,
    ) -> io::Result<()> {
        let (file, callee_line) = self.place(Caller::Predicate(callee));
        let file = self.files.name(&file);
        let function = self.functions.name(self.graph.analysis.predicate(callee));
        let cost = self.graph.size(ticks);
        writeln!(
            self.out,
            "cfi={file}\ncfn={function}\ncalls={} {callee_line}\n{line} {cost}",
            calls.max(1)
        )
    }

    /// File and line of the first clause; line 0 if it is not known.
    fn place(&self, of: Caller) -> (String, u32) {
        let source = of.predicate().and_then(|of| self.graph.analysis.source(of));
        source.map_or_else(
            || (UNKNOWN_FILE.to_owned(), 0),
            |(file, line)| (printable(file), line),
        )
    }
}

/// Names are written once, and by their numbers from then on.
#[derive(Default)]
struct WrittenNames(IndexSet<String>);

impl WrittenNames {
    fn name(&mut self, name: &str) -> String {
        if let Some(number) = self.0.get_index_of(name) {
            return format!("({})", number + 1);
        }
        self.0.insert(name.to_owned());
        format!("({}) {name}", self.0.len())
    }
}
