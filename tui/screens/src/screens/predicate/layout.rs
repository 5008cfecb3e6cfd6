//! Where the parts of the predicate screen are: callers and callees first; the slowest calls and a histogram side by side; at least eight
//! lines of the source, if it can be read; the box with its ports where there is room. On a wide screen box and source are on the right.

use ratatui::layout::Rect;

/// Lines of the box with its ports, and of how its time ended.
pub(super) const PORT_LINES: u16 = 10;

/// From this width on, box and source are beside the table.
const WIDE: u16 = 150;

/// The narrowest right side.
const RIGHT: u16 = 80;

/// A heading and eight lines.
const SOURCE: u16 = 9;

/// Callers and callees have so many lines before there is a box.
const NEIGHBOURS: u16 = 8;

/// A heading and three calls.
const SLOWEST: u16 = 4;

/// In less width there is no box.
const PORT_WIDTH: u16 = 79;

/// Width of a histogram, and the least one of the list of calls together with it.
const HISTOGRAM: u16 = 34;
const WITH_HISTOGRAM: u16 = 66;

/// Where the parts are; those of no height are not drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Areas {
    pub(super) neighbours: Rect,
    pub(super) ports: Rect,
    pub(super) slowest: Rect,
    pub(super) histogram: Rect,
    pub(super) source: Rect,
}

/// What the parts have to show.
#[derive(Debug, Clone, Copy)]
pub(super) struct PartContents {
    /// Rows of callers and callees, the predicate included.
    pub(super) neighbours: usize,
    /// Lines of the source.
    pub(super) source: usize,
}

impl Areas {
    pub(super) fn of(area: Rect, contents: PartContents) -> Self {
        if area.width >= WIDE {
            Self::side_by_side(area)
        } else {
            Self::stacked(area, contents)
        }
    }

    fn side_by_side(area: Rect) -> Self {
        let width = RIGHT.max(area.width / 2);
        let (left, right) = beside(area, area.width.saturating_sub(width + 2));
        let (neighbours, calls) = below(left, left.height - left.height / 3);
        let (ports, source) = below(right, PORT_LINES + 1);
        Self::with_calls(neighbours, ports, calls, source)
    }

    fn stacked(area: Rect, contents: PartContents) -> Self {
        let height = area.height;
        let source = if contents.source > 0 { SOURCE } else { 1 };
        let slowest = match height {
            0..=15 => 0,
            16..=29 => SLOWEST,
            _ => height / 5,
        };
        let left = height.saturating_sub(source.min(height / 2) + slowest);
        let ports = if area.width < PORT_WIDTH {
            0
        } else if left >= PORT_LINES + NEIGHBOURS {
            PORT_LINES
        } else if contents.source == 0 && left >= PORT_LINES - 2 + NEIGHBOURS {
            PORT_LINES - 2
        } else {
            0
        };
        let rows = u16::try_from(contents.neighbours).unwrap_or(u16::MAX);
        let neighbours = rows
            .saturating_add(1)
            .min((left - ports).max(NEIGHBOURS).min(left));
        let (neighbours, rest) = below(area, neighbours);
        let (ports, rest) = below(rest, ports);
        let slowest = match contents.source {
            0 => rest.height.saturating_sub(source),
            _ => slowest,
        };
        let (calls, source) = below(rest, slowest);
        Self::with_calls(neighbours, ports, calls, source)
    }

    fn with_calls(neighbours: Rect, ports: Rect, calls: Rect, source: Rect) -> Self {
        let width = match calls.width {
            ..WITH_HISTOGRAM => calls.width,
            width => width - (HISTOGRAM + 1),
        };
        let (slowest, histogram) = beside(calls, width);
        Self {
            neighbours,
            ports,
            slowest,
            histogram,
            source,
        }
    }
}

/// So many columns of an area, and the others but one.
fn beside(area: Rect, width: u16) -> (Rect, Rect) {
    let width = width.min(area.width);
    let rest = area.width - width;
    let gap = rest.min(1);
    (
        Rect { width, ..area },
        Rect {
            x: area.x + width + gap,
            width: rest - gap,
            ..area
        },
    )
}

/// So many lines of an area, and the others.
fn below(area: Rect, height: u16) -> (Rect, Rect) {
    let height = height.min(area.height);
    (
        Rect { height, ..area },
        Rect {
            y: area.y + height,
            height: area.height - height,
            ..area
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_80_by_24_callers_callees_calls_and_eight_lines_of_source_are_in_sight() {
        let contents = PartContents {
            neighbours: 50,
            source: 400,
        };
        let areas = Areas::of(Rect::new(0, 2, 80, 21), contents);
        let heights = [areas.neighbours, areas.slowest, areas.source].map(|area| area.height);
        assert_eq!(heights, [8, 4, 9]);
        assert_eq!(areas.ports.height, 0);
    }

    #[test]
    fn parts_never_overlap_nor_leave_the_screen() {
        for (width, height) in (1..260)
            .step_by(7)
            .flat_map(|x| (1..90).map(move |y| (x, y)))
        {
            for (neighbours, source) in [(2, 0), (2, 400), (60, 0), (60, 400)] {
                let area = Rect::new(0, 2, width, height);
                let areas = Areas::of(area, PartContents { neighbours, source });
                let parts = [
                    areas.neighbours,
                    areas.ports,
                    areas.slowest,
                    areas.histogram,
                    areas.source,
                ];
                for (at, part) in parts.iter().enumerate() {
                    assert_eq!(part.intersection(area).area(), part.area(), "{areas:?}");
                    for other in &parts[..at] {
                        assert_eq!(part.intersection(*other).area(), 0, "{areas:?}");
                    }
                }
            }
        }
    }
}
