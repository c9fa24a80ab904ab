//! A PCIe endpoint's other side: the host's memory behind a link of finite rate and latency.

use std::collections::VecDeque;
use std::sync::Arc;

use sim_bfm::{
    Accepted, Beat, CompletionFields, ReadFields, WriteAssembler, WriteBeat, BEAT, CLOCK_PS,
};
use sim_pcie::{completer, AddressType, Bdf, CompleterConfig, MemRead, MemWrite};
use sim_world::{HostMemory, PcieReads};
use stellar_transport::endpoint::{Memory, MemoryFault};
use stellar_transport::rx::WriteTlp;
use stellar_wire::host::registers::MAX_PAYLOAD;

use crate::rings::{Rings, RINGS};

/// Bits per picosecond in units that divide evenly: 1 Gb/s moves 4 bits in a cycle.
const BITS_PER_GBPS: u64 = CLOCK_PS / 1000;
/// Requests that wait for memory before the link asks the card to stop.
const REQUESTS: usize = 256;

/// What a card reaches over PCIe: the host's memory, and the rings of its driver, which are not part of the world's memory.
pub struct HostBus<'a> {
    pub memory: &'a mut HostMemory,
    pub rings: &'a mut Rings,
}

impl Memory for HostBus<'_> {
    fn read(&mut self, address: u64, translated: bool, into: &mut [u8]) -> Result<(), MemoryFault> {
        let memory = if address >= RINGS {
            &mut self.rings.memory
        } else {
            &mut *self.memory
        };
        memory.read(address, translated, into)
    }

    fn write(&mut self, tlp: &WriteTlp) {
        if tlp.address >= RINGS {
            self.rings.write(tlp);
        } else {
            self.memory.write(tlp);
        }
    }
}

/// A completion on its way to the card.
struct Answer {
    /// Clock of its arrival.
    due: u64,
    translated: bool,
    header: Arc<[u32]>,
    data: Vec<u8>,
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
    requester: Bdf,
    read_fields: ReadFields,
    completion_fields: CompletionFields,
    config: CompleterConfig,
    /// Cycles from a request to its first completion on an idle link.
    latency: u64,
    bits_per_clock: u64,
    /// Bits that may still be written, and read, in this cycle.
    write_credit: u64,
    read_credit: u64,
    writes: WriteAssembler,
    reads: VecDeque<(u64, MemRead)>,
    answers: VecDeque<Answer>,
    /// Bytes of the first answer already given.
    given: usize,
}

impl Endpoint {
    /// An idle endpoint. A bandwidth counts payload.
    pub fn new(index: u16, reads: PcieReads) -> Self {
        let requester = Bdf::from_id(index);
        Self {
            requester,
            read_fields: ReadFields::default(),
            completion_fields: CompletionFields::default(),
            config: CompleterConfig::default(),
            latency: reads.latency.div_ceil(CLOCK_PS),
            bits_per_clock: reads.rate_mbps * BITS_PER_GBPS / 1000,
            write_credit: 0,
            read_credit: 0,
            writes: WriteAssembler::new(requester, payload_bytes(MAX_PAYLOAD.reset)),
            reads: VecDeque::new(),
            answers: VecDeque::new(),
            given: 0,
        }
    }

    /// Software writes `data` to a register of the card. The largest payload of writes follows from one of them.
    pub fn register_written(&mut self, offset: u16, data: u64) {
        if offset == MAX_PAYLOAD.offset {
            self.writes.set_max_payload(payload_bytes(data));
        }
    }

    /// Begins a cycle. Returns whether a beat of a write, and whether a read request, is accepted in it.
    pub fn ready(&mut self) -> (bool, bool) {
        let most = 2 * 8 * BEAT as u64;
        self.write_credit = (self.write_credit + self.bits_per_clock).min(most);
        self.read_credit = (self.read_credit + self.bits_per_clock).min(most);
        (
            self.write_credit >= 8 * BEAT as u64,
            self.reads.len() < REQUESTS,
        )
    }

    /// The beat of a completion that arrives in this cycle.
    pub fn completion(&mut self, clock: u64) -> Option<CompletionBeat> {
        let answer = self.answers.front().filter(|answer| answer.due <= clock)?;
        let end = (self.given + BEAT).min(answer.data.len());
        let bits = 8 * (end - self.given) as u64;
        self.read_credit = self.read_credit.checked_sub(bits)?;
        let last = end == answer.data.len();
        let arrival = CompletionBeat {
            header: Arc::clone(&answer.header),
            beat: Beat::new(&answer.data[self.given..end], last),
            translated: answer.translated,
        };
        self.given = end;
        if last {
            self.given = 0;
            self.answers.pop_front();
        }
        Some(arrival)
    }

    /// A beat of a write. It takes nothing of the link's bandwidth until [`Self::charge`].
    ///
    /// # Panics
    /// If the card breaks a rule of PCIe.
    pub fn accept(&mut self, beat: &WriteBeat) -> Accepted {
        let accepted = self.writes.push(beat);
        accepted.unwrap_or_else(|error| panic!("the card writes over PCIe: {error}"))
    }

    /// Charges the link for `bytes` bytes of a write.
    pub fn charge(&mut self, bytes: usize) {
        self.write_credit = self.write_credit.saturating_sub(8 * bytes as u64);
    }

    /// Accepts a read request. Returns whether its address is translated.
    ///
    /// # Panics
    /// If the card breaks a rule of PCIe.
    pub fn read(&mut self, words: &[u32], clock: u64) -> bool {
        let read = self.read_fields.read(words, self.requester);
        let read = read.unwrap_or_else(|error| panic!("the card reads over PCIe: {error}"));
        let translated = read.at == AddressType::Translated;
        self.reads.push_back((clock + self.latency, read));
        translated
    }

    /// Reads memory for the requests that have reached it.
    pub fn serve(&mut self, clock: u64, memory: &mut impl Memory) {
        while self.reads.front().is_some_and(|(due, _)| *due <= clock) {
            let Some((due, read)) = self.reads.pop_front() else {
                break;
            };
            let mut data = vec![0; 4 * usize::from(read.dwords)];
            let translated = read.at == AddressType::Translated;
            let found = memory.read(read.address, translated, &mut data);
            let root = Bdf::from_id(0);
            let largest = self.config.max_completion;
            let completions = match found {
                Ok(()) => completer::successful(root, &self.config, largest, &read, &data),
                Err(_) => VecDeque::from([completer::unsupported(root, &read)]),
            };
            self.answers
                .extend(completions.into_iter().map(|completion| Answer {
                    due,
                    translated,
                    header: self.completion_fields.pack(&completion).into(),
                    data: completion.data,
                }));
        }
    }
}

/// Bytes of a payload from their code in the register.
const fn payload_bytes(code: u64) -> usize {
    128 << (code & 0b111)
}

/// Writes to memory.
pub fn place(write: MemWrite, memory: &mut impl Memory) {
    memory.write(&WriteTlp {
        address: write.address,
        at: write.at.code(),
        length_dw: write.data.len() / 4,
        first_be: write.first_be,
        last_be: write.last_be,
        data: write.data,
    });
}
