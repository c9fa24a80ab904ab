//! The attributes of a queue pair for each step, as fields of a message.

use super::address::Port;
use super::fields::{Malformed, Put, Take};
use crate::code_enum::code_enum;
use crate::rows::SprayPolicy as PathPolicy;

code_enum! {
    /// State of a queue pair (verbs: `ibv_qp_state`).
    pub enum GuestQpState {
        Reset = 0,
        Init = 1,
        Rtr = 2,
        Rts = 3,
        Error = 4,
    }
}

code_enum! {
    /// How long a marked path is passed over.
    pub enum SkipMarked {
        RestOfRotation = 0,
        NextTurn = 1,
    }
}

code_enum! {
    /// How the retransmission timeout grows.
    pub enum RetryBackoff {
        Fixed = 0,
        Exponential = 1,
    }
}

/// The way to the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// log2 of the path MTU in bytes.
    pub mtu_log2: u8,
    /// Nanoseconds.
    pub base_rtt: u64,
    /// Rate of both planes together.
    pub gbps: u32,
    pub trimming: bool,
    pub policy: PathPolicy,
    pub paths: u8,
    pub skip: SkipMarked,
    /// Nanoseconds.
    pub probe_interval: u64,
}

/// INIT to RTR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadyToReceive {
    /// The peer's number, 24 bits.
    pub qp: u32,
    /// First PSN the peer sends, 24 bits.
    pub psn: u32,
    /// Addresses of the peer's ports, in order of planes.
    pub ports: [Port; 2],
    pub path: Path,
    /// Maximum number of WRITEs with immediate in flight in each direction.
    pub max_write_imm: u16,
    /// WRITEs with immediate that arrive make completions.
    pub imm_completions: bool,
    /// Packets that one SACK may answer.
    pub sack_every: u8,
}

/// A step of a queue pair: the state it leads to, one byte, and what that needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Reset,
    Init {
        pkey: u16,
        remote_write: bool,
    },
    Rtr(ReadyToReceive),
    Rts {
        /// First PSN sent, 24 bits.
        psn: u32,
        /// Nanoseconds.
        timeout: u64,
        backoff: RetryBackoff,
        retry_count: u8,
        /// Maximum number of PSNs from the oldest unacknowledged packet to the newest one.
        window: u16,
        /// A packet this many behind the latest that was acknowledged is lost; 0 to wait for the timeout.
        early_loss: u16,
    },
    Error,
}

impl Path {
    fn put(&self, out: &mut Put) {
        out.u8(self.mtu_log2).u64(self.base_rtt).u32(self.gbps);
        out.flag(self.trimming).u8(self.policy.index());
        out.u8(self.paths).u8(self.skip.code());
        out.u64(self.probe_interval);
    }

    fn take(from: &mut Take<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            mtu_log2: from.u8()?,
            base_rtt: from.u64()?,
            gbps: from.u32()?,
            trimming: from.flag("path.trimming")?,
            policy: from.code("path.policy", PathPolicy::from_index)?,
            paths: from.u8()?,
            skip: from.code("path.skip", SkipMarked::from_code)?,
            probe_interval: from.u64()?,
        })
    }
}

impl ReadyToReceive {
    fn put(&self, out: &mut Put) {
        out.u32(self.qp).u32(self.psn);
        self.ports.iter().for_each(|port| port.put(out));
        self.path.put(out);
        out.u16(self.max_write_imm).flag(self.imm_completions);
        out.u8(self.sack_every);
    }

    fn take(from: &mut Take<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            qp: from.u32()?,
            psn: from.u32()?,
            ports: [Port::take(from)?, Port::take(from)?],
            path: Path::take(from)?,
            max_write_imm: from.u16()?,
            imm_completions: from.flag("imm_completions")?,
            sack_every: from.u8()?,
        })
    }
}

impl Step {
    /// The state it leads to.
    pub const fn state(&self) -> GuestQpState {
        match self {
            Self::Reset => GuestQpState::Reset,
            Self::Init { .. } => GuestQpState::Init,
            Self::Rtr(_) => GuestQpState::Rtr,
            Self::Rts { .. } => GuestQpState::Rts,
            Self::Error => GuestQpState::Error,
        }
    }

    pub(super) fn put(&self, out: &mut Put) {
        out.u8(self.state().code());
        match self {
            Self::Reset | Self::Error => {}
            Self::Init { pkey, remote_write } => {
                out.u16(*pkey).flag(*remote_write);
            }
            Self::Rtr(attributes) => attributes.put(out),
            Self::Rts {
                psn,
                timeout,
                backoff,
                retry_count,
                window,
                early_loss,
            } => {
                out.u32(*psn).u64(*timeout).u8(backoff.code());
                out.u8(*retry_count).u16(*window).u16(*early_loss);
            }
        }
    }

    pub(super) fn take(from: &mut Take<'_>) -> Result<Self, Malformed> {
        Ok(match from.code("step.state", GuestQpState::from_code)? {
            GuestQpState::Reset => Self::Reset,
            GuestQpState::Error => Self::Error,
            GuestQpState::Init => Self::Init {
                pkey: from.u16()?,
                remote_write: from.flag("step.remote_write")?,
            },
            GuestQpState::Rtr => Self::Rtr(ReadyToReceive::take(from)?),
            GuestQpState::Rts => Self::Rts {
                psn: from.u32()?,
                timeout: from.u64()?,
                backoff: from.code("step.backoff", RetryBackoff::from_code)?,
                retry_count: from.u8()?,
                window: from.u16()?,
                early_loss: from.u16()?,
            },
        })
    }
}
