//! Gives the functional units to the flow of the operation in progress.

use hdl_macros::{clock_reset, hdl, join};
use hdl_primitives::{FlowSnk, Snk, Src};
use rust_hdl::prelude::*;
use stellar_wire::hw::congestion::{NsccRequest, NsccResponse};
use stellar_wire::hw::messages::{MessageRequest, MessageResponse};
use stellar_wire::hw::spray::{SprayRequest, SprayResponse};
use stellar_wire::hw::window::{WindowRequest, WindowResponse};
use stellar_wire::hw::Qpn;

use crate::bundles::{CallSnk, UnitSnk};
use crate::op_route::ActiveFlow;
use crate::spray_feedback_fifo::SprayFeedbackFifo;
use crate::unit_client::UnitClient;

/// Clients of the four functional units, which the flows share. Only the flow of the operation issues requests, and to the spray engine also the FIFO of path feedback. A flow that needs the
/// spray engine waits until the feedback has been processed. Whose request it is does not depend on `start`, which comes late. Levels: 2.
#[derive(LogicBlock, Default)]
pub struct UnitAccess {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    /// The flow that may issue requests.
    pub active: Signal<In, ActiveFlow>,
    /// Queue pair of the operation.
    pub qp: Signal<In, Qpn>,

    // Flows.
    pub transmit_spray: UnitSnk<SprayRequest, SprayResponse>,
    pub transmit_nscc: UnitSnk<NsccRequest, NsccResponse>,
    pub transmit_window: UnitSnk<WindowRequest, WindowResponse>,
    pub transmit_messages: UnitSnk<MessageRequest, MessageResponse>,
    pub sack_nscc: CallSnk<NsccRequest>,
    pub sack_window: UnitSnk<WindowRequest, WindowResponse>,
    pub sack_messages: UnitSnk<MessageRequest, MessageResponse>,
    pub loss_spray: UnitSnk<SprayRequest, SprayResponse>,
    pub loss_nscc: CallSnk<NsccRequest>,
    pub loss_window: UnitSnk<WindowRequest, WindowResponse>,
    pub admin_spray: UnitSnk<SprayRequest, SprayResponse>,
    pub admin_nscc: CallSnk<NsccRequest>,
    pub admin_window: CallSnk<WindowRequest>,
    pub admin_messages: UnitSnk<MessageRequest, MessageResponse>,
    /// Path feedback.
    pub feedback: Snk<SprayRequest>,

    // The transmit flow's paths: see there.
    pub paths_pending: Signal<In, Bit>,
    pub paths_follow: Signal<In, Bit>,
    pub spray_asked: Signal<Out, Bit>,
    pub spray_frees: Signal<Out, Bit>,
    /// The last request to congestion control was about `qp`, so the transmit flow has its window.
    pub cwnd_cached: Signal<Out, Bit>,

    // Functional units.
    pub spray_request: Src<SprayRequest>,
    pub spray_response: FlowSnk<SprayResponse>,
    pub nscc_request: Src<NsccRequest>,
    pub nscc_response: FlowSnk<NsccResponse>,
    pub window_request: Src<WindowRequest>,
    pub window_response: FlowSnk<WindowResponse>,
    pub messages_request: Src<MessageRequest>,
    pub messages_response: FlowSnk<MessageResponse>,

    spray_feedback_fifo: SprayFeedbackFifo,
    spray: UnitClient<SprayRequest, SprayResponse>,
    nscc: UnitClient<NsccRequest, NsccResponse>,
    window: UnitClient<WindowRequest, WindowResponse>,
    messages: UnitClient<MessageRequest, MessageResponse>,
    /// The last request to congestion control was about this queue pair, so the unit's client holds its window.
    cwnd_cache_valid: DFF<Bit>,
    cwnd_cache_qp: DFF<Qpn>,
}

impl Logic for UnitAccess {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, cwnd_cache_valid, cwnd_cache_qp);
        clock_reset!(self, spray, nscc, window, messages, spray_feedback_fifo);
        let active = self.active.val();
        assert!(
            active.transmit
                | !(self.transmit_spray.start.val()
                    | self.transmit_nscc.start.val()
                    | self.transmit_window.start.val()
                    | self.transmit_messages.start.val()),
            "the transmit flow issues a request in another operation"
        );
        assert!(
            active.sack
                | !(self.sack_nscc.start.val()
                    | self.sack_window.start.val()
                    | self.sack_messages.start.val()),
            "the SACK flow issues a request in another operation"
        );
        assert!(
            active.loss
                | !(self.loss_spray.start.val()
                    | self.loss_nscc.start.val()
                    | self.loss_window.start.val()),
            "the loss flow issues a request in another operation"
        );
        assert!(
            !(active.transmit | active.sack | active.loss)
                | !(self.admin_spray.start.val()
                    | self.admin_nscc.start.val()
                    | self.admin_window.start.val()
                    | self.admin_messages.start.val()),
            "the administrative flow issues a request in the operation of another flow"
        );

        // spray engine
        let feedback_pending = self.spray_feedback_fifo.pending.val();
        assert!(
            !feedback_pending
                | !(self.transmit_spray.start.val()
                    | self.loss_spray.start.val()
                    | self.admin_spray.start.val()),
            "a flow issues a request to the spray engine before the feedback is processed"
        );
        let spray_in_use = self.spray.busy.val() | self.paths_pending.val();
        let spray_busy = spray_in_use | feedback_pending;
        let spray_responds = self.spray_response.valid.val();
        self.spray_feedback_fifo.spray.busy.next = spray_in_use;
        self.spray.start.next = self.transmit_spray.start.val()
            | self.spray_feedback_fifo.spray.start.val()
            | self.loss_spray.start.val()
            | self.admin_spray.start.val();
        self.spray.request.next = if feedback_pending {
            self.spray_feedback_fifo.spray.request.val()
        } else if active.transmit {
            self.transmit_spray.request.val()
        } else if active.loss {
            self.loss_spray.request.val()
        } else {
            self.admin_spray.request.val()
        };
        self.transmit_spray.busy.next = spray_busy;
        self.loss_spray.busy.next = spray_busy;
        self.admin_spray.busy.next = spray_busy;
        self.spray_frees.next = !(self.spray.busy.val() & !spray_responds)
            & !self.paths_follow.val()
            & !feedback_pending;
        join!(
            self,
            feedback => spray_feedback_fifo.feedback,
            spray.busy => spray_asked,
            spray.response => transmit_spray.response,
            spray.response => loss_spray.response,
            spray.response => admin_spray.response,
            spray.unit_request => spray_request,
            spray_response => spray.unit_response,
        );

        // congestion control
        let uses_nscc = self.transmit_nscc.start.val()
            | self.sack_nscc.start.val()
            | self.loss_nscc.start.val()
            | self.admin_nscc.start.val();
        self.nscc.start.next = uses_nscc;
        self.nscc.request.next = if active.transmit {
            self.transmit_nscc.request.val()
        } else if active.sack {
            self.sack_nscc.request.val()
        } else if active.loss {
            self.loss_nscc.request.val()
        } else {
            self.admin_nscc.request.val()
        };
        if uses_nscc {
            self.cwnd_cache_valid.d.next = true;
            self.cwnd_cache_qp.d.next = self.qp.val();
        }
        self.cwnd_cached.next =
            self.cwnd_cache_valid.q.val() & (self.cwnd_cache_qp.q.val() == self.qp.val());
        join!(
            self,
            nscc.busy => transmit_nscc.busy,
            nscc.busy => sack_nscc.busy,
            nscc.busy => loss_nscc.busy,
            nscc.busy => admin_nscc.busy,
            nscc.response => transmit_nscc.response,
            nscc.unit_request => nscc_request,
            nscc_response => nscc.unit_response,
        );

        // transmit window
        self.window.start.next = self.transmit_window.start.val()
            | self.sack_window.start.val()
            | self.loss_window.start.val()
            | self.admin_window.start.val();
        self.window.request.next = if active.transmit {
            self.transmit_window.request.val()
        } else if active.sack {
            self.sack_window.request.val()
        } else if active.loss {
            self.loss_window.request.val()
        } else {
            self.admin_window.request.val()
        };
        join!(
            self,
            window.busy => transmit_window.busy,
            window.busy => sack_window.busy,
            window.busy => loss_window.busy,
            window.busy => admin_window.busy,
            window.response => transmit_window.response,
            window.response => sack_window.response,
            window.response => loss_window.response,
            window.unit_request => window_request,
            window_response => window.unit_response,
        );

        // message table
        self.messages.start.next = self.transmit_messages.start.val()
            | self.sack_messages.start.val()
            | self.admin_messages.start.val();
        self.messages.request.next = if active.transmit {
            self.transmit_messages.request.val()
        } else if active.sack {
            self.sack_messages.request.val()
        } else {
            self.admin_messages.request.val()
        };
        join!(
            self,
            messages.busy => transmit_messages.busy,
            messages.busy => sack_messages.busy,
            messages.busy => admin_messages.busy,
            messages.response => transmit_messages.response,
            messages.response => sack_messages.response,
            messages.response => admin_messages.response,
            messages.unit_request => messages_request,
            messages_response => messages.unit_response,
        );
        if self.reset.val() {
            self.cwnd_cache_valid.d.next = false;
        }
    }
}
