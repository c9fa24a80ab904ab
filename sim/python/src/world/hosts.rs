//! Two hosts on a fabric, step by step: memory, work requests, time, counters.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use sim_nic::RtlNic;
use sim_world::pair::{connect, FIRST_QP};
use sim_world::report::Report;
use sim_world::{
    verify, Host, Nic, NicKind, Plan, ReferenceNic, Region, RegionId, RegionSpec, World, Write,
};
use stellar_transport::requester::RequesterCounters;
use stellar_transport::rx::DropReason;

use super::arguments::{owner, page_size, Kind};
use super::pair::{files, plan, Topology};
use super::{failed, invalid};

/// Fields of [`RequesterCounters`] as a dictionary.
macro_rules! counters {
    ($py:expr, $counters:expr, $($field:ident),+ $(,)?) => {{
        let RequesterCounters { $($field),+ } = $counters;
        let fields = PyDict::new($py);
        $(fields.set_item(stringify!($field), $field)?;)+
        fields
    }};
}

enum Either {
    Reference(Box<World<ReferenceNic>>),
    Rtl(Box<World<RtlNic>>),
}

/// Calls a function of the world, for either kind of NIC.
macro_rules! on {
    ($either:expr, $world:ident => $call:expr) => {
        match $either {
            Either::Reference($world) => $call,
            Either::Rtl($world) => $call,
        }
    };
}

/// Two hosts with NICs and queue pairs between them.
#[pyclass(unsendable, module = "openstellar._native")]
pub struct Hosts {
    world: Either,
    plan: Plan,
    /// Regions of each host, by their number in Python.
    regions: [Vec<RegionId>; 2],
}

#[pymethods]
impl Hosts {
    #[new]
    #[pyo3(signature = (topology, nic, qps, mode, paths, policy, loss, mtu, seed, captures))]
    #[allow(clippy::too_many_arguments)] // keyword arguments of a Python function
    fn new(
        py: Python<'_>,
        topology: Topology,
        nic: &str,
        qps: u32,
        mode: &str,
        paths: u8,
        policy: Option<&str>,
        loss: Option<(String, f64)>,
        mtu: u32,
        seed: u64,
        captures: bool,
    ) -> PyResult<Self> {
        let kind = Kind::named(nic)?;
        let plan = plan(
            topology, qps, mode, paths, policy, loss, mtu, seed, captures,
        )?;
        // The world must stay on this thread. Building the card's model, which takes minutes the first time, may run without the interpreter lock.
        let world = match kind {
            Kind::Reference => connect(&plan).map(Box::new).map(Either::Reference),
            Kind::Rtl => {
                py.detach(RtlNic::prepare).map_err(failed)?;
                connect(&plan).map(Box::new).map(Either::Rtl)
            }
        };
        Ok(Self {
            world: world.map_err(failed)?,
            plan,
            regions: Default::default(),
        })
    }

    /// Names of the hosts, and of the NIC's kind.
    fn describe(&self) -> (Vec<String>, &'static str) {
        on!(&self.world, world => (names(world), kind(world)))
    }

    /// Numbers of the queue pairs.
    fn qps(&self) -> Vec<u32> {
        (FIRST_QP..FIRST_QP + self.plan.qps).collect()
    }

    /// Registers memory, and returns its number.
    fn register(
        &mut self,
        host: usize,
        length: u64,
        memory: &str,
        page: u64,
        offset: u64,
    ) -> PyResult<usize> {
        self.check_host(host)?;
        let spec = RegionSpec {
            owner: owner(memory)?,
            length,
            page_size: page_size(page)?,
            skew: offset,
        };
        if length == 0 || offset >= page {
            return Err(invalid(format!(
                "a region of {length} bytes from {offset} of its page on: it holds at least one byte and begins in its first page"
            )));
        }
        let id = on!(&mut self.world, world => world.register(host, spec)).map_err(failed)?;
        self.regions[host].push(id);
        Ok(self.regions[host].len() - 1)
    }

    /// Deregisters memory.
    fn deregister(&mut self, host: usize, region: usize) -> PyResult<()> {
        let id = self.region(host, region)?;
        on!(&mut self.world, world => world.deregister(host, id)).map_err(failed)
    }

    /// Virtual address and key of a region.
    fn place(&self, host: usize, region: usize) -> PyResult<(u64, u32)> {
        let id = self.region(host, region)?;
        let region: &Region = on!(&self.world, world => world.host(host).region(id));
        Ok((region.va, region.key))
    }

    /// Writes as the host's processor or GPU would.
    fn store(&mut self, host: usize, region: usize, offset: u64, bytes: &[u8]) -> PyResult<()> {
        let parts = self.parts(host, region, offset, bytes.len() as u64)?;
        let owner = self.find(host, region)?.owner;
        let mut at = 0;
        for (address, count) in parts {
            let part = &bytes[at..at + count];
            on!(&mut self.world, world => world.store(host, owner, address, part));
            at += count;
        }
        Ok(())
    }

    /// Reads as the host's processor or GPU would.
    fn load<'py>(
        &self,
        py: Python<'py>,
        host: usize,
        region: usize,
        offset: u64,
        length: u64,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let parts = self.parts(host, region, offset, length)?;
        let owner = self.find(host, region)?.owner;
        let mut bytes = vec![0; length as usize];
        let mut at = 0;
        for (address, count) in parts {
            let part = &mut bytes[at..at + count];
            on!(&self.world, world => world.host(host).nic().memory().load(owner, address, part));
            at += count;
        }
        Ok(PyBytes::new(py, &bytes))
    }

    /// Posts an RDMA WRITE now, and returns the number with which it completes.
    #[pyo3(signature = (from, to, qp, local, remote, length, immediate))]
    #[allow(clippy::too_many_arguments)] // keyword arguments of a Python function
    fn write(
        &mut self,
        from: usize,
        to: usize,
        qp: u32,
        local: (usize, u64),
        remote: (usize, u64),
        length: u32,
        immediate: Option<u32>,
    ) -> PyResult<u64> {
        self.check_span(from, local, length)?;
        self.check_span(to, remote, length)?;
        let write = Write {
            from,
            to,
            qp,
            local: (self.region(from, local.0)?, local.1),
            remote: (self.region(to, remote.0)?, remote.1),
            length,
            immediate,
        };
        on!(&mut self.world, world => world.post(write)).map_err(failed)
    }

    /// Simulates until everything posted has completed.
    fn run(&mut self, py: Python<'_>, limit_ps: u64) -> PyResult<()> {
        // The world must stay on this thread, so Python waits. Ctrl-C is checked at the end.
        on!(&mut self.world, world => world.run(limit_ps)).map_err(failed)?;
        py.check_signals()
    }

    /// Simulates until a time.
    fn run_until(&mut self, py: Python<'_>, time_ps: u64) -> PyResult<()> {
        on!(&mut self.world, world => world.run_until(time_ps)).map_err(failed)?;
        py.check_signals()
    }

    /// The present, in picoseconds.
    fn now_ps(&self) -> u64 {
        on!(&self.world, world => world.now())
    }

    /// Takes the link of a port up or down for its NIC.
    fn set_port(&mut self, host: usize, port: usize, up: bool) -> PyResult<()> {
        self.check_host(host)?;
        if port > 1 {
            return Err(invalid(format!("no port {port}: a NIC has ports 0 and 1")));
        }
        on!(&mut self.world, world => world.set_port(host, port, up));
        Ok(())
    }

    /// Completions at a host.
    fn completions<'py>(&self, py: Python<'py>, host: usize) -> PyResult<Vec<Bound<'py, PyDict>>> {
        self.check_host(host)?;
        let completions = on!(&self.world, world => world.host(host).completions());
        completions
            .iter()
            .map(|done| {
                let fields = PyDict::new(py);
                fields.set_item("time_ps", done.time)?;
                fields.set_item("qp", done.cqe.qp)?;
                fields.set_item("wr_id", done.cqe.wr_id)?;
                fields.set_item("status", done.cqe.status.name())?;
                fields.set_item("opcode", done.cqe.opcode.name())?;
                fields.set_item("bytes", done.cqe.byte_len)?;
                fields.set_item("immediate", done.cqe.immediate)?;
                Ok(fields)
            })
            .collect()
    }

    /// Events of a host's NIC: time, kind, source, data.
    fn events(&self, host: usize) -> PyResult<Vec<(u64, &'static str, u32, u64)>> {
        self.check_host(host)?;
        let events = on!(&self.world, world => world.host(host).events());
        Ok(events
            .iter()
            .map(|(time, event)| (*time, event.kind.name(), event.source, event.data))
            .collect())
    }

    /// Counters of a queue pair's requester, counters of the receive side by reason, and packets sent by path.
    #[allow(clippy::type_complexity)] // three things that belong together
    fn counters<'py>(
        &mut self,
        py: Python<'py>,
        host: usize,
        qp: u32,
    ) -> PyResult<(Bound<'py, PyDict>, Bound<'py, PyDict>, Vec<u64>)> {
        self.check_host(host)?;
        let found = on!(&mut self.world, world => world.qp_counters(host, qp));
        let Some(found) = found else {
            let known = format!("{FIRST_QP} to {}", FIRST_QP + self.plan.qps - 1);
            return Err(invalid(format!("no queue pair {qp}; there are: {known}")));
        };
        let found = RequesterCounters::from(&found);
        let requester = counters!(
            py,
            found,
            packets,
            bytes,
            retransmissions,
            timeouts,
            early_losses,
            spurious_losses,
            sacks,
            stale_sacks,
            sacks_out_of_window,
            sacks_inconsistent,
            ecn_marks,
            nacks_trimmed,
            nacks_recoverable,
            nacks_fatal,
            nacks_ignored,
            probes,
            probe_answers,
            acks,
            naks,
            acks_ignored,
        );
        let receiver = PyDict::new(py);
        let counted = on!(&self.world, world => world.host(host).nic().rx_counters());
        for reason in DropReason::ALL {
            receiver.set_item(format!("{reason:?}"), counted.reason(reason))?;
        }
        let paths = on!(&self.world, world => world.host(host).nic().path_loads(qp));
        Ok((requester, receiver, paths))
    }

    /// Compares memory byte by byte and the order of completions. Returns the report (JSON) and a pcapng file per port.
    fn report(&mut self) -> PyResult<super::pair::Outcome> {
        on!(&mut self.world, world => {
            let verified = verify(world).map_err(failed)?;
            let report = Report::of(&self.plan, world, verified);
            Ok((report.json(), files(world.captures()).map_err(failed)?))
        })
    }
}

impl Hosts {
    fn check_host(&self, host: usize) -> PyResult<()> {
        match host {
            0 | 1 => Ok(()),
            _ => Err(invalid(format!("no host {host}: 0 and 1 have NICs"))),
        }
    }

    fn region(&self, host: usize, region: usize) -> PyResult<RegionId> {
        self.check_host(host)?;
        let known = &self.regions[host];
        known.get(region).copied().ok_or_else(|| {
            invalid(format!(
                "host {host} has no region {region}: it registered {}",
                known.len()
            ))
        })
    }

    fn find(&self, host: usize, region: usize) -> PyResult<&Region> {
        let id = self.region(host, region)?;
        Ok(on!(&self.world, world => world.host(host).region(id)))
    }

    /// Whether `length` bytes from an offset on are in a region.
    fn check_span(&self, host: usize, (region, offset): (usize, u64), length: u32) -> PyResult<()> {
        self.parts(host, region, offset, length.into()).map(|_| ())
    }

    /// Bus addresses of a part of a region, page by page.
    fn parts(
        &self,
        host: usize,
        region: usize,
        offset: u64,
        length: u64,
    ) -> PyResult<Vec<(u64, usize)>> {
        let region = self.find(host, region)?;
        if offset
            .checked_add(length)
            .is_none_or(|end| end > region.length)
        {
            return Err(invalid(format!(
                "{length} bytes from {offset} on are not in a region of {} bytes",
                region.length
            )));
        }
        let parts = region.parts(offset, length);
        Ok(parts.map(|(at, count)| (at, count as usize)).collect())
    }
}

fn names<N: Nic>(world: &World<N>) -> Vec<String> {
    world
        .hosts()
        .iter()
        .map(Host::name)
        .map(String::from)
        .collect()
}

fn kind<N: NicKind>(_: &World<N>) -> &'static str {
    N::KIND
}
