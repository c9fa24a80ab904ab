//! Mock NICs: every write arrives in pieces, in any order and after any time, and some queue pairs fail.
//!
//! The network asserts what a NIC may assume of the engine: no queue overruns, and only registered memory is named. Like a NIC, it reads bytes from
//! the source when it places them, so a source that is reused too early is detected.

mod nic;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stellar_transfer::{Happened, NicEvent, QueueDepth, WcStatus};

use nic::NetRegion;
pub use nic::{NetMemory, NetNic};

/// Maximum number of bytes placed at once.
const PACKET: usize = 700;

/// A queue pair: NIC and number.
pub type End = (usize, u32);

struct QueuePair {
    depth: QueueDepth,
    peer: Option<End>,
    failed: bool,
    /// Writes posted and not ended.
    posted: u32,
    /// Writes arrived and not polled.
    arrived: u32,
}

/// A write in flight.
struct Flight {
    from: End,
    to: End,
    id: u64,
    source: Option<(Arc<NetRegion>, usize)>,
    word: Option<u64>,
    rkey: u32,
    address: u64,
    length: usize,
    immediate: Option<u32>,
    /// Packets that have not arrived.
    packets: Vec<usize>,
    told: bool,
    /// It makes progress rarely.
    slow: bool,
}

#[derive(Default)]
struct Card {
    queue_pairs: BTreeMap<u32, QueuePair>,
    events: Vec<NicEvent>,
    unplugged: bool,
}

/// All NICs, and the writes in flight between them.
pub struct Net {
    rng: ChaCha8Rng,
    cards: Vec<Card>,
    flights: Vec<Flight>,
    /// Registered memory, by NIC and key. Dropping a region locks only this.
    keys: Arc<Mutex<BTreeMap<(usize, u32), nic::Keyed>>>,
    next_key: u32,
}

/// The network. Clones are the same.
#[derive(Clone)]
pub struct Network(Arc<Mutex<Net>>);

impl Network {
    pub fn new(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(Net {
            rng: ChaCha8Rng::seed_from_u64(seed),
            cards: Vec::new(),
            flights: Vec::new(),
            keys: Arc::default(),
            next_key: 0,
        })))
    }

    fn lock(&self) -> MutexGuard<'_, Net> {
        // After a failed assertion, destructors still lock the network.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a NIC.
    pub fn nic(&self) -> NetNic {
        let mut net = self.lock();
        net.cards.push(Card::default());
        NetNic::new(self.clone(), net.cards.len() - 1)
    }

    /// Executes a random step, if anything is in flight.
    pub fn step(&self) -> bool {
        let done = self.lock().step();
        // The contents of a flight are dropped outside the lock.
        done.0
    }

    /// A random number below `end`.
    pub fn random(&self, end: usize) -> usize {
        self.lock().rng.random_range(0..end)
    }

    /// Fails a random connected queue pair; `None` if there is none.
    pub fn fail_any(&self) -> Option<End> {
        let (end, _dropped) = {
            let mut net = self.lock();
            let end = net.any_connected()?;
            (end, net.fail(end, WcStatus::RetryExcErr))
        };
        Some(end)
    }

    /// Makes a NIC unusable: it cannot be polled, and its writes make no progress.
    pub fn unplug(&self, nic: usize) {
        let mut net = self.lock();
        net.cards[nic].unplugged = true;
        net.flights.retain(|f| f.from.0 != nic && f.to.0 != nic);
    }
}

impl Net {
    fn queue_pair(&mut self, (nic, number): End) -> Option<&mut QueuePair> {
        self.cards[nic].queue_pairs.get_mut(&number)
    }

    fn any_connected(&mut self) -> Option<End> {
        let mut ends = Vec::new();
        for (nic, card) in self.cards.iter().enumerate() {
            let up = |qp: &QueuePair| qp.peer.is_some() && !qp.failed;
            let numbers = card.queue_pairs.iter().filter(|(_, qp)| up(qp));
            ends.extend(numbers.map(|(number, _)| (nic, *number)));
        }
        ends.choose(&mut self.rng).copied()
    }

    fn tell(&mut self, (nic, qp): End, what: Happened) {
        self.cards[nic].events.push(NicEvent { qp, what });
    }

    /// Fails a queue pair. Its writes end in random order, whether they have arrived or not.
    fn fail(&mut self, end: End, status: WcStatus) -> Vec<Flight> {
        match self.queue_pair(end) {
            Some(qp) if !qp.failed => qp.failed = true,
            _ => return Vec::new(),
        }
        self.tell(end, Happened::Failed(Some(status)));
        let flights = std::mem::take(&mut self.flights);
        let (mut ended, left): (Vec<_>, Vec<_>) = flights.into_iter().partition(|f| f.from == end);
        self.flights = left;
        for index in (1..ended.len()).rev() {
            ended.swap(index, self.rng.random_range(0..=index));
        }
        for flight in &ended {
            self.end(flight, WcStatus::WrFlushErr);
        }
        ended
    }

    fn end(&mut self, flight: &Flight, status: WcStatus) {
        let id = flight.id;
        if let Some(qp) = self.queue_pair(flight.from) {
            qp.posted -= 1;
        }
        self.tell(flight.from, Happened::Sent { id, status });
    }

    /// Advances a write by a step; returns whether there was one, and the values to drop.
    fn step(&mut self) -> (bool, Vec<Flight>) {
        if self.flights.is_empty() {
            return (false, Vec::new());
        }
        let index = self.rng.random_range(0..self.flights.len());
        if self.flights[index].slow && self.rng.random_ratio(9, 10) {
            return (true, Vec::new());
        }
        let to = self.flights[index].to;
        if self
            .queue_pair(to)
            .is_none_or(|qp| qp.failed || qp.peer.is_none())
        {
            let from = self.flights[index].from;
            return (true, self.fail(from, WcStatus::RemOpErr));
        }
        let packets = self.flights[index].packets.len();
        if packets > 0 {
            let which = self.rng.random_range(0..packets);
            let packet = self.flights[index].packets.swap_remove(which);
            if !self.place(index, packet) {
                let from = self.flights[index].from;
                return (true, self.fail(from, WcStatus::RemOpErr));
            }
        } else if !self.flights[index].told {
            self.flights[index].told = true;
            self.announce(index);
        } else {
            let flight = self.flights.swap_remove(index);
            self.end(&flight, WcStatus::Success);
            return (true, vec![flight]);
        }
        (true, Vec::new())
    }

    /// Copies a packet into memory; `false` if that is not permitted.
    fn place(&self, index: usize, packet: usize) -> bool {
        let flight = &self.flights[index];
        let begin = packet * PACKET;
        let length = PACKET.min(flight.length - begin);
        let bytes = match (&flight.source, flight.word) {
            (Some((region, offset)), _) => region.memory.copy(offset + begin, length),
            (None, Some(word)) => word.to_le_bytes().to_vec(),
            (None, None) => Vec::new(),
        };
        let keys = self.keys.lock().expect("the keys");
        let Some(region) = keys.get(&(flight.to.0, flight.rkey)) else {
            return false;
        };
        let Some(offset) = flight.address.checked_sub(region.address) else {
            return false;
        };
        let fits = offset as usize + flight.length <= region.memory.size();
        if fits && region.remote_write {
            region.memory.place(offset as usize + begin, &bytes);
        }
        fits && region.remote_write
    }

    /// All bytes of a write are in memory, so its immediate is delivered.
    fn announce(&mut self, index: usize) {
        let Flight { to, length, .. } = self.flights[index];
        let Some(immediate) = self.flights[index].immediate else {
            return;
        };
        let qp = self.queue_pair(to).expect("it receives");
        qp.arrived += 1;
        assert!(
            qp.arrived <= qp.depth.immediates,
            "the completion ring of {to:?} is overrun"
        );
        let bytes = length as u32;
        self.tell(to, Happened::Arrived { immediate, bytes });
    }
}
