//! A PCIe endpoint of the card: AMD's block between the requester streams at the card's pins and a port of the fabric.

use std::collections::VecDeque;

use arrayvec::ArrayVec;
use sim_bfm::{CompletionBeat, CompletionWriter, Request, RequestReader, BEAT};
use sim_pcie::platform::FUNCTIONS;
use sim_pcie::{AddressType, Bdf, Completion, FlowClass, MemRead, MemWrite, PortId, Tlp};
use stellar_wire::host::config_space::aer::{HeaderLog, Uncorrectable};
use stellar_wire::host::registers::MAX_PAYLOAD;
use stellar_wire::pcie::descriptor::{InvalidateCompletion, RequestType, RequesterCompletion};
use stellar_wire::pcie::sideband::{completion, request};
use stellar_wire::pcie::{Attributes, CompletionStatus};

use super::invalidations::Messages;
use super::{HostPcie, HostSide};
use crate::model::CqBeat;

/// Tags of reads: 8 bits.
const TAGS: usize = 1 << 8;
/// Most TLPs that begin, or end, in the widest beat of each stream.
const RQ_PLACES: usize = request::places(8 * BEAT);
const RC_PLACES: usize = completion::places(8 * BEAT);
/// Requests that the block holds while the link has no credit for the first of them. Those behind it wait, whatever they are.
const HELD: usize = 8;
/// `error_code` of a completion with data, of a poisoned one, and of one with a failing status (PG213: requester completion descriptor).
const NORMAL: u8 = 0;
const POISONED: u8 = 1;
const BAD_STATUS: u8 = 2;

/// A beat of completions, and whether the reads that it completes had translated addresses.
#[derive(Clone, Debug)]
pub struct RcBeat {
    pub beat: CompletionBeat,
    pub translated: ArrayVec<bool, RC_PLACES>,
}

impl RcBeat {
    /// A beat without completions.
    const EMPTY: Self = Self {
        beat: CompletionBeat::EMPTY,
        translated: ArrayVec::new_const(),
    };
}

/// What a beat of requests adds.
#[derive(Clone, Debug, Default)]
pub struct Requested {
    /// For each write that begins, whether its address is translated.
    pub writes_begun: ArrayVec<bool, RQ_PLACES>,
    /// For each write that ends, whether its address is translated, and the bytes of its payload.
    pub writes_ended: ArrayVec<(bool, usize), RQ_PLACES>,
    /// For each read, whether its address is translated.
    pub reads: ArrayVec<bool, RQ_PLACES>,
}

/// What the configuration space of a function lets its requests have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestRules {
    /// Number of tags.
    pub tags: u16,
    /// ATS is enabled, so addresses may be translated.
    pub translated: bool,
}

impl Default for RequestRules {
    /// Everything is allowed, as in a host where the operating system has enabled everything.
    fn default() -> Self {
        Self {
            tags: 256,
            translated: true,
        }
    }
}

/// A request that the link has not taken.
enum Held {
    Tlp(Tlp),
    Message(InvalidateCompletion),
}

/// One endpoint.
pub struct Endpoint {
    /// Bits of a beat.
    width: usize,
    port: PortId,
    requester: Bdf,
    requests: RequestReader,
    max_payload: usize,
    held: VecDeque<Held>,
    /// Whether the address of the read with a tag was translated.
    translated: Vec<bool>,
    completions: CompletionWriter,
    /// The same of the completions that wait.
    waiting: VecDeque<bool>,
    /// The latest beat of completions, and whether it is on offer.
    beat: RcBeat,
    is_offered: bool,
    messages: Messages,
    in_reset: bool,
    link_is_down: bool,
    /// The block takes no requests from the card.
    is_blocked: bool,
    rules: RequestRules,
}

impl Endpoint {
    /// An idle endpoint at port `index` of a host's fabric, with beats of `width` bits.
    pub fn new(index: usize, width: usize) -> Self {
        Self {
            width,
            port: PortId(index),
            requester: FUNCTIONS[index],
            requests: RequestReader::new(width),
            max_payload: payload_bytes(MAX_PAYLOAD.reset),
            held: VecDeque::new(),
            translated: vec![false; TAGS],
            completions: CompletionWriter::new(width),
            waiting: VecDeque::new(),
            beat: RcBeat::EMPTY,
            is_offered: false,
            messages: Messages::default(),
            in_reset: false,
            link_is_down: false,
            is_blocked: false,
            rules: RequestRules::default(),
        }
    }

    /// The function's reset begins or ends. In between, what the card still sends is checked and dropped.
    pub fn set_reset(&mut self, on: bool) {
        self.in_reset = on;
        self.max_payload = payload_bytes(MAX_PAYLOAD.reset);
        self.discard();
    }

    /// What has not left the block is gone.
    fn discard(&mut self) {
        self.held.clear();
        self.translated.fill(false);
        self.completions = CompletionWriter::new(self.width);
        self.waiting.clear();
        self.is_offered = false;
        self.messages.clear();
    }

    /// The link goes down, or comes up again. The block discards what it holds, and begins anew with its streams (PCIe base specification, section 2.9.1).
    pub fn set_link(&mut self, is_up: bool) {
        self.link_is_down = !is_up;
        self.discard();
        self.requests = RequestReader::new(self.width);
    }

    /// The link is down, as the block tells the card.
    pub const fn link_is_down(&self) -> bool {
        self.link_is_down
    }

    /// The block takes no requests from now on, as with a link without credits, or takes them again.
    pub fn set_blocked(&mut self, on: bool) {
        self.is_blocked = on;
    }

    /// Software has changed the function's configuration space.
    pub fn set_rules(&mut self, rules: RequestRules) {
        self.rules = rules;
    }

    /// Software writes `data` to a register of the card. The largest payload of writes follows from one of them.
    pub fn register_written(&mut self, offset: u16, data: u64) {
        if offset == MAX_PAYLOAD.offset {
            self.max_payload = payload_bytes(data);
        }
    }

    /// Passes requests to the link, as it has credits. Returns whether the block takes a beat of requests in this cycle.
    pub fn ready<M: HostSide>(&mut self, pcie: &mut HostPcie<M>) -> bool {
        while let Some(held) = self.held.front() {
            let is_ready = match held {
                Held::Tlp(Tlp::Read(_)) => pcie.ready(self.port, FlowClass::NonPosted),
                Held::Tlp(_) => pcie.ready(self.port, FlowClass::Posted),
                Held::Message(_) => pcie.message_ready(self.port),
            };
            if !is_ready {
                break;
            }
            match self.held.pop_front() {
                Some(Held::Tlp(tlp)) => pcie.submit(self.port, tlp),
                Some(Held::Message(message)) => {
                    pcie.complete_invalidations(self.port, message.tags)
                }
                None => {}
            }
        }
        self.held.len() < HELD && !self.is_blocked && !self.link_is_down
    }

    /// The beat of completions that is on offer in this cycle.
    pub fn completion<M: HostSide>(&mut self, pcie: &mut HostPcie<M>) -> Option<&RcBeat> {
        while let Some(completion) = pcie.take_completion(self.port) {
            if completion.poisoned {
                let header = HeaderLog::of_completion(&completion.header());
                pcie.log(self.port, Uncorrectable::PoisonedTlp, header);
            }
            self.complete(completion);
        }
        let RcBeat { beat, translated } = &mut self.beat;
        if !self.is_offered && self.completions.fill(usize::MAX, beat) {
            self.is_offered = true;
            translated.clear();
            translated.extend(self.waiting.drain(..beat.ended));
        }
        self.is_offered.then_some(&self.beat)
    }

    /// The card has taken the beat of completions that was on offer, which this returns.
    pub fn completion_taken(&mut self) -> &RcBeat {
        self.is_offered = false;
        &self.beat
    }

    /// The message that is on offer in this cycle, at the completer request stream.
    pub fn message<M: HostSide>(&mut self, pcie: &mut HostPcie<M>) -> Option<CqBeat> {
        self.messages.offer(self.port, pcie)
    }

    /// The card has taken the message.
    pub fn message_taken(&mut self) {
        self.messages.taken();
    }

    fn invalidated(&mut self, message: InvalidateCompletion) {
        self.messages.check(&message);
        self.held.push_back(Held::Message(message));
    }

    fn complete(&mut self, completion: Completion) {
        let tag = completion.tag as u8;
        // Of a completion without data the lower address may lie anywhere in its double word.
        let unread = u16::from(completion.lower_address & 3);
        let bytes = (completion.data.len() as u16).saturating_sub(unread);
        let is_good = completion.status == CompletionStatus::Successful;
        let descriptor = RequesterCompletion {
            lower_address: completion.lower_address.into(),
            error_code: match (is_good, completion.poisoned) {
                (false, _) => BAD_STATUS,
                (true, true) => POISONED,
                (true, false) => NORMAL,
            },
            byte_count: completion.byte_count,
            locked: false,
            request_completed: !is_good || completion.byte_count <= bytes,
            dword_count: (completion.data.len() / 4) as u16,
            status: completion.status,
            poisoned: completion.poisoned,
            requester: completion.requester.id(),
            tag,
            completer: completion.completer.id(),
            traffic_class: 0,
            attributes: Attributes::from_bits(0),
        };
        self.completions
            .push(&descriptor, completion.data, completion.damaged);
        self.waiting.push_back(self.translated[usize::from(tag)]);
    }

    /// A beat of requests. Each leaves when it has ended.
    ///
    /// # Panics
    /// If the card breaks a rule of PCIe.
    pub fn request<M: HostSide>(
        &mut self,
        data: &[u32],
        user: &[u32],
        pcie: &HostPcie<M>,
    ) -> Requested {
        let requests = self.requests.push(data, user);
        let requests =
            requests.unwrap_or_else(|error| panic!("the card at its PCIe block: {error}"));
        let mut requested = Requested::default();
        if self.in_reset {
            return requested;
        }
        for descriptor in &requests.begun {
            if descriptor.request_type == RequestType::MemWrite {
                let translated = descriptor.address_type == AddressType::Translated;
                requested.writes_begun.push(translated);
            }
        }
        let mut messages = requests.messages.into_iter().peekable();
        for (n, request) in requests.complete.into_iter().enumerate() {
            while let Some((_, message)) = messages.next_if(|&(before, _)| before <= n) {
                self.invalidated(message);
            }
            let at = request.descriptor.address_type;
            assert!(
                matches!(at, AddressType::Untranslated | AddressType::Translated),
                "the card requests {:#x} with the address type {at:?}",
                request.descriptor.address
            );
            let translated = at == AddressType::Translated;
            assert!(
                self.rules.translated || !translated,
                "the card requests {:#x} as a translated address while ATS is off",
                request.descriptor.address
            );
            match request.descriptor.request_type {
                RequestType::MemWrite => {
                    let bytes = request.payload.len();
                    requested.writes_ended.push((translated, bytes));
                    let write = self.write(request);
                    self.held.push_back(Held::Tlp(Tlp::Write(write)));
                }
                RequestType::MemRead => {
                    requested.reads.push(translated);
                    self.read(&request, pcie);
                }
                other => panic!("the card sends a request of type {other:?}"),
            }
        }
        messages.for_each(|(_, message)| self.invalidated(message));
        requested
    }

    fn write(&self, request: Request) -> MemWrite {
        let write = MemWrite {
            requester: self.requester,
            tag: 0,
            address: request.descriptor.address,
            at: request.descriptor.address_type,
            first_be: request.first_be,
            last_be: request.last_be,
            data: request.payload,
        };
        if let Err(reason) = write.check(self.max_payload) {
            panic!("the card writes at {:#x}: {reason}", write.address);
        }
        write
    }

    fn read<M: HostSide>(&mut self, request: &Request, pcie: &HostPcie<M>) {
        let descriptor = &request.descriptor;
        assert!(
            u16::from(descriptor.tag) < self.rules.tags,
            "the card reads with tag {} while it may have {} tags",
            descriptor.tag,
            self.rules.tags
        );
        let read = MemRead {
            requester: self.requester,
            tag: descriptor.tag.into(),
            address: descriptor.address,
            at: descriptor.address_type,
            first_be: request.first_be,
            last_be: request.last_be,
            dwords: descriptor.dword_count,
        };
        self.translated[usize::from(descriptor.tag)] = read.at == AddressType::Translated;
        if pcie.answers_flushes_at_once && read.dwords == 1 && read.first_be == 0 {
            self.complete(flushed(&read));
        } else {
            self.held.push_back(Held::Tlp(Tlp::Read(read)));
        }
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
        damaged: false,
    }
}

/// Bytes of a payload from their code in the register.
const fn payload_bytes(code: u64) -> usize {
    128 << (code & 0b111)
}
