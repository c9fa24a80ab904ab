//! Receiver of an MRC queue pair. It acknowledges as the reference does.

use std::collections::BTreeSet;

use rust_hdl::prelude::*;
use stellar_transport::responder::{Arrival, Coalescer, Word};
use stellar_transport::rx::Psn;
use stellar_wire::hw::pack::{to_words, Record};
use stellar_wire::hw::requester::{ControlKind, ControlPacket, TxRequest};
use stellar_wire::hw::tx::{TxCcState, TxSeth};

/// State of one queue pair. PSNs start at 0 and do not wrap.
pub struct Receiver {
    expected: u32,
    /// PSNs received beyond `expected`.
    early: BTreeSet<u32>,
    coalescer: Coalescer,
    pub packets: u32,
    pub sacks: u32,
}

impl Receiver {
    /// Creates a receiver that sends one SACK for `sack_every` packets that do not request one.
    pub fn new(sack_every: u8) -> Self {
        Self {
            expected: 0,
            early: BTreeSet::new(),
            coalescer: Coalescer::new(Psn::new(0), sack_every),
            packets: 0,
            sacks: 0,
        }
    }

    /// Receives a packed `TxRequest`. Returns the packed `ControlPacket` that acknowledges it, if there is one.
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
        let base = psn & !63;
        let received = |psn: u32| psn < self.expected || self.early.contains(&psn);
        let bitmap = (0..64).fold(0, |map, i| map | u64::from(received(base + i)) << i);
        let cack = Psn::new(self.expected).previous();
        let told = self.coalescer.arrive(&Arrival {
            psn: Psn::new(psn),
            asks: packet.u64("ack_req") != 0,
            ecn_ce: false,
            cack,
            word: Word {
                base: Psn::new(base),
                bitmap,
            },
        })?;
        self.sacks += 1;
        let offset = |psn: Psn| u64::from(psn.distance_from(cack) & 0xffff).to_bits();
        Some(to_words(ControlPacket {
            kind: ControlKind::Sack,
            qp: packet.u64("qp").to_bits(),
            reflected: packet.u64("entropy").to_bits(),
            seth: TxSeth {
                ack_psn_offset: offset(Psn::new(psn)),
                cack_psn: u64::from(cack.value()).to_bits(),
                sack_offset: offset(told.base),
                bitmap: told.bitmap.to_bits(),
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
