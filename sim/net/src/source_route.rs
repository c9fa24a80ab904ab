//! Source routes (SRv6 uSID) of a topology, as cards store them.

use stellar_wire::config::{EntropyField, Srv6Template};

use crate::{HostId, Node, SwitchId, Topology};

/// Lowest bit of the uplink in an entropy value: bit 0 is the plane.
const UPLINK_LOW: u8 = 1;

impl Topology {
    /// Source routes to a host: the entropy value chooses the spine (OCP MRC 1.0). On one plane both ports of a card have the same routes.
    ///
    /// # Errors
    /// Why the spine cannot be chosen by adding a number to a uSID, and what to change.
    pub fn source_routes(&self, to: HostId) -> Result<Srv6Template, String> {
        let planes = self.hosts()[to.0 as usize].ports.len();
        let last = planes.saturating_sub(1);
        let [spines, other] = [0, last].map(|plane| self.switches_without_hosts(plane));
        let count = spines.len();
        if !count.is_power_of_two() || count < 2 || other.len() != count {
            return Err(format!(
                "the planes have {count} and {} switches without hosts; use the same power of two, 2 or more, in both",
                other.len()
            ));
        }
        let usid = |switch: &SwitchId| self.switches()[switch.0 as usize].usid;
        for plane in [&spines, &other] {
            let first = usid(&plane[0]);
            if let Some(index) = (0..count)
                .find(|&index| usize::from(usid(&plane[index])) != usize::from(first) + index)
            {
                return Err(format!(
                    "switch {:?} has the uSID {:#06x}; number the switches without hosts one after another from {first:#06x}",
                    self.switches()[plane[index].0 as usize].name,
                    usid(&plane[index])
                ));
            }
        }
        let path = |switch: SwitchId, plane: usize| {
            self.usid_path(&[switch], to, plane)
                .expect("the switch is of this plane, and two uSIDs are no long path")
        };
        let (first, second) = (path(spines[0], 0), path(other[0], last));
        let steps = [0, 1].map(|place: usize| second.usids[place].wrapping_sub(first.usids[place]));
        if steps[0] != steps[1] {
            return Err(format!(
                "from plane 0 to plane 1 the uSIDs of spines grow by {} and those of hosts by {}; use one distance for all",
                steps[0], steps[1]
            ));
        }
        let uplink = EntropyField {
            low: UPLINK_LOW,
            bits: count.ilog2() as u8,
        };
        Srv6Template::new(first, steps[0], 0, uplink).map_err(|error| error.to_string())
    }

    /// Switches of a plane without hosts, by uSID.
    fn switches_without_hosts(&self, plane: usize) -> Vec<SwitchId> {
        let is_host = |node| matches!(node, Node::Host { .. });
        let mut spines: Vec<SwitchId> = (0..self.switches().len() as u32)
            .map(SwitchId)
            .filter(|&id| self.switches()[id.0 as usize].plane == plane)
            .filter(|&id| {
                let mut channels = self.switch_ports(id);
                !channels.any(|channel| is_host(self.ends(channel).1))
            })
            .collect();
        spines.sort_by_key(|id| self.switches()[id.0 as usize].usid);
        spines
    }
}
