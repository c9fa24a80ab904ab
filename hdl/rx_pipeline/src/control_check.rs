//! Compares frames with the configured peer of their queue pair, and decodes control packets (ACK, Transport ACK, SACK, NACK, probe).

use hdl_macros::{clock, hdl, hdl_fn};
use hdl_primitives::{AddressFlowSnk, QpRowFlowSnk, RowRam};
use rust_hdl::prelude::*;
use stellar_wire::hw::address::VECTOR_BITS;
use stellar_wire::hw::control::{PeerAddress, QpPeer};
use stellar_wire::hw::frame::DropReason;
use stellar_wire::hw::layout::{aeth, bth, cc_state, neth, peth, seth, tseth, udp};
use stellar_wire::hw::requester::{ControlKind, ControlPacket};
use stellar_wire::hw::tx::{TxAeth, TxCcState, TxNeth, TxPeth, TxSeth};
use stellar_wire::hw::QPN_BITS;
use stellar_wire::mrc::{CcState, Neth, Peth, Seth};
use stellar_wire::mtu::LENGTH_BITS;
use stellar_wire::{Aeth, Bth, Header, Opcode, Udp};

use crate::layout::{DATAGRAM_OVERHEAD, TRANSPORT_BITS};
use crate::network_order::{be16, be24, be32, be64, byte};
use crate::parse_ip::IpFields;
use crate::qp_fetch::pkeys_match;

/// Cycles from the IP parser's output to the result.
pub const LATENCY: usize = 3;
/// Cycles from the IP parser's output to the control packet.
pub const PACKET_LATENCY: usize = 2;

const SACK: u64 = Opcode::MrcSack.code() as u64;
const NACK: u64 = Opcode::MrcNack.code() as u64;
const PROBE: u64 = Opcode::MrcProbe.code() as u64;
const ACK: u64 = Opcode::RcAck.code() as u64;
const TRANSPORT_ACK: u64 = Opcode::MrcAck.code() as u64;
/// Where extension headers begin, in bytes from the start of UDP.
const EXTENSIONS: usize = Udp::LEN + Bth::LEN;
const EXTENSION_BITS: usize = TRANSPORT_BITS - 8 * EXTENSIONS;
const SACK_BYTES: u64 = (DATAGRAM_OVERHEAD + Seth::LEN + CcState::LEN) as u64;
const NACK_BYTES: u64 = (DATAGRAM_OVERHEAD + Neth::LEN) as u64;
const PROBE_BYTES: u64 = (DATAGRAM_OVERHEAD + Peth::LEN) as u64;
const ACK_BYTES: u64 = (DATAGRAM_OVERHEAD + Aeth::LEN) as u64;
// One comparison serves the three headers, because the fields lie at the same offsets.
const _: () = assert!(
    seth::SOURCE_CONTEXT == neth::SOURCE_CONTEXT
        && seth::SOURCE_CONTEXT == peth::SOURCE_CONTEXT
        && seth::DESTINATION_CONTEXT == neth::DESTINATION_CONTEXT
        && seth::DESTINATION_CONTEXT == peth::DESTINATION_CONTEXT
        && seth::ENTROPY == neth::ENTROPY
);

/// The result of the check. It applies only to a frame with a good iCRC.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct ControlCheckResult {
    /// The queue pair that the frame names has a peer, and the frame does not come from one of its addresses.
    pub foreign_source: Bit,
    /// The frame has the headers of a control packet. Otherwise the fields below are undefined.
    pub found: Bit,
    /// `Control`, `ControlForeign` or `ControlUnknownQp`.
    pub reason: DropReason,
    pub probe: Bit,
    /// The queue pair uses RC.
    pub rc: Bit,
    pub probe_id: Bits<16>,
    /// Time stamp of a probe (TSETH).
    pub timestamp: Bits<16>,
}

/// A frame after the stage `decode`, while the peer of its queue pair is read.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Decoded {
    /// The opcode is one of the four.
    control: Bit,
    kind: ControlKind,
    /// The frame is shorter than its headers.
    cut: Bit,
    /// Bytes after the extension headers, pad included.
    left: Bits<LENGTH_BITS>,
    congestion: Bit,
    flow_label: Bits<16>,
    sender: Sender,
}

/// Bits of an address that are compared at once, because the address of a peer's host comes late, from a memory.
const PART: usize = 16;
const PARTS: usize = 128 / PART;

/// The address of a frame's sender compared with one of a peer's host, in parts.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct VsAddress {
    version: Bit,
    parts: Bits<PARTS>,
}

/// Levels: 2.
#[hdl_fn]
fn vs_address(expected: PeerAddress, sender: Sender) -> VsAddress {
    let mut parts = bits::<PARTS>(0);
    for i in 0..PARTS {
        let same = expected.address.get_bits::<PART>(PART * i)
            == sender.address.get_bits::<PART>(PART * i);
        parts = parts.replace_bit(i, same);
    }
    VsAddress {
        version: expected.version6 == sender.ipv6,
        parts,
    }
}

/// Levels: 2.
#[hdl_fn]
fn is_same(compared: VsAddress) -> Bit {
    compared.version & compared.parts.all()
}

/// Who sent a frame.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Sender {
    ipv6: Bit,
    address: Bits<128>,
}

/// A frame compared with the peer of its queue pair, but for the address of its sender: register after the stage `compare`.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Compared {
    found: Bit,
    probe: Bit,
    rc: Bit,
    /// The queue pair has a peer.
    known: Bit,
    /// All but the address of the sender is the peer's.
    matches: Bit,
    probe_id: Bits<16>,
    timestamp: Bits<16>,
}

/// Checks every frame. `frame_verdict` decides whether the result applies. Nothing stalls.
///
/// Stages: `decode` (opcode and length; the peer is read), `compare` (fields of the headers; the addresses of the peer's host are read), `address` (the sender is
/// compared with them). LUT levels: decode 4 (opcode 2, subtraction), compare 4 and address 2, behind a memory; and 4 behind them, in front of the output
/// (equality of addresses 3, reason).
#[derive(LogicBlock, Default)]
pub struct ControlCheck<const Q: usize = 10> {
    pub clock: Signal<In, Clock>,
    // From the IP parser.
    pub in_fields: Signal<In, IpFields>,
    pub in_source: Signal<In, Bits<128>>,
    pub in_transport: Signal<In, Bits<TRANSPORT_BITS>>,
    /// Port of this lane.
    pub port: Signal<In, Bit>,
    /// From which peer a queue pair accepts packets, and the addresses of the two ports of its host.
    pub peer: QpRowFlowSnk<QpPeer>,
    pub address: [AddressFlowSnk; 2],

    pub out_finding: Signal<Out, ControlCheckResult>,
    /// The control packet, in the cycle before its `out_finding`.
    pub out_packet: Signal<Out, ControlPacket>,

    peers: RowRam<QpPeer, Q>,
    addresses: [RowRam<PeerAddress, VECTOR_BITS>; 2],
    decoded: DFF<Decoded>,
    transport: DFF<Bits<TRANSPORT_BITS>>,
    sender: DFF<Sender>,
    compared: DFF<Compared>,
    vs_sender: DFF<Compared>,
    vs_address: [DFF<VsAddress>; 2],
    packet: DFF<ControlPacket>,
}

impl<const Q: usize> Logic for ControlCheck<Q> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, decoded, transport, sender, compared, vs_sender, packet);
        clock!(self, clock, peers, addresses[..], vs_address[..]);
        self.peers.write_enable.next = self.peer.valid.val();
        self.peers.write_address.next = self.peer.qp.val().get_bits::<Q>(0);
        self.peers.write_data.next = self.peer.record.val();

        // decode
        let fields = self.in_fields.val();
        let arriving = self.in_transport.val();
        let opcode = byte(arriving, Udp::LEN + bth::OPCODE);
        let is_sack = opcode == SACK;
        let is_nack = opcode == NACK;
        let is_ack = opcode == ACK;
        let is_probe = opcode == PROBE;
        let is_transport_ack = opcode == TRANSPORT_ACK;
        let foreign_version = byte(arriving, Udp::LEN + bth::FLAGS)
            .get_bits::<{ bth::VERSION_BITS }>(bth::VERSION_BIT)
            .any();
        let needed = if is_sack {
            bits::<LENGTH_BITS>(SACK_BYTES)
        } else if is_nack {
            bits::<LENGTH_BITS>(NACK_BYTES)
        } else if is_probe {
            bits::<LENGTH_BITS>(PROBE_BYTES)
        } else {
            bits::<LENGTH_BITS>(ACK_BYTES)
        };
        self.peers.read_address.next = be24(arriving, Udp::LEN + bth::DEST_QP).get_bits::<Q>(0);
        self.decoded.d.next = Decoded {
            control: (is_sack | is_nack | is_ack | is_probe | is_transport_ack) & !foreign_version,
            kind: if is_sack {
                ControlKind::Sack
            } else if is_nack {
                ControlKind::Nack
            } else if is_probe {
                ControlKind::Probe
            } else if is_transport_ack {
                ControlKind::TransportAck
            } else {
                ControlKind::Ack
            },
            cut: fields.datagram < needed,
            left: fields.datagram - needed,
            congestion: fields.congestion,
            flow_label: fields.flow_label,
            sender: Sender {
                ipv6: fields.ipv6,
                address: self.in_source.val(),
            },
        };
        self.transport.d.next = arriving;

        // compare
        let decoded = self.decoded.q.val();
        let headers = self.transport.q.val();
        let ext = headers.get_bits::<EXTENSION_BITS>(8 * EXTENSIONS);
        let peer = self.peers.read_data.val();
        self.sender.d.next = decoded.sender;
        let base = headers.get_bits::<{ 8 * Bth::LEN }>(8 * Udp::LEN);
        let dest_qp = be24(base, bth::DEST_QP);
        let is_ack = decoded.kind == ControlKind::Ack;
        let is_sack = decoded.kind == ControlKind::Sack;
        let pad = byte(base, bth::FLAGS).get_bits::<{ bth::PAD_BITS }>(bth::PAD_BIT);
        let seth_flags = byte(ext, seth::FLAGS);
        let path_hint = seth_flags.get_bits::<{ seth::PATH_HINT_BITS }>(seth::PATH_HINT_BIT);
        let bad_hint = is_sack & path_hint.all();
        let bad_pad =
            decoded.left.get_bits::<2>(0).any() | (decoded.left < bit_cast::<LENGTH_BITS, 2>(pad));
        let contexts_match = (be16(ext, seth::SOURCE_CONTEXT) == peer.qp.get_bits::<16>(0))
            & (be16(ext, seth::DESTINATION_CONTEXT) == dest_qp.get_bits::<16>(0));
        let is_probe = decoded.kind == ControlKind::Probe;
        let probe_response = seth_flags.get_bit(seth::PROBE_RESPONSE_BIT);
        let concerns_probe = is_probe | (is_sack & probe_response);
        let of_mode = (peer.mrc ^ is_ack) | (peer.probes & concerns_probe);
        // An AETH has no contexts.
        let has_aeth = is_ack | (decoded.kind == ControlKind::TransportAck);
        let matches =
            of_mode & pkeys_match(be16(base, bth::PKEY), peer.pkey) & (contexts_match | has_aeth);
        let known = peer.valid & !(dest_qp >> (Q as u64)).any();
        let timestamp = be16(ext, peth::TSETH + tseth::TIMESTAMP);
        let probe_id = be16(ext, peth::PROBE_ID);
        self.compared.d.next = Compared {
            found: decoded.control & !decoded.cut & !bad_pad & !bad_hint,
            probe: is_probe,
            rc: !peer.mrc,
            known,
            matches,
            probe_id,
            timestamp,
        };

        let cc = ext.get_bits::<{ 8 * CcState::LEN }>(8 * Seth::LEN);
        let penalty = byte(cc, cc_state::PENALTY);
        self.packet.d.next = ControlPacket {
            kind: decoded.kind,
            qp: bit_cast::<QPN_BITS, Q>(dest_qp.get_bits::<Q>(0)),
            port: self.port.val(),
            psn: be24(base, bth::PSN),
            ecn_ce: decoded.congestion,
            entropy: (bit_cast::<32, 16>(decoded.flow_label) << 16)
                | bit_cast::<32, 16>(be16(headers, udp::SOURCE_PORT)),
            reflected: be32(ext, seth::ENTROPY),
            seth: TxSeth {
                path_hint,
                probe_response,
                ack_psn_offset: be16(ext, seth::ACK_PSN_OFFSET),
                cack_psn: be24(ext, seth::CACK_PSN),
                mpr: byte(ext, seth::MPR),
                sack_offset: be16(ext, seth::SACK_OFFSET),
                bitmap: be64(ext, seth::BITMAP),
            },
            cc_state: TxCcState {
                timestamp: be16(cc, cc_state::TIMESTAMP),
                ooo_count: be16(cc, cc_state::OOO_COUNT).get_bits::<15>(0),
                restore_cwnd: penalty.get_bit(cc_state::RESTORE_BIT),
                rcv_cwnd_pen: penalty.get_bits::<{ cc_state::RESTORE_BIT }>(0),
                rcvd_bytes: be24(cc, cc_state::RECEIVED_BYTES),
            },
            neth: TxNeth {
                reason: byte(ext, neth::REASON),
                vendor_info: byte(ext, neth::VENDOR_INFO),
                nack_psn: be24(ext, neth::NACK_PSN),
                timestamp: be16(ext, neth::TIMESTAMP),
            },
            aeth: TxAeth {
                syndrome: byte(ext, aeth::SYNDROME),
                msn: be24(ext, aeth::MSN),
            },
            peth: TxPeth {
                vendor_info: byte(ext, peth::VENDOR_INFO),
                probe_id,
            },
            timestamp,
            epoch: false,
        };

        // address
        for p in 0..2 {
            let write = self.address[p].record.val();
            self.addresses[p].write_enable.next = self.address[p].valid.val();
            self.addresses[p].write_address.next = self.address[p].vector.val();
            self.addresses[p].write_data.next = PeerAddress {
                version6: write.version6,
                address: write.peer_ip,
            };
            self.addresses[p].read_address.next = peer.vector;
            self.vs_address[p].d.next =
                vs_address(self.addresses[p].read_data.val(), self.sender.q.val());
        }
        self.vs_sender.d.next = self.compared.q.val();

        let compared = self.vs_sender.q.val();
        let at_peer = is_same(self.vs_address[0].q.val()) | is_same(self.vs_address[1].q.val());
        self.out_finding.next = ControlCheckResult {
            foreign_source: compared.known & !at_peer,
            found: compared.found,
            reason: if !compared.known {
                DropReason::ControlUnknownQp
            } else if !(at_peer & compared.matches) {
                DropReason::ControlForeign
            } else {
                DropReason::Control
            },
            probe: compared.probe,
            rc: compared.rc,
            probe_id: compared.probe_id,
            timestamp: compared.timestamp,
        };
        self.out_packet.next = self.packet.q.val();
    }
}
