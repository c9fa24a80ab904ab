//! Link faults: drops, duplicates and reordering.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sim_net::Time;
use thiserror::Error;

/// Maximum number of frames that may overtake a frame that is held back.
const MOST_OVERTAKING: u32 = 3;
/// Longest time for which a frame is held back if no other frame follows: 20 us of simulated time.
const LONGEST_HELD: Time = 20_000_000;

/// Fault probabilities of one direction of a link. Each is from 0 to 1, and a frame suffers at most one of the three faults. Only RoCEv2 frames are
/// impaired, so that a lost ARP request does not look like a fault of the transport.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Impairment {
    /// Probability that a frame is lost.
    pub drop: f64,
    /// Probability that a frame is delivered twice, back to back.
    pub duplicate: f64,
    /// Probability that one to three later frames overtake a frame.
    pub reorder: f64,
}

/// Invalid probabilities.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[error("drop, duplicate and reorder are probabilities from 0 to 1 with a sum of at most 1, not {drop}, {duplicate} and {reorder}", drop = .0.drop, duplicate = .0.duplicate, reorder = .0.reorder)]
pub struct ImpairmentError(Impairment);

impl Impairment {
    /// A link without faults.
    pub const NONE: Self = Self {
        drop: 0.0,
        duplicate: 0.0,
        reorder: 0.0,
    };

    /// Checks the probabilities.
    ///
    /// # Errors
    /// [`ImpairmentError`].
    pub fn check(self) -> Result<Self, ImpairmentError> {
        let all = [self.drop, self.duplicate, self.reorder];
        let good = all.iter().all(|p| (0.0..=1.0).contains(p)) && all.iter().sum::<f64>() <= 1.0;
        if good {
            Ok(self)
        } else {
            Err(ImpairmentError(self))
        }
    }
}

/// What the bridge did to a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fate {
    /// It was passed on.
    Passed,
    /// It was discarded.
    Dropped,
    /// It was passed on twice, back to back.
    Duplicated,
    /// It was held back until others had passed.
    HeldBack,
}

/// A frame that is held back.
struct Held {
    frame: Vec<u8>,
    /// Number of frames that must still overtake it.
    frames: u32,
    until: Time,
}

/// The fault injector of one direction of a link.
pub struct Impairer {
    impairment: Impairment,
    random: ChaCha8Rng,
    held: Vec<Held>,
}

impl Impairer {
    /// `seed` and `stream` determine all decisions. Different streams of one seed are independent.
    pub fn new(impairment: Impairment, seed: u64, stream: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(stream);
        Self {
            impairment,
            random,
            held: Vec::new(),
        }
    }

    /// Changes the probabilities. Frames that are held back stay held back.
    pub fn set(&mut self, impairment: Impairment) {
        self.impairment = impairment;
    }

    /// Whether a frame is held back.
    pub fn is_holding(&self) -> bool {
        !self.held.is_empty()
    }

    /// Passes a RoCEv2 frame through the link, and appends the frames that leave the link to `out`.
    pub fn pass(&mut self, now: Time, frame: Vec<u8>, out: &mut Vec<Vec<u8>>) -> Fate {
        let Impairment {
            drop,
            duplicate,
            reorder,
        } = self.impairment;
        let drawn: f64 = self.random.random();
        if drawn < drop {
            return Fate::Dropped;
        }
        if drawn >= drop + duplicate && drawn < drop + duplicate + reorder {
            let frames = self.random.random_range(1..=MOST_OVERTAKING);
            self.held.push(Held {
                frame,
                frames,
                until: now + LONGEST_HELD,
            });
            return Fate::HeldBack;
        }
        let fate = if drawn < drop + duplicate {
            out.push(frame.clone());
            Fate::Duplicated
        } else {
            Fate::Passed
        };
        out.push(frame);
        for held in &mut self.held {
            held.frames -= 1;
        }
        self.release(out, |held| held.frames == 0);
        fate
    }

    /// Releases frames that have been held back for the longest time allowed.
    pub fn expire(&mut self, now: Time, out: &mut Vec<Vec<u8>>) {
        self.release(out, |held| held.until <= now);
    }

    fn release(&mut self, out: &mut Vec<Vec<u8>>, is_due: impl Fn(&Held) -> bool) {
        let (due, held) = std::mem::take(&mut self.held)
            .into_iter()
            .partition::<Vec<Held>, _>(is_due);
        self.held = held;
        out.extend(due.into_iter().map(|held| held.frame));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn run(impairment: Impairment, seed: u64, frames: u32) -> (Vec<u32>, Vec<Fate>) {
        let mut impairer = Impairer::new(impairment, seed, 0);
        let (mut out, mut fates) = (Vec::new(), Vec::new());
        for number in 0..frames {
            let frame = number.to_be_bytes().to_vec();
            fates.push(impairer.pass(u64::from(number), frame, &mut out));
        }
        impairer.expire(u64::from(frames) + LONGEST_HELD, &mut out);
        assert!(!impairer.is_holding());
        let number = |frame: &Vec<u8>| u32::from_be_bytes(frame[..].try_into().unwrap());
        (out.iter().map(number).collect(), fates)
    }

    proptest! {
        #[test]
        fn every_frame_meets_its_fate_and_no_other(
            drop in 0.0..0.4f64,
            duplicate in 0.0..0.3f64,
            reorder in 0.0..0.3f64,
            seed: u64,
        ) {
            let impairment = Impairment { drop, duplicate, reorder };
            let (out, fates) = run(impairment, seed, 300);
            for (number, fate) in (0..).zip(&fates) {
                let copies = out.iter().filter(|&&n| n == number).count();
                let expected = match fate {
                    Fate::Dropped => 0,
                    Fate::Duplicated => 2,
                    Fate::Passed | Fate::HeldBack => 1,
                };
                prop_assert_eq!(copies, expected);
            }
            // Only frames that were held back are overtaken.
            for (at, &number) in out.iter().enumerate() {
                let overtaken_by = out[..at].iter().filter(|&&n| n > number).count();
                let held = fates[number as usize] == Fate::HeldBack;
                prop_assert!(held || overtaken_by == 0);
            }
            prop_assert_eq!(run(impairment, seed, 300), (out, fates));
        }
    }

    #[test]
    fn rates_are_those_asked_for() {
        let impairment = Impairment {
            drop: 0.05,
            duplicate: 0.1,
            reorder: 0.02,
        };
        let (_, fates) = run(impairment, 7, 20_000);
        let share = |fate| fates.iter().filter(|&&f| f == fate).count() as f64 / 20_000.0;
        for (fate, expected) in [
            (Fate::Dropped, 0.05),
            (Fate::Duplicated, 0.1),
            (Fate::HeldBack, 0.02),
        ] {
            assert!(
                (share(fate) - expected).abs() < 0.01,
                "{fate:?}: {}",
                share(fate)
            );
        }
    }

    #[test]
    fn what_is_no_probability_is_refused() {
        for bad in [1.5, -0.1, f64::NAN] {
            let impairment = Impairment {
                drop: bad,
                ..Impairment::NONE
            };
            assert!(impairment.check().is_err(), "{bad}");
        }
        let too_much = Impairment {
            drop: 0.5,
            duplicate: 0.4,
            reorder: 0.2,
        };
        assert!(too_much.check().is_err());
        assert!(Impairment::NONE.check().is_ok());
    }
}
