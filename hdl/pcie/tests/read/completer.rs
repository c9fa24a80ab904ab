//! A completer that answers memory reads in every way that PCIe permits, and on request in ways that it does not.

use std::collections::VecDeque;

use rand::{Rng, RngCore};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use stellar_wire::hw::read::CompletionHeader;
use stellar_wire::pcie::{Attributes, Completion, CompletionStatus};

use crate::read::reference::{byte, Request};

/// The fault of one request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// There is only one completion. It has this status and no data.
    Status(CompletionStatus),
    Poisoned,
    ByteCount,
    LowerAddress,
    /// A completion before the last is lost, or comes twice. Each completion by itself is correct.
    Lost,
    Repeated,
    /// The last completion has a double word too many.
    ExtraDword,
    /// Successful, but without data.
    NoData,
    /// The stream ends a beat early, or a beat late.
    ShortStream,
    LongStream,
    /// The stream ends with an error.
    Damaged,
    /// It is answered after its timeout, and before the second one.
    Late,
    Never,
}

/// The expected reaction of the engine to a completion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    Good,
    Bad,
    Unexpected,
}

/// One completion to be sent.
#[derive(Clone, Debug)]
pub struct Packet {
    pub header: Completion,
    pub data: Vec<u8>,
    pub outcome: Outcome,
    /// The stream ends with an error.
    pub damaged: bool,
    /// This completion frees the tag.
    pub frees_tag: bool,
}

/// The way in which completions are cut.
#[derive(Clone, Copy, Debug)]
pub struct Cut {
    /// Read completion boundary: 64 or 128.
    pub rcb: usize,
    /// Largest completion, a multiple of `rcb`.
    pub largest: usize,
    /// Cut at any multiple of `rcb`, not only as late as possible.
    pub random: bool,
}

impl Packet {
    pub fn to_hw(&self) -> CompletionHeader {
        let h = &self.header;
        CompletionHeader {
            tag: u64::from(h.tag).to_bits(),
            byte_count: u64::from(h.byte_count).to_bits(),
            lower_address: u64::from(h.lower_address).to_bits(),
            length_dw: u64::from(h.length_dw).to_bits(),
            status: u64::from(h.status.code()).to_bits(),
            poisoned: h.poisoned,
        }
    }
}

/// A completion without data.
pub fn refusal(tag: u8, status: CompletionStatus, byte_count: u16) -> Packet {
    Packet {
        header: Completion {
            length_dw: 0,
            completer: 0,
            status,
            byte_count_modified: false,
            byte_count,
            requester: 0,
            tag: tag.into(),
            lower_address: 0,
            traffic_class: 0,
            attributes: Attributes::default(),
            digest: false,
            poisoned: false,
        },
        data: vec![],
        outcome: Outcome::Bad,
        damaged: false,
        frees_tag: true,
    }
}

/// All completions of `request`, in order. `beat` is the width of the stream in bytes.
pub fn answer(
    request: &Request,
    tag: u8,
    cut: Cut,
    fault: Option<Fault>,
    beat: usize,
    rng: &mut ChaCha8Rng,
) -> VecDeque<Packet> {
    let (start, length) = request.span.byte_range().expect("one run of bytes");
    let mut packets = vec![];
    let mut done = 0;
    while done < length {
        let at = start + done as u64;
        let boundary = at - at % cut.rcb as u64;
        let steps = cut.largest / cut.rcb;
        let step = if cut.random {
            rng.random_range(1..=steps)
        } else {
            // The cut is as late as possible, at a multiple of the largest completion.
            steps - (at as usize % cut.largest) / cut.rcb
        };
        let end = (boundary + (step * cut.rcb) as u64).min(start + length as u64);
        let lead = at as usize % 4;
        let bytes = (end - at) as usize;
        let dwords = (lead + bytes).div_ceil(4);
        // Bytes that were not requested may have any value.
        let mut data = vec![0; dwords * 4];
        rng.fill_bytes(&mut data);
        for i in 0..bytes {
            data[lead + i] = byte(at + i as u64, request.address_type);
        }
        let mut packet = refusal(tag, CompletionStatus::Successful, (length - done) as u16);
        packet.header.length_dw = dwords as u16;
        packet.header.lower_address = (at & 0x7f) as u8;
        packet.data = data;
        packet.outcome = Outcome::Good;
        done += bytes;
        packet.frees_tag = done == length;
        packets.push(packet);
    }
    if let Some(fault) = fault {
        spoil(&mut packets, tag, fault, beat, rng);
    }
    packets.into()
}

fn spoil(packets: &mut Vec<Packet>, tag: u8, fault: Fault, beat: usize, rng: &mut ChaCha8Rng) {
    let single = packets.len() == 1;
    let mut at = match fault {
        Fault::ExtraDword => packets.len() - 1,
        Fault::Lost | Fault::Repeated if !single => rng.random_range(0..packets.len() - 1),
        _ => rng.random_range(0..packets.len()),
    };
    let packet = &mut packets[at];
    packet.outcome = Outcome::Bad;
    let malformed = match fault {
        Fault::Status(status) => {
            *packet = refusal(tag, status, packet.header.byte_count);
            packets.truncate(at + 1);
            false
        }
        Fault::Poisoned => {
            packet.header.poisoned = true;
            false
        }
        Fault::ByteCount => {
            packet.header.byte_count = match packet.header.byte_count {
                n @ 1..=8 => n + 8,
                n => n - rng.random_range(1..=8),
            };
            true
        }
        Fault::LowerAddress => {
            packet.header.lower_address ^= 1 << rng.random_range(0..7);
            true
        }
        // There is no completion before the last.
        Fault::Lost | Fault::Repeated if single => {
            packet.outcome = Outcome::Good;
            false
        }
        Fault::Lost => {
            packets.remove(at);
            true
        }
        Fault::Repeated => {
            packet.outcome = Outcome::Good;
            let again = packet.clone();
            at += 1;
            packets.insert(at, again);
            true
        }
        Fault::ExtraDword => {
            packet.header.length_dw += 1;
            packet.data.extend([0xEE; 4]);
            true
        }
        Fault::NoData => {
            packet.header.length_dw = 0;
            packet.data.clear();
            true
        }
        Fault::ShortStream => {
            let beats = packet.data.len().div_ceil(beat);
            if beats == 1 {
                packet.outcome = Outcome::Good;
            }
            packet.data.truncate(beat * (beats - 1).max(1));
            false
        }
        Fault::LongStream => {
            let beats = packet.data.len().div_ceil(beat);
            packet.data.resize(beat * (beats + 1), 0xEE);
            false
        }
        Fault::Damaged => {
            packet.damaged = true;
            false
        }
        Fault::Late => {
            disregard(packets);
            false
        }
        Fault::Never => {
            packets.clear();
            false
        }
    };
    if malformed {
        // The tag is quarantined until the second timeout.
        packets[at].outcome = Outcome::Bad;
        packets[at].frees_tag = false;
        disregard(&mut packets[at + 1..]);
    }
}

/// These completions come while their tag is in quarantine.
fn disregard(packets: &mut [Packet]) {
    for packet in packets {
        packet.outcome = Outcome::Unexpected;
        packet.frees_tag = false;
    }
}
