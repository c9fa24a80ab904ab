//! What a queue pair is told on its way to RTS.

use std::sync::Arc;
use std::time::Duration;

use stellar_transport::congestion::NsccParams;
use stellar_transport::endpoint::{ImmConfig, Peer, QpConfig, TransportConfig};
use stellar_transport::requester::{coalesce_from, MrcConfig, SqRing};
use stellar_transport::rx::Psn;
use stellar_transport::spray::{PlaneMask, SprayConfig};
use stellar_transport::time::Ticks;

use super::state::QpState;
use crate::connect::Connection;
use crate::error::Error;
use crate::open::Shared as Device;

pub use stellar_transport::requester::Backoff;
pub use stellar_transport::spray::{Policy, SkipScope};

/// What a queue pair is made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuePairConfig {
    /// Entries of its send queue, a power of two from 2 to 2^15.
    pub send_entries: u32,
}

impl Default for QueuePairConfig {
    /// 128 entries.
    fn default() -> Self {
        Self { send_entries: 128 }
    }
}

/// RESET or INIT to INIT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InitAttributes {
    /// Partition key; both ends have the same, and not both are limited members (bit 15 clear).
    pub pkey: u16,
    /// The peer may write.
    pub remote_write: bool,
}

impl Default for InitAttributes {
    /// The default partition, remote writes taken.
    fn default() -> Self {
        Self {
            pkey: 0xffff,
            remote_write: true,
        }
    }
}

/// The way to the peer: what congestion control and path choice have to know of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathAttributes {
    /// log2 of the path MTU in bytes: 8 (256) to 12 (4,096).
    pub mtu_log2: u8,
    /// Round trip when nothing else is on the way, PCIe at both ends included.
    pub base_rtt: Duration,
    /// Rate of both planes together.
    pub gbps: u32,
    /// Switches trim packets instead of dropping them.
    pub trimming: bool,
    /// How the next packet's path is chosen.
    pub policy: Policy,
    /// Paths in use: 1 with [`Policy::SinglePath`], otherwise an even number up to 128.
    pub paths: u8,
    /// How long a marked path is passed over.
    pub skip: SkipScope,
    /// Least time between two probes.
    pub probe_interval: Duration,
}

impl Default for PathAttributes {
    /// 4,096 bytes, 10 us, 400 Gb/s, no trimming, oblivious spraying over 128 paths.
    fn default() -> Self {
        Self {
            mtu_log2: 12,
            base_rtt: Duration::from_micros(10),
            gbps: 400,
            trimming: false,
            policy: Policy::default(),
            paths: 128,
            skip: SkipScope::default(),
            probe_interval: Duration::from_millis(1),
        }
    }
}

/// INIT to RTR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtrAttributes {
    /// The peer, as it said itself.
    pub peer: Connection,
    /// The way there.
    pub path: PathAttributes,
    /// Most WRITEs with immediate under way in each direction, 1 to 16; both ends agree on it.
    pub max_write_imm: u16,
    /// WRITEs with immediate that arrive make completions; otherwise they are only counted.
    pub imm_completions: bool,
    /// Packets that one SACK may answer while the window is wide, 1 to 32; both ends agree on it.
    pub sack_every: u8,
}

impl RtrAttributes {
    /// For this peer, with the default path, 16 WRITEs with immediate, completions for them, a SACK for every 16 packets.
    pub fn new(peer: Connection) -> Self {
        Self {
            peer,
            path: PathAttributes::default(),
            max_write_imm: MOST_WRITE_IMM,
            imm_completions: true,
            sack_every: 16,
        }
    }
}

/// Receivers keep up to 31 packets to themselves, on every path: a packet less far behind may just not have been answered yet.
const LEAST_EARLY_LOSS: u16 = 128;

/// RTR to RTS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtsAttributes {
    /// First PSN sent, 24 bits; the peer was told.
    pub psn: u32,
    /// Retransmission timeout of a first transmission, 8 ns to 8 ms.
    pub timeout: Duration,
    /// How it grows.
    pub backoff: Backoff,
    /// Timeouts and recoverable refusals of one packet; the next fails the queue pair.
    pub retry_count: u8,
    /// Most packets the window may span, 1 to 1,024.
    pub window: u16,
    /// A packet this many behind the latest that was acknowledged is lost, and not below 128 as SACKs answer several packets; 0 to wait for
    /// the timeout.
    pub early_loss: u16,
}

impl RtsAttributes {
    /// From this PSN on: 250 us growing linearly, 7 retries, a window of 1,024, losses found early at a distance of 128 packets.
    pub const fn new(psn: u32) -> Self {
        Self {
            psn,
            timeout: Duration::from_micros(250),
            backoff: Backoff::Linear,
            retry_count: 7,
            window: 1024,
            early_loss: LEAST_EARLY_LOSS,
        }
    }
}

/// A step of a queue pair, with what it needs (verbs: `ibv_modify_qp`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Modify {
    /// To RESET: nothing of it is left.
    Reset,
    /// To INIT.
    Init(InitAttributes),
    /// To RTR.
    Rtr(RtrAttributes),
    /// To RTS.
    Rts(RtsAttributes),
    /// To ERROR: what is posted completes with [`crate::WcStatus::WrFlushErr`].
    Error,
}

impl Modify {
    /// The state it leads to.
    pub const fn state(&self) -> QpState {
        match self {
            Self::Reset => QpState::Reset,
            Self::Init(_) => QpState::Init,
            Self::Rtr(_) => QpState::Rtr,
            Self::Rts(_) => QpState::Rts,
            Self::Error => QpState::Error,
        }
    }
}

/// Immediates that the card stashes for a queue pair.
pub const MOST_WRITE_IMM: u16 = 16;

fn check(field: &'static str, value: u64, least: u64, most: u64) -> Result<(), Error> {
    if (least..=most).contains(&value) {
        Ok(())
    } else {
        Err(Error::Attribute {
            field,
            value,
            least,
            most,
        })
    }
}

/// A span in ticks, as long as it fits.
fn ticks(field: &'static str, span: Duration) -> Result<Ticks, Error> {
    let ns = u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
    let tick = u64::from(Ticks::NANOSECONDS);
    check(field, ns / tick, 1, u64::from(u32::MAX >> 1))?;
    Ok(Ticks::from_ns(ns))
}

/// Start of a queue pair's path choice, never zero (splitmix64: Steele, Lea, Flood, 2014).
fn seed(card: u64, qp: u32) -> u32 {
    let mut z = card.wrapping_add((u64::from(qp) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z >> 32) as u32 | 1
}

/// Who a queue pair is on its card.
pub struct Place {
    pub number: u32,
    pub page: u16,
    pub domain: u32,
    pub ring: SqRing,
}

impl RtrAttributes {
    /// The queue pair as the tables want it, except for what comes with RTS.
    pub(super) fn config(
        &self,
        device: &Device,
        place: &Place,
        init: InitAttributes,
    ) -> Result<QpConfig, Error> {
        let path = self.path;
        check(
            "max_write_imm",
            self.max_write_imm.into(),
            1,
            MOST_WRITE_IMM.into(),
        )?;
        check(
            "peer.psn",
            self.peer.psn.into(),
            0,
            (Psn::MODULUS - 1).into(),
        )?;
        check("path.mtu_log2", path.mtu_log2.into(), 8, 12)?;
        let base_rtt = ticks("path.base_rtt (8 ns)", path.base_rtt)?;
        let mtu = 1 << path.mtu_log2;
        let nscc = NsccParams::from_path(base_rtt, path.gbps, mtu, path.trimming)?;
        let spray = SprayConfig {
            policy: path.policy,
            paths: path.paths,
            planes_up: PlaneMask::BOTH,
            seed: seed(device.config.seed, place.number),
            profile: Arc::clone(&device.profile),
            rotation: (place.number % u32::from(device.profile.slots())) as u8,
            skip: path.skip,
            probe_interval: ticks("path.probe_interval (8 ns)", path.probe_interval)?,
        };
        let config = QpConfig {
            number: place.number,
            page: place.page.into(),
            peer: Peer {
                qp: self.peer.qp,
                planes: self.peer.ports.map(|port| port.plane()),
            },
            pd: place.domain,
            pkey: init.pkey,
            mtu_log2: path.mtu_log2,
            sq_psn: Psn::new(0),
            rq_psn: Psn::new(self.peer.psn),
            remote_write: init.remote_write,
            sq: Some(place.ring),
            cq_entries: 1,
            imm: ImmConfig {
                max_wimm: self.max_write_imm,
                completions: self.imm_completions,
            },
            sack_every: self.sack_every,
            srv6: None,
            transport: TransportConfig::Mrc(MrcConfig::new(nscc, spray)),
        };
        config.check(device.config.ports[0].ip)?;
        Ok(config)
    }
}

impl RtsAttributes {
    /// Adds what comes with RTS.
    pub(super) fn complete(&self, config: &QpConfig, device: &Device) -> Result<QpConfig, Error> {
        check("psn", self.psn.into(), 0, (Psn::MODULUS - 1).into())?;
        let rto = ticks("timeout (8 ns)", self.timeout)?;
        if self.early_loss != 0 {
            let least = LEAST_EARLY_LOSS.into();
            check("early_loss", self.early_loss.into(), least, 1023)?;
        }
        let mut config = config.clone();
        let mtu = 1 << config.mtu_log2;
        let coalesce_from = coalesce_from(self.window, config.sack_every, mtu);
        config.sq_psn = Psn::new(self.psn);
        if let TransportConfig::Mrc(mrc) = &mut config.transport {
            mrc.rto = rto;
            mrc.backoff = self.backoff;
            mrc.retry_budget = self.retry_count;
            mrc.mpr = self.window;
            mrc.early_loss = self.early_loss;
            mrc.coalesce_from = coalesce_from;
        }
        config.check(device.config.ports[0].ip)?;
        Ok(config)
    }
}
