//! Looks for packets that a SACK shows to be lost (reference: `MrcRequester::on_sack`).

use hdl_macros::hdl;
use rust_hdl::prelude::*;
use stellar_wire::hw::window::{SentPacket, WindowOp, WindowRequest, WindowResponse};
use stellar_wire::hw::Psn;

use crate::bundles::UnitSrc;
use crate::delay_estimate::REORDERING_BITS;
use crate::early_loss::{early_loss, missing, Missing};
use crate::records::Op;

/// Step of the search.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum Step {
    Idle,
    /// Requests the next packet in flight.
    FindInFlight,
    /// Checks whether it is lost.
    CheckEarlyLoss,
    /// The window marks it lost.
    MarkLost,
    /// Reports the loss to congestion control, once that is free.
    ReportLossToCc,
}

/// Marks the packets in flight lost that the SACK `op.control` shows to be missing, lowest PSN first, and reports each loss to congestion control. It ends at the first packet that was sent once and is not
/// old enough: those behind it left later.
#[derive(LogicBlock, Default)]
pub struct EarlyLossSearch {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    pub op: Signal<In, Op>,
    /// Send time of the packet or probe that caused the SACK. A packet overtakes another one by less than `reordering`. Stable from two cycles before `start` on.
    pub at: Signal<In, Bits<32>>,
    pub reordering: Signal<In, Bits<REORDERING_BITS>>,
    /// Starts at the PSN `first`.
    pub start: Signal<In, Bit>,
    pub first: Signal<In, Psn>,
    pub in_progress: Signal<Out, Bit>,
    pub done: Signal<Out, Bit>,
    /// The response of the window is a packet to check. High for one cycle: it is lost.
    pub checks: Signal<Out, Bit>,
    pub finds: Signal<Out, Bit>,

    /// A burst of the queue pair is sent in the background, from this PSN on. The records of its packets are not written yet.
    pub burst_active: Signal<In, Bit>,
    pub burst_first_psn: Signal<In, Psn>,

    // Functional units.
    pub window: UnitSrc<WindowRequest, WindowResponse>,
    /// Congestion control is free. High for one cycle: it gets the report that `lost` is lost.
    pub nscc_free: Signal<In, Bit>,
    pub reports: Signal<Out, Bit>,
    pub lost: Signal<Out, SentPacket>,

    step: DFF<Step>,
    missing: DFF<Missing>,
    /// What was sent after this is not lost, however late it is.
    horizon: DFF<Bits<32>>,
    /// The burst when a packet was requested.
    beside_burst: DFF<Bit>,
    burst_first: DFF<Psn>,
    /// First PSN that has not been checked.
    from: DFF<Psn>,
    candidate: DFF<SentPacket>,
}

impl Logic for EarlyLossSearch {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            step,
            missing,
            horizon,
            beside_burst,
            burst_first
        );
        dff_setup!(self, clock, from, candidate);
        let op = self.op.val();
        let step = self.step.q.val();
        let window = self.window.response.val();
        self.horizon.d.next =
            self.at.val() - bit_cast::<32, REORDERING_BITS>(self.reordering.val());
        self.missing.d.next = missing(op.control.seth, op.settings.early_loss);
        let found = early_loss(
            window,
            self.missing.q.val(),
            self.horizon.q.val(),
            self.beside_burst.q.val(),
            self.burst_first.q.val(),
        );

        self.window.start.next = false;
        self.window.request.next = WindowRequest {
            op: if step == Step::FindInFlight {
                WindowOp::NextInFlight
            } else {
                WindowOp::MarkLost
            },
            qp: op.qp,
            psn: if step == Step::FindInFlight {
                self.from.q.val()
            } else {
                window.psn
            },
            sent: window.sent,
            ..WindowRequest::default()
        };
        self.in_progress.next = step != Step::Idle;
        self.checks.next = step == Step::CheckEarlyLoss;
        self.lost.next = self.candidate.q.val();
        self.done.next = false;
        self.finds.next = false;
        self.reports.next = false;

        match step {
            Step::Idle => {
                self.from.d.next = self.first.val();
                if self.start.val() {
                    self.step.d.next = Step::FindInFlight;
                }
            }
            Step::FindInFlight => {
                self.beside_burst.d.next = self.burst_active.val();
                self.burst_first.d.next = self.burst_first_psn.val();
                self.window.start.next = true;
                self.step.d.next = Step::CheckEarlyLoss;
            }
            Step::CheckEarlyLoss => {
                self.candidate.d.next = window.sent;
                self.from.d.next = window.psn + 1;
                if !self.window.busy.val() {
                    if found.is_lost {
                        self.window.start.next = true;
                        self.finds.next = true;
                        self.step.d.next = Step::MarkLost;
                    } else if found.skips {
                        // Nothing between this packet and the bitmap is told.
                        self.from.d.next = self.missing.q.val().base;
                        self.step.d.next = Step::FindInFlight;
                    } else if found.goes_on {
                        self.step.d.next = Step::FindInFlight;
                    } else {
                        self.done.next = true;
                        self.step.d.next = Step::Idle;
                    }
                }
            }
            Step::MarkLost => {
                if !self.window.busy.val() {
                    self.step.d.next = Step::ReportLossToCc;
                }
            }
            Step::ReportLossToCc => {
                if self.nscc_free.val() {
                    self.reports.next = true;
                    self.step.d.next = Step::FindInFlight;
                }
            }
        }
        if self.reset.val() {
            self.step.d.next = Step::Idle;
        }
    }
}
