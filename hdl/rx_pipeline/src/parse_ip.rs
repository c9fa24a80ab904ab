//! First stage of the parser: the IP header.

use hdl_macros::hdl;
use rust_hdl::prelude::*;
use stellar_wire::hw::layout::{ipv4, ipv6};
use stellar_wire::ip::{IPV6_FRAGMENT, PROTO_UDP};
use stellar_wire::mtu::LENGTH_BITS;
use stellar_wire::{Header, Ipv4, Ipv6};

use crate::frame_info::FrameInfo;
use crate::layout::{TRANSPORT_BITS, WINDOW_BITS};
use crate::network_order::{be128, be16, be32, byte};
use crate::own_address::OwnAddress;

/// Cycles from the window to the fields.
pub const LATENCY: usize = 1;

/// First byte of the header: version 4, and five words of header.
const VERSION_4_IHL_5: u64 = 0x45;
/// More-fragments flag and fragment offset.
const FRAGMENT_MASK: u64 = 0x3fff;

/// The fields of the IP header, and its errors.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct IpFields {
    pub ipv6: Bit,
    /// The frame ends inside the outer headers or the IP header.
    pub cut_off: Bit,
    /// EtherType, version, options or protocol is not supported.
    pub not_roce: Bit,
    /// The packet is a fragment; of interest only without `not_roce`.
    pub fragment: Bit,
    /// The destination MAC or IP address is not the port's own; of interest only without `not_roce`.
    pub foreign: Bit,
    /// The frame has more bytes than the lane accepts.
    pub oversize: Bit,
    /// IPv4 total length, or IPv6 payload length.
    pub claimed: Bits<16>,
    /// The value that `claimed` must have for the bytes that arrived.
    pub arrived: Bits<LENGTH_BITS>,
    /// Bytes after the IP header.
    pub datagram: Bits<LENGTH_BITS>,
    /// Congestion Experienced, in the inner or the outer header.
    pub congestion: Bit,
    /// Low 16 bits of the IPv6 flow label; zero for IPv4.
    pub flow_label: Bits<16>,
}

/// Checks the IP header, and moves the transport headers to a fixed position.
/// LUT levels: comparisons of 16 bits 3 and one more to join them, 14-bit subtraction and selection 3, destination 6 (selection, 128-bit equality 4, join).
#[derive(LogicBlock, Default)]
pub struct ParseIp {
    pub clock: Signal<In, Clock>,
    pub in_window: Signal<In, Bits<WINDOW_BITS>>,
    pub in_info: Signal<In, FrameInfo>,
    pub own: Signal<In, OwnAddress>,

    pub out_fields: Signal<Out, IpFields>,
    /// The transport headers, from the first byte of UDP.
    pub out_transport: Signal<Out, Bits<TRANSPORT_BITS>>,
    /// Source address as a number. An IPv4 address is in the low 32 bits.
    pub out_source: Signal<Out, Bits<128>>,

    fields: DFF<IpFields>,
    transport: DFF<Bits<TRANSPORT_BITS>>,
    source: DFF<Bits<128>>,
}

impl Logic for ParseIp {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, fields, transport, source);
        let window = self.in_window.val();
        let info = self.in_info.val();
        let is_ipv6 = info.outer.ipv6;
        let header = window.get_bits::<{ 8 * Ipv4::LEN }>(0);

        let bad_ipv4 = (byte(header, ipv4::VERSION_IHL) != VERSION_4_IHL_5)
            | (byte(header, ipv4::PROTOCOL) != u64::from(PROTO_UDP));
        let fragment_ipv4 = (be16(header, ipv4::FRAGMENT) & FRAGMENT_MASK).any();
        let next_header = byte(header, ipv6::NEXT_HEADER);
        let fragment_ipv6 = next_header == u64::from(IPV6_FRAGMENT);
        let bad_ipv6 = ((byte(header, ipv6::VERSION) >> 4) != 6)
            | ((next_header != u64::from(PROTO_UDP)) & !fragment_ipv6);
        let tos = byte(header, ipv4::TOS);
        let traffic_class_low = byte(header, ipv6::TRAFFIC_CLASS_LOW);
        let congestion_ipv4 = tos.get_bit(0) & tos.get_bit(1);
        let congestion_ipv6 = traffic_class_low.get_bit(4) & traffic_class_low.get_bit(5);

        let bad_header = if is_ipv6 { bad_ipv6 } else { bad_ipv4 };
        let congestion = if is_ipv6 {
            congestion_ipv6
        } else {
            congestion_ipv4
        };
        let payload_length = be16(header, ipv6::PAYLOAD_LENGTH);
        let total_length = be16(header, ipv4::TOTAL_LENGTH);
        let flow_label = be16(header, ipv6::FLOW_LABEL_LOW);
        let header_bytes = if is_ipv6 {
            bits::<LENGTH_BITS>(Ipv6::LEN as u64)
        } else {
            bits::<LENGTH_BITS>(Ipv4::LEN as u64)
        };
        let datagram = info.bytes - header_bytes;
        let own = self.own.val();
        let destination_ipv6 = be128(window, ipv6::DESTINATION);
        let destination_ipv4 = bit_cast::<128, 32>(be32(window, ipv4::DESTINATION));
        let destination = if is_ipv6 {
            destination_ipv6
        } else {
            destination_ipv4
        };
        let short = (info.bytes < header_bytes) & !info.oversize;
        self.fields.d.next = IpFields {
            ipv6: is_ipv6,
            cut_off: info.outer.runt | (short & !info.outer.foreign),
            not_roce: info.outer.foreign | bad_header,
            fragment: if is_ipv6 {
                fragment_ipv6
            } else {
                fragment_ipv4
            },
            foreign: own.checked & (!own.known | info.outer.other_mac | (destination != own.ip)),
            oversize: info.oversize,
            claimed: if is_ipv6 {
                payload_length
            } else {
                total_length
            },
            arrived: if is_ipv6 { datagram } else { info.bytes },
            datagram,
            congestion: info.outer.congestion | congestion,
            flow_label: if is_ipv6 { flow_label } else { bits::<16>(0) },
        };
        self.transport.d.next = if is_ipv6 {
            window.get_bits::<TRANSPORT_BITS>(8 * Ipv6::LEN)
        } else {
            window.get_bits::<TRANSPORT_BITS>(8 * Ipv4::LEN)
        };
        let source_ipv6 = be128(window, ipv6::SOURCE);
        let source_ipv4 = bit_cast::<128, 32>(be32(window, ipv4::SOURCE));
        self.source.d.next = if is_ipv6 { source_ipv6 } else { source_ipv4 };
        self.out_source.next = self.source.q.val();
        self.out_fields.next = self.fields.q.val();
        self.out_transport.next = self.transport.q.val();
    }
}
