//! The message table, a functional unit of the requester: messages from doorbell to completion.

use hdl_macros::{clock_reset, hdl, join};
use hdl_primitives::{Checked, FlowSnk, FlowSrc, Parameters, Snk, Src};
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::{
    Completion, MessageRequest, MessageResponse, SendQueueConfig, WqeFetch, WqeFetched,
};
use stellar_wire::hw::wqe::Wqe;
use stellar_wire::hw::FromBits;
use stellar_wire::hw::{Qpn, SqIndex, QPN_BITS};

pub use crate::flush_turns::FLUSH_INTERVAL;
use crate::message_accept::MessageAccept;
use crate::operation_flow::OperationFlow;
use crate::prefetch_state::BLOCK_LOG2;
use crate::wqe_prefetch::WqePrefetch;

/// Send queues of 2^`Q` queue pairs, with entries and messages in one pool of 2^`B` blocks of 8. `E` = `B` + 3. Executes one operation at a time.
///
/// Cycles from request to response:
/// * `Configure`, `Doorbell`, `Flush`: 3.
/// * `NextMessage`: 4, or 5 if the last message continues.
/// * `TakeMessages`: 4 to the first response, or 5 if the last message continues, and 1 from one to the next; 1 more for each NOP that starts.
/// * `LookupBySlot`, `Fault`: 4 in the block of the last message; otherwise 5, and 1 more for each block between the oldest message and this one. 3 if the message
///   is not outstanding.
/// * `Complete`: 3 if no message is outstanding, otherwise 4, and 1 more for each completed message that is followed by another one. This holds if completions
///   are accepted at once; one that is not is read again, which takes 2 cycles.
/// * `LookupByPsn`: 4, 2 more for each block up to that of the message, and 3 more for each message of that block that it reads, at most 4: messages are
///   stored in the order of their PSNs, so the search in the block is binary.
///
/// `TakeMessages` and `Complete` address the message behind the next one while they decide on a message, because the memory answers two cycles later.
///
/// A link that was not followed before adds 1. A flush step may add up to 7 cycles. A request to the prefetch that is still busy adds up to 7, up to 7 more behind a pushed entry, and up to 9 more behind a read of entries of 128 bytes. After a `Configure` the next request
/// waits until the prefetch has forgotten the old ring.
///
/// **Flush.** Flushed queue pairs take turns. One flush step starts at most every [`FLUSH_INTERVAL`] cycles, and makes the next completion. Flush steps have priority over requests, but do not start while a completion waits to be accepted.
///
/// After a reset, as many cycles as there are queue pairs, or blocks, clear the rows. After the reset no data of a read issued before it may arrive. LUT levels: 8,
/// in `Access` (whether the next message starts, choice of its row).
#[derive(LogicBlock, Default)]
pub struct MessageTable<
    const Q: usize = 10,
    const B: usize = 10,
    const E: usize = 13,
    const F: usize = 10,
    const D: usize = 11,
> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    /// Clears all state. Queue pairs have to be configured again.
    pub reset: Signal<In, Bit>,

    pub request: Snk<MessageRequest>,
    pub response: FlowSrc<MessageResponse>,
    /// Valid with a `Configure` request.
    pub settings: Signal<In, SendQueueConfig>,

    /// Reads of entries. Reads may be answered in any order, those of a queue pair in order; the entries of a read come in order, and without a gap once the first one is accepted.
    pub fetch: Src<WqeFetch>,
    /// Epoch of reads that begin in this cycle.
    pub epoch: Signal<In, Bit>,
    /// One cycle: a read begins. Its address is fixed, and it waits to leave.
    pub fetch_begun: Signal<Out, Bit>,
    pub fetched: Snk<WqeFetched>,

    /// An entry that a doorbell carried, before its `Doorbell` request. If it is the next entry to read, no read is needed.
    pub pushed: FlowSnk<WqeFetched>,
    /// Producer index of the doorbell. If the entry does not name the slot before it, the entry is ignored: it is read from memory, and refused.
    pub pushed_producer: Signal<In, SqIndex>,

    /// Completions; those of a queue pair come in order.
    pub cqe: Src<Completion>,

    /// An entry has arrived that `NextMessage` or `TakeMessages` missed: it may be tried again.
    pub wake_valid: Signal<Out, Bit>,
    pub wake_qp: Signal<Out, Qpn>,
    /// One cycle: entries are in the table. Requests from the next cycle on see them.
    pub arrived_valid: Signal<Out, Bit>,
    pub arrived_qp: Signal<Out, Qpn>,
    pub arrived_entries: Signal<Out, Bits<4>>,

    accept: MessageAccept<F, D>,
    flow: OperationFlow<Q, B, E>,
    prefetch: WqePrefetch<Q, B, E, F, D>,
}

impl<const Q: usize, const B: usize, const E: usize, const F: usize, const D: usize> Parameters
    for MessageTable<Q, B, E, F, D>
{
    fn check() {
        assert!(
            (1..=QPN_BITS).contains(&Q) && (1..=10).contains(&B) && E == B + BLOCK_LOG2,
            "MessageTable<{Q}, {B}, {E}>: use Q of 1 (2 queue pairs) to {QPN_BITS}, B of 1 (2 blocks of entries) to 10, and E = B + 3"
        );
    }
}

impl<const Q: usize, const B: usize, const E: usize, const F: usize, const D: usize> Logic
    for MessageTable<Q, B, E, F, D>
{
    #[hdl]
    fn update(&mut self) {
        clock_reset!(self, accept, flow, prefetch);

        // accept a request, or begin a flush step
        self.accept.may_begin.next = self.flow.may_begin.val() & !self.prefetch.restarting.val();
        join!(
            self,
            request => accept.request,
            settings => accept.settings,
            flow.idle => accept.idle,
            flow.cqe.valid => accept.holds_flush,
            flow.flush_ends => accept.flush_ends,
            flow.queues => accept.queues,
        );

        // execute it
        join!(
            self,
            accept.begins => flow.begins,
            accept.accepted => flow.accepted,
            accept.qp => flow.qp,
            flow.response => response,
            flow.cqe => cqe,
        );

        // prefetch
        self.prefetch.look_qp.next = self.accept.qp.val().get_bits::<Q>(0);
        let pushed = self.pushed.record.val();
        let pushed_entry = Wqe::from_bits(pushed.line);
        let behind_pushed = pushed_entry.slot + 1;
        self.prefetch.pushed.valid.next =
            self.pushed.valid.val() & (behind_pushed == self.pushed_producer.val());
        self.prefetch.pushed.record.next = pushed;
        let wake = self.prefetch.wake.val();
        self.wake_valid.next = wake.valid;
        self.wake_qp.next = wake.qp;
        let arrived = self.prefetch.arrived.val();
        self.arrived_valid.next = arrived.valid;
        self.arrived_qp.next = arrived.qp;
        self.arrived_entries.next = arrived.entries;
        join!(
            self,
            flow.clear => prefetch.clear,
            flow.clear_index => prefetch.clear_index,
            flow.ask => prefetch.ask,
            prefetch.look => flow.look,
            flow.address => prefetch.read_address,
            prefetch.entry => flow.entry,
            prefetch.rest => flow.rest,
            flow.follow => prefetch.follow,
            prefetch.followed => flow.followed,
            prefetch.fetch => fetch,
            epoch => prefetch.epoch,
            prefetch.fetch_begun => fetch_begun,
            fetched => prefetch.fetched,
        );
    }
}
