//! One mock NIC of the network.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use rand::Rng;
use stellar_transfer::*;

use super::{End, Flight, Network, QueuePair, PACKET};

/// Host memory that counts how often NICs have written each byte.
#[derive(Clone)]
pub struct NetMemory(Arc<Mutex<(Vec<u8>, Vec<u32>)>>);

impl NetMemory {
    fn new(bytes: usize) -> Self {
        Self(Arc::new(Mutex::new((vec![0; bytes], vec![0; bytes]))))
    }

    pub fn size(&self) -> usize {
        self.0.lock().unwrap().0.len()
    }

    pub fn copy(&self, offset: usize, length: usize) -> Vec<u8> {
        self.0.lock().unwrap().0[offset..offset + length].to_vec()
    }

    /// How often NICs have written each byte.
    pub fn touched(&self) -> Vec<u32> {
        self.0.lock().unwrap().1.clone()
    }

    pub fn place(&self, offset: usize, bytes: &[u8]) {
        let (memory, touched) = &mut *self.0.lock().unwrap();
        let places = offset..offset + bytes.len();
        memory[places.clone()].copy_from_slice(bytes);
        touched[places].iter_mut().for_each(|count| *count += 1);
    }

    fn check(&self, offset: u64, bytes: usize) -> Result<(), NicError> {
        if offset as usize + bytes > self.size() {
            return Err(NicError::new(format!("{bytes} bytes at {offset}")));
        }
        Ok(())
    }
}

impl Memory for NetMemory {
    fn length(&self) -> u64 {
        self.size() as u64
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), NicError> {
        self.check(offset, into.len())?;
        into.copy_from_slice(&self.copy(offset as usize, into.len()));
        Ok(())
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), NicError> {
        self.check(offset, bytes.len())?;
        let memory = &mut self.0.lock().unwrap().0;
        memory[offset as usize..offset as usize + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn read_word(&self, offset: u64) -> Result<u64, NicError> {
        assert_eq!(offset % 8, 0);
        let mut bytes = [0; 8];
        self.read(offset, &mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }
}

/// Memory that a key names.
pub struct Keyed {
    pub memory: NetMemory,
    pub address: u64,
    pub remote_write: bool,
}

/// Registered memory. When it is dropped, its key becomes invalid.
pub struct NetRegion {
    pub memory: NetMemory,
    nic: usize,
    remote: RemoteRegion,
    keys: Arc<Mutex<BTreeMap<(usize, u32), Keyed>>>,
}

impl Drop for NetRegion {
    fn drop(&mut self) {
        let mut keys = self.keys.lock().expect("the keys");
        keys.remove(&(self.nic, self.remote.rkey));
    }
}

/// A queue pair, which is destroyed with its owner.
pub struct NetQueuePair {
    network: Network,
    end: End,
}

impl Drop for NetQueuePair {
    fn drop(&mut self) {
        let gone = {
            let mut net = self.network.lock();
            let (nic, number) = self.end;
            net.cards[nic].queue_pairs.remove(&number);
            let flights = std::mem::take(&mut net.flights);
            let (gone, left): (Vec<_>, Vec<_>) = flights
                .into_iter()
                .partition(|flight| flight.from == self.end);
            net.flights = left;
            gone
        };
        drop(gone);
    }
}

/// A NIC of the simulated network.
pub struct NetNic {
    network: Network,
    index: usize,
}

impl NetNic {
    pub const fn new(network: Network, index: usize) -> Self {
        Self { network, index }
    }
}

impl Nic for NetNic {
    type Memory = NetMemory;
    type Region = Arc<NetRegion>;
    type QueuePair = NetQueuePair;
    type Address = End;

    fn allocate(&self, bytes: u64) -> Result<NetMemory, NicError> {
        Ok(NetMemory::new(bytes as usize))
    }

    fn register(&self, memory: &NetMemory, access: Access) -> Result<Arc<NetRegion>, NicError> {
        let mut net = self.network.lock();
        net.next_key += 1;
        let remote = RemoteRegion {
            // All addresses differ, so that a wrong key or address is detected.
            address: u64::from(net.next_key) << 32,
            rkey: net.next_key,
            length: memory.length(),
        };
        let keyed = Keyed {
            memory: memory.clone(),
            address: remote.address,
            remote_write: access == Access::RemoteWrite,
        };
        let keys = Arc::clone(&net.keys);
        keys.lock()
            .unwrap()
            .insert((self.index, remote.rkey), keyed);
        Ok(Arc::new(NetRegion {
            memory: memory.clone(),
            nic: self.index,
            remote,
            keys,
        }))
    }

    fn remote(&self, region: &Arc<NetRegion>) -> RemoteRegion {
        region.remote
    }

    fn create(&self, depth: QueueDepth) -> Result<NetQueuePair, NicError> {
        let mut net = self.network.lock();
        let queue_pairs = &mut net.cards[self.index].queue_pairs;
        let number = queue_pairs.keys().last().map_or(2, |last| last + 1);
        let queue_pair = QueuePair {
            depth,
            peer: None,
            failed: false,
            posted: 0,
            arrived: 0,
        };
        queue_pairs.insert(number, queue_pair);
        Ok(NetQueuePair {
            network: self.network.clone(),
            end: (self.index, number),
        })
    }

    fn number(&self, qp: &NetQueuePair) -> u32 {
        qp.end.1
    }

    fn address(&self, qp: &NetQueuePair) -> End {
        qp.end
    }

    fn connect(&self, qp: &NetQueuePair, peer: &End) -> Result<(), NicError> {
        let mut net = self.network.lock();
        net.queue_pair(qp.end).expect("it exists").peer = Some(*peer);
        Ok(())
    }

    fn post(&self, qp: &NetQueuePair, write: &Write<'_, Arc<NetRegion>>) -> Result<(), NicError> {
        let mut net = self.network.lock();
        let state = net.queue_pair(qp.end).expect("it exists");
        if state.failed {
            return Err(NicError::new("the queue pair has failed"));
        }
        state.posted += 1;
        assert!(state.posted <= state.depth.writes, "the send queue is full");
        let to = state.peer.expect("it is connected");
        let (source, word, length) = match write.payload {
            Payload::Nothing => (None, None, 0),
            Payload::Word(word) => (None, Some(word), 8),
            Payload::Region {
                region,
                offset,
                length,
            } => {
                assert_eq!(region.nic, self.index, "registered with another NIC");
                assert!(length > 0 && offset + u64::from(length) <= region.remote.length);
                let source = (Arc::clone(region), offset as usize);
                (Some(source), None, length as usize)
            }
        };
        let slow = net.rng.random_ratio(1, 4);
        net.flights.push(Flight {
            from: qp.end,
            to,
            id: write.id,
            source,
            word,
            rkey: write.rkey,
            address: write.address,
            length,
            immediate: write.immediate,
            packets: (0..length.div_ceil(PACKET)).collect(),
            told: false,
            slow,
        });
        Ok(())
    }

    fn stop(&self, qp: &NetQueuePair) -> Result<(), NicError> {
        let dropped = self.network.lock().fail(qp.end, WcStatus::WrFlushErr);
        drop(dropped);
        Ok(())
    }

    fn poll(&self, most: usize) -> Result<Vec<NicEvent>, NicError> {
        let mut net = self.network.lock();
        let card = &mut net.cards[self.index];
        if card.unplugged {
            return Err(NicError::new("unplugged"));
        }
        let count = most.min(card.events.len());
        let events: Vec<_> = card.events.drain(..count).collect();
        for event in &events {
            if let (Happened::Arrived { .. }, Some(qp)) =
                (event.what, card.queue_pairs.get_mut(&event.qp))
            {
                qp.arrived -= 1;
            }
        }
        Ok(events)
    }

    fn relax(&self) {
        self.network.step();
    }
}
