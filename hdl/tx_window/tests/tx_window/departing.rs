//! Packets that wait for their ports.

use std::collections::VecDeque;

use hdl_testkit::Dut;
use rust_hdl::prelude::*;
use stellar_transport::requester::Sent;
use stellar_transport::rx::Psn;
use stellar_wire::hw::window::Departure;

/// Packets that have been sent and have not departed: their records and times.
#[derive(Default)]
pub struct Departing(VecDeque<(u8, Departure, u32)>);

impl Departing {
    /// A packet, whose record is in `block`, is on its way to the port of its plane.
    pub fn begin(&mut self, block: u64, psn: Psn, sent: &Sent) {
        let departure = Departure {
            odd: false,
            block: block.to_bits(),
            slot: u64::from(psn.value() % 32).to_bits(),
        };
        self.0.push_back((sent.plane, departure, sent.departed.0));
    }

    pub fn any(&self) -> bool {
        !self.0.is_empty()
    }

    /// Drives the inputs of a cycle, in which the next packet departs if `now`.
    pub fn drive(&mut self, dut: &mut Dut, now: bool) {
        let next = if now { self.0.pop_front() } else { None };
        for port in 0..2 {
            let departs = next.is_some_and(|(plane, ..)| plane == port);
            dut.set(&format!("departs{port}_valid"), departs.into());
        }
        if let Some((plane, departure, at)) = next {
            dut.set_record(&format!("departs{plane}"), departure);
            dut.set("now", at.into());
        }
    }
}
