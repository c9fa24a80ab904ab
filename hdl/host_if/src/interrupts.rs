//! MSI-X: vectors, their masks, and the interrupt messages.

use hdl_macros::{clock_reset, hdl, hdl_fn};
use hdl_primitives::{BlockRam, RoundRobin};
use rust_hdl::prelude::*;
use stellar_wire::hw::dma::WriteTlpHeader;
use stellar_wire::hw::host_queues::InterruptEntry;

use crate::bundles::{HostWriteSrc, InterruptEntrySnk, RaiseSnk};
use crate::ring::write_header;

/// Vectors of the card.
pub const VECTORS: usize = 64;

/// Cycles from a raise to its message, for a vector without mask or competition.
pub const CLOCKS: usize = 4;

#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum State {
    /// Accepts a configuration, or chooses a vector that is due.
    Idle,
    /// Clears the vector's pending bit, and reads its entry.
    Look,
    /// Outputs the message.
    Act,
}

#[hdl_fn]
fn vector_bit(valid: Bit, vector: Bits<6>) -> Bits<64> {
    if valid {
        bits::<64>(1) << vector
    } else {
        bits::<64>(0)
    }
}

/// Stores a pending bit per vector (PCIe base specification, section 6.1.4). A raise sets it, the message clears it, and a mask holds the message
/// back. So several raises of one vector before its message leaves give one message, which comes after every entry that they announce. Vectors take
/// turns.
///
/// Software writes entries one at a time, an entry with its mask. A vector is masked from reset until it is written. It sends one message per 3
/// cycles. Levels: 6 (mask, `RoundRobin`).
#[derive(LogicBlock, Default)]
pub struct Interrupts {
    pub clock: Signal<In, Clock>,
    /// Masks every vector and clears all pending bits.
    pub reset: Signal<In, Bit>,

    // From completion_queues and event_queue: always taken.
    pub completion_raise: RaiseSnk,
    pub event_raise: RaiseSnk,

    // From software.
    pub settings: InterruptEntrySnk,

    // To host_writes.
    pub write: HostWriteSrc<32>,

    /// Raised and not sent, by vector.
    pub pending: Signal<Out, Bits<64>>,
    /// Counter: one cycle per message.
    pub sent: Signal<Out, Bit>,

    table: BlockRam<InterruptEntry, 6>,
    turns: RoundRobin<VECTORS, 6>,
    state: DFF<State>,
    /// Vectors that may send.
    unmasked: DFF<Bits<64>>,
    waiting: DFF<Bits<64>>,
    chosen: DFF<Bits<6>>,
    write_waits: DFF<Bit>,
    header: DFF<WriteTlpHeader>,
    data: DFF<Bits<32>>,
    counts_sent: DFF<Bit>,
}

impl Logic for Interrupts {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            state,
            unmasked,
            waiting,
            chosen,
            write_waits,
            header,
            data
        );
        dff_setup!(self, clock, counts_sent);
        clock_reset!(self, turns);
        clock!(self, clock, table);

        // choose
        let state = self.state.q.val();
        let idle = state == State::Idle;
        let configures = idle & self.settings.valid.val();
        let chooses = idle & !self.settings.valid.val();
        self.turns.request.next = self.waiting.q.val() & self.unmasked.q.val();
        self.turns.accept.next = chooses;
        if idle {
            self.chosen.d.next = self.turns.index.val();
        }
        if chooses & self.turns.valid.val() {
            self.state.d.next = State::Look;
        }

        // configure
        let entry = self.settings.record.val();
        self.settings.ready.next = idle;
        self.table.write_enable.next = configures;
        self.table.write_address.next = self.settings.vector.val();
        self.table.write_data.next = entry;
        let configured = vector_bit(configures, self.settings.vector.val());
        self.unmasked.d.next = if entry.masked {
            self.unmasked.q.val() & !configured
        } else {
            self.unmasked.q.val() | configured
        };

        // look: a raise that arrives in this cycle belongs to the next message.
        self.table.read_address.next = self.chosen.q.val();
        if state == State::Look {
            self.state.d.next = State::Act;
        }
        let cleared = vector_bit(state == State::Look, self.chosen.q.val());
        let raised = vector_bit(
            self.completion_raise.valid.val(),
            self.completion_raise.vector.val(),
        ) | vector_bit(self.event_raise.valid.val(), self.event_raise.vector.val());
        self.waiting.d.next = (self.waiting.q.val() & !cleared) | raised;
        self.pending.next = self.waiting.q.val();

        // act
        let write_taken = self.write_waits.q.val() & self.write.ready.val();
        let acts = (state == State::Act) & (!self.write_waits.q.val() | write_taken);
        let message = self.table.read_data.val();
        if write_taken {
            self.write_waits.d.next = false;
        }
        if acts {
            self.state.d.next = State::Idle;
            self.write_waits.d.next = true;
            self.header.d.next = write_header(message.address, bits::<11>(1));
            self.data.d.next = message.data;
        }
        self.write.valid.next = self.write_waits.q.val();
        self.write.header.next = self.header.q.val();
        self.write.data.next = self.data.q.val();
        self.counts_sent.d.next = acts;
        self.sent.next = self.counts_sent.q.val();

        if self.reset.val() {
            self.state.d.next = State::Idle;
            self.unmasked.d.next = bits::<64>(0);
            self.waiting.d.next = bits::<64>(0);
            self.write_waits.d.next = false;
        }
    }
}
