//! The route of packets: by addresses, or by source routes.

use std::net::IpAddr;

use sim_net::{HostId, Topology};
use stellar_transport::endpoint::PlaneAddress;
use stellar_transport::spray::Srv6Template;
use stellar_wire::{Header, Ipv4, Ipv6};

use crate::WorldError;

/// Headers of the packets of a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Addressing {
    /// IPv4; switches choose the path by a hash.
    #[default]
    Ipv4,
    /// IPv6; switches choose the path by a hash.
    Ipv6,
    /// IPv6 within IPv6 (H.Encaps.Red). The destination contains the path as uSIDs: the entropy value chooses the spine (OCP MRC 1.0).
    Srv6,
}

impl Addressing {
    /// Name in reports and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ipv4 => "ipv4",
            Self::Ipv6 => "ipv6",
            Self::Srv6 => "srv6",
        }
    }

    /// Bytes of a packet's IP headers beyond those of IPv4.
    pub const fn extra_bytes(self) -> u64 {
        match self {
            Self::Ipv4 => 0,
            Self::Ipv6 => (Ipv6::LEN - Ipv4::LEN) as u64,
            Self::Srv6 => (2 * Ipv6::LEN - Ipv4::LEN) as u64,
        }
    }

    /// Addresses of a host's two ports. If it has one, that stands for both.
    pub fn planes(self, topology: &Topology, host: HostId) -> [PlaneAddress; 2] {
        let ports = &topology.hosts()[host.0 as usize].ports;
        [&ports[0], &ports[ports.len() - 1]].map(|port| PlaneAddress {
            mac: port.mac,
            ip: match self {
                Self::Ipv4 => IpAddr::V4(port.ipv4),
                Self::Ipv6 | Self::Srv6 => IpAddr::V6(port.ipv6),
            },
        })
    }

    /// Source routes to a host, if packets use them.
    ///
    /// # Errors
    /// [`WorldError::SourceRoute`] if the spine cannot be chosen by adding a number to a uSID of the topology.
    pub fn source_route(
        self,
        topology: &Topology,
        to: HostId,
    ) -> Result<Option<Srv6Template>, WorldError> {
        if self != Self::Srv6 {
            return Ok(None);
        }
        let route = topology.source_routes(to);
        route.map(Some).map_err(WorldError::SourceRoute)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transfer::LEAF_SPINE;

    fn route(text: &str) -> Result<Option<Srv6Template>, String> {
        let topology = Topology::from_toml("test", text).expect("a topology");
        let route = Addressing::Srv6.source_route(&topology, HostId(1));
        route.map_err(|error| error.to_string())
    }

    #[test]
    fn a_fabric_of_leaves_and_spines_has_source_routes() {
        assert!(route(LEAF_SPINE).is_ok_and(|route| route.is_some()));
    }

    #[test]
    fn a_fabric_without_them_is_refused_with_what_to_change() {
        let text = LEAF_SPINE.replace("spines = 8", "spines = 6");
        let error = route(&text).expect_err("six spines");
        assert!(
            error.contains("6 and 6 switches") && error.contains("power of two"),
            "{error}"
        );
        let cables = include_str!("../../net/topologies/back_to_back.toml");
        let error = route(cables).expect_err("no switch");
        assert!(error.contains("0 and 0 switches"), "{error}");
    }
}
