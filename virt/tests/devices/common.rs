//! A host with a card and guests with virtual devices, for tests.

use std::iter::once;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use stellar_driver::{Device, DeviceConfig, PciFunction, PortAddress, Probe};
use stellar_virt::guest::{CallError, GuestDriver, GuestQueuePair, RingPlace};
use stellar_virt::host::{CardFence, DeviceId, GuestMachine, Service, QUOTA};
use stellar_virt::pvdma::{GuestId, Limits, Pvdma, BLOCK};
use stellar_virt::{DoorbellWindow, GuestLayout};
use stellar_wire::host::{Cqe, Wqe};
use stellar_wire::vstellar::*;
use vm_memory::{Bytes, GuestAddress, GuestMemoryMmap};

use crate::devices::hypervisor::{Held, Hypervisor, Iommu};

/// Guest addresses of the memory and of the shared-memory region.
pub const MEMORY: u64 = 2 * BLOCK;
pub const SHARED: u64 = 16 * BLOCK;
/// Entries of the rings of test queue pairs.
pub const ENTRIES: u32 = 8;
/// IO virtual addresses that the service uses for guests.
const ADDRESSES: std::ops::Range<u64> = 0x80_0000_0000..0xe0_0000_0000;

pub fn ports(host: u8) -> [PortAddress; 2] {
    [0, 1].map(|plane| PortAddress {
        mac: [2, 0, 0, plane, 0, host + 1],
        ip: [10, plane, 0, host + 1].into(),
    })
}

/// A host: its card, and the service that makes virtual devices of the card.
pub struct Host {
    pub service: Mutex<Service>,
    pub hypervisor: Hypervisor,
    pub pvdma: Pvdma,
    pub device: Device,
}

impl Host {
    pub fn new(number: u8, function: Arc<dyn PciFunction>, iommu: Box<dyn Iommu>) -> Arc<Self> {
        let config = DeviceConfig::new(ports(number), number.into());
        let device = Probe::new(function).unwrap().bring_up(config).unwrap();
        let hypervisor = Hypervisor(Arc::new(Mutex::new((Held::default(), iommu))));
        let part = || Box::new(hypervisor.clone());
        let limits = Limits {
            most_idle: 0,
            ..Limits::default()
        };
        let fence = CardFence::new(device.clone());
        let pvdma = Pvdma::new(limits, part(), part(), Box::new(fence));
        let service = Service::new(device.clone(), pvdma.clone(), ADDRESSES);
        Arc::new(Self {
            service: Mutex::new(service),
            hypervisor,
            pvdma,
            device,
        })
    }

    pub fn service(&self) -> MutexGuard<'_, Service> {
        self.service.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A guest without a device.
    pub fn add_guest(&self, number: u32) -> (GuestId, Arc<GuestMemoryMmap>) {
        let ranges = [(GuestAddress(0), MEMORY as usize)];
        let memory = Arc::new(GuestMemoryMmap::from_ranges(&ranges).unwrap());
        let layout = GuestLayout::new(once(0..MEMORY), SHARED..SHARED + BLOCK).unwrap();
        let machine = GuestMachine {
            memory: Arc::clone(&memory),
            layout: Arc::new(layout),
        };
        let guest = GuestId(number);
        let known = &mut self.hypervisor.lock().0.memories;
        known.insert(guest, Arc::clone(&memory));
        self.service().add_guest(guest, machine).unwrap();
        (guest, memory)
    }
}

/// A guest with a virtual device and its driver.
pub struct Guest {
    pub host: Arc<Host>,
    pub guest: GuestId,
    pub memory: Arc<GuestMemoryMmap>,
    pub id: DeviceId,
    pub window: DoorbellWindow,
    pub driver: GuestDriver,
    /// First guest address that is not allocated.
    next: u64,
}

/// A queue pair with its handles and addresses.
pub struct Pair {
    pub pd: u32,
    pub cq: u32,
    pub qp: GuestQueuePair,
    /// Guest address of its send queue.
    pub send_ring: u64,
}

impl Guest {
    pub fn new(host: &Arc<Host>, number: u32) -> Self {
        Self::with_quota(host, number, QUOTA)
    }

    pub fn with_quota(host: &Arc<Host>, number: u32, quota: GuestQuota) -> Self {
        let (guest, memory) = host.add_guest(number);
        let (id, window) = host.service().create_device(guest, quota).unwrap();
        let at = 0x1000;
        let driver = GuestDriver::new(Arc::clone(&memory), at, QUEUE_SIZE);
        host.service().activate(id, driver.queue()).unwrap();
        Self {
            host: Arc::clone(host),
            guest,
            memory,
            id,
            window,
            driver,
            next: at + GuestDriver::bytes(QUEUE_SIZE),
        }
    }

    /// Fresh guest memory.
    pub fn alloc(&mut self, bytes: u64, align: u64) -> u64 {
        let at = self.next.next_multiple_of(align);
        self.next = at + bytes;
        assert!(self.next <= MEMORY, "the test guest has no memory left");
        at
    }

    pub fn call(&mut self, request: Request) -> Result<Answer, CallError> {
        let host = Arc::clone(&self.host);
        let id = self.id;
        self.driver.call(&request, || {
            let mut service = host.service();
            service.notify(id);
            let (served, processed) = service.serve().unwrap();
            assert_eq!((served, processed.unwrap()), (id, 1));
        })
    }

    pub fn handle(&mut self, request: Request) -> u32 {
        match self.call(request).unwrap() {
            Answer::Handle(handle) => handle,
            other => panic!("{request:?} was answered with {other:?}"),
        }
    }

    pub fn refusal(&mut self, request: Request) -> Status {
        match self.call(request) {
            Err(CallError::Refused(_, status)) => status,
            other => panic!("{request:?} was answered with {other:?}"),
        }
    }

    pub fn counters(&mut self) -> GuestCounters {
        match self.call(Request::QueryCounters).unwrap() {
            Answer::Counters(counters) => counters,
            other => panic!("counters were {other:?}"),
        }
    }

    /// A request for a queue pair with fresh rings.
    pub fn qp_request(&mut self, pd: u32, cq: u32) -> CreateQp {
        CreateQp {
            pd,
            cq,
            send_ring: self.alloc(u64::from(ENTRIES) * Wqe::LEN as u64, 64),
            send_entries: ENTRIES,
            completion_ring: self.alloc(u64::from(ENTRIES) * Cqe::LEN as u64, 64),
        }
    }

    /// A queue pair with all objects that it needs, in RESET.
    pub fn pair(&mut self) -> Pair {
        let pd = self.handle(Request::AllocPd);
        let cq = self.handle(Request::CreateCq { entries: ENTRIES });
        let asked = self.qp_request(pd, cq);
        let number = self.handle(Request::CreateQp(asked));
        let ring = |address| RingPlace {
            address,
            entries: ENTRIES,
        };
        let memory = Arc::clone(&self.memory);
        let (send, completions) = (ring(asked.send_ring), ring(asked.completion_ring));
        let qp = GuestQueuePair::new(memory, self.window.clone(), number, send, completions);
        let send_ring = asked.send_ring;
        Pair {
            pd,
            cq,
            qp,
            send_ring,
        }
    }

    /// A request to register `pages` new pages. Their addresses in work requests are their guest addresses.
    pub fn region_request(&mut self, pd: u32, pages: u64) -> RegisterMr {
        let at = self.alloc(pages * 4096, 4096);
        let list = self.alloc(pages * PAGE_ENTRY, 8);
        for page in 0..pages {
            let entry = (at + page * 4096).to_le_bytes();
            let place = GuestAddress(list + page * PAGE_ENTRY);
            self.memory.write_slice(&entry, place).unwrap();
        }
        RegisterMr {
            pd,
            page_log2: 12,
            remote_write: true,
            remote_read: false,
            address: at,
            pages: pages as u32,
            list,
        }
    }

    /// Moves a queue pair to RTS, connected to `peer` at `ports`.
    pub fn connect(&mut self, qp: u32, peer: u32, at: [PortAddress; 2]) {
        for step in steps(peer, at) {
            self.call(Request::ModifyQp { qp, step }).unwrap();
        }
    }
}

/// INIT, RTR and RTS towards a queue pair.
pub fn steps(peer: u32, at: [PortAddress; 2]) -> [Step; 3] {
    let port = |address: PortAddress| Port {
        mac: address.mac,
        ip: address.ip,
    };
    let ready = ReadyToReceive {
        qp: peer,
        psn: 100,
        ports: at.map(port),
        path: Path {
            mtu_log2: 12,
            base_rtt: 10_000,
            gbps: 400,
            trimming: false,
            policy: PathPolicy::Obs,
            paths: 128,
            skip: SkipMarked::RestOfRotation,
            probe_interval: 1_000_000,
        },
        max_write_imm: 16,
        imm_completions: true,
        sack_every: 16,
    };
    let init = Step::Init {
        pkey: 0xffff,
        remote_write: true,
    };
    let send = Step::Rts {
        psn: 100,
        timeout: 250_000,
        backoff: RetryBackoff::Exponential,
        retry_count: 7,
        window: 1024,
        early_loss: 128,
    };
    [init, Step::Rtr(ready), send]
}
