//! The sender of AMD's requester completion stream: beats out of TLPs.

use std::collections::VecDeque;

use stellar_wire::pcie::descriptor::RequesterCompletion;
use stellar_wire::pcie::sideband::{completion as sideband, dword_bits};
use stellar_wire::Header;

use crate::beat::{put_words, WORDS};
use crate::bits::set_field;

/// Bytes between which completions begin.
const SLOT: usize = 16;
/// Words of the descriptor.
const DESCRIPTOR: usize = RequesterCompletion::LEN / 4;
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

impl CompletionBeat {
    /// A beat without completions.
    pub const EMPTY: Self = Self {
        data: [UNUSED; WORDS],
        user: [0; USER_WORDS],
        ended: 0,
    };
}

/// A completion that waits.
struct Waiting {
    descriptor: [u32; DESCRIPTOR],
    payload: Vec<u8>,
    /// Its end is marked as damaged.
    discontinue: bool,
}

/// Puts completions one behind the other into beats, each at the next multiple of 16 bytes.
pub struct CompletionWriter {
    width: usize,
    waiting: VecDeque<Waiting>,
    /// The first of them has begun, and so many bytes of its payload have left.
    begun: bool,
    sent: usize,
    /// Bytes of a descriptor.
    bytes: Vec<u8>,
}

impl CompletionWriter {
    /// For beats of `width` bits, 512 or 1,024.
    pub fn new(width: usize) -> Self {
        Self {
            width,
            waiting: VecDeque::new(),
            begun: false,
            sent: 0,
            bytes: Vec::new(),
        }
    }

    /// Adds a completion. `discontinue` marks its end as damaged.
    ///
    /// # Panics
    /// If the payload is not whole double words.
    pub fn push(&mut self, descriptor: &RequesterCompletion, payload: Vec<u8>, discontinue: bool) {
        assert!(
            payload.len().is_multiple_of(4),
            "a completion of {} bytes",
            payload.len()
        );
        self.bytes.clear();
        descriptor.emit(&mut self.bytes);
        let mut descriptor = [0; DESCRIPTOR];
        put_words(&self.bytes, &mut descriptor);
        self.waiting.push_back(Waiting {
            descriptor,
            payload,
            discontinue,
        });
    }

    /// Whether everything has left.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The next beat, with as many completions as fit, but at most `most` that begin in it. `None` if nothing waits.
    pub fn next_beat(&mut self, most: usize) -> Option<CompletionBeat> {
        let mut beat = CompletionBeat::EMPTY;
        self.fill(most, &mut beat).then_some(beat)
    }

    /// Does what [`Self::next_beat`] does, in place: a beat is large to be moved. If nothing waits, this returns false, and `beat` stays as it is.
    #[inline]
    pub fn fill(&mut self, most: usize, beat: &mut CompletionBeat) -> bool {
        let waits = !self.is_empty();
        if waits {
            self.put(most, beat);
        }
        waits
    }

    fn put(&mut self, most: usize, beat: &mut CompletionBeat) {
        let width = self.width;
        let CompletionBeat { data, user, ended } = beat;
        user.fill(0);
        *ended = 0;
        let mut begun = 0;
        // Words of the beat up to the end of the last completion.
        let mut filled = 0_usize;
        while let Some(completion) = self.waiting.front() {
            let start = (4 * filled).next_multiple_of(SLOT);
            let begins = !self.begun;
            if start == width / 8 || begins && begun == most.min(sideband::places(width)) {
                break;
            }
            if begins {
                let (place, bits) = (sideband::start(width, begun), sideband::start_bits(width));
                set_field(user, sideband::starts(width, begun), 1, 1);
                set_field(user, place, bits, (start / SLOT) as u64);
                begun += 1;
            }
            data[filled..start / 4].fill(UNUSED);
            filled = start / 4;
            if begins {
                data[filled..filled + DESCRIPTOR].copy_from_slice(&completion.descriptor);
                filled += DESCRIPTOR;
                self.begun = true;
            }
            let left = &completion.payload[self.sent..];
            let here = left.len().min(width / 8 - 4 * filled);
            filled += put_words(&left[..here], &mut data[filled..]);
            self.sent += here;
            if here < left.len() {
                break;
            }
            let last_dword = (filled - 1) as u64;
            let (place, bits) = (sideband::end(width, *ended), dword_bits(width));
            set_field(user, sideband::ends(width, *ended), 1, 1);
            set_field(user, place, bits, last_dword);
            if completion.discontinue {
                set_field(user, sideband::discontinue(width), 1, 1);
            }
            *ended += 1;
            self.begun = false;
            self.sent = 0;
            self.waiting.pop_front();
        }
        data[filled..].fill(UNUSED);
    }
}
