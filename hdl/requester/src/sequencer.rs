//! The requester: one operation after the other (`docs/requester.md`).

use hdl_macros::{hdl, hdl_fn};
use hdl_primitives::BlockRam;
use hdl_spray_engine::entropy_lookup::Reflected;
use rust_hdl::prelude::*;
use stellar_wire::hw::congestion::{NsccRequest, NsccResponse};
use stellar_wire::hw::messages::{MessageRequest, MessageResponse};
use stellar_wire::hw::requester::{
    ControlKind, ControlPacket, LocateRequest, LocateResponse, RequesterConfig, TxRequest,
};
use stellar_wire::hw::spray::{SprayRequest, SprayResponse};
use stellar_wire::hw::tx::TxSeth;
use stellar_wire::hw::window::{SentPacket, WindowRequest, WindowResponse};

use crate::call::Call;
use crate::job_pick::JobPick;
use crate::loss_flow::LossFlow;
use crate::manage_flow::ManageFlow;
use crate::path_news::PathNews;
use crate::ports::pair;
use crate::rc_flow::RcFlow;
use crate::records::{ConfigureKind, Counted, Job, JobKind, Next, Outcome, RequesterState};
use crate::sack_flow::{offset, SackFlow};
use crate::transmit_flow::TransmitFlow;

/// Where the operation is.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum Step {
    /// None is under way.
    Pick,
    /// The queue pair's rows have been read: its flow starts.
    Start,
    /// The flow works.
    Work,
    /// Messages complete or fail because of it: `manage` works.
    Manage,
    /// The schedulers hear of it, if they were not ready to when it was through.
    Wake,
}

/// Whether all that a SACK names comes before `psn`. Levels: two carry chains and 2.
#[hdl_fn]
fn names_only_before(seth: TxSeth, psn: Bits<24>) -> Bit {
    let cumulative = seth.cack_psn - psn;
    let answered = offset(seth.cack_psn, seth.ack_psn_offset) - psn;
    let highest = offset(seth.cack_psn, seth.sack_offset) + bits::<24>(63) - psn;
    cumulative.get_bit(23) & answered.get_bit(23) & highest.get_bit(23)
}

/// The sequencer of one engine with 2^`Q` queue pairs: picks an operation, reads the queue pair's rows, lets the flow that knows it work, and writes the state back.
#[derive(LogicBlock, Default)]
pub struct Sequencer<const Q: usize = 10> {
    pub clock: Signal<In, Clock>,
    /// Queue pairs are to be configured anew after it.
    pub reset: Signal<In, Bit>,
    /// Ticks of 8 ns.
    pub now: Signal<In, Bits<32>>,

    /// No new operation starts: a queue pair that fails could not be reported.
    pub hold: Signal<In, Bit>,

    // Configuration. What a server is given lies at its own port; all of it stays until `configure_ready`.
    pub configure_valid: Signal<In, Bit>,
    pub configure: Signal<In, ConfigureKind>,
    pub configure_qp: Signal<In, Bits<10>>,
    pub settings: Signal<In, RequesterConfig>,
    /// With `ConfigureKind::Spray`: the policy is one that probes.
    pub may_probe: Signal<In, Bit>,
    pub configure_ready: Signal<Out, Bit>,

    // What arrives: each moves when valid and ready.
    pub control_valid: Signal<In, Bit>,
    /// SACK, NACK or RC acknowledgement.
    pub control: Signal<In, ControlPacket>,
    pub control_ready: Signal<Out, Bit>,
    /// Many wait: none of them lets a burst go first.
    pub control_presses: Signal<In, Bit>,
    pub doorbell_valid: Signal<In, Bit>,
    pub doorbell_qp: Signal<In, Bits<10>>,
    pub doorbell_producer: Signal<In, Bits<16>>,
    pub doorbell_ready: Signal<Out, Bit>,
    /// The payload of a packet of this message cannot be read.
    pub fault_valid: Signal<In, Bit>,
    pub fault_qp: Signal<In, Bits<10>>,
    pub fault_slot: Signal<In, Bits<16>>,
    pub fault_ready: Signal<Out, Bit>,
    /// The receive side failed.
    pub flush_valid: Signal<In, Bit>,
    pub flush_qp: Signal<In, Bits<10>>,
    pub flush_ready: Signal<Out, Bit>,
    /// The queue pair may have something to send: an entry of its queue came, a port came up.
    pub wake_valid: Signal<In, Bit>,
    pub wake_qp: Signal<In, Bits<10>>,
    pub wake_ready: Signal<Out, Bit>,

    // The schedulers of the ports: bit p is port p's.
    pub front_valid: Signal<In, Bits<2>>,
    pub front0_qp: Signal<In, Bits<10>>,
    pub front1_qp: Signal<In, Bits<10>>,
    /// The queue pair in front sent a packet, or has none.
    pub served: Signal<Out, Bits<2>>,
    pub parked: Signal<Out, Bits<2>>,
    /// To both at once.
    pub schedule_valid: Signal<Out, Bit>,
    pub schedule_page: Signal<Out, Bits<16>>,
    pub schedule_qp: Signal<Out, Bits<10>>,
    pub schedule_ready: Signal<In, Bit>,

    // timer_scan.
    pub due_valid: Signal<In, Bit>,
    pub due_qp: Signal<In, Bits<10>>,
    pub due_ready: Signal<Out, Bit>,
    pub deadline_valid: Signal<Out, Bit>,
    pub deadline_qp: Signal<Out, Bits<10>>,
    pub deadline_armed: Signal<Out, Bit>,
    pub deadline: Signal<Out, Bits<32>>,

    // Packets. Bit p of `tx_room`: port p takes 32 more.
    pub tx_room: Signal<In, Bits<2>>,
    pub tx_valid: Signal<Out, Bit>,
    pub tx: Signal<Out, TxRequest>,

    // Events, as pulses.
    /// A path is good, if the queue pair has this entropy value.
    pub good_valid: Signal<Out, Bit>,
    pub good: Signal<Out, Reflected>,
    pub failed: Signal<Out, Bit>,
    /// Of `failed`, `refused` and `counted`.
    pub event_qp: Signal<Out, Bits<10>>,
    pub failed_status: Signal<Out, Bits<8>>,
    /// A producer index was refused.
    pub refused: Signal<Out, Bit>,
    pub counted: Signal<Out, Counted>,

    // The servers and payload location.
    pub spray_valid: Signal<Out, Bit>,
    pub spray_request: Signal<Out, SprayRequest>,
    pub spray_ready: Signal<In, Bit>,
    pub sprayed_valid: Signal<In, Bit>,
    pub sprayed: Signal<In, SprayResponse>,
    pub nscc_valid: Signal<Out, Bit>,
    pub nscc_request: Signal<Out, NsccRequest>,
    pub nscc_ready: Signal<In, Bit>,
    pub nscc_answer_valid: Signal<In, Bit>,
    pub nscc_answer: Signal<In, NsccResponse>,
    pub window_valid: Signal<Out, Bit>,
    pub window_request: Signal<Out, WindowRequest>,
    pub window_ready: Signal<In, Bit>,
    pub window_answer_valid: Signal<In, Bit>,
    pub window_answer: Signal<In, WindowResponse>,
    /// Packets of a `Push`.
    pub push_valid: Signal<Out, Bit>,
    pub push: Signal<Out, SentPacket>,
    pub messages_valid: Signal<Out, Bit>,
    pub messages_request: Signal<Out, MessageRequest>,
    pub messages_ready: Signal<In, Bit>,
    pub messages_answer_valid: Signal<In, Bit>,
    pub messages_answer: Signal<In, MessageResponse>,
    pub locate_valid: Signal<Out, Bit>,
    pub locate_request: Signal<Out, LocateRequest>,
    pub locate_ready: Signal<In, Bit>,
    pub located_valid: Signal<In, Bit>,
    pub located: Signal<In, LocateResponse>,

    pick: JobPick,
    transmit: TransmitFlow,
    sack: SackFlow,
    loss: LossFlow,
    rc: RcFlow,
    manage: ManageFlow,
    path_news: PathNews,
    spray: Call<SprayRequest, SprayResponse>,
    nscc: Call<NsccRequest, NsccResponse>,
    window: Call<WindowRequest, WindowResponse>,
    messages: Call<MessageRequest, MessageResponse>,
    configs: BlockRam<RequesterConfig, Q>,
    states: BlockRam<RequesterState, Q>,
    step: DFF<Step>,
    job: DFF<Job>,
    /// The message table has been asked what the SACK `job` completes.
    completing: DFF<Bit>,
    /// Congestion control has been asked, last about this queue pair.
    nscc_asked: DFF<Bit>,
    nscc_qp: DFF<Bits<10>>,
    /// A SACK is through, and so may be followed by the next one at once.
    follows: Signal<Local, Bit>,
    /// The control packet that waits has been looked at, and names nothing that is just being sent.
    control_seen: DFF<Bit>,
    control_early: DFF<Bit>,
}

impl<const Q: usize> Logic for Sequencer<Q> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            step,
            job,
            control_seen,
            control_early,
            completing
        );
        dff_setup!(self, clock, nscc_asked, nscc_qp);
        clock!(self, clock, pick, transmit, sack, loss, rc, manage, configs, states);
        clock!(self, clock, spray, nscc, window, messages, path_news);
        self.pick.reset.next = self.reset.val();
        self.transmit.reset.next = self.reset.val();
        self.sack.reset.next = self.reset.val();
        self.loss.reset.next = self.reset.val();
        self.rc.reset.next = self.reset.val();
        self.manage.reset.next = self.reset.val();
        self.path_news.reset.next = self.reset.val();
        self.spray.reset.next = self.reset.val();
        self.nscc.reset.next = self.reset.val();
        self.window.reset.next = self.reset.val();
        self.messages.reset.next = self.reset.val();

        // pick: arbitrate between the operations. While a burst is sent in the background, only SACKs that cannot cover its PSNs, doorbells and wake-ups start;
        // near its end also the next burst of the other port, if nothing else is pending. The message table may still be looking up the message of the burst.
        let sending = self.transmit.sending.val();
        let free = !sending;
        let control = self.control.val();
        let is_sack = control.kind == ControlKind::Sack;
        let may_pass = self.control_seen.q.val() & self.control_early.q.val() & is_sack;
        self.pick.now.next = self.now.val();
        self.pick.short_valid.next = self.transmit.short.val();
        self.pick.short_qp.next = self.transmit.sending_qp.val();
        self.pick.short_port.next = self.transmit.sending_port.val();
        self.pick.configure_valid.next = self.configure_valid.val() & free;
        self.pick.configure.next = self.configure.val();
        self.pick.configure_qp.next = self.configure_qp.val();
        self.pick.control_valid.next = self.control_valid.val() & (free | may_pass);
        self.pick.control.next = control;
        self.pick.due_valid.next = self.due_valid.val() & free;
        self.pick.due_qp.next = self.due_qp.val();
        self.pick.fault_valid.next = self.fault_valid.val() & free;
        self.pick.fault_qp.next = self.fault_qp.val();
        self.pick.fault_slot.next = self.fault_slot.val();
        self.pick.flush_valid.next = self.flush_valid.val() & free;
        self.pick.flush_qp.next = self.flush_qp.val();
        self.pick.doorbell_valid.next = self.doorbell_valid.val() & !self.messages.busy.val();
        self.pick.doorbell_qp.next = self.doorbell_qp.val();
        self.pick.doorbell_producer.next = self.doorbell_producer.val();
        self.pick.wake_valid.next = self.wake_valid.val() & self.schedule_ready.val();
        self.pick.wake_qp.next = self.wake_qp.val();
        let fronts = self.front_valid.val() & self.tx_room.val();
        let something_waits = self.configure_valid.val()
            | (self.control_valid.val() & !is_sack)
            | self.due_valid.val()
            | self.fault_valid.val()
            | self.flush_valid.val();
        let sending_port = self.transmit.sending_port.val();
        let other_port = pair(sending_port, !sending_port);
        let ends_soon = self.transmit.ends_soon.val() & !something_waits;
        self.pick.fronts_first.next = (free | ends_soon) & is_sack & !self.control_presses.val();
        self.pick.fronts.next = if free {
            fronts
        } else if ends_soon {
            fronts & other_port
        } else {
            bits::<2>(0)
        };
        self.pick.front0_qp.next = self.front0_qp.val();
        self.pick.front1_qp.next = self.front1_qp.val();
        let picked = self.pick.pick.val();
        let step = self.step.q.val();
        let held = self.job.q.val();
        // A SACK that completes messages may fail the queue pair; beside it goes only what is about the same one, and heeds that.
        let completing = self.completing.q.val();
        let answered = completing & !self.messages.busy.val();
        let completed = self.messages.response.val();
        let fails_late = (step == Step::Pick) & answered & completed.found;
        let same_qp = picked.qp == held.qp;
        let same = (picked.kind == JobKind::Sack) & same_qp;
        let heeds = same_qp
            & ((picked.kind == JobKind::Sack)
                | (picked.kind == JobKind::Transmit)
                | (picked.kind == JobKind::Wake));
        let offered = self.pick.pick_valid.val() & !self.hold.val();
        let follows = offered & same & self.follows.val();
        let take = ((step == Step::Pick) & offered & (!completing | heeds) & !fails_late) | follows;
        self.pick.take.next = take;
        let control_goes = take
            & ((picked.kind == JobKind::Sack)
                | (picked.kind == JobKind::Nack)
                | (picked.kind == JobKind::Ack));
        self.control_ready.next = control_goes;
        self.control_seen.d.next = self.control_valid.val() & sending & !control_goes;
        let other_qp = control.qp != self.transmit.sending_qp.val();
        self.control_early.d.next =
            other_qp | names_only_before(control.seth, self.transmit.sending_from.val());
        self.due_ready.next = take & (picked.kind == JobKind::Timer);
        self.fault_ready.next = take & (picked.kind == JobKind::Fault);
        self.flush_ready.next = take & (picked.kind == JobKind::Flush);
        self.doorbell_ready.next = take & (picked.kind == JobKind::Doorbell);
        self.wake_ready.next = take & (picked.kind == JobKind::Wake);

        // The rows of the queue pair stay on the read ports from the clock after the pick.
        let row = if (step == Step::Pick) & !completing {
            picked.qp.get_bits::<Q>(0)
        } else {
            held.qp.get_bits::<Q>(0)
        };
        self.configs.read_address.next = row;
        self.states.read_address.next = row;
        let configures_requester =
            (held.kind == JobKind::Configure) & (held.configure == ConfigureKind::Requester);
        let job = Job {
            settings: if configures_requester {
                self.settings.val()
            } else {
                self.configs.read_data.val()
            },
            state: self.states.read_data.val(),
            ..held
        };
        self.sack.follows.next = follows;
        self.sack.next_control.next = control;
        self.transmit.job.next = job;
        self.sack.job.next = job;
        self.loss.job.next = job;
        self.rc.job.next = job;
        self.manage.job.next = job;

        // start
        let transmits = (held.kind == JobKind::Transmit) | (held.kind == JobKind::Retract);
        let wakes = held.kind == JobKind::Wake;
        let is_timer = held.kind == JobKind::Timer;
        let is_ack = held.kind == JobKind::Ack;
        let is_sack = held.kind == JobKind::Sack;
        let is_nack = held.kind == JobKind::Nack;
        let arrives = is_ack | is_sack | is_nack | is_timer;
        let manages = !(transmits | arrives | wakes);
        let rc = job.settings.rc;
        let sacks = is_sack & !rc;
        let loses = (is_nack | is_timer) & !rc;
        let answers = (is_ack | is_timer) & rc;
        // The window may still take note of what the operation before sent.
        let starts = (step == Step::Start) & !self.window.busy.val();
        // A queue pair has no use for answers of the other transport, and in error for none at all. Its message table still takes doorbells,
        // to flush them.
        let taken = sacks | loses | answers;
        let ignored = (arrives & !taken) | (job.state.failed & (arrives | wakes));
        self.transmit.start.next = starts & transmits;
        self.sack.start.next = starts & sacks & !ignored;
        self.loss.start.next = starts & loses & !ignored;
        self.rc.start.next = starts & answers & !ignored;
        // write_back
        let through = self.transmit.done.val()
            | self.sack.done.val()
            | self.loss.done.val()
            | self.rc.done.val();
        let managed = self.manage.done.val();
        let outcome = if transmits {
            self.transmit.outcome.val()
        } else if sacks {
            self.sack.outcome.val()
        } else if answers {
            self.rc.outcome.val()
        } else {
            self.loss.outcome.val()
        };
        let state = if managed {
            self.manage.state.val()
        } else {
            outcome.state
        };
        let goes_on = sacks & (outcome.then == Next::Completing);
        let finishes = through & (outcome.then != Next::Nothing) & !goes_on;
        self.manage.start.next = (starts & manages) | finishes | fails_late;
        self.manage.ends.next = finishes | fails_late;
        self.manage.came_to.next = if fails_late {
            Outcome {
                state: job.state,
                then: Next::Fail,
                blame: true,
                slot: completed.slot,
                status: completed.status,
                ..Outcome::default()
            }
        } else {
            outcome
        };
        self.manage.may_probe.next = self.may_probe.val();
        if through {
            self.completing.d.next = goes_on;
        } else if (step == Step::Pick) & answered {
            self.completing.d.next = false;
        }
        self.follows.next = self.sack.may_follow.val() & self.schedule_ready.val();
        let writes = through | managed;
        self.states.write_enable.next = writes;
        self.states.write_address.next = held.qp.get_bits::<Q>(0);
        self.states.write_data.next = state;
        self.configs.write_enable.next = managed & configures_requester;
        self.configs.write_address.next = held.qp.get_bits::<Q>(0);
        self.configs.write_data.next = self.settings.val();
        self.configure_ready.next = managed & (held.kind == JobKind::Configure);
        self.deadline_valid.next = writes;
        self.deadline_qp.next = held.qp;
        self.deadline_armed.next = state.armed;
        self.deadline.next = state.deadline;

        // report
        let sent = through & transmits;
        let served = sent & outcome.served;
        let parked = sent & !outcome.served & !outcome.told;
        let first_leaves = self.transmit.first_leaves.val();
        let first_port = self.transmit.sending_port.val();
        self.served.next = pair(
            (served & !held.port) | (first_leaves & !first_port),
            (served & held.port) | (first_leaves & first_port),
        );
        self.parked.next = pair(parked & !held.port, parked & held.port);
        let hears = if managed {
            (arrives | self.manage.wakes.val()) & !state.failed
        } else {
            (through & !transmits & !finishes) | (starts & wakes & !ignored)
        };
        self.schedule_valid.next = hears | (step == Step::Wake);
        self.schedule_page.next = job.settings.page;
        self.schedule_qp.next = held.qp;
        self.tx_valid.next = self.transmit.tx_valid.val();
        self.tx.next = self.transmit.tx.val();
        self.good_valid.next = self.sack.good_valid.val();
        self.good.next = self.sack.good.val();
        self.failed.next = self.manage.failed.val();
        self.failed_status.next = self.manage.failed_status.val();
        self.event_qp.next = held.qp;
        self.refused.next = self.manage.refused.val();
        self.counted.next = if transmits {
            self.transmit.counted.val()
        } else if sacks {
            self.sack.counted.val()
        } else if answers {
            self.rc.counted.val()
        } else {
            self.loss.counted.val()
        };
        let counted_sent = self.transmit.counted.val();
        self.counted.next.packet = counted_sent.packet;
        self.counted.next.retransmission = counted_sent.retransmission;
        self.counted.next.sent_qp = counted_sent.sent_qp;

        // next_step
        let after_hearing = if self.schedule_ready.val() {
            Step::Pick
        } else {
            Step::Wake
        };
        match step {
            Step::Pick => {
                if take {
                    self.job.d.next = picked;
                    self.step.d.next = Step::Start;
                } else if fails_late {
                    self.step.d.next = Step::Manage;
                }
            }
            Step::Start | Step::Work => {
                if follows {
                    self.job.d.next = picked;
                    self.step.d.next = Step::Work;
                } else if finishes | (starts & manages) {
                    self.step.d.next = Step::Manage;
                } else if hears {
                    self.step.d.next = after_hearing;
                } else if through | (starts & ignored) {
                    self.step.d.next = Step::Pick;
                } else if starts {
                    self.step.d.next = Step::Work;
                }
            }
            Step::Manage => {
                if managed {
                    self.step.d.next = if hears { after_hearing } else { Step::Pick };
                }
            }
            Step::Wake => self.step.d.next = after_hearing,
        }

        // Calls: only the flow of the operation makes any, and path news, which whoever asks the spray engine waits for.
        let asked_spray = self.spray.busy.val() | self.transmit.draws.val();
        let spray_busy = asked_spray | self.path_news.waits.val();
        self.path_news.in_valid.next = self.sack.news_valid.val();
        self.path_news.in_news.next = self.sack.news.val();
        self.sack.news_ready.next = self.path_news.in_ready.val();
        self.path_news.spray_busy.next = asked_spray;
        self.spray.start.next = self.transmit.spray_start.val()
            | self.path_news.spray_start.val()
            | self.loss.spray_start.val()
            | self.manage.spray_start.val();
        self.spray.request.next = if self.transmit.spray_start.val() {
            self.transmit.spray_request.val()
        } else if self.path_news.spray_start.val() {
            self.path_news.spray_request.val()
        } else if self.loss.spray_start.val() {
            self.loss.spray_request.val()
        } else {
            self.manage.spray_request.val()
        };
        self.transmit.spray_busy.next = spray_busy;
        self.loss.spray_busy.next = spray_busy;
        self.manage.spray_busy.next = spray_busy;
        self.transmit.spray.next = self.spray.response.val();
        self.spray_valid.next = self.spray.server_valid.val();
        self.spray_request.next = self.spray.server_request.val();
        self.spray.server_ready.next = self.spray_ready.val();
        self.spray.answer_valid.next = self.sprayed_valid.val();
        self.spray.answer.next = self.sprayed.val();
        let asks_nscc = self.transmit.nscc_start.val()
            | self.sack.nscc_start.val()
            | self.loss.nscc_start.val()
            | self.manage.nscc_start.val();
        self.nscc.start.next = asks_nscc;
        self.nscc.request.next = if self.transmit.nscc_start.val() {
            self.transmit.nscc_request.val()
        } else if self.sack.nscc_start.val() {
            self.sack.nscc_request.val()
        } else if self.loss.nscc_start.val() {
            self.loss.nscc_request.val()
        } else {
            self.manage.nscc_request.val()
        };
        if asks_nscc {
            self.nscc_asked.d.next = true;
            self.nscc_qp.d.next = held.qp;
        }
        self.transmit.nscc_said.next = self.nscc_asked.q.val() & (self.nscc_qp.q.val() == held.qp);
        self.transmit.nscc_busy.next = self.nscc.busy.val();
        self.sack.nscc_busy.next = self.nscc.busy.val();
        self.loss.nscc_busy.next = self.nscc.busy.val();
        self.manage.nscc_busy.next = self.nscc.busy.val();
        self.transmit.nscc.next = self.nscc.response.val();
        self.nscc_valid.next = self.nscc.server_valid.val();
        self.nscc_request.next = self.nscc.server_request.val();
        self.nscc.server_ready.next = self.nscc_ready.val();
        self.nscc.answer_valid.next = self.nscc_answer_valid.val();
        self.nscc.answer.next = self.nscc_answer.val();
        self.window.start.next = self.transmit.window_start.val()
            | self.sack.window_start.val()
            | self.loss.window_start.val()
            | self.manage.window_start.val();
        self.window.request.next = if self.transmit.window_start.val() {
            self.transmit.window_request.val()
        } else if self.sack.window_start.val() {
            self.sack.window_request.val()
        } else if self.loss.window_start.val() {
            self.loss.window_request.val()
        } else {
            self.manage.window_request.val()
        };
        self.transmit.window_busy.next = self.window.busy.val();
        self.sack.window_busy.next = self.window.busy.val();
        self.loss.window_busy.next = self.window.busy.val();
        self.manage.window_busy.next = self.window.busy.val();
        self.transmit.window.next = self.window.response.val();
        self.sack.window.next = self.window.response.val();
        self.loss.window.next = self.window.response.val();
        self.window_valid.next = self.window.server_valid.val();
        self.window_request.next = self.window.server_request.val();
        self.window.server_ready.next = self.window_ready.val();
        self.window.answer_valid.next = self.window_answer_valid.val();
        self.window.answer.next = self.window_answer.val();
        self.messages.start.next = self.transmit.messages_start.val()
            | self.sack.messages_start.val()
            | self.manage.messages_start.val();
        self.messages.request.next = if self.transmit.messages_start.val() {
            self.transmit.messages_request.val()
        } else if self.sack.messages_start.val() {
            self.sack.messages_request.val()
        } else {
            self.manage.messages_request.val()
        };
        self.sack.completing.next = completing;
        self.transmit.completing.next = completing;
        self.sack.messages_busy.next = self.messages.busy.val();
        self.sack.messages.next = self.messages.response.val();
        self.transmit.messages_busy.next = self.messages.busy.val();
        self.manage.messages_busy.next = self.messages.busy.val();
        self.transmit.messages.next = self.messages.response.val();
        self.manage.messages.next = self.messages.response.val();
        self.messages_valid.next = self.messages.server_valid.val();
        self.messages_request.next = self.messages.server_request.val();
        self.messages.server_ready.next = self.messages_ready.val();
        self.messages.answer_valid.next = self.messages_answer_valid.val();
        self.messages.answer.next = self.messages_answer.val();
        self.transmit.sprayed_valid.next = self.sprayed_valid.val();
        self.transmit.sprayed.next = self.sprayed.val();
        self.push_valid.next = self.transmit.push_valid.val();
        self.push.next = self.transmit.push.val();
        self.locate_valid.next = self.transmit.locate_valid.val();
        self.locate_request.next = self.transmit.locate.val();
        self.transmit.locate_ready.next = self.locate_ready.val();
        self.transmit.located_valid.next = self.located_valid.val();
        self.transmit.located.next = self.located.val();

        if self.reset.val() {
            self.control_seen.d.next = false;
            self.completing.d.next = false;
            self.nscc_asked.d.next = false;
            self.step.d.next = Step::Pick;
        }
    }
}
