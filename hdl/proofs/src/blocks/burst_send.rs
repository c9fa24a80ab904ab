//! The packets of a burst, and the translation of their payload.

use hdl_macros::{bundle, clock_reset, hdl, hdl_fn, join};
use hdl_primitives::{FlowSnk, FlowSrc, OfferSrc};
use hdl_requester::burst_send::{AddedMessage, Burst};
use hdl_requester::{BurstSend, Op, Run};
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::Message;
use stellar_wire::hw::requester::{TranslateRequest, TranslateResponse, TxRequest};
use stellar_wire::hw::spray::SprayResponse;

/// Entries of the FIFO of locations.
const LOCATIONS: usize = 32;

/// Registers and memories of the block.
#[bundle]
pub struct SendInsideSrc {
    pub ended: Signal<Out, Bit>,
    pub locations_locations_held: Signal<Out, Bits<6>>,
    pub locations_out_data: Signal<Out, TranslateResponse>,
    // The 64 words of a memory, ten to an array, which has no more than 32 elements: element 3 of `memory2` is word 23.
    pub messages_messages_memory_memory: [Signal<Out, AddedMessage>; 10],
    pub messages_messages_memory_memory1: [Signal<Out, AddedMessage>; 10],
    pub messages_messages_memory_memory2: [Signal<Out, AddedMessage>; 10],
    pub messages_messages_memory_memory3: [Signal<Out, AddedMessage>; 10],
    pub messages_messages_memory_memory4: [Signal<Out, AddedMessage>; 10],
    pub messages_messages_memory_memory5: [Signal<Out, AddedMessage>; 10],
    pub messages_messages_memory_memory6: [Signal<Out, AddedMessage>; 4],
}

/// Properties of [`BurstSend`].
#[derive(LogicBlock, Default)]
pub struct BurstSendProof {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub add: FlowSnk<Message>,
    pub add_run: Signal<In, Run>,
    pub expects: Signal<In, Bits<6>>,
    pub locate: Signal<In, Bit>,
    pub locate_count: Signal<In, Bits<6>>,
    pub rc_entropy: Signal<In, Bits<32>>,
    pub start: Signal<In, Bit>,
    pub burst: Signal<In, Burst>,
    pub op: Signal<In, Op>,
    pub unreadable_ready: Signal<In, Bit>,
    pub path: FlowSnk<SprayResponse>,
    pub xlate_req: OfferSrc<TranslateRequest>,
    pub xlate_rsp: FlowSnk<TranslateResponse>,
    pub tx: FlowSrc<TxRequest>,
    /// Registers of the block.
    pub inner_send: SendInsideSnk,

    /// A packet with payload in memory leaves only with a location that has arrived, was not used before, and is not a fault. Its payload is read there.
    pub holds_located: Signal<Out, Bit>,
    /// Behind a packet that does not leave, because its payload cannot be read, none of its burst does.
    pub holds_ended: Signal<Out, Bit>,

    // What is in the registers, so that the properties are an invariant together.
    /// The block knows of each message whether its payload is in memory.
    pub holds_messages: Signal<Out, Bit>,
    /// It has no more locations than have arrived and were not used.
    pub holds_locations: Signal<Out, Bit>,

    /// A packet can leave with payload in memory.
    pub reaches_sent: Signal<Out, Bit>,
    /// One can stay behind.
    pub reaches_ended: Signal<Out, Bit>,

    send: BurstSend,
    /// Locations that arrived and were not used. One that finds no room does not count.
    unused: DFF<Bits<7>>,
    /// A packet of the burst did not leave.
    stopped: DFF<Bit>,
}

/// Whether it is known of the message whether its payload is in memory.
#[hdl_fn]
fn knows(word: AddedMessage) -> Bit {
    word.in_memory == (!word.message.inline & word.message.length.any())
}

impl Logic for BurstSendProof {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, unused, stopped);
        clock_reset!(self, send);
        join!(
            self,
            add => send.add,
            add_run => send.add_run,
            expects => send.expects,
            locate => send.locate,
            locate_count => send.locate_count,
            rc_entropy => send.rc_entropy,
            start => send.start,
            burst => send.burst,
            op => send.op,
            unreadable_ready => send.unreadable.ready,
            path => send.path,
            send.xlate_req => xlate_req,
            xlate_rsp => send.xlate_rsp,
            send.tx => tx,
        );
        let leaves = self.send.tx.valid.val();
        let packet = self.send.tx.record.val();
        let moves = self.send.sent.valid.val();
        let in_memory = !packet.inline & packet.reth.dma_length.any();
        let unused = self.unused.q.val();
        let location = self.inner_send.locations_out_data.val();
        self.holds_located.next = !(leaves & in_memory)
            | (unused.any() & !location.fault & (packet.segments == location.segments));

        // A packet that moves takes the location of its payload.
        let arrives = self.xlate_rsp.valid.val() & (unused < (LOCATIONS as u64));
        let takes = moves & in_memory;
        if arrives & !takes {
            self.unused.d.next = unused + 1;
        }
        if takes & !arrives {
            self.unused.d.next = unused - 1;
        }
        let stopped = self.stopped.q.val();
        self.holds_ended.next = !(leaves & stopped) & (stopped == self.inner_send.ended.val());
        if moves & !leaves {
            self.stopped.d.next = true;
        }
        if self.locate.val() {
            self.stopped.d.next = false;
        }

        let mut known = true;
        for i in 0..10 {
            let word_0 = self.inner_send.messages_messages_memory_memory[i].val();
            let word_1 = self.inner_send.messages_messages_memory_memory1[i].val();
            let word_2 = self.inner_send.messages_messages_memory_memory2[i].val();
            let word_3 = self.inner_send.messages_messages_memory_memory3[i].val();
            let word_4 = self.inner_send.messages_messages_memory_memory4[i].val();
            let word_5 = self.inner_send.messages_messages_memory_memory5[i].val();
            known = known
                & knows(word_0)
                & knows(word_1)
                & knows(word_2)
                & knows(word_3)
                & knows(word_4)
                & knows(word_5);
        }
        for i in 0..4 {
            known = known & knows(self.inner_send.messages_messages_memory_memory6[i].val());
        }
        self.holds_messages.next = known;
        self.holds_locations.next =
            bit_cast::<7, 6>(self.inner_send.locations_locations_held.val()) == unused;

        self.reaches_sent.next = leaves & in_memory & packet.segments.first_translated;
        self.reaches_ended.next = moves & !leaves & stopped;
        if self.reset.val() {
            self.unused.d.next = bits(0);
        }
    }
}
