//! Ethernet, IP, UDP and BTH headers as bytes.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::ethernet::{ETHERTYPE_IPV4, ETHERTYPE_IPV6, ETHERTYPE_VLAN};
use stellar_wire::hw::layout::{bth, ethernet, ipv4, ipv6, udp, vlan};
use stellar_wire::hw::tx::{TxBth, TxEthernet, TxIp, TxSrv6};
use stellar_wire::ip::{PROTO_IPV4, PROTO_IPV6, PROTO_UDP};
use stellar_wire::{Ethernet, Header};

use crate::ip_checksum::{DO_NOT_FRAGMENT, VERSION_IHL};
use crate::wire_order::{with_address, with_field, with_flag};

/// IPv4 header without options, 20 bytes.
#[hdl_fn]
pub fn ipv4_bytes(ip: TxIp, total_length: Bits<16>, checksum: Bits<16>) -> Bits<160> {
    let first = bits::<160>(VERSION_IHL << (8 * ipv4::VERSION_IHL));
    let service = (bit_cast::<8, 6>(ip.dscp) << 2) | bit_cast::<8, 2>(ip.ecn);
    let typed = with_field(first, ipv4::TOS, service);
    let long = with_field(typed, ipv4::TOTAL_LENGTH, total_length);
    let named = with_field(long, ipv4::IDENTIFICATION, ip.identification);
    let whole = with_field(named, ipv4::FRAGMENT, bits::<16>(DO_NOT_FRAGMENT));
    let living = with_field(whole, ipv4::TTL, ip.hop_limit);
    let carrying = with_field(living, ipv4::PROTOCOL, bits::<8>(u64::from(PROTO_UDP)));
    let summed = with_field(carrying, ipv4::CHECKSUM, checksum);
    let from = with_field(summed, ipv4::SOURCE, ip.source.get_bits::<32>(0));
    with_field(from, ipv4::DESTINATION, ip.destination.get_bits::<32>(0))
}

/// IPv6 header, 40 bytes.
#[hdl_fn]
pub fn ipv6_bytes(ip: TxIp, payload_length: Bits<16>, next_header: Bits<8>) -> Bits<320> {
    let class = (bit_cast::<32, 6>(ip.dscp) << 22) | (bit_cast::<32, 2>(ip.ecn) << 20);
    let word = bits::<32>(6 << 28) | class | bit_cast::<32, 20>(ip.flow_label);
    let first = with_field(bits::<320>(0), ipv6::VERSION, word);
    let long = with_field(first, ipv6::PAYLOAD_LENGTH, payload_length);
    let carrying = with_field(long, ipv6::NEXT_HEADER, next_header);
    let living = with_field(carrying, ipv6::HOP_LIMIT, ip.hop_limit);
    let from = with_address(living, ipv6::SOURCE, ip.source);
    with_address(from, ipv6::DESTINATION, ip.destination)
}

/// Outer IPv6 header around `length` bytes, whose IP version `inner6` gives, 40 bytes.
#[hdl_fn]
pub fn outer_bytes(srv6: TxSrv6, length: Bits<16>, inner6: Bit) -> Bits<320> {
    let outer = TxIp {
        version6: true,
        source: srv6.source,
        destination: srv6.destination,
        dscp: srv6.dscp,
        ecn: srv6.ecn,
        hop_limit: srv6.hop_limit,
        identification: bits::<16>(0),
        flow_label: srv6.flow_label,
    };
    let next_header = if inner6 {
        bits::<8>(u64::from(PROTO_IPV6))
    } else {
        bits::<8>(u64::from(PROTO_IPV4))
    };
    ipv6_bytes(outer, length, next_header)
}

/// UDP header without checksum, 8 bytes.
#[hdl_fn]
pub fn udp_bytes(source: Bits<16>, destination: Bits<16>, length: Bits<16>) -> Bits<64> {
    let from = with_field(bits::<64>(0), udp::SOURCE_PORT, source);
    let to = with_field(from, udp::DESTINATION_PORT, destination);
    with_field(to, udp::LENGTH, length)
}

/// BTH, 12 bytes.
#[hdl_fn]
pub fn bth_bytes(record: TxBth, pad: Bits<2>, tseth: Bit) -> Bits<96> {
    let opcode = with_field(bits::<96>(0), bth::OPCODE, record.opcode);
    let padded = opcode | (bit_cast::<96, 2>(pad) << ((8 * bth::FLAGS + 4) as u64));
    let migrated = with_flag(padded, bth::FLAGS, 6, record.mig_req);
    let solicited = with_flag(migrated, bth::FLAGS, 7, record.solicited);
    let pkey = with_field(solicited, bth::PKEY, record.pkey);
    let backward = with_flag(pkey, bth::CONGESTION, 6, record.becn);
    let forward = with_flag(backward, bth::CONGESTION, 7, record.fecn);
    let qp = with_field(forward, bth::DEST_QP, record.dest_qp);
    let stamped = with_flag(qp, bth::ACK_REQ, 4, tseth);
    let again = with_flag(stamped, bth::ACK_REQ, 5, record.retransmission);
    let asked = with_flag(again, bth::ACK_REQ, 7, record.ack_req);
    with_field(asked, bth::PSN, record.psn)
}

/// Ethernet header, and the 802.1Q tag behind it: 14 or 18 bytes, the rest zero.
#[hdl_fn]
pub fn ethernet_bytes(record: TxEthernet, carries6: Bit) -> Bits<144> {
    let to = with_field(bits::<144>(0), ethernet::DESTINATION, record.destination);
    let from = with_field(to, ethernet::SOURCE, record.source);
    let ethertype = if carries6 {
        bits::<16>(u64::from(ETHERTYPE_IPV6))
    } else {
        bits::<16>(u64::from(ETHERTYPE_IPV4))
    };
    let plain = with_field(from, ethernet::ETHERTYPE, ethertype);
    let announced = bits::<16>(u64::from(ETHERTYPE_VLAN));
    let marked = with_field(from, ethernet::ETHERTYPE, announced);
    let controlled = with_field(marked, Ethernet::LEN + vlan::CONTROL, record.tag);
    let tagged = with_field(controlled, Ethernet::LEN + vlan::ETHERTYPE, ethertype);
    if record.tagged {
        tagged
    } else {
        plain
    }
}
