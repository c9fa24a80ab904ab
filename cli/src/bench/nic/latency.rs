//! The parts of the latency of one small WRITE.

use std::cell::Cell;

use anyhow::Context;
use sim_net::Time;
use sim_nic::{PinTimes, RtlNic};
use sim_world::pair::{RECEIVER, SENDER};
use sim_world::transfer::{run_watched, Transfer};
use sim_world::{Nic, Plan, World};

use super::goodput::LIMIT;
use super::{plan, Effort, Row};
use crate::progress;

const BYTES: [u32; 2] = [2, 64];
/// Budgets of `architecture.md` section 9 in nanoseconds: 80 cycles to the first header beat, 60 from the last beat to the first TLP.
const TX_BUDGET: f64 = 320.0;
const RX_BUDGET: f64 = 240.0;

/// Period at which the world examines a card, in picoseconds: two cycles.
const LOOK: Time = 2 * sim_nic::CLOCK_PS;

/// The parts of one WRITE's latency, from its posting to its last byte in the receiver's memory. Each part begins at the pins where the previous one
/// ends.
struct Parts {
    /// Software's nine writes of the pushed descriptor and of the doorbell, one per cycle.
    ring: Time,
    /// Sending card, without the parts that follow.
    tx: Time,
    /// Read of the payload: request out of the card to last beat in.
    read: Time,
    /// First beat of the frame out of one card to its last beat into the other.
    wire: Time,
    /// Last beat in to the first beat of the write out.
    rx: Time,
    /// First to last beat of the write.
    write: Time,
}

impl Parts {
    fn of(posted: Time, sender: &PinTimes, receiver: &PinTimes) -> anyhow::Result<Self> {
        anyhow::ensure!(
            sender.descriptor_reads.count == 0,
            "the card read the descriptor that was pushed to it"
        );
        let single = [
            ("doorbells", sender.doorbells),
            ("payload reads", sender.payload_reads),
            ("frames", receiver.frames_in),
            ("writes", receiver.payload_writes),
        ];
        for (what, span) in single {
            anyhow::ensure!(span.count == 1, "{} {what} for one small WRITE", span.count);
        }
        let rung = sender.doorbells.first;
        let read = between(sender.payload_reads.first, sender.payload_data.last)?;
        let out = sender.frames_out.first;
        let (arrived, writes) = (receiver.frames_in.first, receiver.payload_writes.first);
        Ok(Self {
            ring: between(posted, rung)?,
            tx: between(rung, sender.payload_reads.first)?
                + between(sender.payload_data.last, out)?,
            read,
            wire: between(out, arrived)?,
            rx: between(arrived, writes)?,
            write: between(writes, receiver.payload_written.last)?,
        })
    }

    fn total(&self) -> Time {
        self.ring + self.tx + self.read + self.wire + self.rx + self.write
    }
}

/// Time between two events that must come in this order.
fn between(earlier: Time, later: Time) -> anyhow::Result<Time> {
    later
        .checked_sub(earlier)
        .context("what the pins show of one small WRITE is not in order")
}

/// Time that the few bytes of a write add on its way to memory, at most.
const BYTES_ON_LINKS: Time = 4 * sim_nic::CLOCK_PS;

/// Latency rows. The sum of the parts must be the time that software sees, from the post to the last byte in memory, within [`LOOK`] and
/// [`BYTES_ON_LINKS`].
pub fn rows(effort: Effort) -> anyhow::Result<Vec<Row>> {
    let mut rows = vec![];
    for bytes in BYTES {
        let name = format!("latency {bytes}");
        if !effort.wants(&name) {
            continue;
        }
        let plan = plan(effort, 1, 12)?;
        let (parts, seen) = progress::measuring(&name, || one(&plan, bytes))?;
        let way = sim_nic::write_latency(plan.pcie.reads);
        let total = parts.total() + way;
        anyhow::ensure!(
            (total..total + LOOK + BYTES_ON_LINKS).contains(&seen),
            "the parts of the latency come to {total} ps, but memory showed the last byte after {seen} ps"
        );
        let mut row = |part: &str, time: Time, budget| {
            let ns = time as f64 / 1e3;
            rows.push(Row::new(format!("{name}, {part}"), ns, "ns", budget));
        };
        row("descriptor and doorbell written", parts.ring, None);
        row(
            "TX card, doorbell to first header beat, without the read",
            parts.tx,
            Some(TX_BUDGET),
        );
        row("PCIe read of payload", parts.read, None);
        row("wire and fabric", parts.wire, None);
        row("RX card, last beat to first TLP", parts.rx, Some(RX_BUDGET));
        row("write TLP", parts.write, None);
        row("PCIe way of the write to memory", way, None);
        row("one way, sum of the parts", total, None);
        row("one way, as software sees memory", seen, None);
    }
    Ok(rows)
}

/// Sends one WRITE. Returns its parts, and the time until software finds it in the receiver's memory.
fn one(plan: &Plan, bytes: u32) -> anyhow::Result<(Parts, Time)> {
    let transfer = Transfer {
        limit: LIMIT,
        ..Transfer::whole(bytes)
    };
    let found = Cell::new(None);
    let watch = |world: &World<RtlNic>| {
        let memory = world.host(RECEIVER).nic().memory();
        if found.get().is_none() && memory.written() == u64::from(bytes) {
            found.set(Some(world.now()));
        }
    };
    let run = run_watched::<RtlNic>(plan, transfer, watch)?;
    let posted = run.world.posted()[0].time;
    let times = |host| run.world.host(host).nic().times();
    let parts = Parts::of(posted, times(SENDER), times(RECEIVER))?;
    let found = found.get().context("the bytes were never seen in memory")?;
    Ok((parts, found - posted))
}
