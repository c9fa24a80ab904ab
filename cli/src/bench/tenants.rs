//! `./stellar bench tenants`: what one tenant of a card does to the latency and the goodput of another.

use std::sync::Arc;

use anyhow::Context as _;
use sim_nic::CardPair;
use stellar_driver::{
    AccessFlags, CompletionQueue, Device, DeviceConfig, DoorbellPage, InitAttributes, MemoryRegion,
    Modify, PciFunction, PortAddress, Probe, QueuePair, QueuePairConfig, RtrAttributes,
    RtsAttributes, Source, Transport, WcStatus, WorkRequest,
};
use stellar_wire::host::{Doorbell, Wqe};

use super::Row;
use crate::progress;
use crate::simulation::SimulationOptions;

#[derive(clap::Args)]
pub struct Arguments {
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
    /// An eighth of the messages, for a quick look
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    simulation: SimulationOptions,
}

/// Bytes of a message of the goodput rows.
const MESSAGE: u32 = 32 << 10;
/// Entries of a send queue.
const ENTRIES: u32 = 64;
/// Longest time of one row, in cycles: a victim that is starved does not end.
const PATIENCE: u64 = 100_000;

/// What the neighbour's software writes to the card, one store after the other, as fast as the card takes them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Neighbour {
    Nobody,
    /// Doorbells of its own queue pair, which move nothing.
    Doorbells,
    /// Doorbells of the victim's queue pair.
    ForeignDoorbells,
    /// Doorbells of its own failed queue pair, each for one more entry: a completion that finds its queue overrun.
    Overruns,
    /// Entries pushed with doorbells that move nothing.
    Pushes,
}

impl Neighbour {
    const ALL: [Self; 5] = [
        Self::Nobody,
        Self::Doorbells,
        Self::ForeignDoorbells,
        Self::Overruns,
        Self::Pushes,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Nobody => "alone",
            Self::Doorbells => "beside own doorbells",
            Self::ForeignDoorbells => "beside refused doorbells",
            Self::Overruns => "beside lost completions",
            Self::Pushes => "beside pushed entries",
        }
    }
}

/// A context on each card, connected by a queue pair.
struct Tenant {
    page: DoorbellPage,
    qps: [QueuePair; 2],
    completions: CompletionQueue,
    source: MemoryRegion,
    target: MemoryRegion,
}

impl Tenant {
    /// A tenant whose queue pair has `completions` places for completions.
    fn new(devices: &[Device; 2], completions: u32) -> anyhow::Result<Self> {
        let contexts = [devices[0].open()?, devices[1].open()?];
        let domains = [contexts[0].alloc_pd()?, contexts[1].alloc_pd()?];
        let queues = [
            contexts[0].create_cq(completions, false)?,
            contexts[1].create_cq(completions, false)?,
        ];
        let config = QueuePairConfig {
            send_entries: ENTRIES,
            transport: Transport::Mrc,
            ..QueuePairConfig::default()
        };
        let qps = [
            domains[0].create_qp(&queues[0], config)?,
            domains[1].create_qp(&queues[1], config)?,
        ];
        let psn = 0x1000;
        let told = [qps[0].connection(psn), qps[1].connection(psn)];
        for (qp, peer) in qps.iter().zip([told[1], told[0]]) {
            qp.modify(Modify::Init(InitAttributes::default()))?;
            qp.modify(Modify::Rtr(RtrAttributes::new(peer)))?;
        }
        for qp in &qps {
            qp.modify(Modify::Rts(RtsAttributes::new(psn)))?;
        }
        let region = |host: usize| -> anyhow::Result<MemoryRegion> {
            let access = AccessFlags {
                remote_write: true,
                ..AccessFlags::default()
            };
            let memory = contexts[host].alloc(MESSAGE as usize)?;
            Ok(domains[host].register(memory, access)?)
        };
        let (source, target) = (region(0)?, region(1)?);
        let [completions, _] = queues;
        Ok(Self {
            page: contexts[0].doorbells(),
            qps,
            completions,
            source,
            target,
        })
    }

    /// Posts a WRITE of the first `bytes` bytes.
    fn post(&self, wr_id: u64, bytes: u32) -> anyhow::Result<()> {
        let (to, slice) = (self.target.remote(), self.source.slice(0, bytes)?);
        let request = WorkRequest::write(wr_id, slice, to.address, to.rkey);
        Ok(self.qps[0].post_send(&request)?)
    }

    /// Completions since the last call.
    fn completed(&self) -> anyhow::Result<usize> {
        let found = self.completions.poll(ENTRIES as usize)?;
        let failed = found.iter().find(|wc| wc.status != WcStatus::Success);
        anyhow::ensure!(failed.is_none(), "{failed:?}");
        Ok(found.len())
    }
}

/// Two cards with a victim and its neighbour, whose queue pairs have the same requester engine.
struct Bench {
    pair: CardPair,
    victim: Tenant,
    neighbour: Tenant,
    kind: Neighbour,
    /// Stores of the neighbour so far.
    stores: u64,
    producer: u16,
}

impl Bench {
    fn new(kind: Neighbour) -> anyhow::Result<Self> {
        let pair = CardPair::new()?;
        let mut devices = Vec::new();
        for host in 0..2u8 {
            let ports = [0, 1].map(|plane| PortAddress {
                mac: [2, 0, 0, plane, 0, host + 1],
                ip: [10, plane, 0, host + 1].into(),
            });
            let function: Arc<dyn PciFunction> = pair.function(host.into());
            devices.push(Probe::new(function)?.bring_up(DeviceConfig::new(ports, host.into()))?);
        }
        let devices: [Device; 2] = devices.try_into().ok().context("two cards")?;
        let victim = Tenant::new(&devices, ENTRIES)?;
        let entries = if kind == Neighbour::Overruns {
            1
        } else {
            ENTRIES
        };
        let engine = |tenant: &Tenant| tenant.qps[0].number() % 2;
        let mut neighbour = Tenant::new(&devices, entries)?;
        if engine(&neighbour) != engine(&victim) {
            neighbour = Tenant::new(&devices, entries)?;
        }
        anyhow::ensure!(engine(&neighbour) == engine(&victim), "engines");
        let mut bench = Self {
            pair,
            victim,
            neighbour,
            kind,
            stores: 0,
            producer: 0,
        };
        if kind == Neighbour::Overruns {
            for wr_id in 0..3 {
                bench.neighbour.post(wr_id, 64)?;
            }
            bench.producer = 3;
            bench.pair.run(5_000);
        }
        Ok(bench)
    }

    /// One store of the neighbour, or one cycle.
    fn step(&mut self) -> anyhow::Result<()> {
        let own = Doorbell {
            qp: self.neighbour.qps[0].number(),
            producer: self.producer,
        };
        let (offset, word) = match self.kind {
            Neighbour::Nobody => {
                self.pair.run(1);
                return Ok(());
            }
            Neighbour::Doorbells => (Doorbell::OFFSET, own.to_bytes()),
            Neighbour::ForeignDoorbells => {
                let foreign = Doorbell {
                    qp: self.victim.qps[0].number(),
                    producer: 0,
                };
                (Doorbell::OFFSET, foreign.to_bytes())
            }
            Neighbour::Overruns => {
                self.producer = self.producer.wrapping_add(1);
                (Doorbell::OFFSET, own.to_bytes())
            }
            Neighbour::Pushes => {
                let stores: Vec<(u16, u64)> = own.pushing(&[0; Wqe::LEN]).collect();
                let (offset, word) = stores[self.stores as usize % stores.len()];
                (offset, word.to_le_bytes())
            }
        };
        let page = &self.neighbour.page;
        page.store(offset.into(), u64::from_le_bytes(word))?;
        self.stores += 1;
        Ok(())
    }

    /// Gb/s of `messages` messages of the victim.
    fn goodput(&mut self, messages: u64) -> anyhow::Result<f64> {
        let began = self.pair.clocks();
        let (mut posted, mut done) = (0, 0);
        while done < messages {
            while posted < messages && posted - done < 16 {
                self.victim.post(posted, MESSAGE)?;
                posted += 1;
            }
            for _ in 0..8 {
                self.step()?;
            }
            done += self.victim.completed()? as u64;
            self.check(began, &format!("after {done} of {messages} messages"))?;
        }
        let nanoseconds = (self.pair.clocks() - began) as f64 * 4.0;
        Ok((messages * 8 * u64::from(MESSAGE)) as f64 / nanoseconds)
    }

    /// Nanoseconds from the post of 2 bytes until they are in the peer's memory: the mean of `rounds`, and the longest.
    fn latency(&mut self, rounds: u64) -> anyhow::Result<(f64, f64)> {
        let (mut sum, mut longest) = (0, 0);
        for round in 0..rounds {
            let mark = [round as u8 + 1, 0xa5];
            let began = self.pair.clocks();
            let to = self.victim.target.remote();
            let source = Source::Inline(&mark);
            let request = WorkRequest::write(round, source, to.address, to.rkey);
            self.victim.qps[0].post_send(&request)?;
            let memory = self.victim.target.memory().context("host memory")?.clone();
            let mut there = [0; 2];
            while there != mark {
                self.step()?;
                memory.read(0, &mut there)?;
                self.check(began, &format!("in round {round} of the latency"))?;
            }
            let took = self.pair.clocks() - began;
            sum += took;
            longest = longest.max(took);
            while self.victim.completed()? == 0 {
                self.step()?;
                self.check(began, &format!("before the completion of round {round}"))?;
            }
        }
        Ok((sum as f64 * 4.0 / rounds as f64, longest as f64 * 4.0))
    }

    fn check(&self, began: u64, place: &str) -> anyhow::Result<()> {
        let waited = self.pair.clocks() - began;
        anyhow::ensure!(
            waited < PATIENCE,
            "the victim is starved {} {place}, after {} stores: {:?}; the neighbour: {:?}",
            self.kind.name(),
            self.stores,
            self.victim.qps[0]
                .counters()?
                .iter()
                .filter(|(_, n)| *n > 0)
                .collect::<Vec<_>>(),
            self.neighbour.qps[0]
                .counters()?
                .iter()
                .filter(|(_, n)| *n > 0)
                .collect::<Vec<_>>()
        );
        Ok(())
    }
}

/// Measures and prints.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    arguments.simulation.choose()?;
    let share = if arguments.quick { 8 } else { 1 };
    progress::building("the card", CardPair::new)?;
    let mut rows = Vec::new();
    let mut alone = None;
    for kind in Neighbour::ALL {
        let measured = progress::measuring(kind.name(), || {
            let mut bench = Bench::new(kind)?;
            let (mean, longest) = bench.latency(64 / share)?;
            let goodput = bench.goodput(256 / share)?;
            anyhow::Ok([goodput, mean, longest])
        })?;
        let limits = *alone.get_or_insert(measured);
        let name = kind.name();
        for (what, unit, value) in [
            ("goodput of 32 KiB", "Gb/s", 0),
            ("latency of 2 bytes, mean", "ns", 1),
            ("latency of 2 bytes, longest", "ns", 2),
        ] {
            let row = format!("{what}, {name}");
            rows.push(Row::new(row, measured[value], unit, Some(limits[value])));
        }
    }
    super::print("tenants", &rows, arguments.json)
}
