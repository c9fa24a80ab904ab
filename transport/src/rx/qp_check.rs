//! Static checks against the queue pair's context (hardware block `qp_fetch`).

use super::{DropReason, PacketHeaders, QpRow, QpState};

/// Membership bit of a P_Key: set for a full member of the partition, clear for a limited one.
const FULL_MEMBER: u16 = 0x8000;

/// Returns the first reason to refuse the packet in the order `UnknownQp`, `WrongState`, `WrongMode`, `BadPkey`, or `None` if it is accepted. A
/// number out of range has an `Invalid` context ([`super::Tables::qp`]).
pub fn check_qp(headers: &PacketHeaders, context: &QpRow) -> DropReason {
    match context.state {
        QpState::Invalid => DropReason::UnknownQp,
        QpState::Init | QpState::Error => DropReason::WrongState,
        QpState::Ready if context.mode != headers.mode => DropReason::WrongMode,
        QpState::Ready if !pkeys_match(headers.pkey, context.pkey) => DropReason::BadPkey,
        QpState::Ready => DropReason::None,
    }
}

/// Same partition, and not two limited members (InfiniBand architecture volume 1, section 10.9.3).
pub(crate) fn pkeys_match(packet: u16, local: u16) -> bool {
    packet & !FULL_MEMBER == local & !FULL_MEMBER && (packet | local) & FULL_MEMBER != 0
}
