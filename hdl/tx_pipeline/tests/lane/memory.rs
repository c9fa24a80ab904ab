//! The memory and its read engine: the reads that the lane must request, and their data.

use std::collections::VecDeque;

use rust_hdl::prelude::*;
use stellar_wire::hw::pack::to_words;
use stellar_wire::hw::payload::read_user;
use stellar_wire::hw::read::{ReadBeat, ReadCommand};
use stellar_wire::hw::requester::TxRequest;

/// A beat and the fields beside it.
type Beat = (Vec<u32>, ReadBeat);

/// An outstanding read.
struct Read {
    due: u64,
    beats: VecDeque<Beat>,
}

/// An expected read.
struct Expected {
    command: ReadCommand,
    payload: Vec<u8>,
    readable: bool,
}

/// Returns data in the order of the requests.
pub struct Memory {
    /// Bytes of a beat.
    bytes: usize,
    expected: VecDeque<Expected>,
    reads: VecDeque<Read>,
}

impl Memory {
    pub fn new(bytes: usize) -> Self {
        Self {
            bytes,
            expected: VecDeque::new(),
            reads: VecDeque::new(),
        }
    }

    pub fn forget(&mut self) {
        self.expected.clear();
        self.reads.clear();
    }

    /// Expects the read of this request's payload, behind those expected before.
    pub fn expect(&mut self, request: &TxRequest, payload: Vec<u8>, readable: bool) {
        let user = (request.slot.index() as u64) << read_user::SLOT
            | (request.qp.index() as u64) << read_user::QP
            | u64::from(request.epoch) << read_user::EPOCH;
        self.expected.push_back(Expected {
            command: ReadCommand {
                length: request.length,
                segments: request.segments,
                user: user.to_bits(),
            },
            payload,
            readable,
        });
    }

    /// Records that the lane requested a read, whose first beat is there at `due`.
    pub fn asked(&mut self, words: &[u32], due: u64) {
        let read = self.expected.pop_front().expect("a read is due");
        assert_eq!(words, to_words(read.command), "{:?}", read.command);
        let beat = |bytes: usize, last, error| ReadBeat {
            bytes: (bytes as u64).to_bits(),
            last,
            error,
            user: read.command.user,
        };
        let beats = if read.readable {
            let count = read.payload.len().div_ceil(self.bytes);
            let chunks = read.payload.chunks(self.bytes).enumerate();
            chunks
                .map(|(i, chunk)| {
                    let mut bytes = chunk.to_vec();
                    bytes.resize(self.bytes, 0);
                    let words = bytes.chunks_exact(4);
                    let words = words.map(|b| u32::from_le_bytes(b.try_into().expect("four")));
                    (words.collect(), beat(chunk.len(), i + 1 == count, false))
                })
                .collect()
        } else {
            [(vec![0; self.bytes / 4], beat(0, true, true))].into()
        };
        self.reads.push_back(Read { due, beats });
    }

    /// The next beat, if it is there by `now`.
    pub fn beat(&self, now: u64) -> Option<&Beat> {
        let read = self.reads.front().filter(|read| read.due <= now)?;
        read.beats.front()
    }

    /// Records that the lane accepted the beat.
    pub fn taken(&mut self) {
        let read = self.reads.front_mut().expect("a read under way");
        read.beats.pop_front();
        if read.beats.is_empty() {
            self.reads.pop_front();
        }
    }

    /// Whether every read was requested, and all payload was returned.
    pub fn is_done(&self) -> bool {
        self.expected.is_empty() && self.reads.is_empty()
    }
}
