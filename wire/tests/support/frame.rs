//! Strategy for random whole frames.

use proptest::prelude::*;
use stellar_wire::udp::ROCE_UDP_PORT;
use stellar_wire::*;

use crate::support::*;

/// Every extension header at once, to be cut down to those of an opcode.
fn every_ext() -> impl Strategy<Value = ExtHeaders> {
    let ib = (
        deth(),
        reth(),
        atomic(),
        aeth(),
        atomic_ack(),
        imm(),
        ieth(),
    );
    let mrc = (meth(), tseth(), seth(), cc_state(), neth(), peth());
    (ib, mrc).prop_map(|(ib, mrc)| ExtHeaders {
        deth: Some(ib.0),
        reth: Some(ib.1),
        atomic: Some(ib.2),
        aeth: Some(ib.3),
        atomic_ack: Some(ib.4),
        imm: Some(ib.5),
        ieth: Some(ib.6),
        meth: Some(mrc.0),
        tseth: Some(mrc.1),
        seth: Some(mrc.2),
        cc_state: Some(mrc.3),
        neth: Some(mrc.4),
        peth: Some(mrc.5),
    })
}

fn only_of(opcode: Opcode, tseth: bool, every: ExtHeaders) -> ExtHeaders {
    let has = |kind| opcode.ext_kinds().contains(&kind);
    ExtHeaders {
        deth: every.deth.filter(|_| has(ExtKind::Deth)),
        meth: every.meth.filter(|_| has(ExtKind::Meth)),
        tseth: every.tseth.filter(|_| tseth && opcode.is_mrc_data()),
        reth: every.reth.filter(|_| has(ExtKind::Reth)),
        atomic: every.atomic.filter(|_| has(ExtKind::AtomicEth)),
        aeth: every.aeth.filter(|_| has(ExtKind::Aeth)),
        atomic_ack: every.atomic_ack.filter(|_| has(ExtKind::AtomicAckEth)),
        imm: every.imm.filter(|_| has(ExtKind::ImmDt)),
        ieth: every.ieth.filter(|_| has(ExtKind::Ieth)),
        seth: every.seth.filter(|_| has(ExtKind::Seth)),
        cc_state: every.cc_state.filter(|_| has(ExtKind::CcState)),
        neth: every.neth.filter(|_| has(ExtKind::Neth)),
        peth: every.peth.filter(|_| has(ExtKind::Peth)),
    }
}

fn srv6() -> impl Strategy<Value = Srv6Encap> {
    let path = prop::collection::vec(1..=u16::MAX, 0..=UsidContainer::CAPACITY);
    (ipv6(), any::<u32>(), path).prop_map(|(outer, block, path)| Srv6Encap {
        path: UsidContainer::new(block, &path).expect("at most six uSIDs, none zero"),
        ..Srv6Encap::from(outer)
    })
}

fn ip() -> impl Strategy<Value = Ip> {
    let whole = |ip| Ipv4 {
        more_fragments: false,
        fragment_offset: 0,
        ..ip
    };
    prop_oneof![
        ipv4().prop_map(move |ip| Ip::V4(whole(ip))),
        ipv6().prop_map(Ip::V6)
    ]
}

/// A valid frame of any kind, as it will be sent. Source ports are dynamic ones, as RoCE's always are.
pub fn frame() -> impl Strategy<Value = RoceFrame> {
    let outside = (
        ethernet(),
        prop::option::of(vlan()),
        prop::option::of(srv6()),
        ip(),
    );
    let udp = (udp(), 0xc000..=u16::MAX).prop_map(|(udp, sport)| Udp {
        sport,
        dport: ROCE_UDP_PORT,
        ..udp
    });
    let payload = prop::collection::vec(any::<u8>(), 0..300);
    (outside, udp, bth(), any::<bool>(), every_ext(), payload).prop_map(
        |((eth, vlan, srv6, ip), udp, bth, tseth, every, payload)| {
            let bth = Bth { tver: 0, ..bth };
            let payload = match bth.opcode {
                Opcode::Cnp => vec![0; 16],
                opcode if opcode.carries_payload() => payload,
                _ => Vec::new(),
            };
            let ext = only_of(bth.opcode, tseth, every);
            let frame = RoceFrame {
                eth,
                vlan,
                srv6,
                ip,
                udp,
                bth,
                ext,
                payload,
            };
            frame
                .with_derived_fields()
                .expect("headers of the opcode, small payload")
        },
    )
}
