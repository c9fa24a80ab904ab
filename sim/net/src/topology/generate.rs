//! Generators: they add explicit hosts, switches and links.

use super::error::Problem;
use super::spec::{
    BackToBack, HostSpec, LeafSpine, LinkSettings, LinkSpec, PortSpec, SwitchSpec, TopologySpec,
};

/// Largest number of planes of a fabric, and so of ports of a host.
pub(super) const MAX_PLANES: usize = 8;
/// Largest number of switches of one tier and plane: their uSIDs lie below those of hosts.
const MAX_TIER: usize = 2000;
/// Largest number of hosts: their uSIDs lie below those of ports.
pub(super) const MAX_HOSTS: usize = 50_000;

/// Adds the nodes and links of the generators in `spec` to its lists; an error also names the wrong key.
pub(super) fn expand(spec: &mut TopologySpec) -> Result<(), (&'static str, Problem)> {
    if let Some(cable) = spec.back_to_back.take() {
        cable.expand(spec)?;
    }
    if let Some(clos) = spec.leaf_spine.take() {
        clos.expand(spec)?;
    }
    Ok(())
}

fn in_range(key: &'static str, value: usize, max: usize) -> Result<(), (&'static str, Problem)> {
    if (1..=max).contains(&value) {
        Ok(())
    } else {
        Err((key, Problem::BadCount { value, min: 1, max }))
    }
}

fn host(index: usize, planes: usize) -> HostSpec {
    HostSpec {
        name: format!("h{index}"),
        ports: vec![PortSpec::default(); planes],
    }
}

impl BackToBack {
    fn expand(&self, spec: &mut TopologySpec) -> Result<(), (&'static str, Problem)> {
        in_range("back_to_back.planes", self.planes, MAX_PLANES)?;
        spec.hosts
            .extend((0..2).map(|index| host(index, self.planes)));
        spec.links.extend((0..self.planes).map(|plane| LinkSpec {
            name: format!("p{plane}"),
            ends: [format!("h0:{plane}"), format!("h1:{plane}")],
            set: LinkSettings::default(),
        }));
        Ok(())
    }
}

impl LeafSpine {
    fn expand(&self, spec: &mut TopologySpec) -> Result<(), (&'static str, Problem)> {
        in_range("leaf_spine.planes", self.planes, MAX_PLANES)?;
        in_range("leaf_spine.leaves", self.leaves, MAX_TIER)?;
        in_range("leaf_spine.spines", self.spines, MAX_TIER)?;
        let most = MAX_HOSTS / self.leaves;
        in_range("leaf_spine.hosts_per_leaf", self.hosts_per_leaf, most)?;

        let hosts = self.leaves * self.hosts_per_leaf;
        spec.hosts
            .extend((0..hosts).map(|index| host(index, self.planes)));
        for plane in 0..self.planes {
            let tier = |kind: &'static str, count| {
                (0..count).map(move |index| SwitchSpec {
                    name: format!("p{plane}.{kind}{index}"),
                    plane,
                    usid: None,
                    latency_ns: None,
                })
            };
            spec.switches.extend(tier("leaf", self.leaves));
            spec.switches.extend(tier("spine", self.spines));
            for leaf in 0..self.leaves {
                let first = leaf * self.hosts_per_leaf;
                spec.links
                    .extend((first..first + self.hosts_per_leaf).map(|host| LinkSpec {
                        name: format!("p{plane}.h{host}-leaf{leaf}"),
                        ends: [format!("h{host}:{plane}"), format!("p{plane}.leaf{leaf}")],
                        set: self.host_link.clone(),
                    }));
                spec.links.extend((0..self.spines).map(|spine| LinkSpec {
                    name: format!("p{plane}.leaf{leaf}-spine{spine}"),
                    ends: [
                        format!("p{plane}.leaf{leaf}"),
                        format!("p{plane}.spine{spine}"),
                    ],
                    set: self.spine_link.clone(),
                }));
            }
        }
        Ok(())
    }
}
