//! A card among strangers: frames that are not for it, and frames that are not from its peer.

use std::time::Duration;

use sim_nic::LoneCard;
use stellar_driver::*;
use stellar_wire::host::config_space::{command, header};
use stellar_wire::receive::DropReason;
use stellar_wire::{Bth, ExtHeaders, Ip, Ipv4, Opcode, Reth, RoceFrame};

use crate::verbs::hosts::*;

/// Initial PSN of the crafted packets.
const PSN: u32 = 77;

/// A WRITE of 64 bytes as the peer, host 1, sends it to port 0 of the card.
fn genuine(qp: u32, psn: u32, target: &RemoteRegion, fill: u8) -> RoceFrame {
    let bth = Bth {
        opcode: Opcode::RcWriteOnly,
        dest_qp: qp,
        psn,
        ack_req: true,
        ..Bth::default()
    };
    let ext = ExtHeaders {
        reth: Some(Reth {
            va: target.address,
            rkey: target.rkey,
            dma_len: 64,
        }),
        ..ExtHeaders::default()
    };
    RoceFrame {
        payload: vec![fill; 64],
        ..from_peer(0, bth, ext)
    }
}

fn ipv4(frame: &mut RoceFrame) -> &mut Ipv4 {
    match &mut frame.ip {
        Ip::V4(ip) => ip,
        Ip::V6(_) => unreachable!("the frames have IPv4 addresses"),
    }
}

#[test]
fn only_the_peers_frames_for_this_port_are_placed_and_answered() {
    let cards = LoneCard::new().unwrap();
    let probe = Probe::new(cards.function(0)).unwrap();
    let device = probe.bring_up(DeviceConfig::new(ports(0), 0)).unwrap();
    let host = Host::open(&device, false);
    let qp = host.qp_over(Transport::Rc);
    let peer = Connection {
        qp: 9,
        psn: PSN,
        transport: Transport::Rc,
        ports: ports(1),
    };
    ready(&qp, peer);
    let target = host.region(4096, true);
    let to = target.remote();

    type Change = fn(&mut RoceFrame);
    let changes: [(DropReason, Change); 4] = [
        (DropReason::ForeignDestination, |frame| {
            frame.eth.dst.0[5] ^= 0x40
        }),
        (DropReason::ForeignDestination, |frame| {
            let [a, b, c, d] = ipv4(frame).dst.octets();
            ipv4(frame).dst = [a, b, c, d ^ 8].into();
        }),
        (DropReason::ForeignSource, |frame| {
            let [a, b, c, d] = ipv4(frame).src.octets();
            ipv4(frame).src = [a, b ^ 8, c, d].into();
        }),
        (DropReason::None, |_| {}),
    ];
    let function = device.probe().function().clone();
    let settle = || {
        let end = function.now() + Duration::from_micros(20);
        while function.now() < end {
            function.relax();
        }
    };
    for (reason, change) in changes {
        let before = device.counters().unwrap();
        let mut frame = genuine(qp.number(), PSN, &to, 0xa5);
        change(&mut frame);
        cards.receive(0, frame.emit().unwrap());
        settle();
        let genuine = reason == DropReason::None;
        let after = device.counters().unwrap();
        let counted = [&before, &after].map(|counters| count_of(counters, reason));
        assert_eq!(counted[1], counted[0] + 1, "{reason}: {after:?}");
        assert_eq!(cards.take_sent().len(), usize::from(genuine), "answers");
        assert_eq!(bytes(&target)[..64] == [0xa5; 64], genuine, "{reason}");
    }

    // The tables outlive a reset of the function. Until software has written the addresses again, nothing is placed by them.
    let before = bytes(&target);
    function.reset().unwrap();
    let enabled = command::MEMORY | command::BUS_MASTER;
    function
        .config_write16(Function::Control, header::COMMAND, enabled)
        .unwrap();
    let next = genuine(qp.number(), PSN + 1, &to, 0x5a);
    cards.receive(0, next.emit().unwrap());
    settle();
    let dropped = device.probe().counters().unwrap();
    assert_eq!(count_of(&dropped, DropReason::ForeignDestination), 1);
    assert_eq!(count_of(&dropped, DropReason::None), 0);
    assert_eq!(cards.take_sent(), []);
    assert_eq!(bytes(&target), before);
}
