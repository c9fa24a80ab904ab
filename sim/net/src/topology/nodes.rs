//! Hosts and switches of the file, with their explicit or default addresses.

use std::collections::HashMap;
use std::net::{Ipv4Addr, Ipv6Addr};

use stellar_wire::MacAddr;

use super::error::Problem;
use super::generate::{MAX_HOSTS, MAX_PLANES};
use super::params::picoseconds;
use super::resolve::Found;
use super::spec::TopologySpec;
use super::{Host, HostPort, Switch, ADJACENCY_USIDS};
use crate::{HostId, LinkId};

/// First uSID of hosts without an explicit one; below it are those of switches.
const FIRST_HOST_USID: u16 = 0x1000;

/// Checks the number of hosts and of their ports.
pub(super) fn check_counts(spec: &TopologySpec) -> Found<()> {
    let (min, max) = (1, MAX_PLANES);
    if spec.hosts.is_empty() {
        return Err(("hosts".into(), Problem::NoHosts));
    }
    if spec.hosts.len() > MAX_HOSTS {
        let (value, max) = (spec.hosts.len(), MAX_HOSTS);
        return Err(("hosts".into(), Problem::BadCount { value, min, max }));
    }
    for host in &spec.hosts {
        let value = host.ports.len();
        if !(min..=max).contains(&value) {
            let key = format!("hosts {:?}: ports", host.name);
            return Err((key, Problem::BadCount { value, min, max }));
        }
    }
    Ok(())
}

/// Switches, with defaults for what the file leaves out.
pub(super) fn switches(spec: &TopologySpec) -> Found<Vec<Switch>> {
    let mut in_plane: HashMap<usize, u16> = HashMap::new();
    (0u32..)
        .zip(&spec.switches)
        .map(|(index, switch)| {
            let key = |name| format!("switches {:?}: {name}", switch.name);
            if switch.plane >= MAX_PLANES {
                let problem = Problem::BadCount {
                    value: switch.plane,
                    min: 0,
                    max: MAX_PLANES - 1,
                };
                return Err((key("plane"), problem));
            }
            let next = in_plane.entry(switch.plane).or_default();
            *next += 1;
            let usid = switch.usid.unwrap_or(*next);
            check_usid(usid).map_err(|problem| (key("usid"), problem))?;
            let [_, b2, b1, b0] = index.to_be_bytes();
            let latency = switch.latency_ns.unwrap_or(spec.fabric.switch_latency_ns);
            Ok(Switch {
                name: switch.name.clone(),
                plane: switch.plane,
                usid,
                mac: MacAddr([0x02, 0xff, 0, b2, b1, b0]),
                latency: picoseconds(latency).map_err(|problem| (key("latency_ns"), problem))?,
            })
        })
        .collect()
}

fn check_usid(usid: u16) -> Result<(), Problem> {
    if usid == 0 || ADJACENCY_USIDS.contains(&usid) {
        return Err(Problem::BadUsid(usid));
    }
    Ok(())
}

/// Hosts, with defaults for what the file leaves out; no address and no uSID of a plane may occur twice.
pub(super) fn hosts(
    spec: &TopologySpec,
    links: &HashMap<(HostId, usize), LinkId>,
    switches: &[Switch],
) -> Found<Vec<Host>> {
    let mut owners = Owners::default();
    for switch in switches {
        let key = format!("switches {:?}: usid", switch.name);
        owners.take(key, usid_name(switch.plane, switch.usid), &switch.name)?;
    }
    let mut hosts = Vec::with_capacity(spec.hosts.len());
    for (index, host) in (0u16..).zip(&spec.hosts) {
        let key = |name: &str| format!("hosts {:?}: {name}", host.name);
        let mut ports = Vec::with_capacity(host.ports.len());
        for (plane, port) in host.ports.iter().enumerate() {
            let key = |name| key(&format!("ports[{plane}]{name}"));
            let link = links.get(&(HostId(index.into()), plane));
            let link = *link.ok_or_else(|| (key(""), Problem::Unconnected(plane)))?;
            let [high, low] = (index + 1).to_be_bytes();
            let mac = match &port.mac {
                Some(text) => {
                    parse_mac(text).ok_or_else(|| (key(".mac"), Problem::BadMac(text.clone())))?
                }
                None => MacAddr([0x02, 0, plane as u8, 0, high, low]),
            };
            let port = HostPort {
                mac,
                ipv4: port
                    .ipv4
                    .unwrap_or(Ipv4Addr::new(10, plane as u8, high, low)),
                ipv6: port.ipv6.unwrap_or(Ipv6Addr::new(
                    0xfd00,
                    0,
                    0,
                    plane as u16,
                    0,
                    0,
                    0,
                    index + 1,
                )),
                usid: port.usid.unwrap_or(FIRST_HOST_USID + index),
                link,
            };
            check_usid(port.usid).map_err(|problem| (key(".usid"), problem))?;
            owners.take(key(".mac"), port.mac.to_string(), &host.name)?;
            owners.take(key(".ipv4"), port.ipv4.to_string(), &host.name)?;
            owners.take(key(".ipv6"), port.ipv6.to_string(), &host.name)?;
            owners.take(key(".usid"), usid_name(plane, port.usid), &host.name)?;
            ports.push(port);
        }
        hosts.push(Host {
            name: host.name.clone(),
            ports,
        });
    }
    Ok(hosts)
}

fn usid_name(plane: usize, usid: u16) -> String {
    format!("uSID {usid:#06x} of plane {plane}")
}

/// The owner of each address.
#[derive(Default)]
struct Owners(HashMap<String, String>);

impl Owners {
    fn take(&mut self, key: String, value: String, owner: &str) -> Found<()> {
        match self.0.insert(value.clone(), owner.into()) {
            Some(owner) => Err((key, Problem::DuplicateAddress { value, owner })),
            None => Ok(()),
        }
    }
}

fn parse_mac(text: &str) -> Option<MacAddr> {
    let bytes: Option<Vec<u8>> = text
        .split(':')
        .map(|byte| (byte.len() == 2).then(|| u8::from_str_radix(byte, 16).ok())?)
        .collect();
    Some(MacAddr(bytes?.try_into().ok()?))
}
