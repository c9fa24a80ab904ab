//! Two cabled Verilated cards under their driver, of which the first writes into memory of the second's host or GPU.

use std::sync::Arc;
use std::time::Duration;

use anyhow::ensure;
use sim_nic::{CardPair, PcieSettings, CLOCK_PS};
use sim_pcie::{Counters, Route};
use stellar_driver::{
    AccessFlags, CompletionQueue, Context, DeviceConfig, DropReason, Hold, InitAttributes,
    MemoryRegion, Modify, PageSize, Pages, PathAttributes, PortAddress, Probe, ProtectionDomain,
    QueuePair, QueuePairConfig, RtrAttributes, RtsAttributes, WcStatus, WorkRequest,
};

/// First PSN of every queue pair.
pub const PSN: u32 = 0x00c0_ffee;
/// log2 of the path MTU.
pub const MTU_LOG2: u8 = 12;
/// Packets that one SACK may acknowledge.
pub const SACK_EVERY: u8 = 16;
/// Start of each GPU's memory. The addresses differ, because the initial contents depend on the address.
const GPU: [u64; 2] = [0x20_0000_0000, 0x40_0000_0000];
/// IO virtual addresses at which the GPU's memory can be reached through the root complex: above all that the driver uses.
const THROUGH_ROOT: u64 = 1 << 44;
/// Virtual address of GPU memory in work requests.
const BASE: u64 = 0x7f00_0000_0000;
/// Completions that may wait: those of all entries of a queue pair, or of one message of each of 128.
const MOST_COMPLETIONS: u32 = 128;
/// Longest time of a measurement on the cards' clock.
const PATIENCE: Duration = Duration::from_millis(50);
/// Time over which the highest goodput is measured.
pub const WINDOW: Duration = Duration::from_micros(20);

/// Memory that the cards read or write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Memory of the host: AT = 00.
    Host,
    /// Memory of the GPU by its final address: AT = 10.
    Gpu,
    /// Memory of the GPU by an address that the IOMMU translates: AT = 00.
    GpuThroughRoot,
}

/// What is set up.
#[derive(Clone, Copy)]
pub struct Setup {
    pub seed: u64,
    pub queue_pairs: u32,
    /// Bytes that each queue pair writes as one message.
    pub bytes: u32,
    /// Size of a page of GPU memory in the eMTT.
    pub page: PageSize,
    /// Source of the writes in the first host.
    pub source: Place,
    /// Their target in the second host.
    pub target: Place,
    pub pcie: PcieSettings,
}

struct Host {
    context: Context,
    cq: CompletionQueue,
    qps: Vec<QueuePair>,
    region: MemoryRegion,
}

/// Both hosts with connected queue pairs.
pub struct Cards {
    setup: Setup,
    pair: CardPair,
    hosts: [Host; 2],
}

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

    /// Bytes that the receiving card wrote by a route with the other address type than it should have.
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

/// The bus addresses of the pages of a GPU's memory from `start` on, in reverse order, so that a card that does not translate fails.
fn pages(start: u64, count: u64, page: PageSize) -> Vec<u64> {
    let address = |index| start + index * page.bytes();
    (0..count).rev().map(address).collect()
}

impl Cards {
    /// Brings both cards up, and connects their queue pairs.
    pub fn new(setup: Setup) -> anyhow::Result<Self> {
        let pair = CardPair::with_pcie(&setup.pcie)?;
        let hosts = [
            Host::new(&pair, 0, setup.source, &setup)?,
            Host::new(&pair, 1, setup.target, &setup)?,
        ];
        for (host, peer) in [(0, 1), (1, 0)] {
            for (qp, other) in hosts[host].qps.iter().zip(&hosts[peer].qps) {
                qp.modify(Modify::Init(InitAttributes::default()))?;
                let path = PathAttributes {
                    mtu_log2: MTU_LOG2,
                    ..PathAttributes::default()
                };
                qp.modify(Modify::Rtr(RtrAttributes {
                    path,
                    sack_every: Some(SACK_EVERY),
                    ..RtrAttributes::new(other.connection(PSN))
                }))?;
            }
        }
        for qp in hosts.iter().flat_map(|host| &host.qps) {
            qp.modify(Modify::Rts(RtsAttributes::new(PSN)))?;
        }
        Ok(Self { setup, pair, hosts })
    }

    fn total(&self) -> u64 {
        u64::from(self.setup.bytes) * u64::from(self.setup.queue_pairs)
    }

    /// Each queue pair writes its message. Afterwards every byte is compared.
    pub fn transfer(&mut self) -> anyhow::Result<Landed> {
        let [sender, receiver] = &self.hosts;
        let queue_pairs = sender.qps.len();
        let function = Arc::clone(sender.context.device().probe().function());
        let before = self.pair.pcie_counters(1);
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
            let landed = written(&self.pair.pcie_counters(1)) - base;
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
            counters: [before, self.pair.pcie_counters(1)],
        })
    }

    /// Bytes of a page of the memory of a host's end.
    fn load(&self, host: usize, page: usize, into: &mut [u8]) -> anyhow::Result<()> {
        let size = self.setup.page.bytes();
        match self.hosts[host].region.memory() {
            Some(memory) => memory.read(page * size as usize, into)?,
            None => {
                let pages = self.total().div_ceil(size);
                let last_first = GPU[host] + (pages - 1 - page as u64) * size;
                self.pair.load_gpu_memory(host, last_first, into);
            }
        }
        Ok(())
    }
}

/// A queue pair that writes from the start of its memory to the start of its peer's.
pub trait Writer {
    /// The cards.
    fn pair(&self) -> &CardPair;

    /// Posts a write of this length.
    fn post(&mut self, bytes: u32) -> anyhow::Result<()>;

    /// Number of writes that have completed since the last call. Fails if one was no success.
    fn poll(&mut self) -> anyhow::Result<usize>;

    /// Compares every byte, after the longest write.
    fn compare(&self) -> anyhow::Result<()>;

    /// Fails if the measurement that began in this cycle takes too long.
    fn check_patience(&self, began: u64) -> anyhow::Result<()> {
        let taken = Duration::from_nanos((self.pair().clocks() - began) * CLOCK_PS / 1000);
        ensure!(
            taken < PATIENCE,
            "not all bytes have arrived within {PATIENCE:?} of the cards' time"
        );
        Ok(())
    }
}

impl Writer for Cards {
    fn pair(&self) -> &CardPair {
        &self.pair
    }

    fn post(&mut self, bytes: u32) -> anyhow::Result<()> {
        let [sender, receiver] = &self.hosts;
        let to = receiver.region.remote();
        let source = sender.region.slice(0, bytes)?;
        Ok(sender.qps[0].post_send(&WorkRequest::write(0, source, to.address, to.rkey))?)
    }

    fn poll(&mut self) -> anyhow::Result<usize> {
        let sender = &self.hosts[0];
        let completions = sender.cq.poll(usize::MAX)?;
        for completion in &completions {
            ensure!(
                completion.status == WcStatus::Success,
                "the WRITE of queue pair {} ended with {:?}; event: {:?}",
                completion.qp,
                completion.status,
                sender.context.poll_event()?
            );
        }
        Ok(completions.len())
    }

    /// Checks also that the cards met no memory that was not theirs.
    fn compare(&self) -> anyhow::Result<()> {
        let size = self.setup.page.bytes() as usize;
        let (mut sent, mut arrived) = (vec![0; size], vec![0; size]);
        let mut left = self.total() as usize;
        for page in 0..left.div_ceil(size) {
            let length = left.min(size);
            self.load(0, page, &mut sent[..length])?;
            self.load(1, page, &mut arrived[..length])?;
            ensure!(
                sent[..length] == arrived[..length],
                "page {page}: other bytes arrived than were sent"
            );
            left -= length;
        }
        let bad_accesses = self.pair.bad_accesses(0) + self.pair.bad_accesses(1);
        ensure!(
            bad_accesses == 0,
            "{bad_accesses} accesses of the cards met no memory that is mapped for them"
        );
        Ok(())
    }
}

/// Addresses of a host's ports.
pub fn ports(host: usize) -> [PortAddress; 2] {
    let number = host as u8 + 1;
    [0, 1].map(|plane| PortAddress {
        mac: [2, 0, 0, plane, 0, number],
        ip: [10, plane, 0, number].into(),
    })
}

impl Host {
    fn new(pair: &CardPair, host: usize, place: Place, setup: &Setup) -> anyhow::Result<Self> {
        let config = DeviceConfig::new(ports(host), setup.seed << 1 | host as u64);
        let device = Probe::new(pair.function(host))?.bring_up(config)?;
        let context = device.open()?;
        let pd = context.alloc_pd()?;
        let cq = context.create_cq(MOST_COMPLETIONS, false)?;
        let qps = (0..setup.queue_pairs)
            .map(|_| pd.create_qp(&cq, QueuePairConfig::default()))
            .collect::<Result<_, _>>()?;
        let region = region(pair, host, place, setup, &context, &pd)?;
        if let Some(memory) = region.memory().filter(|_| host == 0) {
            let sent: Vec<u8> = (0..setup.bytes).map(|i| (i * 7 + i / 251) as u8).collect();
            memory.write(0, &sent)?;
        }
        Ok(Self {
            context,
            cq,
            qps,
            region,
        })
    }
}

/// Registers the memory of a host's end.
fn region(
    pair: &CardPair,
    host: usize,
    place: Place,
    setup: &Setup,
    context: &Context,
    pd: &ProtectionDomain,
) -> anyhow::Result<MemoryRegion> {
    let access = AccessFlags {
        remote_write: true,
        ..AccessFlags::default()
    };
    let bytes = u64::from(setup.bytes) * u64::from(setup.queue_pairs);
    if place == Place::Host {
        return Ok(pd.register(context.alloc(bytes as usize)?, access)?);
    }
    let count = bytes.div_ceil(setup.page.bytes());
    let mapped = count * setup.page.bytes();
    pair.add_gpu_memory(host, GPU[host], mapped);
    let listed = |start| Pages {
        size: setup.page,
        addresses: pages(start, count, setup.page),
        base: BASE,
        device: 1,
    };
    if place == Place::Gpu {
        // SAFETY: the memory of the simulated GPU is this measurement's alone, and lives as long as the card.
        #[allow(unsafe_code)]
        return Ok(unsafe { pd.register_translated(listed(GPU[host]), access) }?);
    }
    pair.map_gpu_through_root(host, THROUGH_ROOT, GPU[host], mapped)?;
    let hold: Hold = Arc::new(());
    // SAFETY: the same; the IOMMU of the simulated host maps the pages as long as the card lives.
    #[allow(unsafe_code)]
    Ok(unsafe { pd.register_mapped(listed(THROUGH_ROOT), access, hold) }?)
}
