//! Asks congestion control for the window of a queue pair during a transmission.

use hdl_macros::hdl;
use rust_hdl::prelude::*;
use stellar_wire::hw::congestion::{NsccOp, NsccRequest, WindowChange};

use crate::bundles::CallSrc;
use crate::records::Op;

/// Queries the congestion window of `op.qp` as soon as congestion control is free, and changes it on request. RC has none. There is no query if the request in progress, or
/// the last one, was about this queue pair: its response is the window.
///
/// Levels: 1.
#[derive(LogicBlock, Default)]
pub struct CwndQuery {
    pub clock: Signal<In, Clock>,

    /// The operation starts; it is in progress.
    pub start: Signal<In, Bit>,
    pub in_progress: Signal<In, Bit>,
    pub op: Signal<In, Op>,
    /// Changes the window as the path policy tells. Only while `known`.
    pub changes: Signal<In, Bit>,
    pub change: Signal<In, WindowChange>,
    /// The response of congestion control is the window, or there is none to ask for.
    pub known: Signal<Out, Bit>,

    pub nscc: CallSrc<NsccRequest>,
    /// The request in progress, or the last one, was about this queue pair.
    pub cached: Signal<In, Bit>,

    asked: DFF<Bit>,
}

impl Logic for CwndQuery {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, asked);
        let op = self.op.val();
        let asked = self.asked.q.val();
        let cached = self.cached.val();
        let busy = self.nscc.busy.val();
        let asks = !self.start.val() & self.in_progress.val() & !asked;
        if self.start.val() {
            self.asked.d.next = op.settings.rc;
        } else if asks {
            self.asked.d.next = cached | !busy;
        }
        self.known.next = op.settings.rc | (asked & !busy);
        self.nscc.start.next = (asks & !cached & !busy) | self.changes.val();
        self.nscc.request.next = NsccRequest {
            op: if asked { NsccOp::Change } else { NsccOp::Query },
            qp: op.qp,
            now: op.now,
            change: self.change.val(),
            ..NsccRequest::default()
        };
    }
}
