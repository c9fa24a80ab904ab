//! Whose a frame is: for the port that it arrived at, and from the peer of its queue pair (hardware: `decap`, `parse_ip`, `control_check`).
//!
//! Records of packets ([`super::RxLane::receive_headers`]) carry no addresses: whoever passes them on has routed them.

use stellar_wire::config::PlaneAddress;
use stellar_wire::rows::PeerAddressRow;

use super::frame::addresses_of;
use super::{ControlPeer, DropReason, FrameOutcome};

/// What a port compares the addresses of a frame with.
pub struct Addressing<'a> {
    /// The port's own address.
    pub own: PlaneAddress,
    /// The peer of a queue pair; `None` if it has none, and then the source of its packets is not checked.
    pub peer: &'a dyn Fn(u32) -> Option<ControlPeer>,
}

impl Addressing<'_> {
    /// Whether a good frame is for this port: its Ethernet header names its MAC address, and its innermost IP header its IP address.
    pub fn is_for_us(&self, frame: &[u8]) -> bool {
        addresses_of(frame).is_some_and(|found| self.is_own(found.destination))
    }

    /// The outcome of [`super::classify_frame`] for `frame` and its addresses. `ForeignDestination` comes after `BadIcrc`, and before the reasons that follow
    /// from the BTH. `ForeignSource` comes after those, and before the reasons that follow from the queue pair's context.
    pub fn check(&self, frame: &[u8], classified: FrameOutcome) -> FrameOutcome {
        let refused = |reason| FrameOutcome {
            reason,
            headers: None,
        };
        if !matches!(
            classified.reason,
            DropReason::None | DropReason::UnsupportedOpcode | DropReason::BadPayloadLength
        ) {
            return classified;
        }
        let found = addresses_of(frame).filter(|found| self.is_own(found.destination));
        let Some(found) = found else {
            return refused(DropReason::ForeignDestination);
        };
        // Only a good packet has headers.
        let peer = classified
            .headers
            .and_then(|headers| (self.peer)(headers.dest_qp));
        if peer.is_some_and(|peer| !peer.addresses.contains(&found.source)) {
            return refused(DropReason::ForeignSource);
        }
        classified
    }

    /// The card compares numbers, as its tables hold them.
    fn is_own(&self, PlaneAddress { mac, ip }: PlaneAddress) -> bool {
        let number = |ip| PeerAddressRow::from(ip).address;
        mac == self.own.mac && number(ip) == number(self.own.ip)
    }
}
