//! Peer of an RC queue pair.

use rust_hdl::prelude::*;
use stellar_transport::requester::{Requester, Sack};
use stellar_transport::rx::Psn;
use stellar_wire::hw::requester::{ControlKind, ControlPacket};
use stellar_wire::hw::tx::TxAeth;
use stellar_wire::mrc::{CcState, Peth, Seth};
use stellar_wire::{Aeth, Syndrome};

use crate::core::lockstep::Bench;
use crate::core::mrc::{random_hint, sack_record};

pub const ACK: u8 = 0x1f;
/// NAK for a PSN out of order. The next four codes are fatal NAKs.
pub const SEQUENCE_NAK: u8 = 0x60;
/// RNR NAK with the code of the longest time. The next 31 codes are of 0.01 ms and more.
pub const RNR_NAK: u8 = 0x20;
/// The requester ignores the MSN.
const MSN: u32 = 0x12_3456;

/// Returns an ACK or NAK.
pub fn acknowledgement(qp: usize, psn: Psn, syndrome: u8) -> ControlPacket {
    ControlPacket {
        kind: ControlKind::Ack,
        qp: (qp as u64).to_bits(),
        psn: u64::from(psn.value()).to_bits(),
        aeth: TxAeth {
            syndrome: u64::from(syndrome).to_bits(),
            msn: u64::from(MSN).to_bits(),
        },
        ..ControlPacket::default()
    }
}

impl Bench {
    fn ack(&mut self, qp: usize, psn: Psn, syndrome: u8) {
        let was_failed = self.pairs[qp].reference.error().is_some();
        let control = acknowledgement(qp, psn, syndrome);
        let mut observed = self.rig.control(control, self.now.0);
        let (now, aeth) = (
            self.now,
            Aeth {
                syndrome: Syndrome::from_byte(syndrome),
                msn: MSN,
            },
        );
        self.reference(qp, |reference, card| match reference {
            Requester::Rc(rc) => rc.on_ack(psn, &aeth, now, card),
            Requester::Mrc(_) => {}
        });
        self.compare(qp, &mut observed, was_failed);
    }

    /// Whether an RC queue pair has a path policy.
    fn has_paths(&self, qp: usize) -> bool {
        matches!(&self.pairs[qp].reference, Requester::Rc(rc) if rc.has_paths())
    }

    /// Processes the answer to a probe.
    fn answer_probe(&mut self, qp: usize, seth: &Seth, cc: &CcState) {
        let was_failed = self.pairs[qp].reference.error().is_some();
        let now = self.now;
        let mut observed = self.rig.control(sack_record(qp, seth, cc), now.0);
        self.reference(qp, |reference, card| match reference {
            Requester::Rc(rc) => rc.on_probe_answer(Sack { seth, cc }, now, card),
            Requester::Mrc(_) => {}
        });
        self.compare(qp, &mut observed, was_failed);
    }

    /// Delivers some packets, and most of their acknowledgements.
    pub fn deliver_rc(&mut self, qp: usize, dice: u64) {
        for i in 0..dice >> 58 & 7 {
            let dice = dice.rotate_left(7 * i as u32);
            let pair = &mut self.pairs[qp];
            let packet = pair.arriving(dice);
            if let Some(id) = packet.and_then(|packet| packet.probe_id) {
                let stamp = packet.map_or(0, |packet| packet.stamp);
                let (seth, cc) = pair.rc_receiver.answer_probe(id, stamp, random_hint(dice));
                self.answer_probe(qp, &seth, &cc);
                continue;
            }
            let answer = packet.and_then(|packet| pair.rc_receiver.answer(&packet));
            if let Some((psn, in_order)) = answer.filter(|_| dice >> 30 & 7 != 0) {
                self.ack(qp, psn, if in_order { ACK } else { SEQUENCE_NAK });
            }
        }
    }

    /// Processes an acknowledgement with a random PSN near the window, or the answer to a probe with a random path.
    pub fn garble_ack(&mut self, qp: usize, dice: u64) {
        if dice >> 52 & 1 == 1 && self.has_paths(qp) {
            let id = ((dice >> 14) as u16 % 200) | (((dice >> 22) as u16) << 8 & Peth::TAIL_PROBE);
            let receiver = &self.pairs[qp].rc_receiver;
            let (mut seth, cc) = receiver.answer_probe(id, dice as u16, random_hint(dice));
            seth.cack_psn = Psn::new(seth.cack_psn)
                .plus(0xff_fff8 + (dice >> 40 & 15) as u32)
                .value();
            self.answer_probe(qp, &seth, &cc);
            return;
        }
        let rnr = RNR_NAK | (dice >> 40 & 31) as u8;
        let syndromes = [ACK, 0, SEQUENCE_NAK, rnr, 0x65, 0x40, 0x80, 0xff];
        let psn = self.pairs[qp]
            .rc_receiver
            .expected()
            .plus((dice >> 8 & 63) as u32);
        self.ack(qp, psn.plus(0xff_ffe8), syndromes[(dice & 7) as usize]);
    }

    /// Refuses the oldest packet in flight, in some cases with a fatal NAK or an RNR NAK.
    pub fn refuse_rc(&mut self, qp: usize, dice: u64) {
        let Some(packet) = self.pairs[qp].flying.first().copied() else {
            return;
        };
        let syndrome = match dice % 8 {
            0 => SEQUENCE_NAK + 1 + (dice >> 8) as u8 % 4,
            1..=3 => RNR_NAK + (dice >> 8) as u8 % 32,
            _ => SEQUENCE_NAK,
        };
        self.ack(qp, packet.psn, syndrome);
    }

    /// Processes a control packet of the other transport. It must not be counted, and must not change anything.
    pub fn mistake_transport(&mut self, qp: usize, dice: u64) {
        let was_failed = self.pairs[qp].reference.error().is_some();
        let kind = match &self.pairs[qp].reference {
            Requester::Mrc(_) => ControlKind::Ack,
            Requester::Rc(_) => {
                let kinds = [
                    ControlKind::Sack,
                    ControlKind::Nack,
                    ControlKind::TransportAck,
                ];
                kinds[dice as usize % 3]
            }
        };
        let control = ControlPacket {
            kind,
            qp: (qp as u64).to_bits(),
            ..ControlPacket::default()
        };
        let mut observed = self.rig.control(control, self.now.0);
        self.compare(qp, &mut observed, was_failed);
    }
}
