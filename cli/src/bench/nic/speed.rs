//! Speed of the co-simulation, in wall time.

use std::collections::BTreeMap;
use std::time::Instant;

use sim_nic::{CardReceives, CardSends, Mix, MixedNic, RtlNic, SimRate};
use sim_verilated::Profile;
use sim_world::pair::{RECEIVER, SENDER};
use sim_world::transfer::{run, run_watched, Run, Transfer};
use sim_world::{Plan, WorldError};

use super::Row;

/// Budget of `architecture.md` section 9 for one two-lane card, in cycles per second.
const BUDGET: f64 = 100_000.0;

/// Number of blocks in a profile.
const BLOCKS: usize = 10;

/// The measurements so far.
#[derive(Default)]
pub struct Speed {
    /// Measurements of a lone card, by path MTU.
    lone: BTreeMap<u32, Lone>,
    /// Cycles of both cards of a world, with fabric, memory and software.
    both: SimRate,
}

/// Clock cycles and times of a world in which only one card is simulated, with its memory and ports. Its peer is the software reference.
#[derive(Default)]
struct Lone {
    sender: Timed,
    receiver: Timed,
}

/// The time of a card's cycles, and its distribution in the last transfer.
#[derive(Default)]
struct Timed {
    rate: SimRate,
    last: Option<(SimRate, Profile)>,
}

impl Timed {
    /// Adds a transfer of the only Verilated card of a world to or from the software reference.
    fn add<M: Mix>(&mut self, plan: &Plan, transfer: Transfer) -> Result<(), WorldError> {
        let run = run::<MixedNic<M>>(plan, transfer)?;
        if let Some(card) = run.world.host(MixedNic::<M>::RTL_HOST).nic().rtl() {
            self.rate.add(card.rate());
            self.last = card.profile().map(|profile| (card.rate(), profile));
        }
        Ok(())
    }

    /// Shares of the time of a cycle in percent: around the model, in the largest blocks, in the rest of the model.
    fn shares(&self) -> Vec<(String, f64)> {
        let Some((rate, profile)) = &self.last else {
            return vec![];
        };
        let model = 100.0 * profile.clock.as_secs_f64() * rate.clocks_per_second();
        let mut blocks: Vec<_> = profile.blocks.iter().collect();
        blocks.sort_by(|a, b| b.1.total_cmp(a.1));
        let named = blocks.iter().take(BLOCKS);
        let rest: f64 = blocks.iter().skip(BLOCKS).map(|(_, share)| *share).sum();
        let around = ("around the model".to_owned(), 100.0 - model);
        let named = named.map(|(name, share)| (place(name), model * *share));
        let rest = ("in other blocks".to_owned(), model * rest);
        [around].into_iter().chain(named).chain([rest]).collect()
    }
}

/// The block with this `name`; the top module's name is empty.
fn place(name: &str) -> String {
    match name {
        "" => "in the top module".to_owned(),
        _ => format!("in {name}"),
    }
}

impl Lone {
    fn both_ways(&self) -> [(&'static str, &Timed); 2] {
        [("sending", &self.sender), ("receiving", &self.receiver)]
    }
}

impl Speed {
    /// Runs `transfer` between two cards, and between a card and the reference in both directions, and measures the times: for both cards from the
    /// first moment to the last completion, for a lone card the time of its cycles. Returns the run of two cards.
    pub fn measure(&mut self, plan: &Plan, transfer: Transfer) -> Result<Run<RtlNic>, WorldError> {
        let (mut first, mut last) = (None, None);
        let run = run_watched::<RtlNic>(plan, transfer, |_| {
            let now = Instant::now();
            first.get_or_insert(now);
            last = Some(now);
        })?;
        let clocks = |host| run.world.host(host).nic().rate().clocks;
        if let (Some(first), Some(last)) = (first, last) {
            self.both.add(SimRate {
                clocks: clocks(SENDER).min(clocks(RECEIVER)),
                wall: last - first,
            });
        }
        let of_mtu = self.lone.entry(1 << plan.mtu_log2).or_default();
        of_mtu.sender.add::<CardSends>(plan, transfer)?;
        of_mtu.receiver.add::<CardReceives>(plan, transfer)?;
        Ok(run)
    }

    /// The rows, with the largest packets first, and for these the distribution of the time. None if nothing was measured.
    pub fn rows(&self) -> Vec<Row> {
        if self.lone.is_empty() {
            return vec![];
        }
        let row = |name: String, rate: SimRate, budget| {
            Row::new(name, rate.clocks_per_second(), "clocks/s", budget)
        };
        let mut rows = vec![];
        for (mtu, lone) in self.lone.iter().rev() {
            for (what, timed) in lone.both_ways() {
                let name = format!("co-simulation, one card {what} {mtu}");
                rows.push(row(name, timed.rate, Some(BUDGET)));
            }
        }
        let name = "co-simulation, both cards and the fabric".to_string();
        rows.push(row(name, self.both, None));
        if let Some((mtu, lone)) = self.lone.last_key_value() {
            for (what, timed) in lone.both_ways() {
                for (place, share) in timed.shares() {
                    let name = format!("time of a card {what} {mtu} {place}");
                    rows.push(Row::new(name, share, "%", None));
                }
            }
        }
        rows
    }
}
