//! Executes the requests of the host at the BARs, and composes their completions.

use hdl_macros::hdl;
use hdl_primitives::{BarAccessSrc, BarDataSnk, Snk, Src};
use rust_hdl::prelude::*;
use stellar_wire::host::config_space::Bar;
use stellar_wire::hw::completer::{
    BarAccess, CcDescriptor, CompleterAnswer, CompleterWork, CC_DWORDS, CQ_DWORDS,
    REQUEST_MEMORY_READ,
};
use stellar_wire::pcie::CompletionStatus;

use crate::byte_enables::{highest_lane, lowest_lane};

/// Completions are cut at multiples of this many double words: 128 bytes, the read completion boundary of an endpoint (PCIe base specification,
/// section 2.3.1.1).
const BOUNDARY_DWORDS: u64 = 32;
/// Words of a completion.
const WORDS: usize = BOUNDARY_DWORDS as usize / 2;
/// Double words that describe a request which failed: its byte enables and its descriptor (PG213, PG346: completions with error status).
const FAILURE_DWORDS: u64 = 1 + CQ_DWORDS as u64;
/// The BAR of the MSI-X table: a read of it tells that no message of a masked vector follows.
const VECTORS: u64 = Bar::Vectors.index() as u64;
const SUCCESSFUL: u64 = CompletionStatus::Successful as u64;
const UNSUPPORTED: u64 = CompletionStatus::UnsupportedRequest as u64;
/// Byte count of completions of requests other than memory reads.
const OTHER_BYTES: u64 = 4;

#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum State {
    /// Passes on writes, and begins a request that needs a completion.
    Idle,
    /// Decides how much the next completion carries.
    Plan,
    /// Asks a BAR for a word.
    Ask,
    /// Waits for that word.
    Wait,
    /// The completion is at the output.
    Answer,
    /// The completion with status Unsupported Request is at the output.
    Refuse,
}

/// Executes the requests of the host at the BARs, in order, and composes their completions.
///
/// Words of writes pass in the cycle in which they come. A read is one access for each word, one after the other, and its bytes leave in completions
/// that end at multiples of 128 bytes. Every other request, and a read of what cannot be read, gets one completion with status Unsupported Request.
/// Levels: 5 (byte count).
#[derive(LogicBlock, Default)]
pub struct RequestExecutor {
    pub clock: Signal<In, Clock>,
    /// Ends the request that is being executed.
    pub reset: Signal<In, Bit>,

    pub work: Snk<CompleterWork>,
    // To the BARs, and the words that they return.
    pub access: BarAccessSrc,
    pub word: BarDataSnk,
    pub answer: Src<CompleterAnswer>,
    /// Counter: one cycle per request that was not supported.
    pub refused: Signal<Out, Bit>,

    state: DFF<State>,
    /// Next double word, in the BAR.
    address_dw: DFF<Bits<26>>,
    /// Double words that no completion has carried, and bytes of them that the host waits for.
    left: DFF<Bits<11>>,
    bytes: DFF<Bits<13>>,
    /// Byte lane of the first byte, until the first completion has left.
    lead: DFF<Bits<2>>,
    /// Double words of this completion, and their words that have not come.
    dwords: DFF<Bits<6>>,
    words: DFF<Bits<5>>,
    /// Word of the payload that takes the next word, while those before it move down by one.
    slot: DFF<Bits<4>>,
    /// Next word to ask for.
    word_address: DFF<Bits<25>>,
    payload: DFF<Bits<1024>>,
    counts_refused: DFF<Bit>,
}

impl Logic for RequestExecutor {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, state, address_dw, left, bytes, lead, dwords, words, slot);
        dff_setup!(self, clock, word_address, payload, counts_refused);
        let state = self.state.q.val();
        let work = self.work.record.val();
        let request = work.descriptor;
        let is_read = request.request_type == REQUEST_MEMORY_READ;
        let idle = state == State::Idle;

        // begin
        let begins = idle & self.work.valid.val() & work.completes;
        let last_be = if request.dword_count == bits::<11>(1) {
            work.first_be
        } else {
            work.last_be
        };
        let lead = if work.first_be.any() {
            lowest_lane(work.first_be)
        } else {
            bits::<2>(0)
        };
        let trail = bits::<2>(3) - highest_lane(last_be);
        if begins {
            self.state.d.next = if is_read { State::Plan } else { State::Refuse };
            self.address_dw.d.next = request.address_dw.get_bits::<26>(0);
            self.left.d.next = request.dword_count;
            self.lead.d.next = lead;
            // A read of no bytes has a byte count of 1.
            self.bytes.d.next = if last_be.any() {
                (bit_cast::<13, 11>(request.dword_count) << 2)
                    - bit_cast::<13, 2>(lead)
                    - bit_cast::<13, 2>(trail)
            } else {
                bits::<13>(1)
            };
        }

        // plan
        let address_dw = self.address_dw.q.val();
        let left = self.left.q.val();
        let odd = address_dw.get_bit(0);
        let to_boundary =
            bits::<11>(BOUNDARY_DWORDS) - bit_cast::<11, 5>(address_dw.get_bits::<5>(0));
        let part = if left < to_boundary {
            bit_cast::<6, 11>(left)
        } else {
            bit_cast::<6, 11>(to_boundary)
        };
        let halves = if odd { part + 2 } else { part + 1 };
        if state == State::Plan {
            self.state.d.next = State::Ask;
            self.dwords.d.next = part;
            self.words.d.next = halves.get_bits::<5>(1);
            self.slot.d.next = bit_cast::<4, 5>(halves.get_bits::<5>(1) - 1);
            self.word_address.d.next = address_dw.get_bits::<25>(1);
            self.payload.d.next = bits::<1024>(0);
        }

        // access
        let passes = idle & self.work.valid.val() & !work.completes;
        self.access.valid.next = passes | (state == State::Ask);
        // The access is told by the state alone, so that it is early in the cycle.
        self.access.record.next = if idle {
            work.word
        } else {
            BarAccess {
                write: false,
                bar: request.bar_id,
                address: bit_cast::<28, 25>(self.word_address.q.val()) << 3,
                data: bits::<64>(0),
                enable: bits::<8>(255),
            }
        };
        if (state == State::Ask) & self.access.ready.val() {
            self.state.d.next = State::Wait;
        }

        // take_word
        let word = bit_cast::<1024, 64>(self.word.data.val());
        let mut placed = bits::<1024>(0);
        for slot in 0..WORDS {
            let here = if self.slot.q.val() == slot as u64 {
                word << (64 * slot as u64)
            } else {
                bits::<1024>(0)
            };
            placed = placed | here;
        }
        if (state == State::Wait) & self.word.valid.val() {
            self.payload.d.next = (self.payload.q.val() >> 64) | placed;
            self.words.d.next = self.words.q.val() - 1;
            self.word_address.d.next = self.word_address.q.val() + 1;
            self.state.d.next = if self.word.unsupported.val() {
                State::Refuse
            } else if self.words.q.val() == bits::<5>(1) {
                State::Answer
            } else {
                State::Ask
            };
        }

        // answer
        let refuses = state == State::Refuse;
        let enables = (bit_cast::<32, 4>(work.last_be) << 4) | bit_cast::<32, 4>(work.first_be);
        let description = (bit_cast::<1024, 128>(Bits::<128>::from(request)) << 32)
            | bit_cast::<1024, 32>(enables);
        let dwords = self.dwords.q.val();
        self.answer.valid.next = refuses | (state == State::Answer);
        self.answer.record.next = CompleterAnswer {
            descriptor: CcDescriptor {
                lower_address: if is_read {
                    (bit_cast::<7, 5>(address_dw.get_bits::<5>(0)) << 2)
                        | bit_cast::<7, 2>(self.lead.q.val())
                } else {
                    bits::<7>(0)
                },
                at: request.at,
                byte_count: if is_read {
                    self.bytes.q.val()
                } else {
                    bits::<13>(OTHER_BYTES)
                },
                dword_count: if refuses {
                    bits::<11>(0)
                } else {
                    bit_cast::<11, 6>(dwords)
                },
                status: if refuses {
                    bits::<3>(UNSUPPORTED)
                } else {
                    bits::<3>(SUCCESSFUL)
                },
                requester: request.requester,
                tag: request.tag,
                completer: bit_cast::<16, 8>(request.target_function),
                traffic_class: request.traffic_class,
                attributes: request.attributes,
                ..Default::default()
            },
            dwords: if refuses {
                bits::<6>(CC_DWORDS as u64 + FAILURE_DWORDS)
            } else {
                dwords + CC_DWORDS as u64
            },
            after_messages: request.bar_id == VECTORS,
            payload: if refuses {
                description
            } else if odd {
                self.payload.q.val() >> 32
            } else {
                self.payload.q.val()
            },
        };
        let answered = self.answer.ready.val();
        let is_last = left == bit_cast::<11, 6>(dwords);
        let ends = answered & (refuses | ((state == State::Answer) & is_last));
        if answered & (state == State::Answer) {
            self.state.d.next = if is_last { State::Idle } else { State::Plan };
            self.left.d.next = left - bit_cast::<11, 6>(dwords);
            self.bytes.d.next = self.bytes.q.val()
                - ((bit_cast::<13, 6>(dwords) << 2) - bit_cast::<13, 2>(self.lead.q.val()));
            self.lead.d.next = bits::<2>(0);
            self.address_dw.d.next = address_dw + bit_cast::<26, 6>(dwords);
        }
        if answered & refuses {
            self.state.d.next = State::Idle;
        }
        self.work.ready.next = (idle & !work.completes & self.access.ready.val()) | ends;
        self.counts_refused.d.next = answered & refuses;
        self.refused.next = self.counts_refused.q.val();

        if self.reset.val() {
            self.state.d.next = State::Idle;
        }
    }
}
