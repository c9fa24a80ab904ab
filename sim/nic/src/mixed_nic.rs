//! Worlds of Verilated cards and software references.

use std::marker::PhantomData;

use sim_net::Time;
use sim_world::group::{GroupNic, HostNic};
use sim_world::pair::{RECEIVER, SENDER};
use sim_world::{
    CongestionState, HostMemory, Nic, NicKind, Outgoing, PcieReads, PcieSettings, ReferenceNic,
    WorldError,
};
use stellar_transport::endpoint::{
    CardModel, ConfigError, DoorbellError, Endpoint, EndpointConfig, QpConfig, TableWriteError,
};
use stellar_transport::rx::{Counters, TableWrite};
use stellar_wire::host::{Cqe, Doorbell, Eqe, QpCounters};

use crate::rtl_nic::flush_delay;
use crate::shape::chosen_shape;
use crate::RtlNic;

/// Which of two hosts has the Verilated card; the other one has the software reference.
pub trait Mix: 'static {
    /// Name in reports.
    const KIND: &'static str;
    /// Host with the Verilated card.
    const RTL_HOST: usize;
}

/// The Verilated card sends.
pub struct CardSends;

impl Mix for CardSends {
    const KIND: &'static str = "Verilated RTL to software reference";
    const RTL_HOST: usize = SENDER;
}

/// The Verilated card receives.
pub struct CardReceives;

impl Mix for CardReceives {
    const KIND: &'static str = "software reference to Verilated RTL";
    const RTL_HOST: usize = RECEIVER;
}

/// Every host of a group has the NIC that its plan says.
pub struct AsPlanned;

/// A NIC of a world with both kinds: of two hosts, one of which has a Verilated card ([`Mix`]), or of a group ([`AsPlanned`]).
pub struct MixedNic<M> {
    nic: Either,
    mix: PhantomData<fn() -> M>,
}

enum Either {
    Rtl(Box<RtlNic>),
    Reference(Box<ReferenceNic>),
}

/// Calls a method of either kind.
macro_rules! either {
    ($self:expr, $nic:ident => $call:expr) => {
        match &mut $self.nic {
            Either::Rtl($nic) => $call,
            Either::Reference($nic) => $call,
        }
    };
    (shared $self:expr, $nic:ident => $call:expr) => {
        match &$self.nic {
            Either::Rtl($nic) => $call,
            Either::Reference($nic) => $call,
        }
    };
}

/// The smaller of the two numbers.
const MAX_WIMM: u16 = if RtlNic::MAX_WIMM < ReferenceNic::MAX_WIMM {
    RtlNic::MAX_WIMM
} else {
    ReferenceNic::MAX_WIMM
};

impl<M> MixedNic<M> {
    /// The Verilated card, if this host has it.
    pub const fn rtl(&self) -> Option<&RtlNic> {
        match &self.nic {
            Either::Rtl(nic) => Some(nic),
            Either::Reference(_) => None,
        }
    }

    fn of_kind(
        kind: HostNic,
        host: usize,
        config: EndpointConfig,
        memory: HostMemory,
        pcie: &PcieSettings,
    ) -> Result<Self, WorldError> {
        let nic = match kind {
            HostNic::Card => Either::Rtl(Box::new(RtlNic::build(host, config, memory, pcie)?)),
            HostNic::Reference => {
                // As many queue pairs as the card has.
                let model = CardModel {
                    queue_pairs: 1 << chosen_shape().queue_pair_bits(),
                    ..CardModel::default()
                };
                let endpoint = Endpoint::with_model(config, model, memory)?;
                Either::Reference(Box::new(ReferenceNic::new(endpoint, pcie.reads)))
            }
        };
        let mix = PhantomData;
        Ok(Self { nic, mix })
    }
}

impl<M: Mix> MixedNic<M> {
    /// Host with the Verilated card.
    pub const RTL_HOST: usize = M::RTL_HOST;
}

impl<M: Mix> NicKind for MixedNic<M> {
    const KIND: &'static str = M::KIND;
    const MAX_WIMM: u16 = MAX_WIMM;
    const SHOWS_EVERY_PACKET: bool = M::RTL_HOST != SENDER;

    /// Each of two cards adds about half of the delay of both; the receiver adds its flush read.
    fn base_delay(payload: usize, reads: PcieReads) -> Time {
        let flush = if M::RTL_HOST == SENDER {
            0
        } else {
            flush_delay(reads)
        };
        RtlNic::lanes_delay(payload) / 2 + flush
    }

    fn build(
        host: usize,
        config: EndpointConfig,
        memory: HostMemory,
        pcie: &PcieSettings,
    ) -> Result<Self, WorldError> {
        let kind = if host == M::RTL_HOST {
            HostNic::Card
        } else {
            HostNic::Reference
        };
        Self::of_kind(kind, host, config, memory, pcie)
    }
}

impl GroupNic for MixedNic<AsPlanned> {
    fn make(
        kind: HostNic,
        host: usize,
        config: EndpointConfig,
        memory: HostMemory,
        pcie: &PcieSettings,
    ) -> Result<Self, WorldError> {
        Self::of_kind(kind, host, config, memory, pcie)
    }

    fn max_wimm(kind: HostNic) -> u16 {
        match kind {
            HostNic::Card => RtlNic::MAX_WIMM,
            HostNic::Reference => ReferenceNic::MAX_WIMM,
        }
    }

    fn lanes_delay(kind: HostNic, payload: usize) -> Time {
        match kind {
            HostNic::Card => RtlNic::lanes_delay(payload) / 2,
            HostNic::Reference => 0,
        }
    }

    fn receiver_delay(kind: HostNic, reads: PcieReads) -> Time {
        match kind {
            HostNic::Card => flush_delay(reads),
            HostNic::Reference => 0,
        }
    }
}

impl<M: 'static> Nic for MixedNic<M> {
    fn has_cycles(&self) -> bool {
        either!(shared self, nic => nic.has_cycles())
    }

    fn set_helper(&mut self, on: bool) {
        either!(self, nic => nic.set_helper(on));
    }

    fn receive(&mut self, port: usize, frame: &[u8], now: Time) {
        either!(self, nic => nic.receive(port, frame, now));
    }

    fn poll_transmit(&mut self, port: usize, now: Time) -> Option<Outgoing> {
        either!(self, nic => nic.poll_transmit(port, now))
    }

    fn next_deadline(&self, now: Time) -> Option<Time> {
        either!(shared self, nic => nic.next_deadline(now))
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
        either!(shared self, nic => nic.is_fenced())
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
        either!(shared self, nic => nic.memory())
    }

    fn memory_mut(&mut self) -> &mut HostMemory {
        either!(self, nic => nic.memory_mut())
    }

    fn qp_counters(&mut self, qp: u32) -> Option<QpCounters> {
        either!(self, nic => nic.qp_counters(qp))
    }

    fn rx_counters(&self) -> &Counters {
        either!(shared self, nic => nic.rx_counters())
    }

    fn path_loads(&self, qp: u32) -> Vec<u64> {
        either!(shared self, nic => nic.path_loads(qp))
    }

    fn congestion(&self, qp: u32) -> Option<CongestionState> {
        either!(shared self, nic => nic.congestion(qp))
    }
}
