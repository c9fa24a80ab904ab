//! Transmissions of a rig, alone and beside other operations.

use stellar_wire::hw::pack::to_words;
use stellar_wire::hw::requester::ControlPacket;

use crate::core::rig::{Observed, Rig, TIMEOUT_CYCLES};

impl Rig {
    pub fn transmit(&mut self, qp: u32, port: u8, now: u32) -> Observed {
        self.dut.set("now", now.into());
        self.dut.set(&format!("head{port}_qp"), qp.into());
        self.dut.set("head_valid", 1 << port);
        self.transmit_until(|observed| observed.rotated || observed.deactivated)
    }

    /// Runs with the heads that are offered until `is_done`, and takes them back.
    fn transmit_until(&mut self, is_done: impl Fn(&Observed) -> bool) -> Observed {
        self.observed = Observed::default();
        while !is_done(&self.observed) {
            assert!(
                self.observed.cycles < TIMEOUT_CYCLES,
                "a transmission does not end"
            );
            self.clock();
        }
        self.dut.set("head_valid", 0);
        self.finish();
        std::mem::take(&mut self.observed)
    }

    /// Executes a transmission, with a control packet right after its start.
    pub fn transmit_and_control(
        &mut self,
        qp: u32,
        port: u8,
        packet: ControlPacket,
        now: u32,
    ) -> Observed {
        self.dut.set_words("control", &to_words(packet));
        self.transmit_and(qp, port, ["control_valid", "control_ready"], now)
    }

    /// Executes a transmission, with a doorbell of the same queue pair right after its start.
    pub fn transmit_and_doorbell(
        &mut self,
        qp: u32,
        port: u8,
        producer: u16,
        now: u32,
    ) -> Observed {
        self.set_doorbell(qp, producer, None);
        self.transmit_and(qp, port, ["doorbell_valid", "doorbell_ready"], now)
    }

    /// Executes a transmission, and offers the operation of these ports right after its start.
    fn transmit_and(&mut self, qp: u32, port: u8, [valid, ready]: [&str; 2], now: u32) -> Observed {
        self.dut.set("now", now.into());
        self.dut.set(&format!("head{port}_qp"), qp.into());
        self.dut.set("head_valid", 1 << port);
        self.observed = Observed::default();
        self.clock();
        self.dut.set(valid, 1);
        let mut waits = true;
        while waits || !(self.observed.rotated || self.observed.deactivated) {
            assert!(
                self.observed.cycles < TIMEOUT_CYCLES,
                "one of the two does not end"
            );
            if self.clock_with(Some(ready)) && waits {
                waits = false;
                self.observed.before_other = self.observed.tx.len();
                self.dut.set(valid, 0);
            }
            if self.observed.rotated || self.observed.deactivated {
                self.dut.set("head_valid", 0);
            }
        }
        self.finish();
        std::mem::take(&mut self.observed)
    }

    /// Executes a transmission on `port`, control packets that follow each other right after its start, and a transmission on the other port.
    pub fn transmit_around_controls(
        &mut self,
        qp: u32,
        port: u8,
        packets: Vec<ControlPacket>,
        now: u32,
    ) -> Observed {
        self.dut.set("now", now.into());
        self.dut.set("head0_qp", qp.into());
        self.dut.set("head1_qp", qp.into());
        self.observed = Observed::default();
        self.ports_done = 0;
        let mut fronts = 1 << port;
        self.clock_with_heads(&mut fronts, None);
        for packet in packets {
            self.dut.set_words("control", &to_words(packet));
            self.dut.set("control_valid", 1);
            while !self.clock_with_heads(&mut fronts, Some("control_ready")) {}
        }
        self.dut.set("control_valid", 0);
        fronts |= 2 >> port;
        while fronts != 0 {
            self.clock_with_heads(&mut fronts, None);
        }
        self.dut.set("head_valid", 0);
        self.finish();
        std::mem::take(&mut self.observed)
    }

    /// Runs one cycle with heads at the ports `fronts`, and removes those that were rotated or deactivated. Returns whether `ready` was high.
    fn clock_with_heads(&mut self, fronts: &mut u64, ready: Option<&str>) -> bool {
        assert!(
            self.observed.cycles < TIMEOUT_CYCLES,
            "a transmission does not end"
        );
        self.dut.set("head_valid", *fronts);
        let taken = self.clock_with(ready);
        *fronts &= !self.ports_done;
        self.ports_done = 0;
        taken
    }

    /// Executes control packets that follow each other without a gap, then transmissions on both ports.
    pub fn controls_and_transmits(
        &mut self,
        qp: u32,
        packets: Vec<ControlPacket>,
        now: u32,
    ) -> Observed {
        self.dut.set("now", now.into());
        self.observed = Observed::default();
        self.dut
            .set("control_valid", u64::from(!packets.is_empty()));
        for packet in packets {
            self.dut.set_words("control", &to_words(packet));
            self.wait("control_ready");
        }
        self.dut.set("control_valid", 0);
        self.dut.set("head0_qp", qp.into());
        self.dut.set("head1_qp", qp.into());
        self.ports_done = 0;
        let mut fronts = 3;
        while fronts != 0 {
            self.clock_with_heads(&mut fronts, None);
        }
        self.dut.set("head_valid", 0);
        self.finish();
        std::mem::take(&mut self.observed)
    }

    /// Executes `count` transmissions of a queue pair that is the head at both ports.
    pub fn transmit_on_both(&mut self, qp: u32, count: usize, now: u32) -> Observed {
        self.dut.set("now", now.into());
        self.dut.set("head0_qp", qp.into());
        self.dut.set("head1_qp", qp.into());
        self.dut.set("head_valid", 3);
        self.transmit_until(|observed| observed.ports.len() >= count)
    }
}
