//! The header record of a frame: the decisions about the packet, the fields from the tables, and the fields that follow from both.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::address::{FrameAddress, PortConfig};
use stellar_wire::hw::control::QpPeer;
use stellar_wire::hw::requester::{TxAnswer, TxRequest};
use stellar_wire::hw::tx::{
    TxBth, TxEthernet, TxExtensions, TxIp, TxPacket, TxPeth, TxReflection, TxSrv6, TxTimestamp,
};
use stellar_wire::hw::QPN_BITS;
use stellar_wire::mrc::Tseth;
use stellar_wire::mtu::LENGTH_BITS;
use stellar_wire::{Ecn, UsidContainer};

/// The uplink in an entropy value: `width` bits, 1 to 16, from bit `low` on. 4 LUT levels.
#[hdl_fn]
pub fn entropy_uplink(entropy: Bits<32>, low: Bits<5>, width: Bits<5>) -> Bits<16> {
    let field = (entropy >> bit_cast::<32, 5>(low)).get_bits::<16>(0);
    let above = Bits::<16>::mask() << bit_cast::<16, 5>(width);
    field & !above
}

/// The container with the uplink added to the uSID at `place`.
#[hdl_fn]
fn with_uplink(path: Bits<128>, place: Bits<3>, uplink: Bits<16>) -> Bits<128> {
    let mut container = path & (Bits::<128>::mask() << ((16 * UsidContainer::CAPACITY) as u64));
    for i in 0..UsidContainer::CAPACITY {
        let low = 16 * (UsidContainer::CAPACITY - 1 - i);
        let usid = path.get_bits::<16>(low);
        let sum = if place == (i as u64) {
            usid + uplink
        } else {
            usid
        };
        container = container | (bit_cast::<128, 16>(sum) << (low as u64));
    }
    container
}

/// The record of `answer` if `answering` is set, otherwise of `request`. `uplink` is [`entropy_uplink`] of its entropy value. Extension headers that
/// the packet does not have may have any value. 1 LUT level, and an addition of 16 bits for the path.
#[hdl_fn]
pub fn frame_record(
    own: PortConfig,
    peer: QpPeer,
    address: FrameAddress,
    uplink: Bits<16>,
    answering: Bit,
    answer: TxAnswer,
    request: TxRequest,
) -> TxPacket {
    let entropy = if answering {
        answer.entropy
    } else {
        request.entropy
    };
    let dscp = if answering {
        own.control_dscp
    } else {
        own.data_dscp
    };
    let ecn = if answering {
        bits::<2>(u64::from(Ecn::NotEct.bits()))
    } else {
        bits::<2>(u64::from(Ecn::Ect0.bits()))
    };
    let opcode = if answering {
        answer.opcode
    } else {
        request.opcode
    };
    let is_rc = !opcode.get_bits::<3>(5).any();
    let flow_label = bit_cast::<20, 16>(entropy.get_bits::<16>(16));
    let local = if answering { answer.qp } else { request.qp };
    TxPacket {
        ethernet: TxEthernet {
            destination: address.peer_mac,
            source: own.mac,
            tagged: false,
            tag: bits(0),
        },
        srv6: TxSrv6 {
            present: address.srv6,
            source: own.ip,
            destination: with_uplink(address.path, address.t1, uplink),
            dscp,
            ecn,
            hop_limit: own.hop_limit,
            flow_label,
        },
        ip: TxIp {
            version6: address.version6,
            source: own.ip,
            destination: address.peer_ip,
            dscp,
            ecn,
            hop_limit: own.hop_limit,
            identification: bits(0),
            flow_label,
        },
        udp_source: entropy.get_bits::<16>(0),
        udp_destination: own.udp_port,
        bth: TxBth {
            opcode,
            solicited: false,
            // RC: the connection does not migrate, so its state is "migrated". MRC gives the bit no meaning.
            mig_req: is_rc,
            fecn: false,
            becn: false,
            ack_req: !answering & request.ack_req,
            retransmission: !answering & request.retransmission,
            pkey: peer.pkey,
            dest_qp: peer.qp,
            psn: if answering { answer.psn } else { request.psn },
        },
        extensions: TxExtensions {
            meth: request.meth,
            timestamped: request.retransmission,
            timestamp: TxTimestamp {
                value: request.timestamp,
                own_resolution: false,
                format: bits::<4>(u64::from(Tseth::FORMAT_TICKS)),
            },
            reth: request.reth,
            aeth: answer.aeth,
            immediate: request.immediate,
            reflection: TxReflection {
                entropy: answer.reflected,
                source_context: bit_cast::<16, QPN_BITS>(local),
                destination_context: peer.qp.get_bits::<16>(0),
                congestion: bits(0),
            },
            seth: answer.seth,
            cc_state: answer.cc_state,
            neth: answer.neth,
            peth: TxPeth {
                vendor_info: bits(0),
                probe_id: request.probe_id,
            },
        },
        payload_length: if answering {
            bits::<LENGTH_BITS>(0)
        } else {
            request.length
        },
    }
}
