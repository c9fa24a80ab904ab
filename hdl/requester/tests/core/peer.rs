//! Receivers: the packets that have arrived, and their acknowledgements.

use stellar_transport::requester::RequestPacket;
use stellar_transport::rx::Psn;
use stellar_wire::mrc::{CcState, Entropy, NackReason, Neth, PathHint, Seth};

/// A packet in the network.
#[derive(Clone, Copy, Debug)]
pub struct InFlight {
    pub psn: Psn,
    pub entropy: Entropy,
    pub stamp: u16,
    pub ack_req: bool,
    pub probe_id: Option<u16>,
}

impl InFlight {
    pub fn of(packet: &RequestPacket) -> Self {
        let ext = packet.ext.headers();
        let stamp = ext.tseth.or(ext.peth.map(|peth| peth.timestamp));
        Self {
            psn: packet.psn,
            entropy: packet.entropy,
            stamp: stamp.map_or(0, |stamp| stamp.tx_timestamp),
            ack_req: packet.ack_req,
            probe_id: ext.peth.map(|peth| peth.probe_id),
        }
    }
}

/// Receiver of one MRC queue pair.
#[derive(Clone)]
pub struct Receiver {
    expected: Psn,
    /// PSNs received beyond `expected`.
    early: std::collections::BTreeSet<u32>,
}

impl Receiver {
    pub fn new(first: Psn) -> Self {
        Self {
            expected: first,
            early: Default::default(),
        }
    }

    fn accept(&mut self, psn: Psn) {
        if psn.is_behind(self.expected) {
            return;
        }
        self.early.insert(psn.value());
        while self.early.remove(&self.expected.value()) {
            self.expected = self.expected.plus(1);
        }
    }

    fn received(&self, psn: Psn) -> bool {
        psn.is_behind(self.expected) || self.early.contains(&psn.value())
    }

    /// Receives a packet, and returns the SACK.
    pub fn answer(
        &mut self,
        packet: &InFlight,
        hint: PathHint,
        mpr: u8,
        penalty: u8,
    ) -> (Seth, CcState) {
        if packet.probe_id.is_none() {
            self.accept(packet.psn);
        }
        let cack = self.expected.previous();
        let about = if packet.probe_id.is_some() {
            self.expected
        } else {
            packet.psn
        };
        let base = Psn::new(about.value() & !63);
        let bitmap = (0..64).fold(0u64, |bits, i| {
            bits | u64::from(self.received(base.plus(i))) << i
        });
        let offset = |psn: Psn| {
            let ahead = psn.distance_from(cack) as i32;
            let signed = if psn.is_behind(cack) {
                ahead - Psn::MODULUS as i32
            } else {
                ahead
            };
            signed as i16
        };
        let seth = Seth {
            path_hint: hint,
            probe_response: packet.probe_id.is_some(),
            ack_psn_offset: packet.probe_id.map_or(offset(packet.psn), |id| id as i16),
            entropy: packet.entropy,
            cack_psn: cack.value(),
            mpr,
            sack_offset: offset(base),
            bitmap,
            ..Seth::default()
        };
        let cc = CcState {
            tx_timestamp: packet.stamp,
            rcv_cwnd_pen: penalty,
            ..CcState::default()
        };
        (seth, cc)
    }

    /// Returns a NACK for a packet.
    pub fn refuse(packet: &InFlight, reason: NackReason) -> Neth {
        Neth {
            reason,
            entropy: packet.entropy,
            nack_psn: packet.psn.value(),
            tx_timestamp: packet.stamp,
            ..Neth::default()
        }
    }
}

/// Receiver of one RC queue pair.
pub struct RcReceiver {
    expected: Psn,
    /// A NAK for `expected` has been sent.
    complained: bool,
}

impl RcReceiver {
    pub const fn new(first: Psn) -> Self {
        Self {
            expected: first,
            complained: false,
        }
    }

    pub const fn expected(&self) -> Psn {
        self.expected
    }

    /// Answers the probe with this identifier and time stamp.
    pub fn answer_probe(&self, id: u16, stamp: u16, hint: PathHint) -> (Seth, CcState) {
        let seth = Seth {
            path_hint: hint,
            probe_response: true,
            ack_psn_offset: id as i16,
            cack_psn: self.expected.previous().value(),
            ..Seth::default()
        };
        let cc = CcState {
            tx_timestamp: stamp,
            ..CcState::default()
        };
        (seth, cc)
    }

    /// Receives a packet. Returns the PSN of its acknowledgement, if there is one, and whether it is an ACK rather than a NAK.
    pub fn answer(&mut self, packet: &InFlight) -> Option<(Psn, bool)> {
        if packet.psn == self.expected {
            self.expected = self.expected.plus(1);
            self.complained = false;
            packet.ack_req.then_some((packet.psn, true))
        } else if packet.psn.is_behind(self.expected) {
            packet.ack_req.then_some((self.expected.previous(), true))
        } else {
            let first = !std::mem::replace(&mut self.complained, true);
            first.then_some((self.expected, false))
        }
    }
}
