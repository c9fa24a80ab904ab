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
        // The card compares numbers, as its tables hold them.
        let number = |ip| PeerAddressRow::from(ip).address;
        addresses_of(frame).is_some_and(|found| {
            let PlaneAddress { mac, ip } = found.destination;
            mac == self.own.mac && number(ip) == number(self.own.ip)
        })
    }

    /// The outcome of [`super::classify_frame`] for `frame` and its addresses. `ForeignDestination` comes after `BadIcrc`, and before the reasons that follow
    /// from the BTH. `ForeignSource` comes after those, and before the reasons that follow from the queue pair's context.
    pub fn check(&self, frame: &[u8], classified: FrameOutcome) -> FrameOutcome {
        let refused = |reason| FrameOutcome {
            reason,
            headers: None,
        };
        match classified.reason {
            DropReason::None | DropReason::UnsupportedOpcode | DropReason::BadPayloadLength
                if !self.is_for_us(frame) =>
            {
                refused(DropReason::ForeignDestination)
            }
            DropReason::None if self.is_foreign(frame, &classified) => {
                refused(DropReason::ForeignSource)
            }
            _ => classified,
        }
    }

    /// Whether a good packet comes from somebody else than the peer of its queue pair.
    fn is_foreign(&self, frame: &[u8], classified: &FrameOutcome) -> bool {
        let peer = classified
            .headers
            .and_then(|headers| (self.peer)(headers.dest_qp));
        let source = addresses_of(frame).map(|found| found.source);
        peer.is_some_and(|peer| source.is_none_or(|source| !peer.addresses.contains(&source)))
    }
}
