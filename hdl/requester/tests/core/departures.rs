//! Packets that wait for their ports, and depart.

use hdl_testkit::Dut;
use rust_hdl::prelude::*;
use stellar_transport::rx::Psn;
use stellar_wire::hw::pack::{to_words, Record};
use stellar_wire::hw::requester::TxRequest;
use stellar_wire::hw::window::Departure;
use stellar_wire::Opcode;

use crate::core::lockstep::Bench;
use crate::core::rig::Rig;

/// A packet in front of its port.
#[derive(Clone, Copy)]
pub struct Departing {
    qp: usize,
    port: u8,
    psn: u32,
    block: u64,
}

impl Departing {
    /// The packet of a `TxRequest`, unless no window has its record.
    pub fn of(request: &Record<'_, TxRequest>) -> Option<Self> {
        let opcode = Opcode::from_code(request.u64("opcode") as u8)?;
        opcode.is_mrc_data().then(|| Self {
            qp: request.u64("qp") as usize,
            port: request.u64("port") as u8,
            psn: request.u64("psn") as u32,
            block: request.u64("block"),
        })
    }

    /// Drives the ports of the cycle in which packets depart.
    pub fn drive_all(departing: &mut Vec<Self>, dut: &mut Dut) {
        dut.set("departs0_valid", 0);
        dut.set("departs1_valid", 0);
        for packet in departing.drain(..) {
            packet.drive(dut);
        }
    }

    fn drive(self, dut: &mut Dut) {
        let departure = Departure {
            odd: self.qp & 1 == 1,
            block: self.block.to_bits(),
            slot: u64::from(self.psn % 32).to_bits(),
        };
        let port = format!("departs{}", self.port);
        dut.set_words(&port, &to_words(departure));
        dut.set(&format!("{port}_valid"), 1);
    }
}

impl Rig {
    /// The packets that were sent in the last cycle depart, unless they wait.
    pub fn let_depart(&mut self) {
        let mut none = vec![];
        let departing = if self.holds_departures {
            &mut none
        } else {
            &mut self.departing
        };
        Departing::drive_all(departing, &mut self.dut);
    }
}

impl Bench {
    /// All packets that wait depart now.
    pub fn depart(&mut self) {
        let waiting = std::mem::take(&mut self.rig.departing);
        if waiting.is_empty() {
            return;
        }
        let holds = std::mem::take(&mut self.rig.holds_departures);
        self.rig.dut.set("now", self.now.0.into());
        for packet in waiting {
            self.rig.departing = vec![packet];
            self.rig.clock();
            let (psn, now) = (Psn::new(packet.psn), self.now);
            self.reference(packet.qp, |reference, _| {
                reference.departed(psn, packet.port, now);
            });
        }
        self.rig.holds_departures = holds;
    }
}
