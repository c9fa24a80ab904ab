//! The card's end: driver objects that all cases share.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use anyhow::Context as _;
use sim_nic::LoneCard;
use stellar_driver::{
    AccessFlags, CompletionQueue, Context, DeviceConfig, MemoryRegion, PortAddress, Probe,
    ProtectionDomain, QueuePair, QueuePairConfig, Source, Transport, WorkRequest,
};

use crate::cases::IpVersion;
use crate::memory::REGION;
use crate::message::Message;

/// MAC address of the bridged port.
pub const MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];
/// Addresses of the card. The guest has those that end in 2.
pub const IPV4: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
pub const IPV6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1);
/// Addresses of the port that is not bridged.
const OTHER_MAC: [u8; 6] = [2, 0, 0, 1, 0, 1];
const OTHER_IPV4: Ipv4Addr = Ipv4Addr::new(10, 1, 0, 1);
const OTHER_IPV6: Ipv6Addr = Ipv6Addr::new(0xfd01, 0, 0, 0, 0, 0, 0, 1);
/// Entries of completion queues.
const ENTRIES: u32 = 256;

/// A card after bring-up, with its regions.
pub struct CardEnd {
    /// IP version of its addresses.
    pub version: IpVersion,
    pub context: Context,
    pub pd: ProtectionDomain,
    pub cq: CompletionQueue,
    /// Source of the card's WRITEs.
    pub source: MemoryRegion,
    /// Target of the peer's WRITEs.
    pub target: MemoryRegion,
    /// Region without remote write access.
    pub read_only: MemoryRegion,
}

/// The card's address of a version at the bridged port.
pub const fn address(version: IpVersion) -> IpAddr {
    match version {
        IpVersion::V4 => IpAddr::V4(IPV4),
        IpVersion::V6 => IpAddr::V6(IPV6),
    }
}

impl CardEnd {
    /// Resets the card, gives it addresses of `version`, and registers regions.
    pub fn bring_up(card: &LoneCard, version: IpVersion) -> anyhow::Result<Self> {
        let other = match version {
            IpVersion::V4 => OTHER_IPV4.into(),
            IpVersion::V6 => OTHER_IPV6.into(),
        };
        let ports = [(MAC, address(version)), (OTHER_MAC, other)];
        let ports = ports.map(|(mac, ip)| PortAddress { mac, ip });
        let device = Probe::new(card.function(0))?.bring_up(DeviceConfig::new(ports, 1))?;
        let context = device.open()?;
        let pd = context.alloc_pd()?;
        let cq = context.create_cq(ENTRIES, false)?;
        let region = |remote_write| {
            let access = AccessFlags {
                remote_write,
                ..AccessFlags::default()
            };
            pd.register(context.alloc(REGION)?, access)
        };
        let (source, target, read_only) = (region(false)?, region(true)?, region(false)?);
        Ok(Self {
            version,
            cq,
            source,
            target,
            read_only,
            pd,
            context,
        })
    }

    /// A queue pair of RC in RESET.
    pub fn queue_pair(&self) -> anyhow::Result<QueuePair> {
        let config = QueuePairConfig {
            transport: Transport::Rc,
            ..QueuePairConfig::default()
        };
        Ok(self.pd.create_qp(&self.cq, config)?)
    }

    /// Posts a message to a region of the peer.
    pub fn post(&self, qp: &QueuePair, message: &Message, remote: Remote) -> anyhow::Result<()> {
        let source = match message.length {
            0 => Source::Nothing,
            length => self.source.slice(message.from, length)?,
        };
        let address = remote.address + message.to;
        let mut request = WorkRequest::write(message.wr_id, source, address, remote.rkey);
        if let Some(immediate) = message.immediate {
            request = request.with_immediate(immediate);
        }
        qp.post_send(&request)
            .with_context(|| format!("work request {} of the card", message.wr_id))
    }
}

/// A region of the other end.
#[derive(Clone, Copy, Debug)]
pub struct Remote {
    /// Address of its first byte.
    pub address: u64,
    /// Remote key.
    pub rkey: u32,
}

/// All bytes of a region.
pub fn bytes(region: &MemoryRegion) -> anyhow::Result<Vec<u8>> {
    let memory = region.memory().context("the region has no memory")?;
    let mut bytes = vec![0; memory.length()];
    memory.read(0, &mut bytes)?;
    Ok(bytes)
}

/// Fills a region.
pub fn fill(region: &MemoryRegion, bytes: &[u8]) -> anyhow::Result<()> {
    let memory = region.memory().context("the region has no memory")?;
    Ok(memory.write(0, bytes)?)
}
