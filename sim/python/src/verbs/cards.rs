//! Simulated hosts with Verilated cards.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sim_nic::{CardPair, LoneCard, SimHosts};

use super::attributes::{device_config, Ports};
use super::device::Device;
use super::gpu::Gpu;
use crate::world::{failed, invalid};

/// Number of cycles after which Ctrl-C is checked: about a second.
const BETWEEN_SIGNALS: u64 = 10_000;

/// A frame that has left a card: picoseconds, port, bytes.
type Sent<'py> = (u64, usize, Bound<'py, PyBytes>);

enum Kind {
    /// Two hosts, cabled port to port.
    Pair(CardPair),
    /// One host, whose frames Python sends and receives.
    Lone(LoneCard),
}

/// One or two hosts with a card each.
#[pyclass(frozen, module = "openstellar._native")]
pub struct Cards {
    kind: Kind,
    hosts: SimHosts,
    gpus: Vec<Gpu>,
}

impl Cards {
    fn of(kind: Kind) -> Self {
        let hosts = match &kind {
            Kind::Pair(pair) => SimHosts::clone(pair),
            Kind::Lone(card) => SimHosts::clone(card),
        };
        let gpu = |host| Gpu::new(hosts.clone(), host);
        let gpus = (0..hosts.count()).map(gpu).collect();
        Self { kind, hosts, gpus }
    }

    fn check_host(&self, host: usize) -> PyResult<()> {
        match self.hosts.count() {
            count if host < count => Ok(()),
            1 => Err(invalid(format!("no host {host}: there is host 0"))),
            _ => Err(invalid(format!("no host {host}: there are hosts 0 and 1"))),
        }
    }

    fn alone(&self) -> PyResult<&LoneCard> {
        match &self.kind {
            Kind::Lone(card) => Ok(card),
            Kind::Pair(_) => Err(invalid("both ports of a pair's cards are cabled")),
        }
    }
}

#[pymethods]
impl Cards {
    /// Two hosts, cabled port to port.
    #[staticmethod]
    fn pair(py: Python<'_>, captures: bool) -> PyResult<Self> {
        let pair = py.detach(|| match captures {
            true => CardPair::with_captures(),
            false => CardPair::new(),
        });
        Ok(Self::of(Kind::Pair(pair.map_err(failed)?)))
    }

    /// One host.
    #[staticmethod]
    fn lone(py: Python<'_>) -> PyResult<Self> {
        let card = py.detach(LoneCard::new).map_err(failed)?;
        Ok(Self::of(Kind::Lone(card)))
    }

    /// Brings the card of a host up.
    #[allow(clippy::too_many_arguments)] // arguments of a Python function
    fn bring_up(
        &self,
        py: Python<'_>,
        host: usize,
        ports: Ports,
        data_dscp: u8,
        control_dscp: u8,
        event_entries: u32,
        seed: u64,
    ) -> PyResult<Device> {
        self.check_host(host)?;
        let config = device_config(ports, data_dscp, control_dscp, event_entries, seed)?;
        let gpu = self.gpus[host].clone();
        py.detach(|| Device::bring_up(self.hosts.function(host), gpu, config))
    }

    /// Advances time.
    fn run(&self, py: Python<'_>, clocks: u64) -> PyResult<()> {
        let mut left = clocks;
        while left > 0 {
            let now = left.min(BETWEEN_SIGNALS);
            py.detach(|| self.hosts.run(now));
            py.check_signals()?;
            left -= now;
        }
        Ok(())
    }

    /// Cycles since power-up.
    fn clocks(&self, py: Python<'_>) -> u64 {
        py.detach(|| self.hosts.clocks())
    }

    /// Accesses of a host's card to memory that is not mapped for it.
    fn bad_accesses(&self, py: Python<'_>, host: usize) -> PyResult<usize> {
        self.check_host(host)?;
        Ok(py.detach(|| self.hosts.bad_accesses(host)))
    }

    /// A pcapng file per port of a pair, by its name.
    fn captures<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, Bound<'py, PyBytes>)>> {
        let Kind::Pair(pair) = &self.kind else {
            return Ok(Vec::new());
        };
        let files = py.detach(|| pair.captures()).map_err(failed)?;
        Ok(files
            .into_iter()
            .map(|(name, bytes)| (name, PyBytes::new(py, &bytes)))
            .collect())
    }

    /// Sends a frame to a lone card.
    fn receive(&self, py: Python<'_>, port: usize, frame: Vec<u8>) -> PyResult<()> {
        let card = self.alone()?;
        if port > 1 {
            return Err(invalid(format!("no port {port}: a card has ports 0 and 1")));
        }
        if frame.is_empty() {
            return Err(invalid("an empty frame: a MAC never delivers one"));
        }
        py.detach(|| card.receive(port, frame));
        Ok(())
    }

    /// The frames that have left a lone card since the last call.
    fn take_sent<'py>(&self, py: Python<'py>) -> PyResult<Vec<Sent<'py>>> {
        let card = self.alone()?;
        let sent = py.detach(|| card.take_sent());
        Ok(sent
            .into_iter()
            .map(|frame| (frame.time, frame.port, PyBytes::new(py, &frame.bytes)))
            .collect())
    }
}
