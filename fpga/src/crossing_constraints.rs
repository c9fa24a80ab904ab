//! The XDC lines of crossings (`docs/crossings.md`, "Constraints"; UG903).

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::crossings::{Crossing, Kind};

/// The lines for `crossings` of a block whose path in the design is `at`. `periods` are those of the block's clocks in nanoseconds, by the names of its ports.
///
/// - A pointer's delay is at most a period of the clock that sends, so one change is under way at a time. The skew between its bits is at most the shorter
///   period.
/// - A word of a LUT RAM has been there for four edges of the reader's clock when it is read, so a period of that clock is short enough.
/// - A reset is asynchronous at the pin PRE of its chain, whose flip-flops start as ones.
///
/// # Panics
/// If a clock has no period.
pub fn lines(crossings: &[Crossing], at: &str, periods: &BTreeMap<&str, f64>) -> String {
    let mut text = String::new();
    for crossing in crossings {
        let Crossing {
            kind,
            from,
            to,
            clock,
            write_clock,
        } = crossing;
        let period = |clock: &str| {
            *periods
                .get(clock)
                .unwrap_or_else(|| panic!("clock {clock} has no period"))
        };
        match (kind, from) {
            (Kind::Levels { bits }, Some(source)) => {
                let ends = format!(
                    "-from [get_cells {{{at}/{}/source_crossing_reg*}}] -to [get_cells {{{at}/{to}/first_crossing_reg*}}]",
                    source.path
                );
                let _ = writeln!(
                    text,
                    "set_max_delay -datapath_only {ends} {:.3}",
                    period(&source.clock)
                );
                if *bits > 1 {
                    let skew = period(&source.clock).min(period(clock));
                    let _ = writeln!(text, "set_bus_skew {ends} {skew:.3}");
                }
            }
            (Kind::Levels { .. }, None) => {
                let _ = writeln!(
                    text,
                    "set_false_path -to [get_pins {{{at}/{to}/first_crossing_reg*/D}}]"
                );
            }
            (Kind::Reset, _) => {
                let _ = writeln!(
                    text,
                    "set_false_path -to [get_pins {{{at}/{to}/chain_crossing_reg*/PRE}}]"
                );
            }
            (Kind::Memory, _) => {
                let writer = write_clock.as_deref().unwrap_or_default();
                let _ = writeln!(
                    text,
                    "set_max_delay -datapath_only -from [get_clocks -of_objects [get_pins {{{at}/{writer}}}]] -to [get_cells {{{at}/{to}/read_data_reg*}}] {:.3}",
                    period(clock)
                );
            }
        }
    }
    text
}
