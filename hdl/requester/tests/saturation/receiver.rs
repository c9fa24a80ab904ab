//! The other end of an MRC queue pair: acknowledges every 16th packet and those that ask for it.

use std::collections::BTreeSet;

use rust_hdl::prelude::*;
use stellar_wire::hw::pack::{to_words, Record};
use stellar_wire::hw::requester::{ControlKind, ControlPacket, TxRequest};
use stellar_wire::hw::tx::{TxCcState, TxSeth};

/// Packets that do not ask for a SACK get one for as many.
const SACK_EVERY: u32 = 16;

/// What one queue pair has received. PSNs begin at 0 and do not wrap.
#[derive(Default)]
pub struct Receiver {
    expected: u32,
    /// Received beyond `expected`.
    early: BTreeSet<u32>,
    silent: u32,
    pub packets: u32,
}

impl Receiver {
    /// Takes a packed `TxRequest`; the packed `ControlPacket` it is answered by, if it is.
    pub fn take(&mut self, words: &[u32]) -> Option<Vec<u32>> {
        let packet = Record::<TxRequest>::new(words);
        let psn = packet.u64("psn") as u32;
        assert!(
            psn >= self.expected && self.early.insert(psn),
            "PSN {psn} is new"
        );
        while self.early.remove(&self.expected) {
            self.expected += 1;
        }
        self.packets += 1;
        self.silent += 1;
        if packet.u64("ack_req") == 0 && self.silent < SACK_EVERY {
            return None;
        }
        self.silent = 0;
        let base = psn & !63;
        let received = |psn: u32| psn < self.expected || self.early.contains(&psn);
        let bitmap = (0..64).fold(0, |map, i| map | u64::from(received(base + i)) << i);
        let cack = i64::from(self.expected) - 1;
        let offset = |psn: u32| ((i64::from(psn) - cack) as u64 & 0xffff).to_bits();
        Some(to_words(ControlPacket {
            kind: ControlKind::Sack,
            qp: packet.u64("qp").to_bits(),
            reflected: packet.u64("entropy").to_bits(),
            seth: TxSeth {
                ack_psn_offset: offset(psn),
                cack_psn: (cack as u64 & 0xff_ffff).to_bits(),
                sack_offset: offset(base),
                bitmap: bitmap.to_bits(),
                ..TxSeth::default()
            },
            cc_state: TxCcState {
                timestamp: packet.u64("timestamp").to_bits(),
                ..TxCcState::default()
            },
            ..ControlPacket::default()
        }))
    }
}
