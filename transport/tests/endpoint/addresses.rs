//! Frames for other ports, and frames from others than the peer.

use stellar_transport::rx::DropReason;
use stellar_wire::{Ip, MacAddr, Opcode, RoceFrame};

use crate::endpoint::network::Fate;
use crate::endpoint::pair::{perfect, write, Pair};

const QP: u32 = 5;

/// The first data packet of card 0, which the network has lost.
fn lost(mut pair: Pair) -> (Pair, RoceFrame) {
    pair.network.log = Some(Vec::new());
    pair.post(QP, write(0, 0, 100, 1));
    pair.run_for(1000);
    let log = pair.network.log.as_ref().expect("log");
    let frame = log.first().expect("a data packet").3.clone();
    pair.network.set_rule(perfect);
    (pair, frame)
}

fn pairs() -> [(Pair, RoceFrame); 2] {
    [
        lost(Pair::mrc(|seen| {
            Fate::lost_if(seen.is(Opcode::MrcWriteOnly))
        })),
        lost(Pair::rc(|seen| Fate::lost_if(seen.is(Opcode::RcWriteOnly)))),
    ]
}

/// Card 1 drops the packet that `change` has readdressed for `reason`, and does not answer it; the genuine one is placed later.
fn dropped(reason: DropReason, change: impl Fn(&mut RoceFrame)) {
    for (mut pair, mut frame) in pairs() {
        change(&mut frame);
        let bytes = frame.emit().expect("a frame");
        let now = pair.ticks();
        let port = usize::from(ipv4(&mut frame).dst.octets()[1]);
        let before = pair.cards[1].memory().bytes_written;
        pair.cards[1].receive(port, &bytes, now);
        assert_eq!(pair.cards[1].rx_counters().reason(reason), 1, "{reason}");
        assert_eq!(pair.cards[1].memory().bytes_written, before);
        assert_eq!(pair.cards[1].poll_transmit(port, now), None, "no answer");
        pair.finish(QP, [1]);
    }
}

fn ipv4(frame: &mut RoceFrame) -> &mut stellar_wire::Ipv4 {
    match &mut frame.ip {
        Ip::V4(ip) => ip,
        Ip::V6(_) => unreachable!("the cards have IPv4 addresses"),
    }
}

#[test]
fn a_frame_for_another_port_is_dropped() {
    use DropReason::ForeignDestination;
    dropped(ForeignDestination, |frame| {
        frame.eth.dst = MacAddr([2, 0, 0, 0, 9, 9])
    });
    dropped(ForeignDestination, |frame| {
        frame.eth.dst = MacAddr([0xff; 6])
    });
    dropped(ForeignDestination, |frame| {
        let [a, b, c, d] = ipv4(frame).dst.octets();
        ipv4(frame).dst = [a, b, c, d ^ 1].into();
    });
}

#[test]
fn a_data_packet_from_another_source_is_dropped() {
    dropped(DropReason::ForeignSource, |frame| {
        let [a, b, c, d] = ipv4(frame).src.octets();
        ipv4(frame).src = [a, b, c, d ^ 64].into();
    });
}

#[test]
fn the_peer_may_use_either_of_its_addresses() {
    for (mut pair, mut frame) in pairs() {
        let own = ipv4(&mut frame).src.octets();
        ipv4(&mut frame).src = [own[0], own[1] ^ 1, own[2], own[3]].into();
        let port = usize::from(ipv4(&mut frame).dst.octets()[1]);
        let now = pair.ticks();
        pair.cards[1].receive(port, &frame.emit().expect("a frame"), now);
        assert_eq!(
            pair.cards[1].rx_counters().reason(DropReason::None),
            1,
            "placed"
        );
        pair.finish(QP, [1]);
    }
}
