//! The sender of AMD's requester completion stream: beats out of TLPs.

use std::collections::VecDeque;

use stellar_wire::pcie::sideband::{completion as sideband, dword_bits};

use crate::beat::{put_words, WORDS};
use crate::bits::set_field;

/// Bytes between which completions begin.
const SLOT: usize = 16;
/// Double words of a beat that belong to no completion.
const UNUSED: u32 = 0x5a5a_5a5a;
/// Words of `tuser` of the widest beat.
const USER_WORDS: usize = user_bits(8 * crate::BEAT).div_ceil(32);

/// Bits of `tuser`: the parity is above all else.
const fn user_bits(width: usize) -> usize {
    let parity = width / 8;
    sideband::discontinue(width) + 1 + parity
}

/// A beat of the stream: data and `tuser`, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompletionBeat {
    /// Data. A narrower beat is in the low words.
    pub data: [u32; WORDS],
    /// Sideband signals. Those of a narrower beat are in the low words.
    pub user: [u32; USER_WORDS],
    /// Completions that end in the beat.
    pub ended: usize,
}

/// Puts completions one behind the other into beats, each at the next multiple of 16 bytes.
pub struct CompletionWriter {
    width: usize,
    /// Descriptor and payload of each completion, and whether its end is marked as damaged.
    waiting: VecDeque<(Vec<u8>, bool)>,
    /// Bytes of the first that have left.
    sent: usize,
}

impl CompletionWriter {
    /// For beats of `width` bits, 512 or 1,024.
    pub fn new(width: usize) -> Self {
        Self {
            width,
            waiting: VecDeque::new(),
            sent: 0,
        }
    }

    /// Adds a completion, its descriptor first. `discontinue` marks its end as damaged.
    ///
    /// # Panics
    /// If it is not whole double words.
    pub fn push(&mut self, bytes: Vec<u8>, discontinue: bool) {
        assert!(
            bytes.len().is_multiple_of(4),
            "a completion of {} bytes",
            bytes.len()
        );
        self.waiting.push_back((bytes, discontinue));
    }

    /// Whether everything has left.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The next beat, with as many completions as fit, but at most `most` that begin in it. `None` if nothing waits.
    pub fn next_beat(&mut self, most: usize) -> Option<CompletionBeat> {
        if self.waiting.is_empty() {
            return None;
        }
        let width = self.width;
        let mut data = [UNUSED; WORDS];
        let mut user = [0; USER_WORDS];
        let (mut begun, mut ended) = (0, 0);
        // Words of the beat up to the end of the last completion.
        let mut filled = 0_usize;
        while let Some((completion, discontinue)) = self.waiting.front() {
            let start = (4 * filled).next_multiple_of(SLOT);
            let begins = self.sent == 0;
            if start == width / 8 || begins && begun == most.min(sideband::places(width)) {
                break;
            }
            if begins {
                let (place, bits) = (sideband::start(width, begun), sideband::start_bits(width));
                set_field(&mut user, sideband::starts(width, begun), 1, 1);
                set_field(&mut user, place, bits, (start / SLOT) as u64);
                begun += 1;
            }
            let left = &completion[self.sent..];
            let here = left.len().min(width / 8 - start);
            filled = start / 4 + put_words(&left[..here], &mut data[start / 4..]);
            self.sent += here;
            if here < left.len() {
                break;
            }
            let last_dword = (filled - 1) as u64;
            let (place, bits) = (sideband::end(width, ended), dword_bits(width));
            set_field(&mut user, sideband::ends(width, ended), 1, 1);
            set_field(&mut user, place, bits, last_dword);
            if *discontinue {
                set_field(&mut user, sideband::discontinue(width), 1, 1);
            }
            ended += 1;
            self.sent = 0;
            self.waiting.pop_front();
        }
        Some(CompletionBeat { data, user, ended })
    }
}
