//! Connections between devices, and the owners of addresses and functions.

use crate::bdf::Bdf;
use crate::config::{AcsConfig, CompleterConfig, DelayConfig, FabricConfig, LinkConfig, Window};
use crate::counters::Location;
use crate::delay::{stream, Delay};
use crate::link::{Link, LinkId};
use crate::responder::Responder;
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
        let mut cables = Cables {
            seed: config.seed,
            links: Vec::new(),
        };
        // A switch or a NIC answers refused reads only.
        let port = CompleterConfig::default();
        let root = &config.root_complex.completer;
        let mut switches = Vec::new();
        for (index, switch) in config.switches.iter().enumerate() {
            let upper = (Node::RootComplex, root);
            let lower = (Node::SwitchUpstream(index), &port);
            let delay = DelayConfig::default();
            let quiet = [0, switch.latency_ps];
            let (up, down) = cables.connect(&switch.uplink, upper, lower, quiet, delay);
            switches.push(Switch {
                bdf: switch.bdf,
                latency_ps: switch.latency_ps,
                up,
                down,
            });
        }
        let mut devices = Vec::new();
        for (n, nic) in config.nics.iter().enumerate() {
            let index = devices.len();
            let upper = (Node::SwitchDownstream(index), &port);
            let lower = (Node::Device(index), &port);
            let quiet = [switches[nic.switch].latency_ps, 0];
            let (up, down) = cables.connect(&nic.link, upper, lower, quiet, nic.posted_delay);
            devices.push(Device {
                kind: Kind::Nic(n),
                bdf: nic.bdf,
                switch: nic.switch,
                acs: nic.acs.clone(),
                bar: None,
                up,
                down,
            });
        }
        for (n, gpu) in config.gpus.iter().enumerate() {
            let index = devices.len();
            let upper = (Node::SwitchDownstream(index), &port);
            let lower = (Node::Device(index), &gpu.completer);
            let quiet = [switches[gpu.switch].latency_ps, 0];
            let delay = DelayConfig::default();
            let (up, down) = cables.connect(&gpu.link, upper, lower, quiet, delay);
            devices.push(Device {
                kind: Kind::Gpu(n),
                bdf: gpu.bdf,
                switch: gpu.switch,
                acs: gpu.acs.clone(),
                bar: Some(gpu.bar),
                up,
                down,
            });
        }
        let topology = Self {
            devices,
            switches,
            nics: config.nics.len(),
        };
        (topology, cables.links)
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

    #[inline]
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

/// The links laid out so far.
struct Cables {
    seed: u64,
    links: Vec<Link>,
}

impl Cables {
    /// Adds both directions of a link: the one that ends at `upper`, then the one that ends at `lower`. `quiet` are the latencies of the switches at these
    /// ends, 0 where there is none. Posted writes to the former have `delay` on the link.
    fn connect(
        &mut self,
        config: &LinkConfig,
        upper: (Node, &CompleterConfig),
        lower: (Node, &CompleterConfig),
        quiet: [Picoseconds; 2],
        delay: DelayConfig,
    ) -> (LinkId, LinkId) {
        let (up, down) = (LinkId(self.links.len()), LinkId(self.links.len() + 1));
        self.add(config, upper, quiet[0], down, delay);
        self.add(config, lower, quiet[1], up, DelayConfig::default());
        (up, down)
    }

    fn add(
        &mut self,
        config: &LinkConfig,
        (receiver, completer): (Node, &CompleterConfig),
        quiet: Picoseconds,
        reverse: LinkId,
        delay: DelayConfig,
    ) {
        let (seed, first) = (self.seed, 1 + 4 * self.links.len() as u64);
        let posted_delay = Delay::new(delay, stream(seed, first));
        let responder = Responder::new(completer, |n| stream(seed, first + 1 + n));
        let config = config.clone();
        let link = Link::new(config, receiver, quiet, reverse, posted_delay, responder);
        self.links.push(link);
    }
}
