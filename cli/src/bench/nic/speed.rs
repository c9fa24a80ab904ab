//! Speed of the co-simulation, in time on the wall.

use std::collections::BTreeMap;
use std::time::Instant;

use sim_nic::{MixedNic, Pace, RtlNic};
use sim_world::pair::{RECEIVER, SENDER};
use sim_world::transfer::{run, run_watched, Run, Transfer};
use sim_world::{Plan, WorldError};

use super::Row;

/// Budget of `architecture.md` section 9 for one two-lane card, in clocks per second.
const BUDGET: f64 = 100_000.0;

/// What the runs measured so far took.
#[derive(Default)]
pub struct Speed {
    /// By path MTU.
    lone: BTreeMap<u32, Lone>,
    /// Clocks that both cards of a world made, with fabric, memory and software.
    both: Pace,
}

/// Clocks of the only card of a world, whose peer is the software reference; with the memory and the ports around the card.
#[derive(Default)]
struct Lone {
    sender: Pace,
    receiver: Pace,
}

/// Clocks of the Verilated card of a transfer to or from the software reference.
fn lone<const SENDS: bool>(plan: &Plan, transfer: Transfer) -> Result<Pace, WorldError> {
    let run = run::<MixedNic<SENDS>>(plan, transfer)?;
    let nic = run.world.host(MixedNic::<SENDS>::RTL_HOST).nic();
    Ok(nic.rtl().map(RtlNic::pace).unwrap_or_default())
}

impl Speed {
    /// Runs `transfer` between two cards, and between a card and the reference either way, and takes the times: of both cards from the first
    /// moment to the last completion, of a lone card what its clocks take. Returns the run of two cards.
    pub fn measure(&mut self, plan: &Plan, transfer: Transfer) -> Result<Run<RtlNic>, WorldError> {
        let (mut first, mut last) = (None, None);
        let run = run_watched::<RtlNic>(plan, transfer, |_| {
            let now = Instant::now();
            first.get_or_insert(now);
            last = Some(now);
        })?;
        let clocks = |host| run.world.host(host).nic().pace().clocks;
        if let (Some(first), Some(last)) = (first, last) {
            self.both.add(Pace {
                clocks: clocks(SENDER).min(clocks(RECEIVER)),
                wall: last - first,
            });
        }
        let of_mtu = self.lone.entry(1 << plan.mtu_log2).or_default();
        of_mtu.sender.add(lone::<true>(plan, transfer)?);
        of_mtu.receiver.add(lone::<false>(plan, transfer)?);
        Ok(run)
    }

    /// The rows, with the largest packets first.
    pub fn rows(&self) -> Vec<Row> {
        let row = |name: String, pace: Pace, budget| {
            Row::new(name, pace.clocks_per_second(), "clocks/s", budget)
        };
        let mut rows = vec![];
        for (mtu, lone) in self.lone.iter().rev() {
            for (what, pace) in [("sending", lone.sender), ("receiving", lone.receiver)] {
                let name = format!("co-simulation, one card {what} {mtu}");
                rows.push(row(name, pace, Some(BUDGET)));
            }
        }
        let name = "co-simulation, both cards and the fabric".to_string();
        rows.push(row(name, self.both, None));
        rows
    }
}
