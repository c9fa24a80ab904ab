//! MRC receive window, queue pair error state and the final decision (hardware block `psn_track`).

use std::collections::VecDeque;

use stellar_wire::mrc::NackReason;
use stellar_wire::NakCode;

use super::{AckBody, DropReason, PacketHeaders, Psn, RcClass, RcOutcome, WINDOW};

/// Message numbers of an AETH before they repeat.
const MSN_MODULUS: u32 = 1 << 24;

/// A packet with the results of the checks before.
#[derive(Clone, Copy, Debug)]
pub struct TrackedPacket<'a> {
    pub headers: &'a PacketHeaders,
    /// Reason of the queue pair's static checks, `None` if there is none.
    pub qp_reason: DropReason,
    pub rc: RcOutcome,
    /// Reason of region and page checks, `None` if there is none.
    pub access_reason: DropReason,
}

/// The final decision about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// `None`: the packet is placed.
    pub reason: DropReason,
    /// The acknowledgement to send, if any.
    pub answer: Option<AckBody>,
}

impl Verdict {
    const fn silent(reason: DropReason) -> Self {
        Self {
            reason,
            answer: None,
        }
    }

    const fn answered(reason: DropReason, answer: AckBody) -> Self {
        Self {
            reason,
            answer: Some(answer),
        }
    }
}

/// Window and error state of one queue pair.
#[derive(Clone, Debug)]
pub struct PsnTrack {
    /// First PSN not received (MRC).
    epsn: Psn,
    /// Whether `epsn`, `epsn + 1`, ... have been received. The first is `false` by definition; what is beyond the end
    /// has not been received.
    ahead: VecDeque<bool>,
    error: bool,
}

impl PsnTrack {
    /// State after the queue pair's context was written.
    pub fn new(initial_psn: Psn) -> Self {
        Self {
            epsn: initial_psn,
            ahead: VecDeque::new(),
            error: false,
        }
    }

    /// First PSN not received (MRC).
    pub const fn epsn(&self) -> Psn {
        self.epsn
    }

    /// Whether the queue pair drops all packets until its context is written again.
    pub const fn in_error(&self) -> bool {
        self.error
    }

    /// Decides about a packet and records it.
    pub fn receive(&mut self, packet: &TrackedPacket<'_>) -> Verdict {
        if packet.qp_reason != DropReason::None {
            return Verdict::silent(packet.qp_reason);
        }
        if self.error {
            return Verdict::silent(DropReason::WrongState);
        }
        match packet.rc.class {
            RcClass::NotRc => self.receive_mrc(packet),
            class => self.receive_rc(class, packet),
        }
    }

    fn receive_rc(&mut self, class: RcClass, packet: &TrackedPacket<'_>) -> Verdict {
        let RcOutcome {
            reason, epsn, msn, ..
        } = packet.rc;
        let psn = packet.headers.psn;
        let nak = |psn, code| AckBody::Nak { psn, msn, code };
        match class {
            RcClass::Gap => {
                return Verdict::answered(DropReason::PsnGap, nak(epsn, NakCode::PsnSequenceError))
            }
            RcClass::GapAgain => return Verdict::silent(DropReason::PsnGap),
            RcClass::Duplicate => {
                let psn = epsn.previous();
                return Verdict::answered(DropReason::Duplicate, AckBody::Ack { psn, msn });
            }
            RcClass::Expected | RcClass::NotRc => {}
        }
        if reason != DropReason::None {
            self.error = true;
            return Verdict::answered(reason, nak(psn, NakCode::InvalidRequest));
        }
        if packet.access_reason != DropReason::None {
            self.error = true;
            // `RcTrack` counted a message that the region or page check then refused: it is not completed.
            let uncounted = u32::from(packet.headers.position.ends());
            let answer = AckBody::Nak {
                psn,
                msn: (msn + MSN_MODULUS - uncounted) % MSN_MODULUS,
                code: NakCode::RemoteAccessError,
            };
            return Verdict::answered(packet.access_reason, answer);
        }
        Verdict {
            reason: DropReason::None,
            answer: packet.headers.ack_req.then_some(AckBody::Ack { psn, msn }),
        }
    }

    fn receive_mrc(&mut self, packet: &TrackedPacket<'_>) -> Verdict {
        let psn = packet.headers.psn;
        let nack = |reason| AckBody::Nack { psn, reason };
        if self.received(psn) {
            return Verdict::answered(DropReason::Duplicate, self.sack(psn));
        }
        if psn.distance_from(self.epsn) >= WINDOW {
            let answer = nack(NackReason::PsnOutOfWindow);
            return Verdict::answered(DropReason::PsnOutsideWindow, answer);
        }
        if packet.rc.reason == DropReason::None && packet.access_reason == DropReason::PageAbsent {
            return Verdict::silent(DropReason::PageAbsent);
        }
        for reason in [packet.rc.reason, packet.access_reason] {
            if reason != DropReason::None {
                self.error = true;
                return Verdict::answered(reason, nack(NackReason::UnexpectedEvent));
            }
        }
        self.note(psn);
        Verdict::answered(DropReason::None, self.sack(psn))
    }

    /// Whether a PSN was received (MRC): everything behind the first one missing was.
    pub fn received(&self, psn: Psn) -> bool {
        let distance = psn.distance_from(self.epsn) as usize;
        psn.is_behind(self.epsn) || self.ahead.get(distance) == Some(&true)
    }

    fn note(&mut self, psn: Psn) {
        let distance = psn.distance_from(self.epsn) as usize;
        if self.ahead.len() <= distance {
            self.ahead.resize(distance + 1, false);
        }
        self.ahead[distance] = true;
        while self.ahead.front() == Some(&true) {
            self.ahead.pop_front();
            self.epsn = self.epsn.plus(1);
        }
    }

    /// Acknowledgement of `psn` with the 64 aligned PSNs around it.
    fn sack(&self, psn: Psn) -> AckBody {
        let (bitmap_base, bitmap) = self.bitmap_around(psn);
        AckBody::Sack {
            psn,
            cack_psn: self.epsn.previous(),
            bitmap_base,
            bitmap,
        }
    }

    /// The 64 aligned PSNs around `psn` (MRC): the first of them, and bit i set if the i-th after it was received.
    pub fn bitmap_around(&self, psn: Psn) -> (Psn, u64) {
        let base = Psn::new(psn.value() & !63);
        let bitmap = (0..64)
            .filter(|&bit| self.received(base.plus(bit)))
            .fold(0, |bitmap, bit| bitmap | 1 << bit);
        (base, bitmap)
    }
}
