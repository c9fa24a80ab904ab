//! Speed of the co-simulation, in time on the wall.

use std::time::Instant;

use sim_nic::{Pace, RtlNic};
use sim_world::pair::{RECEIVER, SENDER};
use sim_world::transfer::{run_watched, Run, Transfer};
use sim_world::{Plan, WorldError};

use super::Row;

/// Budget of `architecture.md` section 9 for one two-lane card, in clocks per second.
const BUDGET: f64 = 100_000.0;

/// What the runs measured so far took.
#[derive(Default)]
pub struct Speed {
    sender: Pace,
    receiver: Pace,
    /// Clocks that both cards made, with fabric, memory and software.
    both: Pace,
}

impl Speed {
    /// Runs `transfer` between two cards and takes the time from its first moment to its last completion.
    pub fn measure(&mut self, plan: &Plan, transfer: Transfer) -> Result<Run<RtlNic>, WorldError> {
        let (mut first, mut last) = (None, None);
        let run = run_watched::<RtlNic>(plan, transfer, |_| {
            let now = Instant::now();
            first.get_or_insert(now);
            last = Some(now);
        })?;
        let pace = |host| run.world.host(host).nic().pace();
        let (sender, receiver) = (pace(SENDER), pace(RECEIVER));
        self.sender.add(sender);
        self.receiver.add(receiver);
        if let (Some(first), Some(last)) = (first, last) {
            self.both.add(Pace {
                clocks: sender.clocks.min(receiver.clocks),
                wall: last - first,
            });
        }
        Ok(run)
    }

    /// The rows.
    pub fn rows(&self) -> Vec<Row> {
        let row = |name: &str, pace: Pace, budget| {
            Row::new(name, pace.clocks_per_second(), "clocks/s", budget)
        };
        vec![
            row(
                "co-simulation, the sending card alone",
                self.sender,
                Some(BUDGET),
            ),
            row(
                "co-simulation, the receiving card alone",
                self.receiver,
                Some(BUDGET),
            ),
            row("co-simulation, both cards and the fabric", self.both, None),
        ]
    }
}
