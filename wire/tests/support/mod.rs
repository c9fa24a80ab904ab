//! Strategies for random headers, and the deterministic runner all property tests use.

pub mod frame;

use std::net::{Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use stellar_wire::mrc::{
    CcState, CongestionTag, Entropy, Meth, NackReason, Neth, PathHint, Peth, Seth, Tseth,
};
use stellar_wire::*;

/// A runner that tries the same `cases` cases every time.
pub fn runner(cases: u32) -> TestRunner {
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

fn u24() -> impl Strategy<Value = u32> {
    0..1u32 << 24
}

fn mac() -> impl Strategy<Value = MacAddr> {
    any::<[u8; 6]>().prop_map(MacAddr)
}

pub fn ethernet() -> impl Strategy<Value = Ethernet> {
    (mac(), mac(), any::<u16>()).prop_map(|(dst, src, ethertype)| Ethernet {
        dst,
        src,
        ethertype,
    })
}

pub fn vlan() -> impl Strategy<Value = Vlan> {
    (0..8u8, any::<bool>(), 0..4096u16, any::<u16>()).prop_map(|(pcp, dei, vid, ethertype)| Vlan {
        pcp,
        dei,
        vid,
        ethertype,
    })
}

fn ecn() -> impl Strategy<Value = Ecn> {
    (0..4u8).prop_map(Ecn::from_traffic_class)
}

pub fn ipv4() -> impl Strategy<Value = Ipv4> {
    let flags = any::<[bool; 3]>();
    let addresses = any::<[u32; 2]>();
    (
        0..64u8,
        ecn(),
        any::<[u16; 2]>(),
        flags,
        0..1u16 << 13,
        any::<[u8; 2]>(),
        addresses,
    )
        .prop_map(
            |(dscp, ecn, [total_len, id], flags, fragment_offset, [ttl, protocol], [src, dst])| {
                Ipv4 {
                    dscp,
                    ecn,
                    total_len,
                    id,
                    reserved_flag: flags[0],
                    dont_fragment: flags[1],
                    more_fragments: flags[2],
                    fragment_offset,
                    ttl,
                    protocol,
                    src: Ipv4Addr::from(src),
                    dst: Ipv4Addr::from(dst),
                }
            },
        )
}

pub fn ipv6() -> impl Strategy<Value = Ipv6> {
    let addresses = any::<[u128; 2]>();
    (
        0..64u8,
        ecn(),
        0..1u32 << 20,
        any::<u16>(),
        any::<[u8; 2]>(),
        addresses,
    )
        .prop_map(
            |(dscp, ecn, flow_label, payload_len, [next_header, hop_limit], [src, dst])| Ipv6 {
                dscp,
                ecn,
                flow_label,
                payload_len,
                next_header,
                hop_limit,
                src: Ipv6Addr::from(src),
                dst: Ipv6Addr::from(dst),
            },
        )
}

pub fn udp() -> impl Strategy<Value = Udp> {
    any::<[u16; 4]>().prop_map(|[sport, dport, length, checksum]| Udp {
        sport,
        dport,
        length,
        checksum,
    })
}

pub fn bth() -> impl Strategy<Value = Bth> {
    let reserved = (0..64u8, any::<u8>().prop_map(|bits| bits & 0x4f));
    (
        select(Opcode::ALL),
        any::<[bool; 7]>(),
        0..4u8,
        0..16u8,
        any::<u16>(),
        reserved,
        u24(),
        u24(),
    )
        .prop_map(
            |(opcode, flags, pad_count, tver, pkey, (resv6, resv7), dest_qp, psn)| Bth {
                opcode,
                solicited: flags[0],
                mig_req: flags[1],
                pad_count,
                tver,
                pkey,
                fecn: flags[2],
                becn: flags[3],
                resv6,
                dest_qp,
                ack_req: flags[4],
                retransmit: flags[5],
                tseth_present: flags[6],
                resv7,
                psn,
            },
        )
}

pub fn reth() -> impl Strategy<Value = Reth> {
    (any::<u64>(), any::<u32>(), any::<u32>()).prop_map(|(va, rkey, dma_len)| Reth {
        va,
        rkey,
        dma_len,
    })
}

pub fn aeth() -> impl Strategy<Value = Aeth> {
    (any::<u8>(), u24()).prop_map(|(syndrome, msn)| Aeth {
        syndrome: Syndrome::from_byte(syndrome),
        msn,
    })
}

pub fn imm() -> impl Strategy<Value = ImmDt> {
    any::<u32>().prop_map(ImmDt)
}

pub fn ieth() -> impl Strategy<Value = Ieth> {
    any::<u32>().prop_map(|rkey| Ieth { rkey })
}

pub fn atomic() -> impl Strategy<Value = AtomicEth> {
    (any::<u64>(), any::<u32>(), any::<u64>(), any::<u64>()).prop_map(
        |(va, rkey, swap_add, compare)| AtomicEth {
            va,
            rkey,
            swap_add,
            compare,
        },
    )
}

pub fn atomic_ack() -> impl Strategy<Value = AtomicAckEth> {
    any::<u64>().prop_map(|original| AtomicAckEth { original })
}

pub fn deth() -> impl Strategy<Value = Deth> {
    (any::<u32>(), u24()).prop_map(|(qkey, src_qp)| Deth { qkey, src_qp })
}

pub fn meth() -> impl Strategy<Value = Meth> {
    (any::<u16>(), any::<u16>()).prop_map(|(rqmsn, msn)| Meth { rqmsn, msn })
}

pub fn tseth() -> impl Strategy<Value = Tseth> {
    (any::<u16>(), any::<bool>(), 0..16u8).prop_map(|(tx_timestamp, own_resolution, format)| {
        Tseth {
            tx_timestamp,
            own_resolution,
            format,
        }
    })
}

fn congestion() -> impl Strategy<Value = CongestionTag> {
    (0..16u8, 0..16u8).prop_map(|(cc_type, cc_flags)| CongestionTag { cc_type, cc_flags })
}

pub fn seth() -> impl Strategy<Value = Seth> {
    let contexts = any::<[u16; 2]>();
    let offsets = any::<[i16; 2]>();
    let window = (any::<u8>(), any::<u64>());
    (
        select(PathHint::ALL),
        any::<bool>(),
        offsets,
        any::<u32>(),
        contexts,
        u24(),
        congestion(),
        window,
    )
        .prop_map(
            |(
                path_hint,
                probe_response,
                offsets,
                entropy,
                contexts,
                cack_psn,
                congestion,
                (mpr, bitmap),
            )| Seth {
                path_hint,
                probe_response,
                ack_psn_offset: offsets[0],
                entropy: Entropy(entropy),
                src_context: contexts[0],
                dst_context: contexts[1],
                cack_psn,
                congestion,
                mpr,
                sack_offset: offsets[1],
                bitmap,
            },
        )
}

pub fn cc_state() -> impl Strategy<Value = CcState> {
    (any::<u16>(), 0..1u16 << 15, any::<bool>(), 0..128u8, u24()).prop_map(
        |(tx_timestamp, ooo_count, restore_cwnd, rcv_cwnd_pen, rcvd_bytes)| CcState {
            tx_timestamp,
            ooo_count,
            restore_cwnd,
            rcv_cwnd_pen,
            rcvd_bytes,
        },
    )
}

pub fn neth() -> impl Strategy<Value = Neth> {
    let reason = any::<u8>().prop_map(NackReason::from_byte);
    (
        reason,
        any::<u8>(),
        any::<u32>(),
        any::<[u16; 3]>(),
        u24(),
        congestion(),
    )
        .prop_map(
            |(reason, vendor_info, entropy, words, nack_psn, congestion)| Neth {
                reason,
                vendor_info,
                entropy: Entropy(entropy),
                src_context: words[0],
                dst_context: words[1],
                nack_psn,
                congestion,
                tx_timestamp: words[2],
            },
        )
}

pub fn peth() -> impl Strategy<Value = Peth> {
    (any::<u8>(), any::<[u16; 3]>(), tseth()).prop_map(|(vendor_info, words, timestamp)| Peth {
        vendor_info,
        probe_id: words[0],
        src_context: words[1],
        dst_context: words[2],
        timestamp,
    })
}
