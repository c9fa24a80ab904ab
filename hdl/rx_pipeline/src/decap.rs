//! Finds the IP header that the lane works on: after Ethernet, at most one 802.1Q tag, and at most one outer IPv6 header (SRv6 without SRH).

use hdl_macros::hdl;
use hdl_primitives::MacRxSnk;
use rust_hdl::prelude::*;
use stellar_wire::ethernet::{ETHERTYPE_IPV4, ETHERTYPE_IPV6, ETHERTYPE_VLAN};
use stellar_wire::hw::layout::{ethernet, ipv6, shift_bytes, vlan, ETHERNET_BYTES};
use stellar_wire::ip::{PROTO_IPV4, PROTO_IPV6};

use crate::beat::{BeatInfo, OuterHeaders};
use crate::bundles::BeatFlowSrc;
use crate::lane_width::LaneWidth;
use crate::network_order::{be16, be48, byte};
use crate::own_address::OwnAddress;

/// Bits of an outer IPv6 header that are used: up to the next-header byte.
const OUTER_BITS: usize = 8 * (ipv6::NEXT_HEADER + 1);
/// Bits of the first beat that are used.
const HEAD_BITS: usize = 8 * ETHERNET_BYTES[1] + OUTER_BITS;

/// Cycles from a beat in to the same beat out.
pub const LATENCY: usize = 1;

/// Decodes the first beat of each frame, and passes all beats on with the result.
///
/// An outer header must have version 6. One that is cut off, or has another version, goes to the IP parser, which refuses it.
/// LUT levels: MAC compare 3, EtherType compare 2, select by tag 1, next header and version 2, runt 2.
#[derive(LogicBlock, Default)]
pub struct Decap<const W: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    pub mac: MacRxSnk<W>,
    pub own: Signal<In, OwnAddress>,

    pub out: BeatFlowSrc<W>,

    in_frame: DFF<Bit>,
    valid: DFF<Bit>,
    data: DFF<Bits<W>>,
    beat: DFF<BeatInfo>,
    _width: LaneWidth<W>,
}

impl<const W: usize> Logic for Decap<W> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, in_frame, valid, data, beat);
        let head = self.mac.data.val().get_bits::<HEAD_BITS>(0);
        let bytes = self.mac.bytes.val();

        let first_type = be16(head, ethernet::ETHERTYPE);
        let tagged = first_type == u64::from(ETHERTYPE_VLAN);
        let second_type = be16(head, ETHERNET_BYTES[0] + vlan::ETHERTYPE);
        let ethertype = if tagged { second_type } else { first_type };
        let outer = if tagged {
            head.get_bits::<OUTER_BITS>(8 * ETHERNET_BYTES[1])
        } else {
            head.get_bits::<OUTER_BITS>(8 * ETHERNET_BYTES[0])
        };
        let version = byte(outer, ipv6::VERSION) >> 4;
        let next_header = byte(outer, ipv6::NEXT_HEADER);
        let traffic_class = byte(outer, ipv6::TRAFFIC_CLASS_LOW);

        // Bytes beyond the end of a frame are undefined; they must not pass for an outer header.
        let outer_held = if tagged {
            bytes > (ETHERNET_BYTES[1] + ipv6::NEXT_HEADER) as u64
        } else {
            bytes > (ETHERNET_BYTES[0] + ipv6::NEXT_HEADER) as u64
        };
        let is_ipv4 = ethertype == u64::from(ETHERTYPE_IPV4);
        let is_ipv6 = ethertype == u64::from(ETHERTYPE_IPV6);
        let may_carry = is_ipv6 & (version == 6) & outer_held;
        let carries_ipv4 = may_carry & (next_header == u64::from(PROTO_IPV4));
        let carries_ipv6 = may_carry & (next_header == u64::from(PROTO_IPV6));
        let encapsulated = carries_ipv4 | carries_ipv6;
        let runt = if tagged {
            (bytes < shift_bytes(true, false) as u64)
                | (encapsulated & (bytes < shift_bytes(true, true) as u64))
        } else {
            (bytes < shift_bytes(false, false) as u64)
                | (encapsulated & (bytes < shift_bytes(false, true) as u64))
        };

        let first = !self.in_frame.q.val();
        let found = OuterHeaders {
            tagged,
            encapsulated,
            ipv6: is_ipv6 & !carries_ipv4,
            other_mac: be48(head, ethernet::DESTINATION) != self.own.val().mac,
            foreign: !(is_ipv4 | is_ipv6),
            runt,
            congestion: encapsulated & traffic_class.get_bit(4) & traffic_class.get_bit(5),
        };
        let kept = self.beat.q.val().outer;
        self.valid.d.next = self.mac.valid.val();
        self.data.d.next = self.mac.data.val();
        if self.mac.valid.val() {
            self.in_frame.d.next = !self.mac.last.val();
            self.beat.d.next = BeatInfo {
                first,
                last: self.mac.last.val(),
                error: self.mac.error.val() & self.mac.last.val(),
                bytes,
                outer: if first { found } else { kept },
            };
        }
        if self.reset.val() {
            self.in_frame.d.next = false;
            self.valid.d.next = false;
        }

        self.out.valid.next = self.valid.q.val();
        self.out.data.next = self.data.q.val();
        self.out.beat.next = self.beat.q.val();
    }
}
