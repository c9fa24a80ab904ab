//! MRC receive window, queue pair error state and the final decision (hardware block `psn_track`).

use stellar_wire::mrc::NackReason;
use stellar_wire::NakCode;

use super::{AckBody, DropReason, PacketHeaders, Psn, RcClass, RcOutcome, RECEIVE_WINDOW};
use crate::bits::low_bits;
use crate::rx::psn_ring::Ring;

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
    /// Packets of the window, a power of two.
    window: u32,
    /// Received PSNs from `epsn` on.
    ahead: Ring,
    error: bool,
}

impl PsnTrack {
    /// State after the queue pair's context was written, of a card with a window of [`RECEIVE_WINDOW`].
    pub fn new(initial_psn: Psn) -> Self {
        Self::with_window(initial_psn, RECEIVE_WINDOW)
    }

    /// Does what [`Self::new`] does, for a card with another window.
    ///
    /// # Panics
    /// If `window` is not a power of two from 64 to 2^22 packets.
    pub fn with_window(initial_psn: Psn, window: u32) -> Self {
        assert!(
            window.is_power_of_two() && (64..=1 << 22).contains(&window),
            "a receive window of {window} packets: use a power of two from 64 to 2^22"
        );
        Self {
            epsn: initial_psn,
            window,
            ahead: Ring::default(),
            error: false,
        }
    }

    /// First PSN not received (MRC).
    pub const fn epsn(&self) -> Psn {
        self.epsn
    }

    /// Asks for the memory of what a packet changes ([`stellar_fetch`]).
    pub fn fetch(&self, psn: Psn) {
        self.ahead.fetch(psn);
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
        if psn.distance_from(self.epsn) >= self.window {
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
        psn.is_behind(self.epsn) || self.ahead.contains(self.epsn, psn)
    }

    /// Records a PSN of the window, and moves the window over everything received.
    fn note(&mut self, psn: Psn) {
        self.ahead.insert(self.epsn, psn);
        self.epsn = self.ahead.take_run(self.epsn);
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

    /// Returns the 64 aligned PSNs around `psn` (MRC): the first of these PSNs, and a bitmap of those that were received.
    pub fn bitmap_around(&self, psn: Psn) -> (Psn, u64) {
        let base = Psn::new(psn.value() & !63);
        (base, self.received_from(base))
    }

    /// Returns the received PSNs of a word: bit i is set if `base + i` was received. `base` is a multiple of 64.
    fn received_from(&self, base: Psn) -> u64 {
        const BEHIND: u32 = Psn::MODULUS / 2;
        let behind = self.epsn.distance_from(base);
        let ahead = base.distance_from(self.epsn);
        if behind < 64 {
            return low_bits(behind) | self.ahead.word(self.epsn, base);
        }
        if ahead < self.window {
            return self.ahead.word(self.epsn, base);
        }
        // Beyond the window nothing was received, up to where PSNs count as behind it.
        !low_bits(BEHIND.saturating_sub(ahead).min(64))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// First PSNs whose window lies anywhere in a word, and around the ends of the numbers.
    fn first_psn() -> impl Strategy<Value = Psn> {
        prop_oneof![Just(0), Just(Psn::MODULUS - 1), 0..Psn::MODULUS].prop_map(Psn::new)
    }

    /// A window, and distances of packets from the first one missing: mostly near ones, so that the window moves.
    fn windows() -> impl Strategy<Value = (u32, Vec<u32>)> {
        prop::sample::select(vec![64_u32, 1024, 2048, RECEIVE_WINDOW]).prop_flat_map(|window| {
            let step = prop_oneof![0..window, 0..3_u32, (window - 3)..window];
            (Just(window), prop::collection::vec(step, 0..200))
        })
    }

    proptest! {
        #[test]
        fn a_word_says_of_each_psn_what_the_question_about_it_says(
            first in first_psn(),
            (window, steps) in windows(),
            around in prop::collection::vec(0..Psn::MODULUS, 0..20),
        ) {
            let mut track = PsnTrack::with_window(first, window);
            let mut arrived = std::collections::BTreeSet::new();
            let mut expected = first;
            for step in steps {
                let psn = track.epsn().plus(step);
                if !track.received(psn) {
                    track.note(psn);
                    arrived.insert(psn.value());
                }
                while arrived.remove(&expected.value()) {
                    expected = expected.plus(1);
                }
                prop_assert_eq!(track.epsn(), expected);
            }
            let special = [0, 63, 64, window - 64, window - 1, window, window + 64, Psn::MODULUS / 2 - 64, Psn::MODULUS / 2 - 1,
                Psn::MODULUS / 2, Psn::MODULUS / 2 + 63, Psn::MODULUS - 64, Psn::MODULUS - 1];
            for distance in (0..window).step_by(64).chain(special).chain(around) {
                let (base, bitmap) = track.bitmap_around(track.epsn().plus(distance));
                for bit in 0..64 {
                    let psn = base.plus(bit);
                    let known = psn.is_behind(expected) || arrived.contains(&psn.value());
                    prop_assert_eq!(bitmap >> bit & 1 == 1, known, "PSN {:?} of epsn {:?}", psn, track.epsn());
                    prop_assert_eq!(track.received(psn), known);
                }
            }
        }
    }
}
