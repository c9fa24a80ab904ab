//! Kinds of NICs in a world of many hosts.

use sim_net::Time;
use stellar_transport::endpoint::EndpointConfig;

use crate::{HostMemory, Nic, NicKind, PcieReads, PcieSettings, ReferenceNic, WorldError};

/// Kind of a host's NIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostNic {
    /// The Verilated card.
    Card,
    /// The software reference of the transport.
    Reference,
}

impl HostNic {
    /// Name on the command line and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Card => "card",
            Self::Reference => "reference",
        }
    }
}

/// NICs of a world of many hosts: the kind of each is chosen when it is made.
pub trait GroupNic: Nic + Sized {
    /// Makes the NIC of host `host` of the world, with `memory` behind the PCIe fabric of `pcie`.
    ///
    /// # Errors
    /// [`WorldError::Config`] for a configuration that the NIC does not support, [`WorldError::Nic`] if the NIC cannot be made.
    fn make(
        kind: HostNic,
        host: usize,
        config: EndpointConfig,
        memory: HostMemory,
        pcie: &PcieSettings,
    ) -> Result<Self, WorldError>;

    /// Maximum number of outstanding WRITEs with immediate in each direction of a queue pair (MAX_WIMM).
    fn max_wimm(kind: HostNic) -> u16;

    /// What the lanes of one end add to the round trip of a packet of `payload` bytes and its SACK, in picoseconds.
    fn lanes_delay(kind: HostNic, payload: usize) -> Time;

    /// What the receiver adds to that until the payload is in memory, in picoseconds. A read of its memory costs `reads`.
    fn receiver_delay(kind: HostNic, reads: PcieReads) -> Time;
}

impl GroupNic for ReferenceNic {
    fn make(
        kind: HostNic,
        host: usize,
        config: EndpointConfig,
        memory: HostMemory,
        pcie: &PcieSettings,
    ) -> Result<Self, WorldError> {
        match kind {
            HostNic::Reference => Self::build(host, config, memory, pcie),
            HostNic::Card => Err(WorldError::Nic(
                "this world has software references only".into(),
            )),
        }
    }

    fn max_wimm(_kind: HostNic) -> u16 {
        Self::MAX_WIMM
    }

    fn lanes_delay(_kind: HostNic, _payload: usize) -> Time {
        0
    }

    fn receiver_delay(_kind: HostNic, _reads: PcieReads) -> Time {
        0
    }
}
