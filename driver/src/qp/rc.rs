//! Attributes of an RC queue pair from INIT to RTS (InfiniBand architecture volume 1, section 11.2.5.2; names of `ibv_qp_attr`).

use std::time::Duration;

use stellar_wire::config::{
    ImmConfig, Policy, QpConfig, RcConfig, SkipScope, SprayConfig, TransportConfig,
};
use stellar_wire::time::Ticks;

use super::attributes::{check, check_mtu, first_psn, ticks, InitAttributes, Place, Receive};
use super::choice::PathChoice;
use crate::connect::Connection;
use crate::error::Error;
use crate::open::Shared as Device;
use crate::profiles::DEFAULT_PROFILE;

/// Paths of an RC queue pair. A policy chooses one at a time, and changes it so that packets stay in order. The peer needs paths too, or it does not answer probes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RcPaths {
    /// How the path is chosen: [`Policy::Hp3`], with which no packet overtakes another one, or [`Policy::Hopper`], with which few do. RC takes a packet out of
    /// order for a loss, so it has no other policies.
    pub policy: Policy,
    /// Paths to choose from: 1, or an even number up to the active values of the profile. They belong to all ports of the card.
    pub paths: u8,
    /// Number of the entropy profile that has the values of the paths ([`crate::Device::set_explicit_profile`]). Profile 0 has 128 values from the start.
    pub profile: u8,
    /// Round trip of a packet without other traffic, 8 ns to 131 us. It includes PCIe at both ends. A path is congested if the round trip is above 2.5 of these.
    pub base_rtt: Duration,
}

impl RcPaths {
    /// Paths with this policy: 128 of profile 0, 10 us.
    pub const fn new(policy: Policy) -> Self {
        Self {
            policy,
            paths: 128,
            profile: DEFAULT_PROFILE,
            base_rtt: Duration::from_micros(10),
        }
    }

    /// Registers of the queue pair at `place`.
    fn registers(&self, device: &Device, place: &Place) -> Result<SprayConfig, Error> {
        if !device.probe.data_path.rc_paths {
            return Err(Error::NoRcPaths);
        }
        let choice = PathChoice {
            policy: self.policy,
            paths: self.paths,
            profile: self.profile,
            base_rtt: ticks("paths.base_rtt (8 ns)", self.base_rtt)?,
            // Policies of RC use none of these; the fields must hold legal values.
            skip: SkipScope::default(),
            probe_interval: Ticks(1),
            bend_after: 1,
        };
        choice.registers(device, place)
    }
}

/// INIT to RTR, over RC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RcRtrAttributes {
    /// The peer, by its own parameters.
    pub peer: Connection,
    /// log2 of the path MTU in bytes: 8 (256) to 13 (8,192). Both ends agree on it.
    pub mtu_log2: u8,
    /// Port of the card that it sends by, unless it has `paths`: 0, or 1 if the card has two. Packets of the peer are accepted on all.
    pub port: u8,
    /// UDP source port of its one path, unless it has `paths`; RoCEv2 uses 0xc000 to 0xffff.
    pub udp_sport: u16,
    /// Paths among which a policy chooses. `None`: `port` and `udp_sport` for life.
    pub paths: Option<RcPaths>,
    /// WRITEs with immediate that arrive make completions; otherwise they are only counted.
    pub imm_completions: bool,
}

impl RcRtrAttributes {
    /// For this peer: 4,096 bytes, one path by port 0 with UDP source port 0xc000, completions for immediates.
    pub fn new(peer: Connection) -> Self {
        let RcConfig {
            udp_sport, plane, ..
        } = RcConfig::default();
        Self {
            peer,
            mtu_log2: 12,
            port: plane,
            udp_sport,
            paths: None,
            imm_completions: true,
        }
    }

    /// Configuration of the queue pair, without the attributes of RTS.
    pub(super) fn config(
        &self,
        device: &Device,
        place: &Place,
        init: InitAttributes,
    ) -> Result<QpConfig, Error> {
        check_mtu("mtu_log2", self.mtu_log2)?;
        let last = device.probe.features.ports - 1;
        check("port", self.port.into(), 0, last.into())?;
        let paths = self.paths.map(|paths| paths.registers(device, place));
        let receive = Receive {
            peer: self.peer,
            mtu_log2: self.mtu_log2,
            imm: ImmConfig {
                // RC has no limit; the field must hold a legal value.
                max_wimm: 1,
                completions: self.imm_completions,
            },
            sack_every: 1,
        };
        let transport = TransportConfig::Rc(RcConfig {
            udp_sport: self.udp_sport,
            plane: self.port,
            paths: paths.transpose()?,
            ..RcConfig::default()
        });
        place.config(device, init, receive, transport)
    }
}

/// RTR to RTS, over RC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RcRtsAttributes {
    /// First PSN sent (`sq_psn`), 24 bits; the peer has it from the exchange. An application without one of its own takes [`random_psn`](crate::random_psn).
    pub psn: u32,
    /// Time without progress after which everything unacknowledged is sent again, 8 ns to 8 ms.
    pub timeout: Duration,
    /// Timeouts and sequence NAKs without progress; the next fails the queue pair.
    pub retry_cnt: u8,
    /// RNR NAKs without progress, 0 to 6; the next fails the queue pair with [`RnrRetryExcErr`](crate::WcStatus::RnrRetryExcErr). 7 has no limit. After each one the
    /// queue pair waits for the time that the peer names (its `min_rnr_timer`).
    pub rnr_retry: u8,
    /// Maximum number of unacknowledged packets, 1 to 1,024. It is the only limit, because RC has no congestion control.
    pub window: u16,
    /// An acknowledgement is requested once in this number of packets (1 or more), and by the last packet of each message.
    pub ack_every: u16,
}

impl RcRtsAttributes {
    /// Attributes with `psn` as the first PSN. Timeout 250 us, 7 retries, no limit of RNR NAKs, a window of 128 packets, and an acknowledgement request in every 16th packet.
    pub fn new(psn: u32) -> Self {
        let RcConfig {
            window,
            rto,
            retry_count,
            rnr_retry,
            ack_every,
            ..
        } = RcConfig::default();
        Self {
            psn,
            timeout: Duration::from_nanos(rto.as_ns()),
            retry_cnt: retry_count,
            rnr_retry,
            window,
            ack_every,
        }
    }

    /// Adds the attributes of RTS.
    pub(super) fn complete(&self, config: &QpConfig, device: &Device) -> Result<QpConfig, Error> {
        let mut config = config.clone();
        config.sq_psn = first_psn("psn", self.psn)?;
        if let TransportConfig::Rc(rc) = &mut config.transport {
            rc.rto = ticks("timeout (8 ns)", self.timeout)?;
            rc.retry_count = self.retry_cnt;
            rc.rnr_retry = self.rnr_retry;
            rc.window = self.window;
            rc.ack_every = self.ack_every;
        }
        config.check(device.config.ports[0].ip)?;
        Ok(config)
    }
}
