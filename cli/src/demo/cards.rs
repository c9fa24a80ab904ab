//! Two hosts that use the driver on Verilated cards: bring-up, registration, one WRITE, and a comparison of every byte.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{bail, ensure};
use sim_net::{HostId, Time};
use sim_nic::{FabricPair, RtlNic};
use sim_world::pair::{base_round_trip, rate_gbps};
use sim_world::report::Report;
use sim_world::transfer::{LEAF_SPINE, LEAF_SPINE_FILE};
use sim_world::{MrcPlan, Plan, TransportPlan, Verified};
use stellar_driver::{
    AccessFlags, CompletionQueue, Context, DeviceConfig, InitAttributes, MemoryRegion, Modify,
    PageSize, Pages, PathAttributes, PciFunction, PortAddress, Probe, QueuePair, QueuePairConfig,
    RtrAttributes, RtsAttributes, WcStatus, WorkRequest,
};
use stellar_transport::time::Ticks;

use crate::board::host_ports;
use crate::pcie_options::PcieOptions;
use crate::progress;
use crate::world::{self, LOSSY_LINK};

/// First PSN of both queue pairs.
const PSN: u32 = 0x00c0_ffee;
/// Start of each GPU's memory. The addresses differ, because the initial contents depend on the address.
const GPU: [u64; 2] = [0x20_0000_0000, 0x40_0000_0000];
/// Virtual address of the memory in work requests.
const BASE: u64 = 0x7f00_0000_0000;
const PAGE: PageSize = PageSize::Size64K;
/// Longest time of the run on the cards' clock.
const PATIENCE: Duration = Duration::from_secs(10);
/// Cycles after the completion in which no further byte may be written. It is more than the latency of the fabric.
const AFTERMATH: u64 = 5_000;
/// Number of bytes that are compared at a time: a page.
const CHUNK: usize = PAGE.bytes() as usize;

/// A host after bring-up of its card.
struct Host {
    context: Context,
    cq: CompletionQueue,
    qp: QueuePair,
    gpu: MemoryRegion,
}

/// Bus addresses of the pages of a GPU's memory, in reverse order, so that a card that does not translate fails.
fn pages(host: usize, bytes: u64) -> Vec<u64> {
    let count = bytes.div_ceil(PAGE.bytes());
    let page = |index| GPU[host] + index * PAGE.bytes();
    (0..count).rev().map(page).collect()
}

/// Brings a card up, as any user of the driver would.
fn bring_up(pair: &FabricPair, plan: &Plan, host: usize, bytes: u64) -> anyhow::Result<Host> {
    let HostId(place) = [plan.sender, plan.receiver][host];
    let ports = &plan.topology.hosts()[place as usize].ports;
    let ports = [&ports[0], &ports[ports.len() - 1]].map(|port| PortAddress {
        mac: port.mac.0,
        ip: port.ipv4.into(),
    });
    let config = DeviceConfig::new(ports, plan.seed << 1 | host as u64);
    let device = Probe::new(pair.function(host))?.bring_up(config)?;
    let context = device.open()?;
    let pd = context.alloc_pd()?;
    let cq = context.create_cq(16, false)?;
    let qp = pd.create_qp(&cq, QueuePairConfig::default())?;
    let addresses = pages(host, bytes);
    let mapped = addresses.len() as u64 * PAGE.bytes();
    pair.add_gpu_memory(host, GPU[host], mapped);
    let pages = Pages {
        size: PAGE,
        addresses,
        base: BASE,
        device: 1,
    };
    let access = AccessFlags {
        remote_write: true,
        ..AccessFlags::default()
    };
    // SAFETY: the memory of the simulated GPU is this demonstration's alone, and lives as long as the card.
    #[allow(unsafe_code)]
    let gpu = unsafe { pd.register_translated(pages, access) }?;
    Ok(Host {
        context,
        cq,
        qp,
        gpu,
    })
}

/// Connects the queue pairs with the paths of the plan.
fn connect(hosts: &[Host; 2], plan: &Plan, mrc: &MrcPlan) -> anyhow::Result<()> {
    let path = PathAttributes {
        mtu_log2: plan.mtu_log2,
        base_rtt: Duration::from_nanos(base_round_trip::<RtlNic>(plan)?.div_ceil(1000)),
        gbps: rate_gbps(plan) * plan.usable_planes() as u32,
        policy: mrc.policy,
        paths: mrc.paths,
        ..PathAttributes::default()
    };
    for (host, peer) in [(0, 1), (1, 0)] {
        hosts[host]
            .qp
            .modify(Modify::Init(InitAttributes::default()))?;
        let attributes = RtrAttributes {
            path,
            ..RtrAttributes::new(hosts[peer].qp.connection(PSN))
        };
        hosts[host].qp.modify(Modify::Rtr(attributes))?;
    }
    for host in hosts {
        let attributes = RtsAttributes {
            timeout: Duration::from_nanos(mrc.rto.as_ns()),
            ..RtsAttributes::new(PSN)
        };
        host.qp.modify(Modify::Rts(attributes))?;
    }
    Ok(())
}

/// The transfer between the cards.
#[derive(clap::Args)]
pub struct TransferOptions {
    /// Paths of the queue pair
    #[arg(long, default_value_t = 128)]
    pub paths: u8,
    /// Probability that one link between switches loses a frame
    #[arg(long, value_name = "P", default_value_t = world::LOSS)]
    pub loss: f64,
    /// Microseconds after which a packet that is not acknowledged is sent again
    #[arg(long, value_name = "US", default_value_t = 250, value_parser = clap::value_parser!(u32).range(1..=8000))]
    pub rto_us: u32,
    /// Seed of everything random
    #[arg(long, default_value_t = 4)]
    pub seed: u64,
    #[command(flatten)]
    pub pcie: PcieOptions,
}

/// The fabric and transport of the demonstration: leaf and spine switches, of which one link between them loses frames.
pub fn plan(options: &TransferOptions) -> anyhow::Result<(Plan, MrcPlan)> {
    let TransferOptions {
        paths,
        loss,
        rto_us,
        seed,
        ref pcie,
    } = *options;
    let pcie = pcie.settings()?;
    let loss = Some((LOSSY_LINK, loss));
    let topology = host_ports().lossy_topology(LEAF_SPINE_FILE, LEAF_SPINE, loss)?;
    let mut plan = Plan::new(topology, seed)?;
    let mrc = MrcPlan {
        rto: Ticks::from_us(rto_us),
        ..world::sprayed(paths)
    };
    plan.transport = TransportPlan::Mrc(mrc);
    plan.pcie = pcie;
    plan.check()?;
    Ok((plan, mrc))
}

/// Two hosts with connected queue pairs, and the data that the first one will write.
pub struct Exchange<'a> {
    pair: &'a FabricPair,
    hosts: [Host; 2],
    bytes: u32,
}

impl<'a> Exchange<'a> {
    /// Brings both cards up for a write of `bytes`.
    pub fn bring_up(
        pair: &'a FabricPair,
        plan: &Plan,
        mrc: &MrcPlan,
        bytes: u32,
    ) -> anyhow::Result<Self> {
        let hosts = [
            bring_up(pair, plan, 0, bytes.into())?,
            bring_up(pair, plan, 1, bytes.into())?,
        ];
        connect(&hosts, plan, mrc)?;
        Ok(Self { pair, hosts, bytes })
    }

    /// Writes from GPU to GPU as one message, and checks every byte.
    pub fn run(&self) -> anyhow::Result<Report> {
        let Self { pair, bytes, .. } = *self;
        let [sender, receiver] = &self.hosts;
        let function = Arc::clone(sender.context.device().probe().function());
        pair.watch(sender.context.device().first_entropy());
        let posted = function.now();
        let to = receiver.gpu.remote();
        let request = WorkRequest::write(1, sender.gpu.slice(0, bytes)?, to.address, to.rkey);
        sender.qp.post_send(&request)?;
        let ended = wait(sender, function.as_ref(), pair, bytes.into())?;
        pair.run(AFTERMATH);
        let taken = (ended - posted).as_nanos() as Time * 1000;
        check(pair, bytes.into())?;
        let verified = Verified {
            bytes: bytes.into(),
            succeeded: 1,
            failed: 0,
        };
        let counters = [sender.qp.counters()?];
        Ok(pair.report(&counters, verified, vec![taken], taken))
    }
}

/// Waits for the completion; returns its time.
fn wait(
    sender: &Host,
    function: &dyn PciFunction,
    pair: &FabricPair,
    bytes: u64,
) -> anyhow::Result<Duration> {
    let progress = progress::Transfer::new(bytes);
    let began = function.now();
    let end = began + PATIENCE;
    loop {
        if let Some(completion) = sender.cq.poll(1)?.first() {
            progress.finish();
            ensure!(
                completion.status == WcStatus::Success,
                "the WRITE ended with {:?}; event: {:?}",
                completion.status,
                sender.context.poll_event()?
            );
            return Ok(function.now());
        }
        ensure!(
            function.now() < end,
            "no completion within {PATIENCE:?} of the cards' time; {} of {bytes} bytes have arrived",
            pair.placed(1)
        );
        progress.look(|| {
            (
                pair.placed(1),
                (function.now() - began).as_nanos() as Time * 1000,
            )
        });
        function.relax();
    }
}

/// Compares every byte, and checks that no other byte was written.
fn check(pair: &FabricPair, bytes: u64) -> anyhow::Result<()> {
    let [from, to] = [0, 1].map(|host| pages(host, bytes));
    let mut left = bytes;
    for (index, (from, to)) in from.iter().zip(&to).enumerate() {
        let count = left.min(CHUNK as u64) as usize;
        let (mut sent, mut arrived) = ([0; CHUNK], [0; CHUNK]);
        pair.load_gpu_memory(0, *from, &mut sent[..count]);
        pair.load_gpu_memory(1, *to, &mut arrived[..count]);
        if let Some(at) = (0..count).find(|&at| sent[at] != arrived[at]) {
            bail!(
                "byte {} arrived as {:#04x}, not {:#04x}",
                index * CHUNK + at,
                arrived[at],
                sent[at]
            );
        }
        left -= count as u64;
    }
    let mapped = to.len() as u64 * PAGE.bytes();
    let written = pair.gpu_memory_written(1, GPU[1], mapped);
    ensure!(
        written == bytes,
        "{written} bytes of the receiver's memory were written, not {bytes}"
    );
    let bad_accesses = pair.bad_accesses(0) + pair.bad_accesses(1);
    ensure!(
        bad_accesses == 0,
        "{bad_accesses} accesses of the cards met no memory that is mapped for them"
    );
    Ok(())
}
