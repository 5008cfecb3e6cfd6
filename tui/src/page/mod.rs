//! One page of HTML with all that matters of a trace, for a browser without a network.
//!
//! The figures come from the parts that reports print, and stand in the page as JSON; `web/` has
//! what shows them. Each part of the page is a module here and a script there. The page has figures
//! and no events, and every part has a limit, so its size is bounded; what a part leaves out is
//! summed up and said.

mod calls;
mod flame;
mod head;
mod names;
mod predicates;
mod source;
mod timeline;

use std::io::{self, Write};

use portmortem_analyzer::advice::{Finding, findings};
use portmortem_analyzer::export::json::Escaped;
use portmortem_analyzer::text::{as_html, percent};
use portmortem_analyzer::{Analysis, Progress};
use serde::Serialize;
use serde_json::Value;

use crate::cli::USUAL_LEAST;
use crate::report;
use calls::PageCalls;
use flame::PageFlame;
use head::Head;
use names::{PageName, PageNames};
use predicates::PagePredicates;
use source::PageSource;
use timeline::PageTimeline;

/// The page, with places for the parts that are put into it: between `%%`, by name.
const FRAME: &str = include_str!("web/page.html");

const STYLE: &str = include_str!("web/page.css");

/// The scripts, in the order in which they run.
const SCRIPTS: [&str; 9] = [
    include_str!("web/base.js"),
    include_str!("web/head.js"),
    include_str!("web/advice.js"),
    include_str!("web/predicates.js"),
    include_str!("web/calls.js"),
    include_str!("web/flame.js"),
    include_str!("web/timeline.js"),
    include_str!("web/source.js"),
    include_str!("web/start.js"),
];

/// More findings than these are only counted.
const MOST_FINDINGS: usize = 8;

/// Does work that takes long, and shows how far it is.
pub(crate) type PageStep<'s> = &'s dyn Fn(&dyn Fn(&Progress));

/// What a user may choose.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PageOptions {
    /// Predicates of the table, by either order.
    pub(crate) top: usize,
    /// Show the text of files that are neither of the program nor of the engine.
    pub(crate) outside: bool,
}

/// What the page shows.
#[derive(Debug, Serialize)]
pub(crate) struct Page {
    head: Head,
    advice: PageAdvice,
    predicates: PagePredicates,
    calls: PageCalls,
    flame: PageFlame,
    timeline: PageTimeline,
    source: PageSource,
    /// What the numbers of predicates in the other parts mean; those of the table come first.
    names: Vec<PageName>,
}

#[derive(Debug, Serialize)]
struct PageAdvice {
    findings: Vec<Value>,
    /// Findings that are not shown.
    more: usize,
}

impl Page {
    /// The page of a trace. The events may be read for it: ask `Trace::check_whole` before it is
    /// written.
    pub(crate) fn of(analysis: &Analysis, options: PageOptions, step: PageStep) -> Self {
        let mut names = PageNames::new(analysis);
        let predicates = PagePredicates::of(analysis, options.top, &mut names);
        Self {
            head: Head::of(analysis),
            advice: advice(analysis),
            calls: PageCalls::of(analysis, predicates.rows.len(), &mut names),
            flame: PageFlame::of(analysis, &mut names),
            timeline: PageTimeline::of(analysis, &mut names, step),
            source: PageSource::of(analysis, options.outside, &mut names),
            predicates,
            names: names.all(),
        }
    }

    /// Writes the page.
    ///
    /// # Errors
    /// If the output fails.
    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        for (at, part) in FRAME.split("%%").enumerate() {
            match part {
                _ if at % 2 == 0 => out.write_all(part.as_bytes())?,
                "title" => out.write_all(as_html(&self.head.title).as_bytes())?,
                "style" => out.write_all(STYLE.as_bytes())?,
                "data" => out.write_all(self.json()?.as_bytes())?,
                _ => SCRIPTS
                    .iter()
                    .try_for_each(|script| out.write_all(script.as_bytes()))?,
            }
        }
        Ok(())
    }

    /// As JSON that nothing in it can end: `<`, `>` and `&` are in strings only, where JSON has
    /// escapes for them.
    fn json(&self) -> io::Result<String> {
        let mut json = Vec::new();
        serde_json::to_writer(Escaped(&mut json), self)?;
        let json = String::from_utf8(json).map_err(io::Error::other)?;
        let json = json.replace('<', "\\u003c").replace('>', "\\u003e");
        Ok(json.replace('&', "\\u0026"))
    }
}

/// What `advise` says.
fn advice(analysis: &Analysis) -> PageAdvice {
    let found = findings(analysis, USUAL_LEAST);
    let work = analysis.whole().work_ticks;
    let object = |finding: &Finding| {
        let mut object = report::finding_object(analysis, finding);
        object["share"] = percent(finding.cost_ticks, finding.whole_ticks(work)).into();
        object["sure"] = finding.certainty.name().into();
        object
    };
    PageAdvice {
        findings: found.iter().take(MOST_FINDINGS).map(object).collect(),
        more: found.len().saturating_sub(MOST_FINDINGS),
    }
}

#[cfg(test)]
mod tests;
