//! The host behind the bridge as an IPv6 neighbour.

use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{
    EthernetAddress, EthernetFrame, EthernetProtocol, EthernetRepr, Icmpv6Message, Icmpv6Packet,
    Icmpv6Repr, IpProtocol, Ipv6Address, Ipv6Packet, Ipv6Repr, NdiscRepr,
};

use crate::card::{config, datagram, Card};
use crate::datagram::{peer, receive};

const PEER: EthernetAddress = EthernetAddress([2, 0, 0, 0, 0, 2]);

/// A frame with a message of ICMPv6.
fn frame(from: Ipv6Address, to: Ipv6Address, message: &Icmpv6Repr<'_>) -> Vec<u8> {
    let (ethernet, ip) = (14, 54);
    let mut bytes = vec![0; ip + message.buffer_len()];
    EthernetRepr {
        src_addr: PEER,
        dst_addr: EthernetAddress([2, 0, 0, 0, 0, 1]),
        ethertype: EthernetProtocol::Ipv6,
    }
    .emit(&mut EthernetFrame::new_unchecked(&mut bytes[..]));
    Ipv6Repr {
        src_addr: from,
        dst_addr: to,
        next_header: IpProtocol::Icmpv6,
        payload_len: message.buffer_len(),
        hop_limit: 255,
    }
    .emit(&mut Ipv6Packet::new_unchecked(&mut bytes[ethernet..]));
    let checksums = ChecksumCapabilities::default();
    message.emit(
        &from,
        &to,
        &mut Icmpv6Packet::new_unchecked(&mut bytes[ip..]),
        &checksums,
    );
    bytes
}

/// The type of the message in a frame.
fn kind(frame: &[u8]) -> Icmpv6Message {
    Icmpv6Packet::new_checked(&frame[54..]).unwrap().msg_type()
}

/// Linux solicits from its link-local address when it checks whether a neighbour is still reachable.
#[test]
fn solicitations_from_both_addresses_of_a_peer_are_answered() {
    for (from, own) in [
        ("fd00::2", "fd00::1"),
        ("fe80::ff:fe00:2", "fd00::1"),
        ("fe80::ff:fe00:2", "fe80::ff:fe00:1"),
    ] {
        let (_folder, address) = datagram();
        let mut card = Card::new(&config(address.clone()));
        let peer = peer(&address);
        let own: Ipv6Address = own.parse().unwrap();
        let solicit = Icmpv6Repr::Ndisc(NdiscRepr::NeighborSolicit {
            target_addr: own,
            lladdr: Some(PEER.into()),
        });
        let from: Ipv6Address = from.parse().unwrap();
        peer.send(&frame(from, own, &solicit)).unwrap();
        card.run_until_arrived(1);
        let counts = card.bridge.counts();
        assert_eq!(counts.from_card, 1, "{own} says nothing to {from}");
        assert_eq!(kind(&receive(&peer)), Icmpv6Message::NeighborAdvert);
    }
}

#[test]
fn ping_is_answered() {
    let (_folder, address) = datagram();
    let mut card = Card::new(&config(address.clone()));
    let peer = peer(&address);
    let ping = Icmpv6Repr::EchoRequest {
        ident: 1,
        seq_no: 2,
        data: b"payload",
    };
    let [from, own] = ["fd00::2", "fd00::1"].map(|text| text.parse().unwrap());
    // The host learns the neighbour's address from its solicitation.
    let solicit = Icmpv6Repr::Ndisc(NdiscRepr::NeighborSolicit {
        target_addr: own,
        lladdr: Some(PEER.into()),
    });
    peer.send(&frame(from, own, &solicit)).unwrap();
    peer.send(&frame(from, own, &ping)).unwrap();
    card.run_until_arrived(2);
    let answers = [(); 2].map(|()| kind(&receive(&peer)));
    let expected = [Icmpv6Message::NeighborAdvert, Icmpv6Message::EchoReply];
    assert_eq!(answers, expected);
}
