//! Checks and counts of the packets on the wire.

use std::collections::HashSet;

use sim_bridge::{is_rocev2, Crossing, Fate};
use sim_world::Direction;
use stellar_wire::{NakCode, RoceFrame, Syndrome};

/// Packets of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// RoCEv2 packets that the sender transmitted.
    pub packets: u64,
    /// Number of these requests whose queue pair and PSN were seen before.
    pub retransmissions: u64,
}

/// The traffic of a case, as the bridge sees it.
#[derive(Debug, Default)]
pub struct Traffic {
    /// From the peer to the card.
    pub to_card: Counts,
    /// From the card to the peer.
    pub to_peer: Counts,
    /// Frames that the bridge dropped, duplicated or held back.
    pub impaired: u64,
    /// The first wrong packet: an invalid header, a wrong length, a wrong iCRC, or a response to a PSN that no request had.
    pub fault: Option<String>,
    /// RoCEv2 packets of all cases.
    pub all_packets: u64,
    /// Requests seen so far: direction, queue pair, PSN.
    seen: HashSet<(bool, u32, u32)>,
    /// Direction and PSN of all requests of the case. A response to an earlier queue pair may come late, so these are kept to the end of the case.
    requested: HashSet<(bool, u32)>,
}

impl Traffic {
    /// Starts a new case.
    pub fn restart(&mut self) {
        *self = Self {
            all_packets: self.all_packets,
            ..Self::default()
        };
    }

    /// Forgets the PSNs seen. A new queue pair may reuse the number of an old one.
    pub fn forget_psns(&mut self) {
        self.seen.clear();
    }

    /// Checks and counts a frame.
    pub fn look(&mut self, crossing: &Crossing<'_>) {
        if !is_rocev2(crossing.frame) {
            return;
        }
        self.all_packets += 1;
        if crossing.fate != Fate::Passed {
            self.impaired += 1;
        }
        let to_card = crossing.direction == Direction::Inbound;
        let counts = if to_card {
            &mut self.to_card
        } else {
            &mut self.to_peer
        };
        counts.packets += 1;
        // `parse` checks the lengths and recomputes the iCRC.
        let wrong = match RoceFrame::parse(crossing.frame) {
            Ok(frame) if !frame.bth.opcode.is_response() => {
                let psn = frame.bth.psn;
                let is_new = self.seen.insert((to_card, frame.bth.dest_qp, psn));
                counts.retransmissions += u64::from(!is_new);
                self.requested.insert((to_card, psn));
                None
            }
            // A sequence NAK names the PSN of a missing request, which may have been lost before the bridge saw it.
            Ok(frame) if is_sequence_nak(&frame) => None,
            Ok(frame) if self.requested.contains(&(!to_card, frame.bth.psn)) => None,
            Ok(frame) => Some(format!(
                "it responds to PSN {:#08x}, which no request had",
                frame.bth.psn
            )),
            Err(error) => Some(error.to_string()),
        };
        if let Some(wrong) = wrong {
            let sender = if to_card { "peer" } else { "card" };
            let (number, length) = (counts.packets, crossing.frame.len());
            self.fault.get_or_insert_with(|| {
                format!("packet {number} of the {sender}, {length} bytes: {wrong}")
            });
        }
    }
}

fn is_sequence_nak(frame: &RoceFrame) -> bool {
    let sequence_error = Syndrome::Nak(NakCode::PsnSequenceError);
    frame
        .ext
        .aeth
        .is_some_and(|aeth| aeth.syndrome == sequence_error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stellar_wire::{Aeth, Bth, ExtHeaders, Opcode, Reth};

    fn write(psn: u32) -> Vec<u8> {
        let bth = Bth {
            opcode: Opcode::RcWriteOnly,
            dest_qp: 5,
            psn,
            ..Bth::default()
        };
        let reth = Some(Reth {
            va: 0,
            rkey: 0,
            dma_len: 1,
        });
        let frame = RoceFrame {
            bth,
            ext: ExtHeaders {
                reth,
                ..ExtHeaders::default()
            },
            payload: vec![9],
            ..RoceFrame::default()
        };
        frame.emit().unwrap()
    }

    fn look(traffic: &mut Traffic, direction: Direction, frame: &[u8], fate: Fate) {
        traffic.look(&Crossing {
            time: 0,
            direction,
            frame,
            fate,
        });
    }

    #[test]
    fn what_comes_again_is_a_retransmission_of_its_direction() {
        let mut traffic = Traffic::default();
        for psn in [1, 2, 1] {
            look(&mut traffic, Direction::Inbound, &write(psn), Fate::Passed);
        }
        look(&mut traffic, Direction::Outbound, &write(1), Fate::Dropped);
        look(&mut traffic, Direction::Outbound, &[0; 60], Fate::Passed);
        let counts = |packets, retransmissions| Counts {
            packets,
            retransmissions,
        };
        assert_eq!(traffic.to_card, counts(3, 1));
        assert_eq!(traffic.to_peer, counts(1, 0));
        assert_eq!((traffic.impaired, &traffic.fault), (1, &None));
        traffic.restart();
        assert_eq!((traffic.to_card, traffic.all_packets), (counts(0, 0), 4));
    }

    fn response(psn: u32, syndrome: Syndrome) -> Vec<u8> {
        let bth = Bth {
            opcode: Opcode::RcAck,
            dest_qp: 6,
            psn,
            ..Bth::default()
        };
        let ext = ExtHeaders {
            aeth: Some(Aeth { syndrome, msn: 0 }),
            ..ExtHeaders::default()
        };
        let frame = RoceFrame {
            bth,
            ext,
            ..RoceFrame::default()
        };
        frame.emit().unwrap()
    }

    #[test]
    fn a_response_to_no_request_is_a_fault() {
        let mut traffic = Traffic::default();
        look(&mut traffic, Direction::Inbound, &write(8), Fate::Dropped);
        traffic.forget_psns();
        let acknowledged = Aeth::default().syndrome;
        for (psn, syndrome) in [
            (8, acknowledged),
            (7, Syndrome::Nak(NakCode::PsnSequenceError)),
        ] {
            let response = response(psn, syndrome);
            look(&mut traffic, Direction::Outbound, &response, Fate::Passed);
        }
        assert_eq!(traffic.fault, None);
        // The card's own request with this PSN is not one that the card may respond to.
        look(&mut traffic, Direction::Outbound, &write(9), Fate::Passed);
        let response = response(9, acknowledged);
        look(&mut traffic, Direction::Outbound, &response, Fate::Passed);
        let fault = traffic.fault.unwrap();
        assert!(fault.contains("PSN 0x000009"), "{fault}");
    }

    #[test]
    fn a_wrong_icrc_is_a_fault() {
        let mut traffic = Traffic::default();
        let mut frame = write(1);
        *frame.last_mut().unwrap() ^= 1;
        look(&mut traffic, Direction::Outbound, &frame, Fate::Passed);
        let fault = traffic.fault.unwrap();
        assert!(fault.contains("packet 1 of the card"), "{fault}");
    }
}
