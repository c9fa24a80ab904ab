//! Second to fifth stage of the parser: lengths, UDP, BTH, extension headers, payload.

use hdl_macros::hdl;
use rust_hdl::prelude::*;
use stellar_wire::hw::frame::{DropReason, PacketHeaders};
use stellar_wire::hw::layout::{bth, meth, reth, udp};
use stellar_wire::mrc::{Meth, Tseth};
use stellar_wire::mtu::{LENGTH_BITS, MAX_PAYLOAD};
use stellar_wire::{Bth, Header, ImmDt, Ipv4, Ipv6, Reth, Udp};

use crate::layout::{DATAGRAM_OVERHEAD, TRANSPORT_BITS};
use crate::network_order::{be16, be24, be32, be64, byte};
use crate::opcode::{packet_kind, PacketKind};
use crate::parse_ip::IpFields;

/// Cycles from the transport headers to the parsed headers.
pub const LATENCY: usize = 4;

/// Where the BTH ends, in bytes from the start of UDP: extension headers, if any, begin here.
const EXTENSIONS: usize = Udp::LEN + Bth::LEN;
const RETH_BITS: usize = 8 * Reth::LEN;
const IMMEDIATE_BITS: usize = 8 * ImmDt::LEN;

/// Errors of a frame.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct ParseErrors {
    cut_off: Bit,
    not_roce: Bit,
    fragment: Bit,
    ipv4: Bit,
    bad_length: Bit,
    wrong_port: Bit,
    headers_cut: Bit,
    foreign: Bit,
    unsupported: Bit,
    bad_payload: Bit,
}

/// A packet after the stage `decode`.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Decoded {
    errors: ParseErrors,
    kind: PacketKind,
    ipv6: Bit,
    datagram: Bits<LENGTH_BITS>,
    congestion: Bit,
    flow_label: Bits<16>,
}

/// Parses and checks lengths, UDP, BTH, extension headers and payload length of each packet.
///
/// Stages: `decode` (lengths, port, opcode), `extract` (extension headers to their fields), `measure` (payload length), `check` (first reason).
/// LUT levels: decode 5 (opcode 4), extract 3 (multiplexers of 3 and 4 places; 14-bit subtraction and comparison), measure 3, judge 3.
#[derive(LogicBlock, Default)]
pub struct ParseTransport {
    pub clock: Signal<In, Clock>,
    pub in_fields: Signal<In, IpFields>,
    pub in_transport: Signal<In, Bits<TRANSPORT_BITS>>,
    /// UDP destination port of RoCE packets.
    pub udp_port: Signal<In, Bits<16>>,
    /// The IPv4 header checksum is good. Used by the stage `check`, one cycle before the headers leave.
    pub checksum_good: Signal<In, Bit>,

    /// Headers with the parser's reason.
    pub out_headers: Signal<Out, PacketHeaders>,

    decoded: DFF<Decoded>,
    transport: DFF<Bits<TRANSPORT_BITS>>,

    extracted: DFF<PacketHeaders>,
    extracted_objections: DFF<ParseErrors>,
    payload_and_pad: DFF<Bits<LENGTH_BITS>>,
    pad: DFF<Bits<2>>,

    measured: DFF<PacketHeaders>,
    measured_objections: DFF<ParseErrors>,

    checked: DFF<PacketHeaders>,
}

impl Logic for ParseTransport {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            decoded,
            transport,
            extracted,
            extracted_objections
        );
        dff_setup!(
            self,
            clock,
            payload_and_pad,
            pad,
            measured,
            measured_objections,
            checked
        );

        // Stage `decode`.
        let fields = self.in_fields.val();
        let arriving = self.in_transport.val();
        let flags = byte(arriving, Udp::LEN + bth::FLAGS);
        let kind = packet_kind(
            byte(arriving, Udp::LEN + bth::OPCODE),
            byte(arriving, Udp::LEN + bth::ACK_REQ).get_bit(bth::TSETH_BIT),
        );
        let datagram = bit_cast::<16, LENGTH_BITS>(fields.datagram);
        self.decoded.d.next = Decoded {
            errors: ParseErrors {
                cut_off: fields.cut_off,
                not_roce: fields.not_roce,
                fragment: fields.fragment,
                ipv4: !fields.ipv6,
                bad_length: fields.oversize
                    | (fields.claimed != bit_cast::<16, LENGTH_BITS>(fields.arrived))
                    | (fields.datagram < (Udp::LEN as u64))
                    | (be16(arriving, udp::LENGTH) != datagram),
                wrong_port: be16(arriving, udp::DESTINATION_PORT) != self.udp_port.val(),
                headers_cut: false,
                foreign: fields.foreign,
                unsupported: !(kind.supported | kind.refused)
                    | flags
                        .get_bits::<{ bth::VERSION_BITS }>(bth::VERSION_BIT)
                        .any(),
                bad_payload: false,
            },
            kind,
            ipv6: fields.ipv6,
            datagram: fields.datagram,
            congestion: fields.congestion,
            flow_label: fields.flow_label,
        };
        self.transport.d.next = arriving;

        // Stage `extract`.
        let decoded = self.decoded.q.val();
        let headers = self.transport.q.val();
        let has = decoded.kind;
        let base = headers.get_bits::<{ 8 * Bth::LEN }>(8 * Udp::LEN);
        let control = byte(base, bth::ACK_REQ);
        let reth_lane = if has.has_timestamp {
            headers.get_bits::<RETH_BITS>(8 * (EXTENSIONS + Meth::LEN + Tseth::LEN))
        } else if has.mrc {
            headers.get_bits::<RETH_BITS>(8 * (EXTENSIONS + Meth::LEN))
        } else {
            headers.get_bits::<RETH_BITS>(8 * EXTENSIONS)
        };
        let immediate_lane = if has.has_timestamp {
            headers
                .get_bits::<IMMEDIATE_BITS>(8 * (EXTENSIONS + Meth::LEN + Tseth::LEN + Reth::LEN))
        } else if has.mrc {
            headers.get_bits::<IMMEDIATE_BITS>(8 * (EXTENSIONS + Meth::LEN + Reth::LEN))
        } else if has.has_reth {
            headers.get_bits::<IMMEDIATE_BITS>(8 * (EXTENSIONS + Reth::LEN))
        } else {
            headers.get_bits::<IMMEDIATE_BITS>(8 * EXTENSIONS)
        };
        let va = be64(reth_lane, reth::VA);
        let rkey = be32(reth_lane, reth::RKEY);
        let dma_length = be32(reth_lane, reth::DMA_LENGTH);
        let immediate = be32(immediate_lane, 0);
        let msn = be16(headers, EXTENSIONS + meth::MSN);
        let rqmsn = be16(headers, EXTENSIONS + meth::RQMSN);
        let timestamp = be16(headers, EXTENSIONS + Meth::LEN);
        let extension_bytes = bit_cast::<LENGTH_BITS, 3>(has.extension_words) << 2;
        let not_payload = extension_bytes + (DATAGRAM_OVERHEAD as u64);
        let before_extensions = if decoded.ipv6 {
            bits::<8>((Ipv6::LEN + EXTENSIONS) as u64)
        } else {
            bits::<8>((Ipv4::LEN + EXTENSIONS) as u64)
        };
        self.extracted.d.next = PacketHeaders {
            reason: DropReason::None,
            mrc: has.mrc,
            refused: has.refused,
            probe: false,
            position: has.position,
            has_immediate: has.has_immediate,
            has_reth: has.has_reth,
            has_timestamp: has.has_timestamp,
            ack_req: control.get_bit(bth::ACK_REQ_BIT),
            solicited: byte(base, bth::FLAGS).get_bit(bth::SOLICITED_BIT),
            retransmission: has.mrc & control.get_bit(bth::RETRANSMISSION_BIT),
            pkey: be16(base, bth::PKEY),
            dest_qp: be24(base, bth::DEST_QP),
            psn: be24(base, bth::PSN),
            va: if has.has_reth { va } else { bits::<64>(0) },
            rkey: if has.has_reth { rkey } else { bits::<32>(0) },
            dma_length: if has.has_reth {
                dma_length
            } else {
                bits::<32>(0)
            },
            immediate: if has.has_immediate {
                immediate
            } else {
                bits::<32>(0)
            },
            msn: if has.mrc { msn } else { bits::<16>(0) },
            rqmsn: if has.mrc { rqmsn } else { bits::<16>(0) },
            timestamp: if has.has_timestamp {
                timestamp
            } else {
                bits::<16>(0)
            },
            ecn_ce: decoded.congestion,
            entropy: (bit_cast::<32, 16>(decoded.flow_label) << 16)
                | bit_cast::<32, 16>(be16(headers, udp::SOURCE_PORT)),
            payload_offset: before_extensions + bit_cast::<8, LENGTH_BITS>(extension_bytes),
            payload_length: bits::<LENGTH_BITS>(0),
        };
        let mut errors = decoded.errors;
        errors.headers_cut = decoded.datagram < not_payload;
        self.extracted_objections.d.next = errors;
        self.payload_and_pad.d.next = decoded.datagram - not_payload;
        self.pad.d.next = byte(base, bth::FLAGS).get_bits::<{ bth::PAD_BITS }>(bth::PAD_BIT);

        // Stage `measure`.
        let together = self.payload_and_pad.q.val();
        let pad = bit_cast::<LENGTH_BITS, 2>(self.pad.q.val());
        let payload = together - pad;
        let mut measured = self.extracted.q.val();
        measured.payload_length = if measured.refused { bits(0) } else { payload };
        self.measured.d.next = measured;
        let mut with_payload = self.extracted_objections.q.val();
        with_payload.bad_payload = !measured.refused
            & (together.get_bits::<2>(0).any()
                | (together < pad)
                | (payload > (MAX_PAYLOAD as u64)));
        self.measured_objections.d.next = with_payload;

        // Stage `check`.
        let all = self.measured_objections.q.val();
        let mut checked = self.measured.q.val();
        checked.reason = if all.cut_off {
            DropReason::BadLength
        } else if all.not_roce {
            DropReason::NotRoce
        } else if all.ipv4 & !self.checksum_good.val() {
            DropReason::BadIpChecksum
        } else if all.fragment {
            DropReason::IpFragment
        } else if all.bad_length {
            DropReason::BadLength
        } else if all.wrong_port {
            DropReason::WrongUdpPort
        } else if all.headers_cut {
            DropReason::BadLength
        } else if all.foreign {
            DropReason::ForeignDestination
        } else if all.unsupported {
            DropReason::UnsupportedOpcode
        } else if all.bad_payload {
            DropReason::BadPayloadLength
        } else {
            DropReason::None
        };
        self.checked.d.next = checked;
        self.out_headers.next = self.checked.q.val();
    }
}
