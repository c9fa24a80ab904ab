//! The engine.

mod barrier;
mod messages;
mod peers;
mod step;
mod submit;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use stellar_wire::transfer::MessageImmediate;

use crate::counters::Counters;
use crate::error::{ConfigError, PeerLost, SetupError};
use crate::event::{Callback, Event, Notify};
use crate::ids::{CallId, EngineId, PeerId, RequestId, TransferId};
use crate::link::Link;
use crate::nic::{Access, Nic};
use crate::region::{LocalRegion, RegionDescriptor, Registered};
use barrier::Barrier;

/// Settings of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineConfig {
    /// The engine's number in the cluster.
    pub id: EngineId,
    /// Outstanding writes on each queue pair, 1 to 16,384.
    pub depth: u32,
    /// Space for a peer's writes with immediate on each queue pair until this engine polls, 1 to 2^19.
    pub immediates: u32,
    /// Slots for messages of each peer, 1 to 1,024.
    pub slots: u16,
    /// Length of a slot in bytes, which is the longest message, 1 to 2^20.
    pub slot_bytes: u32,
    /// Outstanding transfers, messages, calls and barriers, 1 to 2^19.
    pub transfers: usize,
    /// Different immediates that are counted without an expectation, up to 2^32. One more disconnects the link over which it came.
    pub unexpected: usize,
}

impl EngineConfig {
    /// Returns default settings: 64 writes, 256 immediates, 32 slots of 1,024 bytes, 4,096 transfers, and 65,536 immediates without an expectation.
    pub const fn new(id: EngineId) -> Self {
        Self {
            id,
            depth: 64,
            immediates: 256,
            slots: 32,
            slot_bytes: 1024,
            transfers: 4096,
            unexpected: 65_536,
        }
    }

    fn check(&self, nics: usize) -> Result<(), ConfigError> {
        for (field, value, least, most) in [
            ("the number of NICs", nics as u64, 1, 64),
            ("depth", self.depth.into(), 1, 1 << 14),
            ("immediates", self.immediates.into(), 1, 1 << 19),
            (
                "slots",
                self.slots.into(),
                1,
                MessageImmediate::SLOTS.into(),
            ),
            ("slot_bytes", self.slot_bytes.into(), 1, 1 << 20),
            ("transfers", self.transfers as u64, 1, 1 << 19),
            ("unexpected", self.unexpected as u64, 0, 1 << 32),
        ] {
            ConfigError::check(field, value, least, most)?;
        }
        Ok(())
    }
}

/// An outstanding transfer or message.
struct UnderWay {
    /// Number of writes that have not ended.
    left: u64,
    /// The first loss of a peer that affected it.
    lost: Option<PeerLost>,
    peers: BTreeSet<PeerId>,
    notify: Notify,
}

/// An event that the application has not consumed.
struct Pending {
    event: Event,
    /// The peer and the number of a message. It is `None` for a transfer.
    message: Option<(PeerId, u64)>,
}

/// The argument of a callback.
pub(crate) type Ready = (Callback, Result<(), PeerLost>);

/// Moves bytes between this host's memory and its peers', over one or several NICs.
pub struct Engine<N: Nic> {
    config: EngineConfig,
    nics: Vec<N>,
    links: BTreeMap<PeerId, Link<N>>,
    /// The latest link to each engine.
    by_engine: BTreeMap<EngineId, PeerId>,
    /// Link and its queue pair, by NIC and queue pair number.
    by_qp: BTreeMap<(usize, u32), (PeerId, usize)>,
    /// Lost links that the application has been notified of.
    seen: BTreeSet<PeerId>,
    next_peer: u32,
    transfers: BTreeMap<TransferId, UnderWay>,
    next_transfer: u64,
    turn: usize,
    counters: Counters<Notify>,
    barriers: BTreeMap<TransferId, Barrier>,
    calls: BTreeSet<CallId>,
    next_tag: u32,
    requests: BTreeSet<RequestId>,
    events: VecDeque<Pending>,
    ready: Vec<Ready>,
}

impl<N: Nic> Engine<N> {
    /// An engine over these NICs. NIC i of an engine is connected to NIC i of its peers.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn new(config: EngineConfig, nics: Vec<N>) -> Result<Self, ConfigError> {
        config.check(nics.len())?;
        Ok(Self {
            counters: Counters::new(config.unexpected),
            config,
            nics,
            links: BTreeMap::new(),
            by_engine: BTreeMap::new(),
            by_qp: BTreeMap::new(),
            seen: BTreeSet::new(),
            next_peer: 0,
            transfers: BTreeMap::new(),
            next_transfer: 0,
            turn: 0,
            barriers: BTreeMap::new(),
            calls: BTreeSet::new(),
            next_tag: 0,
            requests: BTreeSet::new(),
            events: VecDeque::new(),
            ready: Vec::new(),
        })
    }

    /// The engine's number in the cluster.
    pub const fn id(&self) -> EngineId {
        self.config.id
    }

    /// The engine's NICs.
    pub fn nics(&self) -> &[N] {
        &self.nics
    }

    /// Allocates zeroed host memory from the first NIC.
    ///
    /// # Errors
    /// [`SetupError::Nic`].
    pub fn allocate(&self, bytes: u64) -> Result<N::Memory, SetupError> {
        let memory = self.nics[0].allocate(bytes);
        memory.map_err(|error| SetupError::Nic { rail: 0, error })
    }

    /// Registers host memory with all NICs.
    ///
    /// # Errors
    /// [`SetupError::Nic`].
    pub fn register(
        &self,
        memory: N::Memory,
        access: Access,
    ) -> Result<LocalRegion<N>, SetupError> {
        let register = |(rail, nic): (usize, &N)| {
            let region = nic.register(&memory, access);
            region.map_err(|error| SetupError::Nic { rail, error })
        };
        let regions = self.nics.iter().enumerate().map(register);
        let regions = regions.collect::<Result<_, _>>()?;
        self.region(regions, Some(memory))
    }

    /// Adopts memory that is already registered with each NIC, such as a GPU's: one region for each NIC, in order.
    ///
    /// # Errors
    /// [`SetupError::Regions`], [`SetupError::Lengths`].
    pub fn adopt(&self, regions: Vec<N::Region>) -> Result<LocalRegion<N>, SetupError> {
        self.region(regions, None)
    }

    fn region(
        &self,
        regions: Vec<N::Region>,
        memory: Option<N::Memory>,
    ) -> Result<LocalRegion<N>, SetupError> {
        if regions.len() != self.nics.len() {
            return Err(SetupError::Regions {
                regions: regions.len(),
                nics: self.nics.len(),
            });
        }
        let known = self.nics.iter().zip(&regions);
        let parts: Vec<_> = known.map(|(nic, region)| nic.remote(region)).collect();
        let first = parts[0].length;
        if let Some(other) = parts.iter().map(|part| part.length).find(|&l| l != first) {
            return Err(SetupError::Lengths { first, other });
        }
        let descriptor = RegionDescriptor {
            owner: self.id(),
            parts,
        };
        Ok(LocalRegion(std::sync::Arc::new(Registered {
            descriptor,
            regions,
            memory,
        })))
    }

    /// The next event, in order. Consuming a message here frees its slot.
    pub fn next_event(&mut self) -> Option<Event> {
        let Pending { event, message } = self.events.pop_front()?;
        if let Some((peer, number)) = message {
            if let Some(link) = self.links.get_mut(&peer) {
                link.take_message(number);
            }
        }
        if let Event::Lost(lost) = &event {
            self.seen.insert(lost.peer);
        }
        Some(event)
    }

    /// Whether this engine has no outstanding work of its own.
    pub fn is_idle(&self) -> bool {
        self.transfers.is_empty() && self.barriers.is_empty() && self.calls.is_empty()
    }

    /// Call this when [`Self::progress`] had nothing to do. Simulated cards advance time here.
    pub fn relax(&self) {
        self.nics[0].relax();
    }

    fn tell(&mut self, event: Event) {
        let message = None;
        self.events.push_back(Pending { event, message });
    }
}
