//! Two hosts with a Verilated card each, and guests that are connected.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use sim_nic::CardPair;
use sim_world::Backing;
use stellar_virt::pvdma::BLOCK;
use stellar_wire::host::{Cqe, WcStatus, Wqe, WqeOpcode};
use stellar_wire::vstellar::*;
use vm_memory::{Bytes, GuestAddress, GuestMemoryMmap};

use crate::devices::common::{ports, Guest, Host, Pair};
use crate::devices::hypervisor::Iommu;

/// Maximum number of cycles of any wait in these tests.
const TIMEOUT_CYCLES: u64 = 400_000;

/// A block of a guest's memory.
struct Block {
    memory: Arc<GuestMemoryMmap>,
    address: u64,
}

impl Backing for Block {
    fn read(&self, offset: u64, into: &mut [u8]) {
        let at = GuestAddress(self.address + offset);
        self.memory
            .read_slice(into, at)
            .expect("the block is memory");
    }

    fn write(&self, offset: u64, bytes: &[u8]) {
        let at = GuestAddress(self.address + offset);
        self.memory
            .write_slice(bytes, at)
            .expect("the block is memory");
    }
}

/// The IOMMU of a simulated host.
struct SimIommu {
    pair: CardPair,
    host: usize,
}

impl Iommu for SimIommu {
    fn map(&mut self, iova: u64, memory: &Arc<GuestMemoryMmap>, guest_address: u64) {
        let block = Block {
            memory: Arc::clone(memory),
            address: guest_address,
        };
        let block = Arc::new(block);
        self.pair.map_backed(self.host, iova, BLOCK, block);
    }

    fn unmap(&mut self, iova: u64) {
        self.pair.unmap_backed(self.host, iova);
    }
}

/// The cards and their hosts.
pub struct World {
    pub pair: CardPair,
    pub hosts: [Arc<Host>; 2],
}

/// The cards, which the tests use one after the other.
pub fn world() -> (MutexGuard<'static, ()>, &'static World) {
    static TURN: Mutex<()> = Mutex::new(());
    static WORLD: OnceLock<World> = OnceLock::new();
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    (turn, WORLD.get_or_init(World::new))
}

/// An end of a connection: a guest with a queue pair and a region.
pub struct End {
    pub guest: Guest,
    pub pair: Pair,
    /// Guest address, which is also the address in work requests.
    pub at: u64,
    pub key: u32,
}

impl End {
    pub fn new(host: &Arc<Host>, number: u32, pages: u64) -> Self {
        let mut guest = Guest::new(host, number);
        let pair = guest.pair();
        let region = guest.region_request(pair.pd, pages);
        let key = guest.handle(Request::RegisterMr(region));
        Self {
            guest,
            pair,
            at: region.address,
            key,
        }
    }

    pub fn store(&self, bytes: &[u8]) {
        let at = GuestAddress(self.at);
        self.guest.memory.write_slice(bytes, at).unwrap();
    }

    pub fn load(&self, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        let at = GuestAddress(self.at);
        self.guest.memory.read_slice(&mut bytes, at).unwrap();
        bytes
    }

    /// A write of the first `length` bytes of its region to those of `to`.
    pub fn write(&self, to: &Self, length: u32) -> Wqe {
        Wqe {
            opcode: WqeOpcode::Write,
            length,
            local_va: self.at,
            lkey: self.key,
            remote_va: to.at,
            rkey: to.key,
            wr_id: u64::from(length),
            ..Wqe::default()
        }
    }
}

impl World {
    /// Two cards after bring-up.
    pub fn new() -> Self {
        let pair = CardPair::new().unwrap();
        let hosts = [0, 1].map(|host| {
            let iommu = SimIommu {
                pair: pair.clone(),
                host,
            };
            Host::new(host as u8, pair.function(host), Box::new(iommu))
        });
        Self { pair, hosts }
    }

    /// Two guests, one on each host, connected.
    pub fn connected(&self, numbers: [u32; 2], pages: u64) -> [End; 2] {
        let mut a = End::new(&self.hosts[0], numbers[0], pages);
        let mut b = End::new(&self.hosts[1], numbers[1], pages);
        let [qa, qb] = [a.pair.qp.number(), b.pair.qp.number()];
        a.guest.connect(qa, qb, ports(1));
        b.guest.connect(qb, qa, ports(0));
        [a, b]
    }

    /// Advances time until the queue pair has a completion, with `meanwhile` called in every pause.
    pub fn completion_with(&self, end: &mut End, mut meanwhile: impl FnMut()) -> Cqe {
        let last = self.pair.clocks() + TIMEOUT_CYCLES;
        loop {
            if let Some(cqe) = end.pair.qp.poll().unwrap() {
                return cqe;
            }
            assert!(self.pair.clocks() < last, "no completion");
            meanwhile();
            self.pair.run(8);
        }
    }

    pub fn completion(&self, end: &mut End) -> Cqe {
        self.completion_with(end, || {})
    }

    pub fn bad_accesses(&self) -> [usize; 2] {
        [self.pair.bad_accesses(0), self.pair.bad_accesses(1)]
    }

    /// Two guests that connect, write and go.
    pub fn write_once(&self, number: u32) {
        let [mut c, d] = self.connected([number, number], 1);
        let bytes = pattern(4096, 9);
        c.store(&bytes);
        c.pair.qp.post(c.write(&d, 4096)).unwrap();
        assert_eq!(self.completion(&mut c).status, WcStatus::Success);
        assert!(d.load(4096) == bytes);
        self.remove_some([c, d]);
    }

    /// Removes guests.
    pub fn remove_some(&self, ends: [End; 2]) {
        for End { guest, .. } in ends {
            assert_eq!(guest.host.service().remove_guest(guest.guest).unwrap(), 0);
        }
    }

    /// Removes the last guests, and checks that nothing of any guest is left.
    pub fn remove(&self, ends: [End; 2]) {
        self.remove_some(ends);
        for host in &self.hosts {
            let hypervisor = &host.hypervisor;
            assert_eq!(
                (hypervisor.blocks_pinned(), hypervisor.blocks_mapped()),
                (0, 0)
            );
        }
    }
}

pub fn pattern(length: usize, salt: u8) -> Vec<u8> {
    (0..length)
        .map(|i| (i * 31 + i / 251) as u8 ^ salt)
        .collect()
}
