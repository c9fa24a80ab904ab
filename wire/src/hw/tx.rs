//! The record of a frame for the transmit lane. [`super::tx_frame`] converts to and from [`crate::RoceFrame`].
//!
//! Values are numbers, not bytes on the wire: the lane puts them in network order. A field the packet does not have may hold anything:
//! which extension headers it has follows from the opcode and, for TSETH, from [`TxExtensions::timestamped`].

use rust_hdl::prelude::*;

use crate::{ExtKind, Opcode};

/// Extension headers the lane can send. SETH is always followed by CC_STATE.
pub const TX_EXTENSIONS: [ExtKind; 8] = [
    ExtKind::Meth,
    ExtKind::Reth,
    ExtKind::Aeth,
    ExtKind::ImmDt,
    ExtKind::Seth,
    ExtKind::CcState,
    ExtKind::Neth,
    ExtKind::Peth,
];

/// Whether the lane can send the packets of an opcode: all of RC and UC WRITE, SEND without invalidate, READ and acknowledgement, all of MRC, CNP.
pub fn can_send(opcode: Opcode) -> bool {
    opcode
        .ext_kinds()
        .iter()
        .all(|kind| TX_EXTENSIONS.contains(kind))
}

/// Opcodes whose packets have extension header `kind` and that the lane can send. TSETH: those that may have one.
pub fn opcodes_with(kind: ExtKind) -> impl Iterator<Item = u8> {
    Opcode::ALL
        .iter()
        .filter(move |&&opcode| {
            can_send(opcode)
                && match kind {
                    ExtKind::Tseth => opcode.is_mrc_data(),
                    kind => opcode.ext_kinds().contains(&kind),
                }
        })
        .map(|opcode| opcode.code())
}

/// Ethernet header and 802.1Q tag. The EtherTypes follow from the next header.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct TxEthernet {
    /// The first byte on the wire is the most significant.
    pub destination: Bits<48>,
    pub source: Bits<48>,
    pub tagged: Bit,
    /// Tag control information: priority in bits 15:13, drop eligible in 12, VLAN identifier below.
    pub tag: Bits<16>,
}

/// IP header, the inner one under SRv6. IPv4 packets are sent with "do not fragment".
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct TxIp {
    pub version6: Bit,
    /// IPv4: in the low 32 bits.
    pub source: Bits<128>,
    pub destination: Bits<128>,
    pub dscp: Bits<6>,
    pub ecn: Bits<2>,
    /// IPv4: time to live.
    pub hop_limit: Bits<8>,
    /// IPv4 only.
    pub identification: Bits<16>,
    /// IPv6 only.
    pub flow_label: Bits<20>,
}

/// Outer IPv6 header of SRv6 H.Encaps.Red with one uSID container (RFC 8986 5.2, RFC 9800).
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct TxSrv6 {
    pub present: Bit,
    pub source: Bits<128>,
    /// The uSID container.
    pub destination: Bits<128>,
    pub dscp: Bits<6>,
    pub ecn: Bits<2>,
    pub hop_limit: Bits<8>,
    pub flow_label: Bits<20>,
}

/// Base transport header. Pad count and MRC's TSETH bit follow from the rest; transport version and reserved bits are zero.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct TxBth {
    /// BTH opcode as on the wire.
    pub opcode: Bits<8>,
    pub solicited: Bit,
    /// Path migration state.
    pub mig_req: Bit,
    pub fecn: Bit,
    pub becn: Bit,
    pub ack_req: Bit,
    /// MRC RTX bit.
    pub retransmission: Bit,
    pub pkey: Bits<16>,
    pub dest_qp: Bits<24>,
    pub psn: Bits<24>,
}

/// METH.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct TxMeth {
    pub rqmsn: Bits<16>,
    pub msn: Bits<16>,
}

/// TSETH, on its own or in PETH.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct TxTimestamp {
    /// The time in the unit that `format` names.
    pub value: Bits<16>,
    pub own_resolution: Bit,
    pub format: Bits<4>,
}

/// RETH.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct TxReth {
    pub va: Bits<64>,
    pub rkey: Bits<32>,
    /// Bytes.
    pub dma_length: Bits<32>,
}

/// AETH.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct TxAeth {
    pub syndrome: Bits<8>,
    pub msn: Bits<24>,
}

/// What SETH, NETH and PETH say about the path and the contexts.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct TxReflection {
    /// The entropy value. PETH does not have it.
    pub entropy: Bits<32>,
    pub source_context: Bits<16>,
    pub destination_context: Bits<16>,
    /// Congestion control type in bits 7:4, its flags below. Not in PETH.
    pub congestion: Bits<8>,
}

/// SETH but for [`TxReflection`].
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct TxSeth {
    /// 0 good, 1 skip once, 2 always skip.
    pub path_hint: Bits<2>,
    pub probe_response: Bit,
    /// Two's complement.
    pub ack_psn_offset: Bits<16>,
    pub cack_psn: Bits<24>,
    /// Maximum packets in flight, in units of 128 packets.
    pub mpr: Bits<8>,
    /// Two's complement.
    pub sack_offset: Bits<16>,
    pub bitmap: Bits<64>,
}

/// CC_STATE of type 0.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct TxCcState {
    pub timestamp: Bits<16>,
    pub ooo_count: Bits<15>,
    pub restore_cwnd: Bit,
    pub rcv_cwnd_pen: Bits<7>,
    /// Number of received bytes, in units of 256 bytes.
    pub rcvd_bytes: Bits<24>,
}

/// NETH but for [`TxReflection`].
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct TxNeth {
    pub reason: Bits<8>,
    pub vendor_info: Bits<8>,
    pub nack_psn: Bits<24>,
    pub timestamp: Bits<16>,
}

/// PETH but for [`TxReflection`] and its time stamp, which is [`TxExtensions::timestamp`].
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct TxPeth {
    pub vendor_info: Bits<8>,
    pub probe_id: Bits<16>,
}

/// Extension headers.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct TxExtensions {
    pub meth: TxMeth,
    /// The packet has a TSETH. Only MRC data packets can; in others it is ignored.
    pub timestamped: Bit,
    /// Time stamp of TSETH or PETH.
    pub timestamp: TxTimestamp,
    pub reth: TxReth,
    pub aeth: TxAeth,
    pub immediate: Bits<32>,
    /// Reflected values of SETH, NETH or PETH.
    pub reflection: TxReflection,
    pub seth: TxSeth,
    pub cc_state: TxCcState,
    pub neth: TxNeth,
    pub peth: TxPeth,
}

/// Everything about one frame but its payload.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct TxPacket {
    pub ethernet: TxEthernet,
    pub srv6: TxSrv6,
    pub ip: TxIp,
    pub udp_source: Bits<16>,
    pub udp_destination: Bits<16>,
    pub bth: TxBth,
    pub extensions: TxExtensions,
    /// Payload bytes without pad, 0 to [`MAX_PAYLOAD`](crate::mtu::MAX_PAYLOAD). With a larger value the frame is wrong.
    pub payload_length: Bits<14>,
}
