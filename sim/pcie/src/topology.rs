//! Connections between devices, and the owners of addresses and functions.

use crate::bdf::Bdf;
use crate::config::{AcsConfig, FabricConfig, LinkConfig, Window};
use crate::counters::Location;
use crate::link::{Link, LinkId};
use crate::Picoseconds;

/// The receiving end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    /// The switch port above the device with this index.
    SwitchDownstream(usize),
    /// The upstream port of the switch with this index.
    SwitchUpstream(usize),
    /// A root port.
    RootComplex,
    /// The device with this index.
    Device(usize),
}

/// The kind of a device, with its index among its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Nic(usize),
    Gpu(usize),
}

pub(crate) struct Device {
    pub kind: Kind,
    pub bdf: Bdf,
    pub switch: usize,
    pub acs: AcsConfig,
    pub bar: Option<Window>,
    /// Device to switch.
    pub up: LinkId,
    /// Switch to device.
    pub down: LinkId,
}

pub(crate) struct Switch {
    pub bdf: Bdf,
    pub latency_ps: Picoseconds,
    /// Switch to root port.
    pub up: LinkId,
    /// Root port to switch.
    pub down: LinkId,
}

/// NICs come first among the devices, so that a NIC's port number is its device index.
pub(crate) struct Topology {
    pub devices: Vec<Device>,
    pub switches: Vec<Switch>,
    nics: usize,
}

impl Topology {
    /// Lays out the devices and the links between them.
    pub fn new(config: &FabricConfig) -> (Self, Vec<Link>) {
        let mut links = Vec::new();
        let mut switches = Vec::new();
        for (index, switch) in config.switches.iter().enumerate() {
            let (up, down) = connect(
                &mut links,
                &switch.uplink,
                Node::RootComplex,
                Node::SwitchUpstream(index),
            );
            switches.push(Switch {
                bdf: switch.bdf,
                latency_ps: switch.latency_ps,
                up,
                down,
            });
        }
        let mut devices = Vec::new();
        let mut attach = |kind, bdf, switch, link: &LinkConfig, acs: &AcsConfig, bar| {
            let index = devices.len();
            let (up, down) = connect(
                &mut links,
                link,
                Node::SwitchDownstream(index),
                Node::Device(index),
            );
            devices.push(Device {
                kind,
                bdf,
                switch,
                acs: acs.clone(),
                bar,
                up,
                down,
            });
        };
        for (n, nic) in config.nics.iter().enumerate() {
            attach(Kind::Nic(n), nic.bdf, nic.switch, &nic.link, &nic.acs, None);
        }
        for (n, gpu) in config.gpus.iter().enumerate() {
            let bar = Some(gpu.bar);
            attach(Kind::Gpu(n), gpu.bdf, gpu.switch, &gpu.link, &gpu.acs, bar);
        }
        let topology = Self {
            devices,
            switches,
            nics: config.nics.len(),
        };
        (topology, links)
    }

    /// Index and description of the device whose BAR holds `address`.
    pub fn bar_owner(&self, address: u64) -> Option<(usize, &Device)> {
        let owns = |device: &Device| device.bar.is_some_and(|bar| bar.contains(address, 1));
        self.devices
            .iter()
            .enumerate()
            .find(|(_, device)| owns(device))
    }

    /// The device that is this function.
    pub fn function(&self, bdf: Bdf) -> Option<&Device> {
        self.devices.iter().find(|device| device.bdf == bdf)
    }

    pub fn nic(&self, index: usize) -> Option<&Device> {
        self.devices[..self.nics].get(index)
    }

    pub fn gpu(&self, index: usize) -> Option<&Device> {
        self.devices[self.nics..].get(index)
    }

    pub fn location(&self, node: Node) -> Location {
        match node {
            Node::SwitchDownstream(device) => Location::Switch(self.devices[device].switch),
            Node::SwitchUpstream(switch) => Location::Switch(switch),
            Node::RootComplex => Location::RootComplex,
            Node::Device(device) => Location::Device(self.devices[device].bdf),
        }
    }
}

/// Adds both directions of a link: the one that ends at `upper`, then the one that ends at `lower`.
fn connect(
    links: &mut Vec<Link>,
    config: &LinkConfig,
    upper: Node,
    lower: Node,
) -> (LinkId, LinkId) {
    let (up, down) = (LinkId(links.len()), LinkId(links.len() + 1));
    links.push(Link::new(config.clone(), upper, down));
    links.push(Link::new(config.clone(), lower, up));
    (up, down)
}
