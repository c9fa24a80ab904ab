//! Conversions between the fields of messages and the driver's types.

use std::time::Duration;

use stellar_driver as driver;
use stellar_driver::paths::PathTraffic;
use stellar_driver::{AsyncEvent, Connection, PortAddress, QpState};
use stellar_wire::vstellar::{
    Event, GuestEvent, GuestPathCounts, GuestQpState, Path, Port, ReadyToReceive, RetryBackoff,
    SkipMarked, Status, Step,
};

use crate::pvdma::PvdmaError;

/// Converts an address for a message.
pub const fn port(address: PortAddress) -> Port {
    Port {
        mac: address.mac,
        ip: address.ip,
    }
}

const fn address(port: Port) -> PortAddress {
    PortAddress {
        mac: port.mac,
        ip: port.ip,
    }
}

const fn path(path: Path) -> driver::PathAttributes {
    driver::PathAttributes {
        mtu_log2: path.mtu_log2,
        base_rtt: Duration::from_nanos(path.base_rtt),
        gbps: path.gbps,
        trimming: path.trimming,
        policy: path.policy,
        paths: path.paths,
        // Guests name no profile.
        profile: 0,
        skip: match path.skip {
            SkipMarked::RestOfRotation => driver::SkipScope::RestOfRotation,
            SkipMarked::NextTurn => driver::SkipScope::NextTurn,
        },
        probe_interval: Duration::from_nanos(path.probe_interval),
        bend_after: 1,
    }
}

fn ready(ready: ReadyToReceive) -> driver::RtrAttributes {
    driver::RtrAttributes {
        peer: Connection {
            qp: ready.qp,
            psn: ready.psn,
            transport: driver::Transport::Mrc,
            ports: ready.ports.map(address),
        },
        path: path(ready.path),
        max_write_imm: ready.max_write_imm,
        imm_completions: ready.imm_completions,
        sack_every: Some(ready.sack_every),
    }
}

/// The state transition of a request.
pub fn step(step: Step) -> driver::Modify {
    match step {
        Step::Reset => driver::Modify::Reset,
        Step::Error => driver::Modify::Error,
        Step::Init { pkey, remote_write } => {
            driver::Modify::Init(driver::InitAttributes { pkey, remote_write })
        }
        Step::Rtr(attributes) => driver::Modify::Rtr(ready(attributes)),
        Step::Rts {
            psn,
            timeout,
            backoff,
            retry_count,
            window,
            early_loss,
        } => driver::Modify::Rts(driver::RtsAttributes {
            psn,
            timeout: Duration::from_nanos(timeout),
            backoff: match backoff {
                RetryBackoff::Fixed => driver::Backoff::Fixed,
                RetryBackoff::Exponential => driver::Backoff::Exponential,
            },
            retry_count,
            window,
            early_loss,
        }),
    }
}

/// Converts a state for a message.
pub const fn state(state: QpState) -> GuestQpState {
    match state {
        QpState::Reset => GuestQpState::Reset,
        QpState::Init => GuestQpState::Init,
        QpState::Rtr => GuestQpState::Rtr,
        QpState::Rts => GuestQpState::Rts,
        QpState::Error => GuestQpState::Error,
    }
}

/// Converts the counts of a path for a message.
pub const fn path_counts(path: PathTraffic) -> GuestPathCounts {
    let PathTraffic { index, counts } = path;
    GuestPathCounts {
        index,
        sent: counts.sent,
        marked: counts.marked,
        lost: counts.lost,
    }
}

/// Converts an event for a message. Returns `None` for events that a guest cannot get.
pub fn event(event: AsyncEvent) -> Option<GuestEvent> {
    let (kind, qp, data) = match event {
        AsyncEvent::QueuePairFatal { qp, status } => {
            let code = status.map_or(u8::MAX, |status| status.code());
            (Event::QueuePairFatal, qp, code.into())
        }
        AsyncEvent::CompletionLost { qp, wr_id } => (Event::CompletionLost, qp, wr_id),
        AsyncEvent::DoorbellRefused { qp, .. } => (Event::DoorbellRefused, qp, 0),
        // A guest has no use for bus addresses. It hears of its queue pairs by the events of these.
        AsyncEvent::ImmediateThreshold { .. }
        | AsyncEvent::PayloadReadFailed { .. }
        | AsyncEvent::EntryReadFailed { .. }
        | AsyncEvent::FlushReadFailed { .. } => return None,
    };
    Some(GuestEvent { kind, qp, data })
}

/// The status of a request that the driver refused.
pub fn status(error: &driver::Error) -> Status {
    match error {
        driver::Error::Exhausted { .. } => Status::Exhausted,
        driver::Error::Transition(_) | driver::Error::NoPaths { .. } => Status::BadState,
        driver::Error::Device(_) | driver::Error::BadEntry(_) | driver::Error::BadHead { .. } => {
            Status::Card
        }
        _ => Status::Attribute,
    }
}

/// The status of a request whose memory could not be pinned.
pub const fn memory_status(error: &PvdmaError) -> Status {
    match error {
        PvdmaError::Range { .. } => Status::BadAddress,
        _ => Status::NoMemory,
    }
}
