//! The capture of a bridge.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketOption;
use pcap_file::pcapng::blocks::interface_description::InterfaceDescriptionOption;
use pcap_file::pcapng::{Block, PcapNgReader};
use sim_bridge::{BridgeConfig, Impairment};
use sim_world::Direction;

use crate::card::{config, datagram, plain, roce, until, who_has, Card, PORT};
use crate::datagram::{peer, receive};

/// A frame of a capture.
#[derive(Debug, PartialEq)]
pub struct Captured {
    pub time: Duration,
    pub direction: u32,
    pub comment: String,
    pub frame: Vec<u8>,
}

/// The name of the interface, and the frames.
pub fn read(path: &Path) -> (String, Vec<Captured>) {
    let mut reader = PcapNgReader::new(File::open(path).unwrap()).unwrap();
    let (mut name, mut frames) = (String::new(), Vec::new());
    while let Some(block) = reader.next_block() {
        match block.unwrap() {
            Block::InterfaceDescription(interface) => {
                for option in &interface.options {
                    if let InterfaceDescriptionOption::IfName(text) = option {
                        name = text.to_string();
                    }
                }
            }
            Block::EnhancedPacket(packet) => {
                let (mut direction, mut comment) = (0, String::new());
                for option in &packet.options {
                    match option {
                        EnhancedPacketOption::Flags(flags) => direction = *flags,
                        EnhancedPacketOption::Comment(text) => comment = text.to_string(),
                        _ => {}
                    }
                }
                frames.push(Captured {
                    time: packet.timestamp,
                    direction,
                    comment,
                    frame: packet.data.to_vec(),
                });
            }
            _ => {}
        }
    }
    (name, frames)
}

#[test]
fn a_capture_holds_what_crossed_and_what_became_of_it() {
    let (folder, address) = datagram();
    let path = folder.path().join("bridge.pcapng");
    let drops = Impairment {
        drop: 1.0,
        ..Impairment::NONE
    };
    let mut card = Card::new(&BridgeConfig {
        capture: Some(path.clone()),
        to_card: drops,
        to_peer: Impairment {
            duplicate: 1.0,
            ..Impairment::NONE
        },
        ..config(address.clone())
    });
    let peer = peer(&address);
    card.run(1000);
    card.send(PORT, roce(1));
    card.send(1 - PORT, plain(9));
    peer.send(&roce(2)).unwrap();
    peer.send(&who_has([10, 0, 0, 1])).unwrap();
    peer.send(&[1, 2, 3]).unwrap();
    // The request arrives after the dropped frame.
    card.run_until_arrived(1);
    until("the runt has been taken", || {
        card.run(1);
        card.bridge.counts().malformed == 1
    });
    let [first, second, answer] = [(); 3].map(|()| receive(&peer));
    assert_eq!([first, second], [roce(1), roce(1)]);
    card.bridge.flush().unwrap();
    let (name, frames) = read(&path);
    assert_eq!(name, format!("card.p{PORT}"));
    let mut question = who_has([10, 0, 0, 1]);
    question.resize(60, 0);
    let (inbound, outbound) = (Direction::Inbound as u32, Direction::Outbound as u32);
    let expected = [
        (outbound, "duplicated by the bridge", roce(1)),
        (inbound, "dropped by the bridge", roce(2)),
        (inbound, "", question),
        (outbound, "", answer),
    ];
    let found: Vec<_> = frames
        .iter()
        .map(|captured| {
            (
                captured.direction,
                captured.comment.as_str(),
                captured.frame.clone(),
            )
        })
        .collect();
    assert_eq!(found, expected);
    // 1,000 cycles of 4 ns.
    assert_eq!(frames[0].time, Duration::from_nanos(4000));
    assert!(frames.windows(2).all(|two| two[0].time <= two[1].time));
}

#[test]
fn a_bridge_that_cannot_be_opened_leaves_the_capture_as_it_is() {
    let (folder, address) = datagram();
    let path = folder.path().join("bridge.pcapng");
    std::fs::write(&path, "somebody's").unwrap();
    std::fs::write(folder.path().join("bridge"), "").unwrap();
    let refused = sim_bridge::Bridge::open(&BridgeConfig {
        capture: Some(path.clone()),
        ..config(address)
    });
    assert!(refused.is_err());
    assert_eq!(std::fs::read(&path).unwrap(), b"somebody's");
}
