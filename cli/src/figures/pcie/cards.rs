//! Two cabled Verilated cards under their driver, of which the first writes into memory of the second's host or GPU.

use std::sync::Arc;

use anyhow::ensure;
use sim_nic::{CardPair, PcieSettings};
use stellar_driver::{
    AccessFlags, CompletionQueue, Context, DeviceConfig, Hold, InitAttributes, MemoryRegion,
    Modify, PageSize, Pages, PathAttributes, PortAddress, Probe, ProtectionDomain, QueuePair,
    QueuePairConfig, RtrAttributes, RtsAttributes, WcStatus, WorkRequest,
};

use super::writer::Writer;

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

/// One host after bring-up of its card.
pub struct Host {
    pub context: Context,
    cq: CompletionQueue,
    pub qps: Vec<QueuePair>,
    pub region: MemoryRegion,
}

/// Both hosts with connected queue pairs.
pub struct Cards {
    pub setup: Setup,
    pair: CardPair,
    pub hosts: [Host; 2],
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

    /// Bytes of all messages.
    pub fn total(&self) -> u64 {
        u64::from(self.setup.bytes) * u64::from(self.setup.queue_pairs)
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
