//! A host with a card after bring-up and its queue pairs.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{bail, ensure, Context as _};
use serde::{Deserialize, Serialize};
use stellar_driver::{
    AccessFlags, Completion, CompletionQueue, Connection, Context, DeviceConfig, DmaBuffer,
    InitAttributes, MemoryRegion, Modify, PathAttributes, PciFunction, PortAddress, Probe,
    QueuePair, QueuePairConfig, RcRtrAttributes, RcRtsAttributes, RemoteRegion, RtrAttributes,
    RtsAttributes, Source, Transport, WcStatus, WorkRequest,
};
use stellar_wire::host::Wqe;

use super::Options;

/// First PSN of every queue pair.
const PSN: u32 = 0x00c0_ffee;
/// Longest time without progress, on the cards' clock.
const PATIENCE: Duration = Duration::from_millis(20);

/// Requirements of a test.
pub struct Plan {
    pub queue_pairs: u32,
    /// Outstanding work requests of each queue pair.
    pub depth: u32,
    /// Longest message in bytes.
    pub bytes: u32,
    /// Completions of each queue pair that may wait to be polled.
    pub completions: u32,
}

/// Connection parameters of a host, for its peer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// Queue pairs of the host that sends this.
    pub connections: Vec<Connection>,
    /// The region to which they may write.
    pub target: RemoteRegion,
}

/// One RDMA WRITE of a measurement.
pub struct Write {
    /// Number of the queue pair, from 0.
    pub index: usize,
    /// Distance between the parts of two queue pairs in bytes.
    pub stride: u32,
    /// The message's length.
    pub bytes: u32,
    pub wr_id: u64,
    /// Whether it is signaled.
    pub signaled: bool,
    /// The message's immediate.
    pub immediate: Option<u32>,
}

/// One host.
pub struct Host {
    pub context: Context,
    pub cq: CompletionQueue,
    pub qps: Vec<QueuePair>,
    /// The memory to send from: `bytes` for each queue pair.
    pub source: MemoryRegion,
    /// The memory to receive into, of the same size.
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
    /// Brings a card up. `number` decides its addresses.
    pub fn new(
        function: Arc<dyn PciFunction>,
        number: u8,
        plan: &Plan,
        options: &Options,
    ) -> anyhow::Result<Self> {
        let device = Probe::new(function)?.bring_up(config(number, options.seed))?;
        let context = device.open()?;
        let pd = context.alloc_pd()?;
        let cq = context.create_cq(plan.completions.next_power_of_two(), false)?;
        let send_entries = plan.depth.next_power_of_two().max(2);
        let config = QueuePairConfig {
            send_entries,
            inline_bytes: options.inline_size,
            transport: options.transport(),
        };
        let qps = (0..plan.queue_pairs)
            .map(|_| pd.create_qp(&cq, config))
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

    /// Connection parameters of this host, which its peer needs.
    pub fn told(&self) -> Told {
        Told {
            connections: self.qps.iter().map(|qp| qp.connection(PSN)).collect(),
            target: self.target.remote(),
        }
    }

    /// Moves its queue pairs to RTR, each connected to the peer's of the same number.
    pub fn ready(&self, peer: &Told, options: &Options) -> anyhow::Result<()> {
        let mtu_log2 = options.mtu.log2;
        ensure!(
            peer.connections.len() == self.qps.len(),
            "the peer has {} queue pairs, and {} are here",
            peer.connections.len(),
            self.qps.len()
        );
        for (qp, &peer) in self.qps.iter().zip(&peer.connections) {
            qp.modify(Modify::Init(InitAttributes::default()))?;
            qp.modify(match qp.transport() {
                Transport::Mrc => Modify::Rtr(RtrAttributes {
                    path: PathAttributes {
                        mtu_log2,
                        ..PathAttributes::default()
                    },
                    ..RtrAttributes::new(peer)
                }),
                Transport::Rc => Modify::RcRtr(RcRtrAttributes {
                    mtu_log2,
                    ..RcRtrAttributes::new(peer)
                }),
            })?;
        }
        Ok(())
    }

    /// Moves its queue pairs to RTS, when those of its peer are in RTR.
    pub fn start(&self) -> anyhow::Result<()> {
        for qp in &self.qps {
            qp.modify(match qp.transport() {
                Transport::Mrc => Modify::Rts(RtsAttributes::new(PSN)),
                Transport::Rc => Modify::RcRts(RcRtsAttributes::new(PSN)),
            })?;
        }
        Ok(())
    }

    /// Posts a WRITE from an offset of the source to the same offset of a peer's target.
    pub fn write(&self, to: &RemoteRegion, write: &Write) -> anyhow::Result<()> {
        let at = u64::from(write.stride) * write.index as u64;
        let mut inline = [0; Wqe::INLINE];
        let source = if write.bytes <= self.inline_size {
            let inline = &mut inline[..write.bytes as usize];
            memory(&self.source)?.read(at as usize, inline)?;
            Source::Inline(inline)
        } else {
            self.source.slice(at, write.bytes)?
        };
        let mut request = WorkRequest::write(write.wr_id, source, to.address + at, to.rkey);
        if let Some(immediate) = write.immediate {
            request = request.with_immediate(immediate);
        }
        request.signaled = write.signaled;
        Ok(self.qps[write.index].post_send(&request)?)
    }

    /// Polls completions, which must all be successes.
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

    /// Waits until `look` returns a value; `what` describes it in the error.
    pub fn until<T>(
        &self,
        what: &str,
        look: impl FnMut() -> anyhow::Result<Option<T>>,
    ) -> anyhow::Result<T> {
        self.within(PATIENCE, what, look)
    }

    /// Does what [`Self::until`] does, with the time limit `patience` on the cards' clock.
    pub fn within<T>(
        &self,
        patience: Duration,
        what: &str,
        mut look: impl FnMut() -> anyhow::Result<Option<T>>,
    ) -> anyhow::Result<T> {
        let function = self.function();
        let end = function.now() + patience;
        loop {
            if let Some(found) = look()? {
                return Ok(found);
            }
            ensure!(
                function.now() < end,
                "no {what} within {patience:?} of the card's time"
            );
            function.relax();
        }
    }
}

/// A region's memory.
pub fn memory(region: &MemoryRegion) -> anyhow::Result<&DmaBuffer> {
    region.memory().context("the region is not host memory")
}
