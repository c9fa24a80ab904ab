//! Tells when posted writes have reached memory.

use hdl_macros::{clock_reset, hdl, hdl_fn, join};
use hdl_primitives::{
    CompletionSnk, CompletionSrc, OfferSnk, OfferSrc, PlacementSrc, Src, SyncFifo, TlpSnk, TlpSrc,
};
use rust_hdl::prelude::*;
use stellar_wire::host::Cqe;
use stellar_wire::hw::read::{FailedRead, ReadTlpHeader, STATUS_SUCCESSFUL};

use super::flush_batches::FlushBatches;
use super::flush_faults::FlushFaults;
use super::flush_retry::FlushRetry;
use super::records::{
    BatchAddresses, ClosedBatch, CommandWrites, FlushAnswer, FlushTag, WriteLeft, ENTRIES_BITS,
};
use crate::read::records::FLUSH_TAGS;

/// For an endpoint of 1,024 bits.
pub type WriteFlush1024 = WriteFlush<1024>;
/// For an endpoint of 512 bits.
pub type WriteFlush512 = WriteFlush<512>;

/// Writes that have left and are not counted yet.
const LEFT_ADDRESS: usize = 3;
const LEFT_COUNT: usize = LEFT_ADDRESS + 1;
/// Place commands between their lane's DMA write engine and this block's count: those in the arbiter before it (3), in the FIFO, and one more.
const BETWEEN_BITS: usize = 4;
/// Writes of the host's queues between their acceptance and this block's count: up to 4 in each of these TLPs and in the one before them, and 2 more.
const QUEUE_BETWEEN_BITS: usize = 6;
/// log2 of the double words of a completion, which may leave with others as one TLP. Any other write of the host's queues is shorter.
const COMPLETION_DWORDS_LOG2: usize = (Cqe::LEN / 4).ilog2() as usize;

/// Bits 7:6 of a tag, of all flush reads.
const TAG_PREFIX: u64 = (FLUSH_TAGS >> 6) as u64;

/// The last write to one of the two targets since its last flush read.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Written {
    any: Bit,
    address_dw: Bits<62>,
    device: Bits<10>,
}

/// Flush reads that wait to be sent.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Asked {
    any: Bit,
    address_dw: Bits<62>,
    tag: Bits<8>,
}

/// The target after a cycle in which a write to it is counted (`takes`), or a batch is closed.
#[hdl_fn]
fn next_written(written: Written, last: WriteLeft, takes: Bit, closes: Bit) -> Written {
    if takes {
        Written {
            any: true,
            address_dw: last.address_dw,
            device: last.device,
        }
    } else {
        Written {
            any: written.any & !closes,
            ..written
        }
    }
}

/// The flush read of a target after a cycle in which a batch is closed, or the read is sent.
#[hdl_fn]
fn next_asked(asked: Asked, written: Written, tag: Bits<8>, closes: Bit, sent: Bit) -> Asked {
    if closes {
        Asked {
            any: written.any,
            address_dw: written.address_dw,
            tag,
        }
    } else {
        Asked {
            any: asked.any & !sent,
            ..asked
        }
    }
}

#[hdl_fn]
fn count_if(set: Bit) -> Bits<BETWEEN_BITS> {
    bit_cast::<BETWEEN_BITS, 1>(set.into())
}

/// Writes of the host's queues in a TLP of `length_dw` double words.
#[hdl_fn]
fn entries_in(length_dw: Bits<11>) -> Bits<ENTRIES_BITS> {
    let entries = length_dw.get_bits::<ENTRIES_BITS>(COMPLETION_DWORDS_LOG2);
    if entries.any() {
        entries
    } else {
        bits::<ENTRIES_BITS>(1)
    }
}

#[hdl_fn]
fn tag_of(batch: Bits<3>, generation: Bits<2>, of_peer: Bit) -> Bits<8> {
    bits::<8>(FLUSH_TAGS as u64)
        | bit_cast::<8, 1>(of_peer.into())
        | (bit_cast::<8, 3>(batch) << 1)
        | (bit_cast::<8, 2>(generation) << 4)
}

#[hdl_fn]
fn read_of(asked: Asked, of_peer: Bit) -> ReadTlpHeader {
    ReadTlpHeader {
        address_dw: asked.address_dw,
        at: bit_cast::<2, 1>(of_peer.into()) << 1,
        length_dw: bits(1),
        first_be: bits(0),
        last_be: bits(0),
        tag: asked.tag,
    }
}

/// Stands between the card and the memory interface of one endpoint of `W` bits. Writes, reads and completions of data pass through.
///
/// Writes that need a flush ([`WriteTlpHeader::flush`](stellar_wire::hw::dma::WriteTlpHeader)) are counted in batches. A batch is closed as soon as it has
/// a command and there is a place among the eight on their way. Then a read of no bytes goes to the last address that was written in host memory, and one
/// to the last address in a device, if there were writes. A write to another device closes the batch first. What waits for payload is told when
/// both are answered. If one fails, [`FlushRetry`] finds the commands that fail with it.
///
/// An interrupt message is no target of a flush read: its address cannot be read. A read of another address of host memory pushes it, too.
///
/// A fence closes a batch too, after the last write before it, whether the writes need a flush or not, and of the host's queues too. So does a drain, after
/// the last write that has left this block before it. Levels: 6 (what is due, and its batch).
#[derive(LogicBlock, Default)]
pub struct WriteFlush<const W: usize> {
    pub clock: Signal<In, Clock>,
    /// Discards all batches and a request in progress.
    pub reset: Signal<In, Bit>,
    /// Cycles until a flush read counts as failed; 0 switches it off.
    pub timeout: Signal<In, Bits<31>>,

    // From the card.
    pub write: TlpSnk<W>,
    pub read: OfferSnk<ReadTlpHeader>,
    /// Completions of the read engine.
    pub data: CompletionSrc<W>,
    /// The lane whose payloads this endpoint writes.
    pub placement: PlacementSrc,
    /// One cycle: the host's queues have a write on its way to `write`, with `of_host_queue`. A later fence waits for it too. Several of 32 bytes may come as one TLP.
    pub queue_accepted: Signal<In, Bit>,

    // To and from PCIe. A read request must not pass writes that were accepted before it.
    pub tlp: TlpSrc<W>,
    pub request: OfferSrc<ReadTlpHeader>,
    pub completion: CompletionSnk<W>,

    /// One cycle: a drain begins. The next one follows after `drained`.
    pub drain: Signal<In, Bit>,
    /// One cycle: the writes that had left when the drain began have reached memory, or their flush reads have failed.
    pub drained: Signal<Out, Bit>,

    /// One cycle: a flush read failed.
    pub failed: Signal<Out, Bit>,
    /// One cycle: a batch was not answered in time.
    pub timed_out: Signal<Out, Bit>,
    /// The address of a flush read that failed: see [`FlushFaults`].
    pub fault: Src<FailedRead>,
    /// One cycle: such a report was dropped.
    pub fault_dropped: Signal<Out, Bit>,

    left: SyncFifo<WriteLeft, LEFT_ADDRESS, LEFT_COUNT>,
    batches: FlushBatches,
    retry: FlushRetry,
    faults: FlushFaults,

    host: DFF<Written>,
    peer: DFF<Written>,
    /// Commands of the batch that is not closed.
    commands: DFF<Bits<10>>,
    /// Targets of the command whose writes are counted.
    to_host: DFF<Bit>,
    to_peer: DFF<Bit>,
    ask_host: DFF<Asked>,
    ask_peer: DFF<Asked>,
    /// The read for one command, and its target.
    ask_again: DFF<Asked>,
    again_of_peer: DFF<Bit>,
    /// Commands that the lane has handed over, and writes that the host's queues have accepted, that are not counted here. Each kind is in order, but either may
    /// overtake the other.
    between: DFF<Bits<BETWEEN_BITS>>,
    queue_between: DFF<Bits<QUEUE_BETWEEN_BITS>>,
    fencing: DFF<Bit>,
    /// Those before the fence.
    before_fence: DFF<Bits<BETWEEN_BITS>>,
    queue_before_fence: DFF<Bits<QUEUE_BETWEEN_BITS>>,
    /// A drain began in the last cycle; one is in progress.
    drains: DFF<Bit>,
    draining: DFF<Bit>,
    /// Of the writes in `left`, those before the drain.
    before_drain: DFF<Bits<LEFT_COUNT>>,
    /// Cycles since power-up.
    now: DFF<Bits<32>>,
}

impl<const W: usize> Logic for WriteFlush<W> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, host, peer, commands, ask_host, ask_peer);
        dff_setup!(self, clock, between, queue_between, fencing, now);
        dff_setup!(self, clock, before_fence, queue_before_fence);
        dff_setup!(self, clock, drains, draining, before_drain);
        dff_setup!(self, clock, to_host, to_peer, ask_again, again_of_peer);
        clock_reset!(self, left, batches, retry, faults);
        self.now.d.next = self.now.q.val() + 1;

        // pass_writes
        let room = self.left.in_.ready.val();
        let header = self.write.header.val();
        let leaves = self.write.valid.val() & room & self.tlp.ready.val() & self.write.last.val();
        self.tlp.valid.next = self.write.valid.val() & room;
        self.write.ready.next = self.tlp.ready.val() & room;
        self.tlp.data.next = self.write.data.val();
        self.tlp.header.next = header;
        self.tlp.first.next = self.write.first.val();
        self.tlp.last.next = self.write.last.val();
        self.left.in_.valid.next = leaves;
        self.left.in_.data.next = WriteLeft {
            address_dw: header.address_dw,
            to_peer: header.at.get_bit(1),
            device: header.device,
            flush: header.flush,
            ends: header.ends,
            of_host_queue: header.of_host_queue,
            message: header.message,
            entries: entries_in(header.length_dw),
        };
        self.placement.sent.next = leaves & header.ends & !header.flush;

        // count_writes: one for another device waits until the batch is closed.
        let host = self.host.q.val();
        let peer = self.peer.q.val();
        let last = self.left.out.data.val();
        let offered = self.left.out.valid.val();
        let elsewhere = offered & last.to_peer & peer.any & (peer.device != last.device);
        let takes = offered & !elsewhere;
        let ends = takes & last.ends;
        self.left.out.ready.next = takes;

        // close_batch
        let commands = self.commands.q.val();
        let ask_host = self.ask_host.q.val();
        let ask_peer = self.ask_peer.q.val();
        let before_fence = self.before_fence.q.val();
        let queue_before_fence = self.queue_before_fence.q.val();
        let fence_due = self.fencing.q.val() & !before_fence.any() & !queue_before_fence.any();
        let drain_due = self.draining.q.val() & !self.before_drain.q.val().any();
        let due = commands.any() | fence_due | drain_due | elsewhere;
        let wants = due & !ask_host.any & !ask_peer.any;
        let closes = wants & self.batches.closed.ready.val();
        self.batches.closed.valid.next = wants;
        self.batches.closed.record.next = ClosedBatch {
            commands,
            fence: fence_due,
            drain: drain_due,
            reads_host: host.any,
            reads_peer: peer.any,
        };
        let kept = if closes { bits::<10>(0) } else { commands };
        self.commands.d.next = kept + bit_cast::<10, 1>((ends & last.flush).into());
        let writes = takes & !last.message;
        self.host.d.next = next_written(host, last, writes & !last.to_peer, closes);
        self.peer.d.next = next_written(peer, last, writes & last.to_peer, closes);

        // remember_command
        let of_command = takes & !last.of_host_queue;
        let to_host = self.to_host.q.val() | (of_command & !last.to_peer);
        let to_peer = self.to_peer.q.val() | (of_command & last.to_peer);
        self.to_host.d.next = to_host & !ends;
        self.to_peer.d.next = to_peer & !ends;
        self.retry.left.valid.next = ends & last.flush;
        self.retry.left.record.next = CommandWrites {
            address_dw: last.address_dw,
            to_host,
            to_peer,
        };

        // ask: flush reads go before reads of data, which are many.
        let ask_again = self.ask_again.q.val();
        let asks = ask_host.any | ask_peer.any | ask_again.any;
        let free = self.request.ready.val();
        self.request.valid.next = asks | self.read.valid.val();
        self.request.record.next = if ask_host.any {
            read_of(ask_host, false)
        } else if ask_peer.any {
            read_of(ask_peer, true)
        } else if ask_again.any {
            read_of(ask_again, self.again_of_peer.q.val())
        } else {
            self.read.record.val()
        };
        self.read.ready.next = free & !asks;
        let batch = self.batches.batch.val();
        let generation = self.batches.generation.val();
        let host_tag = tag_of(batch, generation, false);
        let peer_tag = tag_of(batch, generation, true);
        let peer_sent = free & !ask_host.any;
        self.ask_host.d.next = next_asked(ask_host, host, host_tag, closes, free);
        self.ask_peer.d.next = next_asked(ask_peer, peer, peer_tag, closes, peer_sent);

        // ask_again: for one command of the first batch. Addresses have one port, so a batch that is closed goes first.
        let again = self.retry.again.record.val();
        let again_batch = self.batches.again_batch.val();
        let may_repeat = !closes & !ask_again.any;
        let repeats = self.retry.again.valid.val() & may_repeat;
        self.retry.again.ready.next = may_repeat;
        self.batches.again.valid.next = repeats;
        self.batches.again.record.next = again.of_peer;
        if repeats {
            self.ask_again.d.next = Asked {
                any: true,
                address_dw: again.address_dw,
                tag: tag_of(
                    again_batch,
                    self.batches.again_generation.val(),
                    again.of_peer,
                ),
            };
            self.again_of_peer.d.next = again.of_peer;
        } else if peer_sent & !ask_peer.any {
            self.ask_again.d.next.any = false;
        }

        // sort_completions
        let completion = self.completion.record.val();
        let of_flush = completion.tag.get_bits::<2>(6) == TAG_PREFIX;
        let fails = (completion.status != STATUS_SUCCESSFUL)
            | completion.poisoned
            | self.completion.error.val();
        let answers = self.completion.valid.val() & of_flush & self.completion.last.val();
        self.data.valid.next = self.completion.valid.val() & !of_flush;
        self.data.record.next = completion;
        self.data.data.next = self.completion.data.val();
        self.data.last.next = self.completion.last.val();
        self.data.error.next = self.completion.error.val();
        self.batches.answer.valid.next = answers;
        self.batches.answer.record.next = FlushAnswer {
            tag: FlushTag {
                of_peer: completion.tag.get_bit(0),
                batch: completion.tag.get_bits::<3>(1),
                generation: completion.tag.get_bits::<2>(4),
            },
            failed: fails,
        };
        self.failed.next = answers & fails;

        // report_failures
        self.faults.asked.valid.next = closes | repeats;
        self.faults.asked.record.next = if closes {
            BatchAddresses {
                batch,
                of_host: true,
                of_peer: true,
                host_dw: host.address_dw,
                peer_dw: peer.address_dw,
            }
        } else {
            BatchAddresses {
                batch: again_batch,
                of_host: !again.of_peer,
                of_peer: again.of_peer,
                host_dw: again.address_dw,
                peer_dw: again.address_dw,
            }
        };
        join!(
            self,
            batches.failed_flush => faults.failed,
            faults.fault => fault,
            faults.dropped => fault_dropped,
        );

        // fence
        let between = self.between.q.val();
        let queue_between = self.queue_between.q.val();
        let counted = count_if(ends);
        let queue_counted = if takes & last.of_host_queue {
            bit_cast::<QUEUE_BETWEEN_BITS, ENTRIES_BITS>(last.entries)
        } else {
            bits(0)
        };
        self.between.d.next = between + count_if(self.placement.placed.val()) - counted;
        self.queue_between.d.next = queue_between
            + bit_cast::<QUEUE_BETWEEN_BITS, 1>(self.queue_accepted.val().into())
            - queue_counted;
        if self.placement.fence.val() {
            self.fencing.d.next = true;
            self.before_fence.d.next = between - counted;
            self.queue_before_fence.d.next = queue_between - queue_counted;
        } else {
            self.fencing.d.next = self.fencing.q.val() & !(closes & fence_due);
            if before_fence.any() {
                self.before_fence.d.next = before_fence - counted;
            }
            // Those that were accepted behind the fence may leave in one TLP with the last one before it.
            self.queue_before_fence.d.next = if queue_before_fence > queue_counted {
                queue_before_fence - queue_counted
            } else {
                bits(0)
            };
        }

        // drain
        // A cycle later, when `left` has what leaves in the cycle of the drain.
        self.drains.d.next = self.drain.val();
        let taken = bit_cast::<LEFT_COUNT, 1>(takes.into());
        let before_drain = self.before_drain.q.val();
        if self.drains.q.val() {
            self.draining.d.next = true;
            self.before_drain.d.next = self.left.count.val() - taken;
        } else {
            self.draining.d.next = self.draining.q.val() & !(closes & drain_due);
            if before_drain.any() {
                self.before_drain.d.next = before_drain - taken;
            }
        }

        // report
        self.batches.now.next = self.now.q.val();
        join!(
            self,
            timeout => batches.timeout,
            batches.timed_out => timed_out,
            batches.drained => drained,
            batches.arrived => retry.batch,
            retry.flushed.valid => placement.flushed_valid,
            retry.flushed.record => placement.flushed,
            placement.flushed_ready => retry.flushed.ready,
            batches.fence_done => placement.fence_done,
        );

        if self.reset.val() {
            self.host.d.next.any = false;
            self.peer.d.next.any = false;
            self.commands.d.next = bits(0);
            self.ask_host.d.next.any = false;
            self.ask_peer.d.next.any = false;
            self.ask_again.d.next.any = false;
            self.to_host.d.next = false;
            self.to_peer.d.next = false;
            self.between.d.next = bits(0);
            self.fencing.d.next = false;
            self.before_fence.d.next = bits(0);
            self.drains.d.next = false;
            self.draining.d.next = false;
            self.before_drain.d.next = bits(0);
            self.queue_between.d.next = bits(0);
            self.queue_before_fence.d.next = bits(0);
        }
    }
}
