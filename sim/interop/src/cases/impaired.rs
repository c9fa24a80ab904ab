//! Links that drop, duplicate or reorder packets.

use anyhow::ensure;
use sim_bridge::Impairment;

use super::Case;
use crate::bed::{Bed, PairOptions, Writer};
use crate::message::Layout;

/// Probability of each fault in each direction.
const RATE: f64 = 0.01;

fn run(bed: &mut Bed, writer: Writer, impairment: Impairment) -> anyhow::Result<()> {
    let pair = bed.pair(PairOptions::default().impatient())?;
    bed.bridge.set_impairments(impairment, impairment)?;
    let mut layout = Layout::new(1);
    let lengths = [300_000, 5000, 1, 2000, 100_000, 0, 400_000];
    let mut messages = layout.writes(&lengths);
    messages.extend(layout.writes_with_immediate(&lengths[1..6]));
    bed.exchange(writer, &pair, &messages)?;
    let impaired = bed.traffic().impaired;
    ensure!(impaired > 0, "the link had no fault");
    Ok(())
}

pub fn cases() -> Vec<Case> {
    let none = Impairment::NONE;
    let links = [
        ("loss", Impairment { drop: RATE, ..none }),
        (
            "duplication",
            Impairment {
                duplicate: RATE,
                ..none
            },
        ),
        (
            "reordering",
            Impairment {
                reorder: RATE,
                ..none
            },
        ),
        (
            "all-faults",
            Impairment {
                drop: RATE,
                duplicate: RATE,
                reorder: RATE,
            },
        ),
    ];
    let mut cases = Vec::new();
    for (name, impairment) in links {
        for writer in Writer::BOTH {
            let run = move |bed: &mut Bed| run(bed, writer, impairment);
            let case = Case::new(format!("{name}-{writer}"), run).may_retransmit();
            cases.push(if name == "all-faults" {
                case.short()
            } else {
                case
            });
        }
    }
    cases
}
