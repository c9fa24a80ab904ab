//! Attributes of a queue pair from its creation to RTS, for both transports.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use stellar_wire::config::{ImmConfig, Peer, QpConfig, SqRing, TransportConfig};
use stellar_wire::host::{Wqe, WqeSize};
use stellar_wire::time::Ticks;
use stellar_wire::{mtu, Psn};

use super::mrc::{RtrAttributes, RtsAttributes};
use super::rc::{RcRtrAttributes, RcRtsAttributes};
use super::state::QpState;
use crate::connect::Connection;
use crate::error::Error;
use crate::open::Shared as Device;

/// Transport of a queue pair (verbs: `ibv_qp_type`). Both ends have the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Transport {
    /// OCP MRC 1.0: both ports and many paths, packets in any order.
    #[default]
    Mrc,
    /// Reliable connection of RoCEv2 (InfiniBand architecture volume 1, section 9.7): one port, one path, go-back-N.
    Rc,
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Mrc => "MRC",
            Self::Rc => "RC",
        })
    }
}

/// Configuration of a queue pair at its creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuePairConfig {
    /// Entries of its send queue, a power of two from 2 to 2^15.
    pub send_entries: u32,
    /// Bytes of inline data that a work request may have, at least: up to [`crate::Limits::inline_bytes`] (verbs: `max_inline_data`). With more than 32, each entry of the send
    /// queue has 128 bytes in place of 64.
    pub inline_bytes: u32,
    /// The queue pair's transport. It cannot be changed later.
    pub transport: Transport,
}

impl QueuePairConfig {
    /// Size of the entries of its send queue.
    ///
    /// # Errors
    /// [`Error::Attribute`] if no entry has so many bytes of inline data.
    pub(super) fn entry(&self) -> Result<WqeSize, Error> {
        WqeSize::for_inline(self.inline_bytes as usize).ok_or(Error::Attribute {
            field: "inline_bytes",
            value: self.inline_bytes.into(),
            least: 0,
            most: Wqe::INLINE as u64,
        })
    }
}

impl Default for QueuePairConfig {
    /// The default has 128 entries of 64 bytes and uses MRC.
    fn default() -> Self {
        Self {
            send_entries: 128,
            inline_bytes: WqeSize::Bytes64.inline() as u32,
            transport: Transport::default(),
        }
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
    /// Returns default attributes: the default partition, and remote writes allowed.
    fn default() -> Self {
        Self {
            pkey: 0xffff,
            remote_write: true,
        }
    }
}

/// A step of a queue pair, with what it needs (verbs: `ibv_modify_qp`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Modify {
    /// To RESET. The queue pair then has no rows on the card.
    Reset,
    /// To INIT.
    Init(InitAttributes),
    /// To RTR, over MRC.
    Rtr(RtrAttributes),
    /// To RTS, over MRC.
    Rts(RtsAttributes),
    /// To RTR, over RC.
    RcRtr(RcRtrAttributes),
    /// To RTS, over RC.
    RcRts(RcRtsAttributes),
    /// To ERROR: posted work requests complete with [`crate::WcStatus::WrFlushErr`].
    Error,
}

impl Modify {
    /// The state it leads to.
    pub const fn state(&self) -> QpState {
        match self {
            Self::Reset => QpState::Reset,
            Self::Init(_) => QpState::Init,
            Self::Rtr(_) | Self::RcRtr(_) => QpState::Rtr,
            Self::Rts(_) | Self::RcRts(_) => QpState::Rts,
            Self::Error => QpState::Error,
        }
    }

    /// The transport whose attributes it has; `None` if they are those of every queue pair.
    pub const fn transport(&self) -> Option<Transport> {
        match self {
            Self::Rtr(_) | Self::Rts(_) => Some(Transport::Mrc),
            Self::RcRtr(_) | Self::RcRts(_) => Some(Transport::Rc),
            Self::Reset | Self::Init(_) | Self::Error => None,
        }
    }
}

/// WRITEs with immediate in flight if an application names no other number. Every card can have them on all of its queue pairs.
pub const DEFAULT_WRITE_IMM: u16 = 16;

pub(super) fn check(field: &'static str, value: u64, least: u64, most: u64) -> Result<(), Error> {
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

/// Checks that `log2` is the log2 of a path MTU.
pub(super) fn check_mtu(field: &'static str, log2: u8) -> Result<(), Error> {
    check(
        field,
        log2.into(),
        mtu::MIN_LOG2.into(),
        mtu::MAX_LOG2.into(),
    )
}

/// Converts a span to ticks. Returns an error if it does not fit.
pub(super) fn ticks(field: &'static str, span: Duration) -> Result<Ticks, Error> {
    let ns = u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
    let tick = u64::from(Ticks::NANOSECONDS);
    check(field, ns / tick, 1, u64::from(u32::MAX >> 1))?;
    Ok(Ticks::from_ns(ns))
}

/// Converts a first PSN. Returns an error if it has more than 24 bits.
pub(super) fn first_psn(field: &'static str, value: u32) -> Result<Psn, Error> {
    check(field, value.into(), 0, (Psn::MODULUS - 1).into())?;
    Ok(Psn::new(value))
}

/// Identity of a queue pair on its card.
pub struct Place {
    pub number: u32,
    pub transport: Transport,
    pub page: u16,
    pub domain: u32,
    pub ring: SqRing,
}

/// Attributes of RTR for both transports.
pub struct Receive {
    pub peer: Connection,
    pub mtu_log2: u8,
    pub imm: ImmConfig,
    /// MRC only.
    pub sack_every: u8,
}

impl Place {
    /// Checks that an object of transport `given` fits this queue pair.
    pub fn check_transport(&self, what: &'static str, given: Transport) -> Result<(), Error> {
        if given == self.transport {
            return Ok(());
        }
        Err(Error::Transport {
            qp: self.number,
            own: self.transport,
            what,
            given,
        })
    }

    /// Configuration of the queue pair, without the attributes of RTS.
    pub fn config(
        &self,
        device: &Device,
        init: InitAttributes,
        receive: Receive,
        transport: TransportConfig,
    ) -> Result<QpConfig, Error> {
        let peer = receive.peer;
        self.check_transport("its peer is", peer.transport)?;
        let config = QpConfig {
            number: self.number,
            page: self.page.into(),
            peer: Peer {
                qp: peer.qp,
                planes: peer.ports.map(|port| port.plane()),
            },
            pd: self.domain,
            pkey: init.pkey,
            mtu_log2: receive.mtu_log2,
            sq_psn: Psn::new(0),
            rq_psn: first_psn("peer.psn", peer.psn)?,
            remote_write: init.remote_write,
            sq: Some(self.ring),
            cq_entries: 1,
            imm: receive.imm,
            sack_every: receive.sack_every,
            srv6: None,
            transport,
        };
        config.check(device.config.ports[0].ip)?;
        device.reach.grow(1 << receive.mtu_log2);
        Ok(config)
    }
}
