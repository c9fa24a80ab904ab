//! Hosts on a fabric, and the operations on them.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use sim_fork_join::{are_two_each, threads, ForkJoin};
use sim_net::{Fabric, HostId, LinkId, Time};
use stellar_transport::rx::Owner;
use stellar_wire::host::{Doorbell, QpCounters, Wqe, WqeOpcode};

use crate::capture::Recorder;
use crate::host::Host;
use crate::record::Record;
use crate::region::PD;
use crate::{Nic, RegionId, RegionSpec, WorldError};

/// An action of an application or a fault at some time.
pub type Action<N> = Box<dyn FnOnce(&mut World<N>) -> Result<(), WorldError>>;

/// One RDMA WRITE.
#[derive(Clone, Copy, Debug)]
pub struct Write {
    /// Index of the host that posts it, in the order of [`World::add_host`].
    pub from: usize,
    /// Index of the host that receives it.
    pub to: usize,
    /// Queue pair of the poster.
    pub qp: u32,
    /// Source: region and offset in it.
    pub local: (RegionId, u64),
    /// Destination: region and offset in it.
    pub remote: (RegionId, u64),
    /// Bytes.
    pub length: u32,
    /// Immediate data.
    pub immediate: Option<u32>,
}

/// A posted WRITE. Its index in [`World::posted`] is its `wr_id`.
#[derive(Clone, Copy, Debug)]
pub struct Posted {
    /// The WRITE.
    pub write: Write,
    /// When it was posted, in picoseconds.
    pub time: Time,
}

/// Hosts with NICs on one fabric. Everything that happens is a function of topology, seed and calls.
pub struct World<N> {
    pub(crate) fabric: Fabric,
    pub(crate) hosts: Vec<Host<N>>,
    pub(crate) by_id: BTreeMap<HostId, usize>,
    /// Rates of the hosts' ports in Mb/s.
    pub(crate) rates: Vec<[u64; 2]>,
    /// The threads that run the timers of [`Self::hosts`]; none before the first use.
    pub(crate) timers: Option<ForkJoin<Host<N>, Time>>,
    /// How many threads that may be.
    pub(crate) threads: NonZeroUsize,
    pub(crate) now: Time,
    pub(crate) actions: BTreeMap<(Time, u64), Action<N>>,
    next_action: u64,
    posted: Vec<Posted>,
    pub(crate) record: Record,
    captures: Option<Recorder>,
    /// The clock that shows [`Self::now`].
    clock: Option<Arc<AtomicU64>>,
    seed: u64,
}

impl<N: Nic> World<N> {
    /// A world without hosts at time 0.
    pub fn new(fabric: Fabric, seed: u64) -> Self {
        Self {
            record: Record::new(fabric.topology()),
            fabric,
            hosts: Vec::new(),
            by_id: BTreeMap::new(),
            rates: Vec::new(),
            timers: None,
            threads: NonZeroUsize::MIN,
            now: 0,
            actions: BTreeMap::new(),
            next_action: 0,
            posted: Vec::new(),
            captures: None,
            clock: None,
            seed,
        }
    }

    /// Puts `nic` into host `id` of the topology; returns the host's index in this world.
    ///
    /// # Errors
    /// [`WorldError::Ports`] unless the host has one port or two; [`WorldError::Threads`].
    pub fn add_host(&mut self, id: HostId, mut nic: N) -> Result<usize, WorldError> {
        let topology = self.fabric.topology();
        let host = &topology.hosts()[id.0 as usize];
        let links: Vec<LinkId> = host.ports.iter().map(|port| port.link).collect();
        let (first, second) = match *links.as_slice() {
            [first, second] => (first, second),
            // Nothing is sent by a second port that is down.
            [only] => {
                nic.set_port(1, false);
                (only, only)
            }
            _ => {
                return Err(WorldError::Ports {
                    host: host.name.clone(),
                    ports: links.len(),
                })
            }
        };
        let rate = |link: LinkId| topology.links()[link.0 as usize].params.rate_mbps;
        self.rates.push([rate(first), rate(second)]);
        self.threads = threads()?;
        self.timers = None;
        let index = self.hosts.len();
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(index as u64 + 1);
        self.hosts
            .push(Host::new(id, &host.name, links.len(), nic, rng));
        self.by_id.insert(id, index);
        self.share_threads();
        Ok(index)
    }

    /// Gives each card a second thread, if there are enough.
    fn share_threads(&mut self) {
        let cards = self.hosts.iter().filter(|host| host.nic.has_cycles());
        let are_enough = are_two_each(self.threads, cards.count());
        for host in &mut self.hosts {
            host.nic.set_helper(are_enough);
        }
    }

    /// Captures every frame at the ports of the hosts from now on.
    ///
    /// # Errors
    /// The errors of the fabric.
    pub fn capture(&mut self) -> Result<(), WorldError> {
        let hosts: Vec<HostId> = self.hosts.iter().map(|host| host.id).collect();
        self.captures = Some(Recorder::attach(&mut self.fabric, &hosts)?);
        Ok(())
    }

    /// The captures of [`Self::capture`].
    pub fn captures(&self) -> Option<&Recorder> {
        self.captures.as_ref()
    }

    /// Shows the present in `clock` from now on, in picoseconds.
    pub fn show_time(&mut self, clock: Arc<AtomicU64>) {
        self.clock = Some(clock);
    }

    /// The present in picoseconds.
    pub const fn now(&self) -> Time {
        self.now
    }

    /// Advances time.
    pub(crate) fn advance(&mut self, now: Time) {
        self.now = now;
        if let Some(clock) = &self.clock {
            clock.store(now, Ordering::Relaxed);
        }
    }

    /// The fabric.
    pub const fn fabric(&self) -> &Fabric {
        &self.fabric
    }

    /// The fabric, to set filters and schedule link changes.
    pub fn fabric_mut(&mut self) -> &mut Fabric {
        &mut self.fabric
    }

    /// A host by its index.
    pub fn host(&self, index: usize) -> &Host<N> {
        &self.hosts[index]
    }

    /// Every host.
    pub fn hosts(&self) -> &[Host<N>] {
        &self.hosts
    }

    /// Counters of a queue pair of the host at `index`, as its software reads them ([`Nic::qp_counters`]).
    ///
    /// # Panics
    /// If there is no such host.
    pub fn qp_counters(&mut self, index: usize, qp: u32) -> Option<QpCounters> {
        self.hosts[index].nic.qp_counters(qp)
    }

    pub(crate) fn host_mut(&mut self, index: usize) -> &mut Host<N> {
        &mut self.hosts[index]
    }

    /// WRITEs posted so far; the index of one is its `wr_id`.
    pub fn posted(&self) -> &[Posted] {
        &self.posted
    }

    /// Time series and arrival order so far.
    pub const fn record(&self) -> &Record {
        &self.record
    }

    /// Writes to a host's memory as its processor or GPU would.
    pub fn store(&mut self, host: usize, owner: Owner, address: u64, bytes: &[u8]) {
        self.hosts[host]
            .nic
            .memory_mut()
            .store(owner, address, bytes);
    }

    /// Registers memory at a host.
    ///
    /// # Errors
    /// [`WorldError::TableFull`].
    pub fn register(&mut self, host: usize, spec: RegionSpec) -> Result<RegionId, WorldError> {
        self.register_in(host, PD, spec)
    }

    /// Registers memory at a host, in this protection domain.
    ///
    /// # Errors
    /// [`WorldError::TableFull`].
    pub fn register_in(
        &mut self,
        host: usize,
        pd: u32,
        spec: RegionSpec,
    ) -> Result<RegionId, WorldError> {
        self.hosts[host].register(pd, spec)
    }

    /// Deregisters a region and unmaps its pages.
    ///
    /// # Errors
    /// The errors of the table writes.
    pub fn deregister(&mut self, host: usize, region: RegionId) -> Result<(), WorldError> {
        self.hosts[host].deregister(region)
    }

    /// Executes `action` at `time`, or now if that has passed. Actions of the same time are executed in the order of the calls.
    pub fn at(
        &mut self,
        time: Time,
        action: impl FnOnce(&mut Self) -> Result<(), WorldError> + 'static,
    ) {
        let key = (time.max(self.now), self.next_action);
        self.next_action += 1;
        self.actions.insert(key, Box::new(action));
    }

    /// Posts a WRITE now; returns its `wr_id`.
    ///
    /// # Errors
    /// [`WorldError::UnknownQp`], [`WorldError::SendQueueFull`], those of the doorbell.
    pub fn post(&mut self, write: Write) -> Result<u64, WorldError> {
        let wr_id = self.write_entry(write)?;
        self.hosts[write.from].ring(write.qp)?;
        self.touch(write.from);
        Ok(wr_id)
    }

    /// Posts WRITEs now, as a list: each queue pair has one doorbell for all of its own.
    ///
    /// # Errors
    /// Those of [`Self::post`].
    pub fn post_list(&mut self, writes: &[Write]) -> Result<(), WorldError> {
        for &write in writes {
            self.write_entry(write)?;
        }
        let mut rung = BTreeSet::new();
        for write in writes {
            if rung.insert((write.from, write.qp)) {
                self.hosts[write.from].ring(write.qp)?;
            }
        }
        for host in writes
            .iter()
            .map(|write| write.from)
            .collect::<BTreeSet<_>>()
        {
            self.touch(host);
        }
        Ok(())
    }

    fn write_entry(&mut self, write: Write) -> Result<u64, WorldError> {
        let wr_id = self.posted.len() as u64;
        let local = self.hosts[write.from].region(write.local.0);
        let remote = self.hosts[write.to].region(write.remote.0);
        let mut wqe = Wqe {
            opcode: match write.immediate {
                Some(_) => WqeOpcode::WriteImm,
                None => WqeOpcode::Write,
            },
            length: write.length,
            remote_va: remote.va + write.remote.1,
            rkey: remote.key,
            immediate: write.immediate.unwrap_or(0),
            wr_id,
            local_va: local.va + write.local.1,
            lkey: local.key,
            ..Wqe::default()
        };
        let host = &self.hosts[write.from];
        let data = host.inline_data(write.qp, write.local, write.length);
        if let Some(inline) = data.and_then(|data| wqe.with_inline(&data)) {
            wqe = inline;
        }
        self.hosts[write.from].write_entry(write.qp, wqe)?;
        let time = self.now;
        self.posted.push(Posted { write, time });
        Ok(wr_id)
    }

    /// Writes to a doorbell page now, whichever page owns the queue pair.
    ///
    /// # Errors
    /// The errors of the NIC.
    pub fn ring(&mut self, host: usize, page: u32, doorbell: Doorbell) -> Result<(), WorldError> {
        let rung = self.hosts[host].nic.ring_doorbell(page, doorbell);
        self.touch(host);
        Ok(rung?)
    }

    /// Notifies a NIC that the link of a port came up or went down now. The state of the link itself belongs to the fabric.
    pub fn set_port(&mut self, host: usize, port: usize, up: bool) {
        self.hosts[host].nic.set_port(port, up);
        self.touch(host);
    }

    /// Collects the effects of a call to a NIC.
    fn touch(&mut self, host: usize) {
        self.hosts[host].poll_all(self.now);
        self.hosts[host].wake(self.now);
    }

    /// Number of work requests without completion, of all hosts.
    pub fn pending(&self) -> u64 {
        self.hosts.iter().map(Host::pending).sum()
    }
}
