//! The ends of the streams of beats: frames to beats, and beats to frames.
use std::collections::VecDeque;

use crate::wire::{Frame, BEAT};

/// A frame on its way in, beat by beat.
#[derive(Default)]
pub struct Sender {
    pub queue: VecDeque<Frame>,
    pub beat: usize,
    /// The beat of this cycle.
    pub offered: bool,
    /// When the frame in front began on the wire.
    pub began: u64,
}

impl Sender {
    /// The beat on offer has been taken. Returns the frame whose last beat it was.
    pub fn taken(&mut self) -> Option<Frame> {
        self.offered = false;
        self.beat += 1;
        let frame = self
            .queue
            .front()
            .copied()
            .filter(|frame| frame.beats() == self.beat);
        if frame.is_some() {
            self.queue.pop_front();
            self.beat = 0;
        }
        frame
    }
}

/// What came out of a side: beats, and where frames end.
#[derive(Default)]
pub struct Receiver {
    part: Vec<u32>,
    bytes: usize,
    /// Words, bytes and error of each frame.
    pub frames: Vec<(Vec<u32>, usize, bool)>,
}

impl Receiver {
    pub fn beat(&mut self, words: &[u32], bytes: usize, last: bool, error: bool) {
        assert!(
            (1..=BEAT).contains(&bytes) && (last || bytes == BEAT),
            "{bytes} bytes, last {last}"
        );
        let invalid = words.iter().flat_map(|word| word.to_le_bytes()).skip(bytes);
        assert!(
            invalid.into_iter().all(|byte| byte == 0),
            "a lane without a valid byte is not zero"
        );
        self.part.extend(words);
        self.bytes += bytes;
        if last {
            self.frames
                .push((std::mem::take(&mut self.part), self.bytes, error));
            self.bytes = 0;
        }
    }

    /// No frame has begun and not ended.
    pub fn is_between(&self) -> bool {
        self.bytes == 0
    }

    /// How many of `sent` came whole and in order, and how many frames came that are none of them and have an error: they were cut.
    pub fn whole_of(&self, sent: &[Frame]) -> (usize, usize) {
        let mut left = sent.iter();
        let mut cut = 0;
        for (words, bytes, error) in &self.frames {
            let mut later = left.clone();
            let is = |frame: &Frame| {
                let due = (0..frame.beats()).flat_map(|beat| frame.words(beat));
                frame.bytes == *bytes && frame.error == *error && due.eq(words.iter().copied())
            };
            if later.any(is) {
                left = later;
            } else {
                assert!(*error, "a frame of {bytes} bytes came that was not sent");
                cut += 1;
            }
        }
        (self.frames.len() - cut, cut)
    }

    /// Forgets the frame that has begun.
    pub fn abandon(&mut self) {
        self.part.clear();
        self.bytes = 0;
    }
}
