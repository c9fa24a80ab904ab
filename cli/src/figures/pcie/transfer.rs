//! One transfer between two cards: goodput and routes.

use std::sync::Arc;
use std::time::Duration;

use anyhow::ensure;
use sim_pcie::{Counters, Route};
use stellar_driver::{DropReason, WorkRequest};

use super::cards::Cards;
use super::writer::{Writer, PATIENCE};

/// Time over which the highest goodput is measured.
pub const WINDOW: Duration = Duration::from_micros(20);

/// What a transfer did.
pub struct Landed {
    /// Highest goodput into the receiver's memory over [`WINDOW`], in Gb/s.
    pub highest: f64,
    /// Goodput from the first byte in memory to the last, in Gb/s.
    pub average: f64,
    /// Packets that the receiving card has dropped because its buffers were full.
    pub overflows: u64,
    /// Requests of the receiving card during the transfer, by route.
    pub counters: [Counters; 2],
}

impl Landed {
    /// Bytes that the receiving card wrote by a route.
    pub fn written(&self, route: Route) -> u64 {
        self.counters[1].writes(route).bytes - self.counters[0].writes(route).bytes
    }

    /// Bytes that the receiving card wrote by a route with AT = 10 (`translated`) or AT = 00.
    pub fn with_address_type(&self, route: Route, translated: bool) -> u64 {
        let of = |counters: &Counters| -> u64 {
            let flows = counters.write_flows();
            let same = flows.filter(|(f, _)| f.route == route && f.is_translated == translated);
            same.map(|(_, traffic)| traffic.bytes).sum()
        };
        of(&self.counters[1]) - of(&self.counters[0])
    }
}

/// Gb/s of bytes in a time.
fn gbps(bytes: u64, time: Duration) -> f64 {
    bytes as f64 * 8e-9 / time.as_secs_f64()
}

/// The highest goodput over a [`WINDOW`]; 0 of a transfer that is shorter.
fn highest(progress: &[(Duration, u64)]) -> f64 {
    let mut from = progress.iter().peekable();
    let mut best = 0.0;
    for &(now, landed) in progress {
        let mut begin = None;
        while let Some(&&(at, before)) = from.peek().filter(|(at, _)| now - *at >= WINDOW) {
            begin = Some((at, before));
            from.next();
        }
        if let Some((at, before)) = begin {
            best = f64::max(best, gbps(landed - before, now - at));
        }
    }
    best
}

/// Goodput from the first byte to the last one.
fn average(progress: &[(Duration, u64)], total: u64) -> f64 {
    let first = progress.iter().rfind(|(_, landed)| *landed == 0);
    let last = progress.iter().find(|(_, landed)| *landed >= total);
    let times = first.zip(last).map(|(first, last)| last.0 - first.0);
    times.map_or(0.0, |time| gbps(total, time))
}

impl Cards {
    /// Each queue pair writes its message. Afterwards every byte is compared.
    pub fn transfer(&mut self) -> anyhow::Result<Landed> {
        let [sender, receiver] = &self.hosts;
        let queue_pairs = sender.qps.len();
        let function = Arc::clone(sender.context.device().probe().function());
        let before = self.pair().pcie_counters(1);
        let bytes = self.setup.bytes;
        for (index, qp) in (0u64..).zip(&sender.qps) {
            let at = index * u64::from(bytes);
            let to = receiver.region.remote();
            let source = sender.region.slice(at, bytes)?;
            qp.post_send(&WorkRequest::write(index, source, to.address + at, to.rkey))?;
        }
        let total = self.total();
        let written = |counters: &Counters| -> u64 {
            let flows = counters.write_flows();
            flows.map(|(_, traffic)| traffic.bytes).sum()
        };
        let base = written(&before);
        let end = function.now() + PATIENCE;
        let mut progress = vec![];
        let mut completed = 0;
        while completed < queue_pairs || progress.last().is_none_or(|&(_, landed)| landed < total) {
            let now = function.now();
            let landed = written(&self.pair().pcie_counters(1)) - base;
            progress.push((now, landed));
            completed += self.poll()?;
            ensure!(
                now < end,
                "{landed} of {total} bytes have arrived within {PATIENCE:?} of the cards' time"
            );
            function.relax();
        }
        self.compare()?;
        let counters = self.hosts[1].context.device().counters()?;
        let full = counters
            .iter()
            .filter(|c| c.reason == DropReason::BufferFull);
        Ok(Landed {
            highest: highest(&progress),
            average: average(&progress, total),
            overflows: full.map(|counter| counter.value).sum(),
            counters: [before, self.pair().pcie_counters(1)],
        })
    }
}
