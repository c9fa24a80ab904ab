//! What has left of a burst.

use hdl_macros::hdl;
use rust_hdl::prelude::*;
use stellar_wire::hw::Psn;

/// Adds up what changes the state of an RC queue pair when its burst ends.
#[derive(LogicBlock, Default)]
pub struct BurstSums {
    pub clock: Signal<In, Clock>,

    /// A burst begins, whose first packet is `first_psn`; `since_before` packets have left since the last one that requested an acknowledgement.
    pub begins: Signal<In, Bit>,
    pub first_psn: Signal<In, Psn>,
    pub since_before: Signal<In, Bits<16>>,
    /// The packet `psn` leaves; it requests an acknowledgement. Only `leaves` comes late.
    pub leaves: Signal<In, Bit>,
    pub psn: Signal<In, Psn>,
    pub ack_req: Signal<In, Bit>,
    /// A payload of the burst cannot be read. Otherwise the packet `psn` leaves with the end of the burst.
    pub faulty: Signal<In, Bit>,

    /// `since_before` and the packets that have left, with the next one.
    pub with_this: Signal<Out, Bits<16>>,
    // Of the whole burst: valid when the last packet leaves, or with `faulty` a cycle later.
    /// A packet has left.
    pub any: Signal<Out, Bit>,
    /// PSN after the last packet that has left, and number of packets since the last one that requested an acknowledgement.
    pub next_psn: Signal<Out, Psn>,
    pub pkts_since_ack_req: Signal<Out, Bits<16>>,
    /// A packet that has left requests an acknowledgement; the PSN of the first one.
    pub asks: Signal<Out, Bit>,
    pub asking_psn: Signal<Out, Psn>,

    any_left: DFF<Bit>,
    psn_after: DFF<Psn>,
    since_ack_req: DFF<Bits<16>>,
    asked: DFF<Bit>,
    asked_psn: DFF<Psn>,
}

impl Logic for BurstSums {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            any_left,
            psn_after,
            since_ack_req,
            asked,
            asked_psn
        );
        let psn = self.psn.val();
        let ack_req = self.ack_req.val();
        let leaves = self.leaves.val();
        let faulty = self.faulty.val();
        let with_this = self.since_ack_req.q.val() + 1;
        let psn_behind = psn + 1;
        let since_leaving = if ack_req { bits::<16>(0) } else { with_this };
        if leaves {
            self.any_left.d.next = true;
            self.psn_after.d.next = psn_behind;
            self.since_ack_req.d.next = since_leaving;
        }
        // The PSN does not wait for whether the packet leaves.
        let asked = self.asked.q.val();
        let asks = asked | (leaves & ack_req);
        let asking_psn = if asked { self.asked_psn.q.val() } else { psn };
        self.asked.d.next = asks;
        self.asked_psn.d.next = asking_psn;

        self.with_this.next = with_this;
        self.any.next = !faulty | self.any_left.q.val();
        self.next_psn.next = if faulty {
            self.psn_after.q.val()
        } else {
            psn_behind
        };
        self.pkts_since_ack_req.next = if faulty {
            self.since_ack_req.q.val()
        } else {
            since_leaving
        };
        self.asks.next = asks;
        self.asking_psn.next = asking_psn;

        if self.begins.val() {
            self.any_left.d.next = false;
            self.psn_after.d.next = self.first_psn.val();
            self.since_ack_req.d.next = self.since_before.val();
            self.asked.d.next = false;
        }
    }
}
