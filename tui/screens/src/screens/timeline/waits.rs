//! The wait under the cursor: an arrow to the stream that it is for, and what is said of it.

use portmortem_analyzer::figures::waits::{LongWait, SharedKind};
use portmortem_analyzer::trace::names::printable;
use ratatui::buffer::Buffer;

use super::TimelineScreen;
use crate::theme::Theme;

impl TimelineScreen {
    /// The longest wait in the column of the cursor, if it is one of those that are listed.
    fn wait(&self) -> Option<&LongWait> {
        let waits = self.analysis()?.profile.waits.as_ref()?;
        let band = self.position().band;
        let (stretch, at) = (self.stretch(band), self.column_at());
        let ticks = stretch.start_of(at)..stretch.start_of(at + 1);
        waits.listed_in(self.figures(band)?.stream, ticks)
    }

    /// For what it is and for whom, in words.
    pub(super) fn about_wait(&self) -> Option<String> {
        let kind = self.wait()?.kind;
        let trace = &self.analysis()?.trace;
        let object = kind.object?;
        let name = printable(trace.shared(object.id).unwrap_or_default());
        let what = match object.kind {
            SharedKind::Thread => format!("waits for the end of thread {name}"),
            of => format!("waits for {} {name}", of.name()),
        };
        let whom = kind.awaited.map(|id| {
            let title = self.title(trace.stream_place(id).unwrap_or(usize::MAX));
            match object.kind {
                SharedKind::Mutex => format!(", held by {title}"),
                SharedKind::Queue => format!(", filled by {title}"),
                SharedKind::FullQueue => format!(", emptied by {title}"),
                SharedKind::Thread => format!(", {title}"),
            }
        });
        Some(what + &whom.unwrap_or_default())
    }

    /// From the cursor to the stream that the wait there is for, if that is in sight.
    pub(super) fn arrow(&self, buf: &mut Buffer, theme: &Theme) {
        let awaited = self.wait().and_then(|wait| wait.kind.awaited);
        let Some(awaited) = awaited else { return };
        let rows_of = |stream: Option<u32>| {
            let mut bands = self.layout.bands.iter();
            let of = |band: usize| self.figures(band).map(|figures| figures.stream);
            bands.find(|(band, _)| stream.is_some() && of(*band) == stream)
        };
        let own = self.figures(self.position().band).map(|own| own.stream);
        let (Some((_, from)), Some((_, to))) = (rows_of(own), rows_of(Some(awaited))) else {
            return;
        };
        let x = from.x + self.column_at() as u16;
        let (rows, tip, sign) = match to.y > from.y {
            true => (from.bottom()..to.y, to.y, "▼"),
            false => (to.bottom()..from.y, to.bottom().saturating_sub(1), "▲"),
        };
        for y in rows {
            buf.set_stringn(x, y, "│", 1, theme.key);
        }
        buf.set_stringn(x, tip, sign, 1, theme.key);
    }
}
