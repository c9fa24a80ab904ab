//! A PCIe endpoint of the card: beats at its pins, TLPs at a port of the fabric.

use std::collections::VecDeque;
use std::sync::Arc;

use sim_bfm::{Accepted, Beat, CompletionFields, ReadFields, WriteAssembler, WriteBeat, BEAT};
use sim_pcie::{AddressType, Bdf, Completion, FlowClass, MemRead, PortId, Tlp};
use stellar_wire::host::registers::MAX_PAYLOAD;
use stellar_wire::pcie::CompletionStatus;

use super::platform::FUNCTIONS;
use super::{HostPcie, HostSide};

/// Tags of reads: 10 bits.
const TAGS: usize = 1 << 10;

/// A completion that has arrived.
struct Arrived {
    header: Arc<[u32]>,
    data: Vec<u8>,
    translated: bool,
}

/// A beat of a completion.
#[derive(Clone, Debug)]
pub struct CompletionBeat {
    /// Packed `CompletionHeader`.
    pub header: Arc<[u32]>,
    pub beat: Beat,
    /// Whether the read's address was translated.
    pub translated: bool,
}

/// One endpoint.
pub struct Endpoint {
    port: PortId,
    requester: Bdf,
    read_fields: ReadFields,
    completion_fields: CompletionFields,
    writes: WriteAssembler,
    /// Whether the address of the read with a tag was translated.
    translated: Vec<bool>,
    arrived: VecDeque<Arrived>,
    /// Bytes of the first completion already given.
    given: usize,
}

impl Endpoint {
    /// An idle endpoint at port `index` of a host's fabric.
    pub fn new(index: usize) -> Self {
        let requester = FUNCTIONS[index];
        Self {
            port: PortId(index),
            requester,
            read_fields: ReadFields::default(),
            completion_fields: CompletionFields::default(),
            writes: WriteAssembler::new(requester, payload_bytes(MAX_PAYLOAD.reset)),
            translated: vec![false; TAGS],
            arrived: VecDeque::new(),
            given: 0,
        }
    }

    /// Software writes `data` to a register of the card. The largest payload of writes follows from one of them.
    pub fn register_written(&mut self, offset: u16, data: u64) {
        if offset == MAX_PAYLOAD.offset {
            self.writes.set_max_payload(payload_bytes(data));
        }
    }

    /// Whether a beat of a write and a read request are taken in this clock. A write that has begun keeps its place.
    pub fn ready<M: HostSide>(&self, pcie: &mut HostPcie<M>) -> (bool, bool) {
        let posted = pcie.ready(self.port, FlowClass::Posted);
        (posted, pcie.ready(self.port, FlowClass::NonPosted))
    }

    /// The beat of a completion that arrives in this clock.
    pub fn completion<M: HostSide>(&mut self, pcie: &mut HostPcie<M>) -> Option<CompletionBeat> {
        while let Some(completion) = pcie.take_completion(self.port) {
            self.arrived.push_back(Arrived {
                header: self.completion_fields.pack(&completion).into(),
                translated: self.translated[usize::from(completion.tag)],
                data: completion.data,
            });
        }
        let first = self.arrived.front()?;
        let end = (self.given + BEAT).min(first.data.len());
        let last = end == first.data.len();
        let beat = CompletionBeat {
            header: Arc::clone(&first.header),
            beat: Beat::new(&first.data[self.given..end], last),
            translated: first.translated,
        };
        self.given = end;
        if last {
            self.given = 0;
            self.arrived.pop_front();
        }
        Some(beat)
    }

    /// A beat of a write, which leaves with its last beat.
    ///
    /// # Panics
    /// If the card breaks a rule of PCIe.
    pub fn write<M: HostSide>(&mut self, beat: &WriteBeat, pcie: &mut HostPcie<M>) -> Accepted {
        let accepted = self.writes.push(beat);
        let mut accepted =
            accepted.unwrap_or_else(|error| panic!("the card writes over PCIe: {error}"));
        if let Some(write) = accepted.complete.take() {
            pcie.submit(self.port, Tlp::Write(write));
        }
        accepted
    }

    /// A read request. Returns whether its address is translated.
    ///
    /// # Panics
    /// If the card breaks a rule of PCIe.
    pub fn read<M: HostSide>(&mut self, words: &[u32], pcie: &mut HostPcie<M>) -> bool {
        let read = self.read_fields.read(words, self.requester);
        let read = read.unwrap_or_else(|error| panic!("the card reads over PCIe: {error}"));
        let translated = read.at == AddressType::Translated;
        if let Some(slot) = self.translated.get_mut(usize::from(read.tag)) {
            *slot = translated;
        }
        if pcie.answers_flushes_at_once && read.dwords == 1 && read.first_be == 0 {
            self.arrived.push_back(Arrived {
                header: self.completion_fields.pack(&flushed(&read)).into(),
                translated,
                data: vec![0; 4],
            });
        } else {
            pcie.submit(self.port, Tlp::Read(read));
        }
        translated
    }
}

/// The completion of a flush read.
fn flushed(read: &MemRead) -> Completion {
    Completion {
        completer: read.requester,
        requester: read.requester,
        tag: read.tag,
        status: CompletionStatus::Successful,
        byte_count: 1,
        lower_address: 0,
        data: vec![0; 4],
        poisoned: false,
    }
}

/// Bytes of a payload from their code in the register.
const fn payload_bytes(code: u64) -> usize {
    128 << (code & 0b111)
}
