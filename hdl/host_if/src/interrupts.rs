//! MSI-X: table, masks, pending bits, and the interrupt messages.

use hdl_macros::{clock_reset, hdl, hdl_fn};
use hdl_primitives::{BarAccessSnk, BarDataSrc, BlockRam, FlowSnk, RoundRobinAhead};
use rust_hdl::prelude::*;
use stellar_wire::host::config_space::Bar;
use stellar_wire::host::vector_table::{self, VectorEntry};
use stellar_wire::hw::completer::BarAccess;
use stellar_wire::hw::dma::WriteTlpHeader;
use stellar_wire::hw::host_queues::VectorMessage;

use crate::bundles::{HostWriteSrc, RaiseSnk};
use crate::register_address::{byte_mask, merged};
use crate::ring::write_header;

/// Vectors of the card.
pub const VECTORS: usize = vector_table::VECTORS as usize;

/// Cycles from a raise to its message, for a vector without mask or competition.
pub const CLOCKS: usize = 4;

/// Bits of an address in BAR4: of the word in an entry, of the vector, and above the vectors.
const SECOND_BIT: usize = 3;
const VECTOR_BIT: usize = VectorEntry::BYTES.ilog2() as usize;
const ABOVE_BIT: usize = VECTOR_BIT + VECTORS.ilog2() as usize;
const BAR_BITS: usize = Bar::Vectors.length().ilog2() as usize;
const ABOVE_BITS: usize = BAR_BITS - ABOVE_BIT;
const PENDING_OFFSET: u64 = vector_table::PENDING_OFFSET;
const MASK_BIT: u64 = VectorEntry::MASK_BIT as u64;

#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum State {
    /// Takes the vector that was chosen, unless an access waits: clears its pending bit, and reads its entry. Or begins an access.
    Idle,
    /// Composes the message.
    Act,
    /// Reads the entry that an access is for.
    Fetch,
    /// Executes the access.
    Execute,
}

#[hdl_fn]
fn vector_bit(valid: Bit, vector: Bits<6>) -> Bits<64> {
    if valid {
        bits::<64>(1) << vector
    } else {
        bits::<64>(0)
    }
}

/// BAR4 ([`vector_table`]), with a pending bit per vector. A raise sets it, the message clears it, and a mask holds the message back. So several
/// raises of one vector before its message leaves give one message, which comes after every entry that they announce. Vectors take turns.
///
/// Accesses may have any byte enables. Every vector is masked after a reset. An access takes 3 cycles, a message 2. An access waits for the message that begins in the
/// cycle in which it comes, because it comes late in that cycle. It never waits for a message that PCIe does not take, because a device has to take writes whatever becomes of its own (PCIe base specification, section 2.4.1).
/// A message that is on its way when its mask comes is taken back by the gate in front of PCIe, and its vector is pending again.
/// Levels: 6 planned (`RoundRobinAhead`, behind the mask), 8.5 as Yosys maps it.
#[derive(LogicBlock, Default)]
pub struct Interrupts {
    pub clock: Signal<In, Clock>,
    /// Masks every vector and clears all pending bits.
    pub reset: Signal<In, Bit>,

    // From completion_queues and event_queues: always taken.
    pub completion_raise: RaiseSnk,
    pub event_raise: RaiseSnk,

    // From the host: accesses to BAR4, and the words that it reads.
    pub access: BarAccessSnk,
    pub word: BarDataSrc,
    // From the configuration space: MSI-X is on, and the mask of the whole function.
    pub enable: Signal<In, Bit>,
    pub function_mask: Signal<In, Bit>,

    // To host_writes.
    pub write: HostWriteSrc<32>,

    // From and to the gate in front of PCIe.
    /// Bit v: vector v may send.
    pub permits: Signal<Out, Bits<64>>,
    /// The message of this vector was taken back.
    pub returned: FlowSnk<Bits<6>>,

    /// Raised and not sent, by vector.
    pub pending: Signal<Out, Bits<64>>,
    /// Counter: one cycle per message.
    pub sent: Signal<Out, Bit>,

    table: BlockRam<VectorMessage, 6>,
    turns: RoundRobinAhead<VECTORS, 6>,
    state: DFF<State>,
    /// Vectors without a mask.
    unmasked: DFF<Bits<64>>,
    waiting: DFF<Bits<64>>,
    /// The vector that sends, or whose entry is accessed.
    chosen: DFF<Bits<6>>,
    /// An access waits; and the one that is executed.
    asked: DFF<Bit>,
    accessing: DFF<BarAccess>,
    write_waits: DFF<Bit>,
    header: DFF<WriteTlpHeader>,
    data: DFF<Bits<32>>,
    answers: DFF<Bit>,
    answer: DFF<Bits<64>>,
    counts_sent: DFF<Bit>,
}

impl Logic for Interrupts {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, state, unmasked, waiting, chosen, write_waits);
        dff_setup!(
            self,
            clock,
            asked,
            accessing,
            header,
            data,
            answers,
            answer,
            counts_sent
        );
        clock_reset!(self, turns);
        clock!(self, clock, table);

        // choose: a message only where the one before it has left, so that `Act` never waits.
        let state = self.state.q.val();
        let idle = state == State::Idle;
        let asked = self.access.record.val();
        let access = self.accessing.q.val();
        let write_taken = self.write_waits.q.val() & self.write.ready.val();
        let is_free = !self.write_waits.q.val() | write_taken;
        let accessed = self.access.valid.val();
        let permits = if self.enable.val() & !self.function_mask.val() {
            self.unmasked.q.val()
        } else {
            bits::<64>(0)
        };
        self.permits.next = permits;
        let due = self.waiting.q.val() & permits;
        let may_take = idle & !self.asked.q.val() & is_free;
        let takes = may_take & self.turns.valid.val();
        self.turns.request.next = due;
        self.turns.accept.next = may_take;
        let next = if takes {
            self.turns.index.val()
        } else {
            asked.address.get_bits::<6>(VECTOR_BIT)
        };
        if idle {
            self.chosen.d.next = next;
            self.accessing.d.next = asked;
        }
        if takes {
            self.state.d.next = State::Act;
        } else if idle & accessed {
            self.state.d.next = State::Fetch;
        }

        // take: a raise that arrives in this cycle belongs to the next message.
        self.table.read_address.next = if idle {
            self.turns.index.val()
        } else {
            self.chosen.q.val()
        };
        let cleared = if takes {
            self.turns.grant.val()
        } else {
            bits::<64>(0)
        };
        let raised = vector_bit(
            self.completion_raise.valid.val(),
            self.completion_raise.vector.val(),
        ) | vector_bit(self.event_raise.valid.val(), self.event_raise.vector.val())
            | vector_bit(self.returned.valid.val(), self.returned.record.val());
        self.waiting.d.next = (self.waiting.q.val() & !cleared) | raised;
        self.pending.next = self.waiting.q.val();

        // act
        let acts = state == State::Act;
        let message = self.table.read_data.val();
        if write_taken {
            self.write_waits.d.next = false;
        }
        if acts {
            self.state.d.next = State::Idle;
            self.write_waits.d.next = true;
            self.header.d.next = WriteTlpHeader {
                message: true,
                vector: self.chosen.q.val(),
                ..write_header(message.address, bits::<11>(1))
            };
            self.data.d.next = message.data;
        }
        self.write.valid.next = self.write_waits.q.val();
        self.write.joins.next = false;
        self.write.header.next = self.header.q.val();
        self.write.data.next = self.data.q.val();
        self.counts_sent.d.next = acts;
        self.sent.next = self.counts_sent.q.val();

        // execute
        if state == State::Fetch {
            self.state.d.next = State::Execute;
        }
        let executes = state == State::Execute;
        if executes {
            self.state.d.next = State::Idle;
        }
        let in_table = !access.address.get_bits::<ABOVE_BITS>(ABOVE_BIT).any();
        let in_pending = access.address.get_bits::<BAR_BITS>(0) == PENDING_OFFSET;
        let second = access.address.get_bit(SECOND_BIT);
        let vector = vector_bit(true, self.chosen.q.val());
        let masked = !(self.unmasked.q.val() & vector).any();
        let old = if second {
            (bit_cast::<64, 1>(masked.into()) << MASK_BIT) | bit_cast::<64, 32>(message.data)
        } else {
            message.address
        };
        let new = merged(old, access.data, byte_mask(access.enable));
        let writes = executes & access.write & in_table;
        self.table.write_enable.next = writes;
        self.table.write_address.next = self.chosen.q.val();
        self.table.write_data.next = if second {
            VectorMessage {
                address: message.address,
                data: new.get_bits::<32>(0),
            }
        } else {
            VectorMessage {
                address: new,
                data: message.data,
            }
        };
        if writes & second {
            self.unmasked.d.next = if new.get_bit(MASK_BIT as usize) {
                self.unmasked.q.val() & !vector
            } else {
                self.unmasked.q.val() | vector
            };
        }
        self.access.ready.next = executes;
        self.asked.d.next = accessed & !executes;
        self.answers.d.next = executes & !access.write;
        self.answer.d.next = if in_table {
            old
        } else if in_pending {
            self.waiting.q.val()
        } else {
            bits::<64>(0)
        };
        self.word.valid.next = self.answers.q.val();
        self.word.data.next = self.answer.q.val();
        self.word.unsupported.next = false;

        if self.reset.val() {
            self.state.d.next = State::Idle;
            self.unmasked.d.next = bits::<64>(0);
            self.waiting.d.next = bits::<64>(0);
            self.write_waits.d.next = false;
            self.answers.d.next = false;
            self.asked.d.next = false;
        }
    }
}
