//! Worlds of many hosts: any mix of Verilated cards and software references, and patterns of flows among them, of several tenants.

mod connect;
mod html;
mod nic;
mod report;
mod run;
mod shares;

pub use connect::place;
pub use nic::{GroupNic, HostNic};
pub use report::{FlowReport, GroupReport, GroupSeries, TenantReport};
pub use run::{run, GroupRun};
pub use shares::jain;

use sim_net::workload::Pattern;
use sim_net::{HostId, Time};

use crate::names::closest;
use crate::{check_bytes, Plan, WorldError};

/// Default topology of a group: 8 hosts at equal distances, with marks at every port.
pub const GROUP_TOPOLOGY: &str = include_str!("../../topologies/group.toml");
/// Name of [`GROUP_TOPOLOGY`] in messages.
pub const GROUP_TOPOLOGY_FILE: &str = "group.toml";

/// Flows among some hosts, with queue pairs, memory and a protection domain of their own.
#[derive(Clone, Debug)]
pub struct Tenant {
    /// Name in reports.
    pub name: String,
    /// Flows.
    pub pattern: Pattern,
    /// Hosts, in the order that the pattern uses.
    pub hosts: Vec<HostId>,
    /// Bytes of a flow, or of a rank's buffer in an AllReduce.
    pub bytes: u64,
    /// When the flows start, in picoseconds.
    pub start: Time,
    /// How often the pattern is repeated: a round starts when the one before is complete.
    pub rounds: u32,
}

/// Hosts with NICs, and their tenants.
#[derive(Clone, Debug)]
pub struct GroupPlan {
    /// Topology, transport, addressing, PCIe and seed. Sender, receiver and number of queue pairs are not used: every pair of hosts that exchanges data has
    /// a queue pair for each tenant.
    pub base: Plan,
    /// Hosts with a NIC, and its kind.
    pub nics: Vec<(HostId, HostNic)>,
    /// Tenants.
    pub tenants: Vec<Tenant>,
    /// Time limit, in picoseconds of simulated time.
    pub limit: Time,
}

impl GroupPlan {
    /// Most rounds of a tenant.
    pub const MAX_ROUNDS: u32 = 1000;

    /// Checks what a user gives, before anything is built.
    ///
    /// # Errors
    /// [`WorldError`], for the first thing that does not fit.
    pub fn check(&self) -> Result<(), WorldError> {
        self.base.check()?;
        if self.tenants.is_empty() {
            return Err(WorldError::NoTenant);
        }
        for tenant in &self.tenants {
            check_bytes(tenant.bytes)?;
            if !(1..=Self::MAX_ROUNDS).contains(&tenant.rounds) {
                return Err(WorldError::Rounds {
                    tenant: tenant.name.clone(),
                    rounds: tenant.rounds,
                });
            }
            for (at, host) in tenant.hosts.iter().enumerate() {
                let name = self.base.host_name(*host);
                if self.nics.iter().all(|(with_nic, _)| with_nic != host) {
                    return Err(self.no_nic(&name));
                }
                if tenant.hosts[..at].contains(host) {
                    let tenant = tenant.name.clone();
                    return Err(WorldError::HostTwice { tenant, host: name });
                }
            }
        }
        Ok(())
    }

    /// The host with a NIC of this name.
    ///
    /// # Errors
    /// [`WorldError::NoNic`].
    pub fn host(&self, name: &str) -> Result<HostId, WorldError> {
        let mut hosts = self.nics.iter().map(|&(host, _)| host);
        hosts
            .find(|&host| self.base.topology.hosts()[host.0 as usize].name == name)
            .ok_or_else(|| self.no_nic(name))
    }

    fn no_nic(&self, name: &str) -> WorldError {
        let hosts = self.nics.iter().map(|&(host, _)| host);
        let names: Vec<String> = hosts.map(|host| self.base.host_name(host)).collect();
        WorldError::NoNic {
            name: name.into(),
            closest: closest(name, names.iter().map(String::as_str)),
        }
    }
}
