//! Two hosts with their cards up and queue pairs connected.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{bail, ensure, Context as _};
use stellar_driver::{
    AccessFlags, Completion, CompletionQueue, Context, DeviceConfig, DmaBuffer, InitAttributes,
    MemoryRegion, Modify, PathAttributes, PciFunction, PortAddress, Probe, QueuePair,
    QueuePairConfig, RtrAttributes, RtsAttributes, Source, WcStatus, WorkRequest,
};

use super::Options;

/// First PSN of everyone.
const PSN: u32 = 0x00c0_ffee;
/// Longest a test may go without any progress, on the cards' clock.
const PATIENCE: Duration = Duration::from_millis(20);

/// What a test needs of its hosts.
pub struct Plan {
    pub queue_pairs: u32,
    /// Work requests under way in each queue pair.
    pub depth: u32,
    /// Bytes of every message at most.
    pub bytes: u32,
}

/// A message.
pub struct Write {
    /// Queue pair, from 0.
    pub index: usize,
    /// Bytes between the places of two queue pairs.
    pub stride: u32,
    /// Its length.
    pub bytes: u32,
    pub wr_id: u64,
    /// It asks for a completion.
    pub signaled: bool,
    /// What the receiver is told.
    pub immediate: Option<u32>,
}

/// One host.
pub struct Host {
    pub context: Context,
    pub cq: CompletionQueue,
    pub qps: Vec<QueuePair>,
    /// What is sent: `bytes` for each queue pair.
    pub source: MemoryRegion,
    /// What is received, likewise.
    pub target: MemoryRegion,
    inline_size: u32,
}

fn config(host: u8, seed: u64) -> DeviceConfig {
    let ports = [0, 1].map(|plane| PortAddress {
        mac: [2, 0, 0, plane, 0, host + 1],
        ip: [10, plane, 0, host + 1].into(),
    });
    DeviceConfig::new(ports, seed << 1 | u64::from(host))
}

impl Host {
    fn new(
        function: Arc<dyn PciFunction>,
        number: u8,
        plan: &Plan,
        options: &Options,
    ) -> anyhow::Result<Self> {
        let device = Probe::new(function)?.bring_up(config(number, options.seed))?;
        let context = device.open()?;
        let pd = context.alloc_pd()?;
        let cq = context.create_cq(plan.depth.next_power_of_two(), false)?;
        let send_entries = plan.depth.next_power_of_two().max(2);
        let qps = (0..plan.queue_pairs)
            .map(|_| pd.create_qp(&cq, QueuePairConfig { send_entries }))
            .collect::<Result<_, _>>()?;
        let bytes = plan.bytes as usize * plan.queue_pairs as usize;
        let region = |remote_write| -> anyhow::Result<MemoryRegion> {
            let access = AccessFlags {
                remote_write,
                ..AccessFlags::default()
            };
            Ok(pd.register(context.alloc(bytes)?, access)?)
        };
        Ok(Self {
            source: region(false)?,
            target: region(true)?,
            inline_size: options.inline_size,
            context,
            cq,
            qps,
        })
    }

    /// The card's clock.
    pub fn now(&self) -> Duration {
        self.function().now()
    }

    /// The card's function.
    pub fn function(&self) -> Arc<dyn PciFunction> {
        Arc::clone(self.context.device().probe().function())
    }

    /// Posts a WRITE from a place of the source to the same place of `peer`'s target.
    pub fn write(&self, peer: &Self, write: &Write) -> anyhow::Result<()> {
        let at = u64::from(write.stride) * write.index as u64;
        let mut inline = [0; 16];
        let source = if write.bytes <= self.inline_size {
            let inline = &mut inline[..write.bytes as usize];
            memory(&self.source)?.read(at as usize, inline)?;
            Source::Inline(inline)
        } else {
            self.source.slice(at, write.bytes)?
        };
        let to = peer.target.remote();
        let mut request = WorkRequest::write(write.wr_id, source, to.address + at, to.rkey);
        if let Some(immediate) = write.immediate {
            request = request.with_immediate(immediate);
        }
        request.signaled = write.signaled;
        Ok(self.qps[write.index].post_send(&request)?)
    }

    /// Completions there are, all of them successes.
    pub fn poll(&self, most: usize) -> anyhow::Result<Vec<Completion>> {
        let completions = self.cq.poll(most)?;
        if let Some(failed) = completions.iter().find(|c| c.status != WcStatus::Success) {
            let event = self.context.poll_event()?;
            bail!(
                "work request {} of queue pair {} ended with {:?}; event: {event:?}",
                failed.wr_id,
                failed.qp,
                failed.status
            );
        }
        Ok(completions)
    }

    /// Waits until `look` finds something; `what` is that.
    pub fn until<T>(
        &self,
        what: &str,
        mut look: impl FnMut() -> anyhow::Result<Option<T>>,
    ) -> anyhow::Result<T> {
        let function = self.function();
        let end = function.now() + PATIENCE;
        loop {
            if let Some(found) = look()? {
                return Ok(found);
            }
            ensure!(
                function.now() < end,
                "no {what} within {PATIENCE:?} of the card's time"
            );
            function.relax();
        }
    }
}

/// A region's memory.
pub fn memory(region: &MemoryRegion) -> anyhow::Result<&DmaBuffer> {
    region.memory().context("the region is not host memory")
}

/// Brings both cards up and connects their queue pairs, number by number.
pub fn connect(plan: &Plan, options: &Options) -> anyhow::Result<[Host; 2]> {
    let [a, b] = options.cards.open()?;
    let hosts = [
        Host::new(a, 0, plan, options)?,
        Host::new(b, 1, plan, options)?,
    ];
    let path = PathAttributes {
        mtu_log2: options.mtu_log2(),
        ..PathAttributes::default()
    };
    for (a, b) in hosts[0].qps.iter().zip(&hosts[1].qps) {
        for (qp, peer) in [(a, b), (b, a)] {
            qp.modify(Modify::Init(InitAttributes::default()))?;
            let attributes = RtrAttributes {
                path,
                ..RtrAttributes::new(peer.connection(PSN))
            };
            qp.modify(Modify::Rtr(attributes))?;
        }
        for qp in [a, b] {
            qp.modify(Modify::Rts(RtsAttributes::new(PSN)))?;
        }
    }
    Ok(hosts)
}
