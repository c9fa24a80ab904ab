//! Builds all headers of a frame from its record.

use hdl_macros::{hdl, join};
use hdl_primitives::Delay;
use rust_hdl::prelude::*;
use stellar_wire::hw::layout::shift_bytes;
use stellar_wire::hw::tx::{TxBth, TxEthernet, TxIp, TxPacket, TxSrv6};
use stellar_wire::ip::PROTO_UDP;
use stellar_wire::{Bth, Header, Ipv4, Ipv6, Udp};

use crate::extension_headers::{self, ExtensionHeaders, EXTENSION_BITS};
use crate::frame_layout::{self, FrameLayouts};
use crate::header_bytes::{
    bth_bytes, ethernet_bytes, ipv4_bytes, ipv6_bytes, outer_bytes, udp_bytes,
};
use crate::ip_checksum::{self, IpChecksum};
use crate::records::{FrameHeader, FrameLayout, Nesting, FRAME_HEADER_BITS, PACKET_HEADER_BITS};

/// Cycles from the record to the headers.
pub const LATENCY: usize = BUILT + 2;

/// The IPv4 header is complete last: its checksum needs the length, which needs the extension headers.
const CHECKSUM_STARTS: usize = frame_layout::LENGTH_LATENCY - ip_checksum::LENGTH_AFTER;
/// Cycles from the record until every part of the packet's headers is complete.
const BUILT: usize = CHECKSUM_STARTS + ip_checksum::LATENCY;
const EXTENSIONS_WAIT: usize = BUILT - extension_headers::LATENCY;
const LENGTH_WAIT: usize = BUILT - frame_layout::LENGTH_LATENCY;
const LAYOUT_WAIT: usize = LATENCY - frame_layout::LATENCY;
const _: () = assert!(extension_headers::LATENCY == frame_layout::WORDS_AFTER);

/// Bits of UDP, BTH and extension headers.
const TRANSPORT_BITS: usize = 8 * (Udp::LEN + Bth::LEN) + EXTENSION_BITS;
const IPV4_BITS: usize = 8 * Ipv4::LEN;
const IPV6_BITS: usize = 8 * Ipv6::LEN;

/// Fields that the transport headers contain unchanged.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct TransportFields {
    pub bth: TxBth,
    pub udp_source: Bits<16>,
    pub udp_destination: Bits<16>,
    pub pad: Bits<2>,
}

/// Fields of the headers in front of the packet.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct OuterFields {
    pub ethernet: TxEthernet,
    pub srv6: TxSrv6,
    pub version6: Bit,
}

/// Builds all headers of a frame from its record: one frame per cycle, without stalls. A beat has 2^`B` bytes.
///
/// Extension headers, lengths and checksum are computed one after the other. Then `packet` combines the headers from the IP header on, and `frame`
/// adds the headers in front of it. LUT levels: `packet` 1 (version), `frame` 2 (one of four places), more only in the parts.
#[derive(LogicBlock)]
pub struct HeaderBuild<const B: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub in_valid: Signal<In, Bit>,
    pub in_packet: Signal<In, TxPacket>,
    pub out_valid: Signal<Out, Bit>,
    pub out_header: Signal<Out, FrameHeader>,

    extensions: ExtensionHeaders,
    layouts: FrameLayouts<B>,
    checksum: IpChecksum,

    valid: [DFF<Bit>; LATENCY],
    checksum_wait: Delay<TxIp, CHECKSUM_STARTS>,
    ip_wait: Delay<TxIp, BUILT>,
    transport_wait: Delay<TransportFields, BUILT>,
    extensions_wait: Delay<Bits<288>, EXTENSIONS_WAIT>,
    tseth_wait: Delay<Bit, EXTENSIONS_WAIT>,
    length_wait: Delay<Bits<16>, LENGTH_WAIT>,
    outer_wait: Delay<OuterFields, BUILT>,
    layout_wait: Delay<FrameLayout, LAYOUT_WAIT>,

    /// Registers of the stage `packet`: the headers from the IP header on, and the fields of the headers in front of it.
    packet: DFF<Bits<768>>,
    /// Bytes from the IP header to the iCRC.
    packet_length: DFF<Bits<16>>,
    outer: DFF<OuterFields>,

    frame: DFF<Bits<1232>>,
}

impl<const B: usize> Default for HeaderBuild<B> {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            in_valid: Default::default(),
            in_packet: Default::default(),
            out_valid: Default::default(),
            out_header: Default::default(),
            extensions: Default::default(),
            layouts: Default::default(),
            checksum: Default::default(),
            valid: Default::default(),
            checksum_wait: Default::default(),
            ip_wait: Default::default(),
            transport_wait: Default::default(),
            extensions_wait: Default::default(),
            tseth_wait: Default::default(),
            length_wait: Default::default(),
            outer_wait: Default::default(),
            layout_wait: Default::default(),
            packet: Default::default(),
            packet_length: Default::default(),
            outer: Default::default(),
            frame: Default::default(),
        }
    }
}

impl<const B: usize> Logic for HeaderBuild<B> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, packet, packet_length, outer, frame);
        clock!(
            self,
            clock,
            extensions,
            layouts,
            checksum,
            checksum_wait,
            ip_wait
        );
        clock!(
            self,
            clock,
            transport_wait,
            extensions_wait,
            tseth_wait,
            length_wait
        );
        clock!(self, clock, outer_wait, layout_wait);
        for i in 0..LATENCY {
            self.valid[i].clock.next = self.clock.val();
            if i == 0 {
                self.valid[i].d.next = self.in_valid.val() & !self.reset.val();
            } else {
                self.valid[i].d.next = self.valid[i - 1].q.val() & !self.reset.val();
            }
        }

        let record = self.in_packet.val();
        self.extensions.in_opcode.next = record.bth.opcode;
        self.extensions.in_extensions.next = record.extensions;
        self.layouts.in_nesting.next = Nesting {
            tagged: record.ethernet.tagged,
            encapsulated: record.srv6.present,
            version6: record.ip.version6,
        };
        self.layouts.in_payload_length.next = record.payload_length;
        self.layouts.in_words.next = self.extensions.out_words.val();
        self.checksum_wait.data.next = record.ip;
        self.ip_wait.data.next = record.ip;
        self.transport_wait.data.next = TransportFields {
            bth: record.bth,
            udp_source: record.udp_source,
            udp_destination: record.udp_destination,
            pad: bits::<2>(0) - record.payload_length.get_bits::<2>(0),
        };
        self.outer_wait.data.next = OuterFields {
            ethernet: record.ethernet,
            srv6: record.srv6,
            version6: record.ip.version6,
        };

        // sum
        let udp_length = self.layouts.out_udp_length.val();
        self.checksum.in_ip.next = self.checksum_wait.delayed.val();
        self.checksum.in_total_length.next = udp_length + bits::<16>(Ipv4::LEN as u64);
        self.length_wait.data.next = udp_length;
        join!(
            self,
            extensions.out_headers => extensions_wait.data,
            extensions.out_tseth => tseth_wait.data,
            layouts.out_layout => layout_wait.data,
        );

        // build_packet
        let ip = self.ip_wait.delayed.val();
        let fields = self.transport_wait.delayed.val();
        let length = self.length_wait.delayed.val();
        let udp = udp_bytes(fields.udp_source, fields.udp_destination, length);
        let bth = bth_bytes(fields.bth, fields.pad, self.tseth_wait.delayed.val());
        let extensions = self.extensions_wait.delayed.val();
        let transport = bit_cast::<TRANSPORT_BITS, 64>(udp)
            | (bit_cast::<TRANSPORT_BITS, 96>(bth) << ((8 * Udp::LEN) as u64))
            | (bit_cast::<TRANSPORT_BITS, EXTENSION_BITS>(extensions)
                << ((8 * (Udp::LEN + Bth::LEN)) as u64));
        let behind = bit_cast::<PACKET_HEADER_BITS, TRANSPORT_BITS>(transport);
        let total_length = length + bits::<16>(Ipv4::LEN as u64);
        let ipv4 = ipv4_bytes(ip, total_length, self.checksum.out_checksum.val());
        let ipv6 = ipv6_bytes(ip, length, bits::<8>(u64::from(PROTO_UDP)));
        self.packet.d.next = if ip.version6 {
            bit_cast::<PACKET_HEADER_BITS, IPV6_BITS>(ipv6) | (behind << (IPV6_BITS as u64))
        } else {
            bit_cast::<PACKET_HEADER_BITS, IPV4_BITS>(ipv4) | (behind << (IPV4_BITS as u64))
        };
        self.packet_length.d.next = if ip.version6 {
            length + bits::<16>(Ipv6::LEN as u64)
        } else {
            total_length
        };
        self.outer.d.next = self.outer_wait.delayed.val();

        // put_in_front
        let outer = self.outer.q.val();
        let packet = bit_cast::<FRAME_HEADER_BITS, PACKET_HEADER_BITS>(self.packet.q.val());
        let ethernet = ethernet_bytes(outer.ethernet, outer.srv6.present | outer.version6);
        let link = bit_cast::<FRAME_HEADER_BITS, 144>(ethernet);
        let encapsulation = bit_cast::<FRAME_HEADER_BITS, IPV6_BITS>(outer_bytes(
            outer.srv6,
            self.packet_length.q.val(),
            outer.version6,
        ));
        let plain = packet << ((8 * shift_bytes(false, false)) as u64);
        let tagged = packet << ((8 * shift_bytes(true, false)) as u64);
        let wrapped = (encapsulation << ((8 * shift_bytes(false, false)) as u64))
            | (packet << ((8 * shift_bytes(false, true)) as u64));
        let both = (encapsulation << ((8 * shift_bytes(true, false)) as u64))
            | (packet << ((8 * shift_bytes(true, true)) as u64));
        let network = if outer.ethernet.tagged {
            if outer.srv6.present {
                both
            } else {
                tagged
            }
        } else if outer.srv6.present {
            wrapped
        } else {
            plain
        };
        self.frame.d.next = link | network;

        self.out_valid.next = self.valid[LATENCY - 1].q.val();
        self.out_header.next = FrameHeader {
            layout: self.layout_wait.delayed.val(),
            bytes: self.frame.q.val(),
        };
    }
}
