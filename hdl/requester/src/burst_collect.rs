//! Collects a burst: the messages behind its first one, and their paths (reference: `MrcRequester::transmit_each`).

use hdl_macros::hdl;
use hdl_primitives::{FlowSnk, FlowSrc};
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::{Message, MessageOp, MessageRequest, MessageResponse};
use stellar_wire::hw::spray::{SprayOp, SprayRequest, SprayResponse};
use stellar_wire::hw::window::{WindowOp, WindowRequest};
use stellar_wire::hw::Psn;

use crate::bundles::CallSrc;
use crate::packet_queue::{has_all_left, Run};
use crate::records::Op;
use crate::segment::{bytes_of, whole_message};

/// Step of the collection.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum Step {
    Idle,
    /// Waits for the first path.
    AwaitPath,
    /// Takes the messages behind the first one.
    TakeMessages,
    /// Adds the last of them.
    AddLast,
    /// Requests the paths of their packets.
    ChoosePaths,
    /// Waits until the previous burst has been sent.
    AwaitPrevious,
}

/// The first message of a burst.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct BurstHead {
    pub message: Message,
    pub run: Run,
    /// Payload bytes of its packets.
    pub bytes: Bits<24>,
    /// Packets that may follow from other messages, which have to be short with `only_short`.
    pub more: Bits<6>,
    pub only_short: Bit,
    /// It needs no path, or there is one for certain.
    pub has_path: Bit,
    /// MRC: it is a lost packet, which was lost on path `avoid`.
    pub is_retransmit: Bit,
    pub avoid: Bits<8>,
}

/// Collects one burst, while the previous one is sent. A plane without a path sends nothing, so the first path comes before other messages start, unless there
/// is one for certain.
#[derive(LogicBlock, Default)]
pub struct BurstCollect {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    /// Over MRC the spray engine has to be free in this cycle.
    pub start: Signal<In, Bit>,
    /// Valid with `start`.
    pub head: Signal<In, BurstHead>,
    /// Stable until the end.
    pub op: Signal<In, Op>,
    /// The previous burst is being sent.
    pub previous_active: Signal<In, Bit>,

    // The end: high for one cycle. There is no path; or the burst begins.
    pub no_path: Signal<Out, Bit>,
    pub begins: Signal<Out, Bit>,
    /// PSN of the first packet, and number of packets. Both are valid with `begins`.
    pub first_psn: Signal<Out, Psn>,
    pub count: Signal<Out, Bits<6>>,
    /// Valid with `begins`: payload bytes.
    pub payload: Signal<Out, Bits<24>>,
    /// Valid with `begins`: NOPs have started.
    pub nops: Signal<Out, Bit>,
    /// Valid with `begins`: the last packet is the last one of its message.
    pub ends_message: Signal<Out, Bit>,
    /// MRC, valid with `begins`: number of newest packets of which none requests a SACK, if the burst requests none.
    pub unasked: Signal<Out, Bits<6>>,

    /// Messages of the burst.
    pub add: FlowSrc<Message>,
    pub add_run: Signal<Out, Run>,
    /// Number of paths that are requested in this cycle.
    pub expects: Signal<Out, Bits<6>>,

    pub spray: CallSrc<SprayRequest>,
    pub path: FlowSnk<SprayResponse>,
    pub window: CallSrc<WindowRequest>,
    /// A request to the message table, which is free then.
    pub messages: FlowSrc<MessageRequest>,
    /// Responses to `TakeMessages`.
    pub taken: FlowSnk<MessageResponse>,

    step: DFF<Step>,
    held: DFF<BurstHead>,
    /// Packets of the other messages, and payload bytes of all.
    others: DFF<Bits<6>>,
    bytes: DFF<Bits<24>>,
    nops_seen: DFF<Bit>,
    /// The burst, as far as it is collected, ends with a message.
    ends_so_far: DFF<Bit>,
    /// What `unasked` is if the burst begins now. It is added up beside the number of packets, because the state of the queue pair waits for whether it asks.
    unasked_so_far: DFF<Bits<6>>,
    /// The message that was taken in the last cycle.
    new: DFF<Bit>,
    new_message: DFF<Message>,
    new_run: DFF<Run>,
}

impl Logic for BurstCollect {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            step,
            held,
            others,
            bytes,
            nops_seen,
            ends_so_far,
            unasked_so_far,
            new,
            new_message,
            new_run
        );
        let op = self.op.val();
        let step = self.step.q.val();
        let held = self.held.q.val();
        let starts = self.start.val();
        let head = if starts { self.head.val() } else { held };
        let rc = op.settings.rc;
        let mtu_log2 = op.settings.mtu_log2;
        let others = self.others.q.val();
        let wants_more = head.more.any();
        let finds =
            (step == Step::AwaitPath) & self.path.valid.val() & self.path.record.val().found;
        let has_head = finds | (starts & head.has_path);
        let taken = self.taken.record.val();
        let is_taken = (step == Step::TakeMessages) & self.taken.valid.val();
        let head_ends = has_all_left(self.head.val().run);
        let with_head = bit_cast::<6, 4>(op.state.unasked) + self.head.val().run.packets;
        if starts {
            self.held.d.next = self.head.val();
            self.others.d.next = bits::<6>(0);
            self.nops_seen.d.next = false;
            self.bytes.d.next = self.head.val().bytes;
            self.ends_so_far.d.next = head_ends;
            self.unasked_so_far.d.next = with_head;
        }

        // messages: the first one, then the others
        self.messages.valid.next = has_head & wants_more;
        self.messages.record.next = MessageRequest {
            op: MessageOp::TakeMessages,
            qp: op.qp,
            psn: head.run.segment.psn + bit_cast::<24, 6>(head.run.packets),
            count: head.more,
            only_short: head.only_short,
            ..MessageRequest::default()
        };
        if is_taken & taken.nops {
            self.nops_seen.d.next = true;
        }
        self.new.d.next = is_taken & taken.found;
        self.new_message.d.next = taken.message;
        self.new_run.d.next = Run {
            segment: whole_message(taken.message),
            packets: taken.packets_here,
        };
        let new = self.new.q.val();
        let new_run = self.new_run.q.val();
        if new {
            self.others.d.next = others + new_run.packets;
            self.ends_so_far.d.next = has_all_left(new_run);
            self.unasked_so_far.d.next = self.unasked_so_far.q.val() + new_run.packets;
            self.bytes.d.next =
                self.bytes.q.val() + bytes_of(new_run.segment, new_run.packets, mtu_log2);
        }
        self.add.valid.next = has_head | new;
        self.add.record.next = if new {
            self.new_message.q.val()
        } else {
            head.message
        };
        self.add_run.next = if new { new_run } else { head.run };

        // paths
        let chooses_more = (step == Step::ChoosePaths) & !self.spray.busy.val();
        let chooses = (starts & !rc) | chooses_more;
        let paths = if chooses_more {
            others
        } else {
            head.run.packets
        };
        self.spray.start.next = chooses;
        self.spray.request.next = SprayRequest {
            op: SprayOp::Choose,
            qp: op.qp,
            plane: op.port,
            count: paths,
            avoid_valid: head.is_retransmit,
            avoid: head.avoid,
            now: op.now,
            ..SprayRequest::default()
        };
        self.expects.next = if chooses { paths } else { bits::<6>(0) };

        // begin
        let is_collected = (step == Step::AwaitPrevious) | (starts & head.has_path & !wants_more);
        let begins = is_collected & !self.previous_active.val() & !self.window.busy.val();
        // The sum does not wait for `start`.
        let count = if starts {
            self.head.val().run.packets
        } else {
            held.run.packets + others
        };
        self.no_path.next =
            (step == Step::AwaitPath) & self.path.valid.val() & !self.path.record.val().found;
        self.begins.next = begins;
        let payload = if starts {
            head.bytes
        } else {
            self.bytes.q.val()
        };
        self.first_psn.next = head.run.segment.psn;
        self.payload.next = payload;
        self.count.next = count;
        self.nops.next = self.nops_seen.q.val() & !starts;
        self.ends_message.next = if starts {
            head_ends
        } else {
            self.ends_so_far.q.val()
        };
        self.unasked.next = if starts {
            with_head
        } else {
            self.unasked_so_far.q.val()
        };
        self.window.start.next = begins & !rc & !head.is_retransmit;
        self.window.request.next = WindowRequest {
            op: WindowOp::Allocate,
            qp: op.qp,
            psn: head.run.segment.psn,
            count,
            bytes: payload,
            ..WindowRequest::default()
        };

        let after_head = if wants_more {
            Step::TakeMessages
        } else {
            Step::AwaitPrevious
        };
        match step {
            Step::Idle => {
                if starts & !begins {
                    self.step.d.next = if head.has_path {
                        after_head
                    } else {
                        Step::AwaitPath
                    };
                }
            }
            Step::AwaitPath => {
                if self.path.valid.val() {
                    self.step.d.next = if self.path.record.val().found {
                        after_head
                    } else {
                        Step::Idle
                    };
                }
            }
            Step::TakeMessages => {
                if is_taken & taken.last {
                    self.step.d.next = Step::AddLast;
                }
            }
            Step::AddLast => {
                if !new {
                    self.step.d.next = if others.any() & !rc {
                        Step::ChoosePaths
                    } else {
                        Step::AwaitPrevious
                    };
                }
            }
            Step::ChoosePaths => {
                if !self.spray.busy.val() {
                    self.step.d.next = Step::AwaitPrevious;
                }
            }
            Step::AwaitPrevious => {
                if begins {
                    self.step.d.next = Step::Idle;
                }
            }
        }
        if self.reset.val() {
            self.step.d.next = Step::Idle;
            self.new.d.next = false;
        }
    }
}
