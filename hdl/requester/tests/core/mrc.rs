//! Peer of an MRC queue pair.

use rust_hdl::prelude::*;
use stellar_transport::requester::{MrcRequester, Requester, Sack};
use stellar_transport::rx::Psn;
use stellar_wire::hw::requester::{ControlKind, ControlPacket};
use stellar_wire::hw::tx::{TxCcState, TxNeth, TxSeth};
use stellar_wire::mrc::{CcState, Entropy, NackReason, Neth, PathHint, Peth, Seth};
use stellar_wire::{Aeth, Syndrome};

use crate::core::lockstep::Bench;
use crate::core::peer::{InFlight, Receiver};
use crate::core::rc::acknowledgement;
use crate::core::rig::{Observed, Totals};

impl Bench {
    fn mrc(&mut self, qp: usize) -> &mut MrcRequester {
        match &mut self.pairs[qp].reference {
            Requester::Mrc(mrc) => mrc,
            Requester::Rc(_) => panic!("queue pair {qp} sends over RC"),
        }
    }

    fn sack(&mut self, qp: usize, seth: &Seth, cc: &CcState) {
        let was_failed = self.pairs[qp].reference.error().is_some();
        let observed = self.rig.control(sack_record(qp, seth, cc), self.now.0);
        self.compare_sack(qp, (seth, cc), observed, was_failed, None);
    }

    /// Lets the reference process a SACK, and compares the results. `before_failure` is the good path that hardware reports because it processed the SACK before a
    /// failure that comes first in the reference.
    pub fn compare_sack(
        &mut self,
        qp: usize,
        (seth, cc): (&Seth, &CcState),
        mut observed: Observed,
        was_failed: bool,
        before_failure: Option<(u8, u32)>,
    ) {
        let good = self.reference_sack(qp, seth, cc).or(before_failure);
        self.compare(qp, &mut observed, was_failed);
        observed.good.append(&mut self.rig.take_good());
        assert_eq!(
            observed.good,
            good.into_iter().collect::<Vec<_>>(),
            "good path"
        );
    }

    /// Lets the reference process a SACK. Returns plane and entropy value if the SACK is accepted and reflects a good path of the queue pair.
    pub fn reference_sack(&mut self, qp: usize, seth: &Seth, cc: &CcState) -> Option<(u8, u32)> {
        let now = self.now;
        let good = self.reference(qp, |reference, card| match reference {
            Requester::Mrc(mrc) => mrc.on_sack(Sack { seth, cc }, now, card),
            Requester::Rc(_) => None,
        });
        good.map(|index| (index.plane(), seth.entropy.0))
    }

    /// Returns what the reference would count if it processed this SACK now, and the good path that it would report.
    pub fn counted_by_sack(
        &mut self,
        qp: usize,
        seth: &Seth,
        cc: &CcState,
    ) -> (Totals, Option<(u8, u32)>) {
        let pair = &self.pairs[qp];
        let before = (pair.reference.clone(), pair.cq.clone(), self.pool.clone());
        let totals = self.reference_totals();
        let good = self.reference_sack(qp, seth, cc);
        let counted = self.reference_totals().since(&totals);
        let pair = &mut self.pairs[qp];
        (pair.reference, pair.cq, self.pool) = before;
        (counted, good)
    }

    pub fn deliver_mrc(&mut self, qp: usize, dice: u64) {
        if let Some((seth, cc)) = self.next_sack(qp, dice) {
            self.sack(qp, &seth, &cc);
        }
    }

    /// Returns the SACK for the next packet that arrives, if one does.
    pub fn next_sack(&mut self, qp: usize, dice: u64) -> Option<(Seth, CcState)> {
        let pair = &mut self.pairs[qp];
        let packet = pair.arriving(dice)?;
        let hint = random_hint(dice);
        let mpr = if dice >> 33 & 15 == 0 {
            (dice >> 37 & 7) as u8
        } else {
            0
        };
        let penalty = if dice >> 40 & 7 == 0 {
            (dice >> 43 & 127) as u8
        } else {
            0
        };
        Some(pair.receiver.answer(&packet, hint, mpr, penalty))
    }

    /// Processes a SACK that no receiver would send.
    pub fn garble_sack(&mut self, qp: usize, dice: u64) {
        let next = self.mrc(qp).window().next();
        let pair = &mut self.pairs[qp];
        let packet = InFlight {
            psn: next.plus((dice & 0xff_ffff) as u32 >> (dice >> 59)),
            entropy: Entropy(0xbff8 + (dice >> 30) as u32 % 32),
            stamp: dice as u16,
            ack_req: true,
            probe_id: (dice >> 11 & 3 == 0).then_some(
                ((dice >> 14) as u16 % 200) | ((((dice >> 22) as u16) << 8) & Peth::TAIL_PROBE),
            ),
        };
        let mut receiver = pair.receiver.clone();
        let (mut seth, cc) = receiver.answer(&packet, PathHint::Good, 0, 0);
        if dice >> 41 & 1 == 0 {
            seth.cack_psn = next.plus(0xff_ffff - (dice >> 42) as u32 % 2048).value();
        }
        if dice >> 53 & 1 == 0 {
            seth.bitmap ^= dice;
        }
        self.sack(qp, &seth, &cc);
    }

    pub fn refuse_mrc(&mut self, qp: usize, dice: u64) {
        if dice >> 30 & 15 == 15 {
            self.transport_ack(qp, dice);
            return;
        }
        let was_failed = self.pairs[qp].reference.error().is_some();
        let Some(packet) = self.pairs[qp].flying.first().copied() else {
            return;
        };
        let reasons = [1, 2, 6, 7, 10, 11, 3, 11, 1, 10];
        let reason = match dice % 160 {
            0 => 25,
            other => reasons[(other % 10) as usize],
        };
        let mut neth = Receiver::refuse(&packet, NackReason::from_byte(reason));
        neth.tx_timestamp ^= u16::from(dice >> 20 & 7 == 0);
        let Neth {
            nack_psn,
            tx_timestamp,
            ..
        } = neth;
        let control = ControlPacket {
            kind: ControlKind::Nack,
            qp: (qp as u64).to_bits(),
            neth: TxNeth {
                reason: u64::from(reason).to_bits(),
                nack_psn: u64::from(nack_psn).to_bits(),
                timestamp: u64::from(tx_timestamp).to_bits(),
                ..TxNeth::default()
            },
            ..ControlPacket::default()
        };
        let now = self.now;
        let mut observed = self.rig.control(control, self.now.0);
        self.reference(qp, |reference, card| match reference {
            Requester::Mrc(mrc) => mrc.on_nack(&neth, now, card),
            Requester::Rc(_) => {}
        });
        self.compare(qp, &mut observed, was_failed);
    }
}

/// Transport ACKs.
impl Bench {
    /// Processes a Transport ACK with any syndrome about a packet in flight, or about any PSN.
    fn transport_ack(&mut self, qp: usize, dice: u64) {
        let was_failed = self.pairs[qp].reference.error().is_some();
        let flying = self.pairs[qp].flying.first().map(|packet| packet.psn);
        let psn = flying
            .filter(|_| dice >> 34 & 3 != 0)
            .unwrap_or(Psn::new(dice as u32 & 0xff_ffff));
        // Few refuse, because the queue pair fails.
        let syndrome = match dice >> 36 & 7 {
            0 => 0x60 + (dice >> 40) as u8 % 6,
            _ => (dice >> 40) as u8 & 0x5f,
        };
        let control = ControlPacket {
            kind: ControlKind::TransportAck,
            ..acknowledgement(qp, psn, syndrome)
        };
        let mut observed = self.rig.control(control, self.now.0);
        let aeth = Aeth {
            syndrome: Syndrome::from_byte(syndrome),
            msn: 0,
        };
        self.reference(qp, |reference, card| match reference {
            Requester::Mrc(mrc) => mrc.on_transport_ack(psn, &aeth, card),
            Requester::Rc(_) => {}
        });
        self.compare(qp, &mut observed, was_failed);
    }
}

/// Returns what an answer says of the path of its packet.
pub fn random_hint(dice: u64) -> PathHint {
    match dice >> 28 & 31 {
        0..4 => PathHint::SkipOnce,
        4 => PathHint::AlwaysSkip,
        _ => PathHint::Good,
    }
}

/// Returns the hardware's record of a SACK.
pub fn sack_record(qp: usize, seth: &Seth, cc: &CcState) -> ControlPacket {
    ControlPacket {
        kind: ControlKind::Sack,
        qp: (qp as u64).to_bits(),
        reflected: u64::from(seth.entropy.0).to_bits(),
        seth: seth_record(seth),
        cc_state: TxCcState {
            timestamp: u64::from(cc.tx_timestamp).to_bits(),
            rcv_cwnd_pen: u64::from(cc.rcv_cwnd_pen).to_bits(),
            ..TxCcState::default()
        },
        ..ControlPacket::default()
    }
}

fn seth_record(seth: &Seth) -> TxSeth {
    TxSeth {
        path_hint: u64::from(seth.path_hint.code()).to_bits(),
        probe_response: seth.probe_response,
        ack_psn_offset: u64::from(seth.ack_psn_offset as u16).to_bits(),
        cack_psn: u64::from(seth.cack_psn).to_bits(),
        mpr: u64::from(seth.mpr).to_bits(),
        sack_offset: u64::from(seth.sack_offset as u16).to_bits(),
        bitmap: seth.bitmap.to_bits(),
    }
}
