//! Attributes of an MRC queue pair from INIT to RTS.

use std::time::Duration;

use stellar_wire::config::{
    coalesce_from, default_sack_every, ImmConfig, MrcConfig, NsccParams, QpConfig, TransportConfig,
    DEFAULT_MPR,
};

use super::attributes::{
    check, check_mtu, first_psn, ticks, InitAttributes, Place, Receive, DEFAULT_WRITE_IMM,
};
use super::choice::PathChoice;
use crate::connect::Connection;
use crate::error::Error;
use crate::limits::Limits;
use crate::open::Shared as Device;
use crate::profiles::DEFAULT_PROFILE;

pub use stellar_wire::config::{Backoff, Policy, SkipScope};

/// The path to the peer over MRC: parameters of congestion control and path choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathAttributes {
    /// log2 of the path MTU in bytes: 8 (256) to 13 (8,192).
    pub mtu_log2: u8,
    /// Round trip of a packet without other traffic. It includes PCIe at both ends, because the window has to cover the read of the payload. The round trips that the card
    /// measures begin behind that read, and the shortest of them replaces this one as the base of delays.
    pub base_rtt: Duration,
    /// Rate of the planes together.
    pub gbps: u32,
    /// Switches trim packets instead of dropping them.
    pub trimming: bool,
    /// How the next packet's path is chosen.
    pub policy: Policy,
    /// Paths in use: 1 with [`Policy::SinglePath`], otherwise an even number up to the active values of the profile.
    pub paths: u8,
    /// Number of the entropy profile that has the values of the paths ([`crate::Device::set_explicit_profile`]). Profile 0 has 128 values from the start.
    pub profile: u8,
    /// How long a marked path is passed over.
    pub skip: SkipScope,
    /// Minimum time between two probes.
    pub probe_interval: Duration,
    /// Congested rounds in a row before [`Policy::FlowBender`] changes the path, 1 to 15.
    pub bend_after: u8,
}

impl Default for PathAttributes {
    /// 4,096 bytes, 10 us, 400 Gb/s, no trimming, oblivious spraying over 128 paths of profile 0.
    fn default() -> Self {
        Self {
            mtu_log2: 12,
            base_rtt: Duration::from_micros(10),
            gbps: 400,
            trimming: false,
            policy: Policy::Obs,
            paths: 128,
            profile: DEFAULT_PROFILE,
            skip: SkipScope::default(),
            probe_interval: Duration::from_millis(1),
            bend_after: 1,
        }
    }
}

/// INIT to RTR, over MRC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtrAttributes {
    /// The peer, by its own parameters.
    pub peer: Connection,
    /// The path to it.
    pub path: PathAttributes,
    /// Maximum number of WRITEs with immediate in flight in each direction, 1 to the card's [`write_imm`](crate::Limits::write_imm). Both ends must use the same value, so it is
    /// at most the smaller limit of the two cards. Entries for as many, rounded up to a power of two, belong to the queue pair until it is stopped;
    /// [`write_imm_stash`](crate::Limits::write_imm_stash) says how many all queue pairs have.
    pub max_write_imm: u16,
    /// WRITEs with immediate that arrive make completions; otherwise they are only counted.
    pub imm_completions: bool,
    /// Packets that one SACK may acknowledge while the window is wide, 1 to 63; both ends agree on it. `None`: the default of the path MTU,
    /// [`default_sack_every`].
    pub sack_every: Option<u8>,
}

impl RtrAttributes {
    /// For this peer, with the default path, 16 WRITEs with immediate, completions for them, SACKs by [`default_sack_every`].
    pub fn new(peer: Connection) -> Self {
        Self {
            peer,
            path: PathAttributes::default(),
            max_write_imm: DEFAULT_WRITE_IMM,
            imm_completions: true,
            sack_every: None,
        }
    }
}

/// A receiver may withhold SACKs for packets of two words of 64 PSNs, so a packet closer than that may have arrived already.
const LEAST_EARLY_LOSS: u16 = 128;

/// RTR to RTS, over MRC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtsAttributes {
    /// First PSN sent, 24 bits; the peer has it from the exchange. An application without one of its own takes [`random_psn`](crate::random_psn).
    pub psn: u32,
    /// Retransmission timeout of a first transmission, 8 ns to 8 ms.
    pub timeout: Duration,
    /// How the timeout of a packet grows with each time it was too late.
    pub backoff: Backoff,
    /// Retries without progress; the next fails the queue pair. Timeouts, recoverable refusals and trims spend them, at most one per timeout.
    pub retry_count: u8,
    /// Maximum number of PSNs from the oldest unacknowledged packet to the newest one, 1 to the card's [`send_window`](crate::Limits::send_window). It must
    /// not be larger than the [`receive_window`](crate::Limits::receive_window) of the peer's card, which refuses packets beyond.
    pub window: u16,
    /// Early loss detection and tail probes; 0 waits for the timeout. A packet this many PSNs below one that is acknowledged, and sent earlier by more than the
    /// spread of path delays, counts as lost. At least 128, because a SACK acknowledges several packets.
    pub early_loss: u16,
}

impl RtsAttributes {
    /// Attributes with `psn` as the first PSN. Timeout 250 us that doubles, 7 retries, a window of 4,096, and early loss detection at a distance of
    /// 128 packets.
    pub const fn new(psn: u32) -> Self {
        Self {
            psn,
            timeout: Duration::from_micros(250),
            backoff: Backoff::Exponential,
            retry_count: 7,
            window: DEFAULT_MPR,
            early_loss: LEAST_EARLY_LOSS,
        }
    }
}

impl RtrAttributes {
    /// Configuration of the queue pair, without the attributes of RTS.
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
            Limits::of(&device.probe).write_imm.into(),
        )?;
        check_mtu("path.mtu_log2", path.mtu_log2)?;
        let base_rtt = ticks("path.base_rtt (8 ns)", path.base_rtt)?;
        let mtu = 1 << path.mtu_log2;
        let nscc = NsccParams::from_path(base_rtt, path.gbps, mtu, path.trimming)?;
        let choice = PathChoice {
            policy: path.policy,
            paths: path.paths,
            profile: path.profile,
            skip: path.skip,
            probe_interval: ticks("path.probe_interval (8 ns)", path.probe_interval)?,
            base_rtt,
            bend_after: path.bend_after,
        };
        let spray = choice.registers(device, place)?;
        let receive = Receive {
            peer: self.peer,
            mtu_log2: path.mtu_log2,
            imm: ImmConfig {
                max_wimm: self.max_write_imm,
                completions: self.imm_completions,
            },
            sack_every: self.sack_every.unwrap_or_else(|| default_sack_every(mtu)),
        };
        let transport = TransportConfig::Mrc(MrcConfig::new(nscc, spray));
        place.config(device, init, receive, transport)
    }
}

impl RtsAttributes {
    /// Adds the attributes of RTS.
    pub(super) fn complete(&self, config: &QpConfig, device: &Device) -> Result<QpConfig, Error> {
        let psn = first_psn("psn", self.psn)?;
        let rto = ticks("timeout (8 ns)", self.timeout)?;
        let most = Limits::of(&device.probe).send_window;
        check("window", self.window.into(), 1, most.into())?;
        if self.early_loss != 0 {
            let least = LEAST_EARLY_LOSS.into();
            check("early_loss", self.early_loss.into(), least, 1023)?;
        }
        let mut config = config.clone();
        let mtu = 1 << config.mtu_log2;
        let coalesce_from = coalesce_from(self.window, config.sack_every, mtu);
        config.sq_psn = psn;
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
