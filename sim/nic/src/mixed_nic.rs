//! Worlds of one Verilated card and one software reference.

use sim_net::Time;
use sim_world::pair::{RECEIVER, SENDER};
use sim_world::{
    CongestionState, HostMemory, Nic, Outgoing, PcieReads, PcieSettings, ReferenceNic, WorldError,
};
use stellar_transport::endpoint::{
    ConfigError, DoorbellError, EndpointConfig, QpConfig, TableWriteError,
};
use stellar_transport::rx::{Counters, TableWrite};
use stellar_wire::host::{Cqe, Doorbell, Eqe, QpCounters};

use crate::rtl_nic::flush_delay;
use crate::RtlNic;

/// A NIC of a world of two hosts, one of which has a Verilated card: the sender (`SENDS`) or the receiver. The other one has the software reference.
pub enum MixedNic<const SENDS: bool> {
    /// The Verilated card.
    Rtl(Box<RtlNic>),
    /// The software reference of the transport.
    Reference(Box<ReferenceNic>),
}

/// Calls a method of either kind.
macro_rules! either {
    ($self:expr, $nic:ident => $call:expr) => {
        match $self {
            MixedNic::Rtl($nic) => $call,
            MixedNic::Reference($nic) => $call,
        }
    };
}

impl<const SENDS: bool> MixedNic<SENDS> {
    /// Host with the Verilated card.
    pub const RTL_HOST: usize = if SENDS { SENDER } else { RECEIVER };

    /// The Verilated card, if this host has it.
    pub const fn rtl(&self) -> Option<&RtlNic> {
        match self {
            Self::Rtl(nic) => Some(nic),
            Self::Reference(_) => None,
        }
    }
}

impl<const SENDS: bool> Nic for MixedNic<SENDS> {
    const KIND: &'static str = if SENDS {
        "Verilated RTL to software reference"
    } else {
        "software reference to Verilated RTL"
    };
    const MAX_WIMM: u16 = if RtlNic::MAX_WIMM < ReferenceNic::MAX_WIMM {
        RtlNic::MAX_WIMM
    } else {
        ReferenceNic::MAX_WIMM
    };
    const SHOWS_EVERY_PACKET: bool = !SENDS;

    /// Each of two cards adds about half of the delay of both; the receiver adds its flush read.
    fn base_delay(payload: usize, reads: PcieReads) -> Time {
        let flush = if SENDS { 0 } else { flush_delay(reads) };
        RtlNic::lanes_delay(payload) / 2 + flush
    }

    fn build(
        host: usize,
        config: EndpointConfig,
        memory: HostMemory,
        pcie: &PcieSettings,
    ) -> Result<Self, WorldError> {
        Ok(if host == Self::RTL_HOST {
            Self::Rtl(Box::new(RtlNic::build(host, config, memory, pcie)?))
        } else {
            Self::Reference(Box::new(ReferenceNic::build(host, config, memory, pcie)?))
        })
    }

    fn receive(&mut self, port: usize, frame: &[u8], now: Time) {
        either!(self, nic => nic.receive(port, frame, now));
    }

    fn poll_transmit(&mut self, port: usize, now: Time) -> Option<Outgoing> {
        either!(self, nic => nic.poll_transmit(port, now))
    }

    fn next_deadline(&self, now: Time) -> Option<Time> {
        either!(self, nic => nic.next_deadline(now))
    }

    fn on_timer(&mut self, now: Time) {
        either!(self, nic => nic.on_timer(now));
    }

    fn set_port(&mut self, port: usize, up: bool) {
        either!(self, nic => nic.set_port(port, up));
    }

    fn write_table(&mut self, write: &TableWrite) -> Result<(), TableWriteError> {
        either!(self, nic => nic.write_table(write))
    }

    fn fence(&mut self) {
        either!(self, nic => nic.fence());
    }

    fn is_fenced(&self) -> bool {
        either!(self, nic => nic.is_fenced())
    }

    fn create_qp(&mut self, config: QpConfig, now: Time) -> Result<(), ConfigError> {
        either!(self, nic => nic.create_qp(config, now))
    }

    fn ring_doorbell(&mut self, page: u32, doorbell: Doorbell) -> Result<(), DoorbellError> {
        either!(self, nic => nic.ring_doorbell(page, doorbell))
    }

    fn take_completed(&mut self) -> Option<Vec<u32>> {
        either!(self, nic => nic.take_completed())
    }

    fn poll_cq(&mut self, qp: u32) -> Option<Cqe> {
        either!(self, nic => nic.poll_cq(qp))
    }

    fn poll_event(&mut self) -> Option<Eqe> {
        either!(self, nic => nic.poll_event())
    }

    fn memory(&self) -> &HostMemory {
        either!(self, nic => nic.memory())
    }

    fn memory_mut(&mut self) -> &mut HostMemory {
        either!(self, nic => nic.memory_mut())
    }

    fn qp_counters(&mut self, qp: u32) -> Option<QpCounters> {
        either!(self, nic => nic.qp_counters(qp))
    }

    fn rx_counters(&self) -> &Counters {
        either!(self, nic => nic.rx_counters())
    }

    fn path_loads(&self, qp: u32) -> Vec<u64> {
        either!(self, nic => nic.path_loads(qp))
    }

    fn congestion(&self, qp: u32) -> Option<CongestionState> {
        either!(self, nic => nic.congestion(qp))
    }
}
