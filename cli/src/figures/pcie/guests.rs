//! Two cabled Verilated cards, each with a virtual device for a guest: the guests' queue pairs write from one guest's memory to the other's.

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{bail, ensure, Context};
use sim_nic::{CardPair, PcieSettings};
use stellar_driver::{DeviceConfig, PortAddress, Probe, WcStatus};
use stellar_virt::guest::{GuestDriver, GuestQueuePair, RingPlace};
use stellar_virt::host::{CardFence, DeviceId, GuestMachine, Service, QUOTA};
use stellar_virt::pvdma::{GuestId, Limits, Pvdma, BLOCK};
use stellar_virt::GuestLayout;
use stellar_wire::host::{Cqe, Wqe, WqeOpcode};
use stellar_wire::vstellar::{
    Answer, CreateQp, Path, PathPolicy, Port, ReadyToReceive, RegisterMr, Request, RetryBackoff,
    SkipMarked, Step, PAGE_ENTRY, QUEUE_SIZE,
};
use vm_memory::{Bytes, GuestAddress, GuestMemoryMmap};

use super::cards::{ports, MTU_LOG2, PSN, SACK_EVERY};
use super::machine::Machine;
use super::writer::Writer;

/// The guest of each host.
const GUEST: GuestId = GuestId(1);
/// Bytes of a guest's memory, and guest address of the shared-memory region behind it.
const MEMORY: u64 = 8 * BLOCK;
const SHARED: u64 = 16 * BLOCK;
/// Guest address of the control queue.
const CONTROL: u64 = 0x1000;
/// IO virtual addresses for guests.
const ADDRESSES: std::ops::Range<u64> = 0x80_0000_0000..0xe0_0000_0000;
/// log2 of a page of a region.
const PAGE_LOG2: u8 = 12;

/// A guest with a queue pair and a region.
struct Guest {
    service: Mutex<Service>,
    device: DeviceId,
    memory: Arc<GuestMemoryMmap>,
    driver: GuestDriver,
    qp: GuestQueuePair,
    region: u64,
    key: u32,
}

/// Two guests that are connected; the first writes.
pub struct Guests {
    pair: CardPair,
    guests: [Guest; 2],
    bytes: u32,
}

impl Guests {
    /// Brings the cards up, makes a virtual device of each, and connects the guests. Each has a region of `bytes` bytes.
    pub fn new(seed: u64, bytes: u32, entries: u32, pcie: &PcieSettings) -> anyhow::Result<Self> {
        let pair = CardPair::with_pcie(pcie)?;
        let mut guests = [
            Guest::new(&pair, 0, seed, bytes, entries)?,
            Guest::new(&pair, 1, seed, bytes, entries)?,
        ];
        let numbers = [guests[0].qp.number(), guests[1].qp.number()];
        guests[0].connect(numbers[1], ports(1))?;
        guests[1].connect(numbers[0], ports(0))?;
        let sent: Vec<u8> = (0..bytes).map(|i| (i * 7 + i / 251) as u8).collect();
        guests[0]
            .memory
            .write_slice(&sent, GuestAddress(guests[0].region))?;
        Ok(Self {
            pair,
            guests,
            bytes,
        })
    }
}

impl Writer for Guests {
    fn pair(&self) -> &CardPair {
        &self.pair
    }

    fn post(&mut self, bytes: u32) -> anyhow::Result<()> {
        let [from, to] = &mut self.guests;
        Ok(from.qp.post(Wqe {
            opcode: WqeOpcode::Write,
            length: bytes,
            local_va: from.region,
            lkey: from.key,
            remote_va: to.region,
            rkey: to.key,
            ..Wqe::default()
        })?)
    }

    fn poll(&mut self) -> anyhow::Result<usize> {
        let mut count = 0;
        while let Some(cqe) = self.guests[0].qp.poll()? {
            ensure!(
                cqe.status == WcStatus::Success,
                "a guest's WRITE ended with {:?}",
                cqe.status
            );
            count += 1;
        }
        Ok(count)
    }

    fn compare(&self) -> anyhow::Result<()> {
        let [sent, arrived] = &self.guests;
        let load = |guest: &Guest| -> anyhow::Result<Vec<u8>> {
            let mut bytes = vec![0; self.bytes as usize];
            guest
                .memory
                .read_slice(&mut bytes, GuestAddress(guest.region))?;
            Ok(bytes)
        };
        ensure!(
            load(sent)? == load(arrived)?,
            "other bytes arrived at the guest than were sent"
        );
        Ok(())
    }
}

impl Guest {
    fn new(
        pair: &CardPair,
        host: usize,
        seed: u64,
        bytes: u32,
        entries: u32,
    ) -> anyhow::Result<Self> {
        let config = DeviceConfig::new(ports(host), seed << 1 | host as u64);
        let card = Probe::new(pair.function(host))?.bring_up(config)?;
        let ranges = [(GuestAddress(0), MEMORY as usize)];
        let memory = Arc::new(GuestMemoryMmap::from_ranges(&ranges)?);
        let machine = Machine {
            pair: pair.clone(),
            host,
            memory: Arc::clone(&memory),
        };
        let fence = Box::new(CardFence::new(card.clone()));
        let pinning = Box::new(machine.clone());
        let pvdma = Pvdma::new(Limits::default(), pinning, Box::new(machine), fence);
        let mut service = Service::new(card, pvdma, ADDRESSES);
        let layout = GuestLayout::new(std::iter::once(0..MEMORY), SHARED..SHARED + BLOCK)?;
        let machine = GuestMachine {
            memory: Arc::clone(&memory),
            layout: Arc::new(layout),
        };
        service.add_guest(GUEST, machine)?;
        let (device, window) = service.create_device(GUEST, QUOTA)?;
        let mut driver = GuestDriver::new(Arc::clone(&memory), CONTROL, QUEUE_SIZE);
        service.activate(device, driver.queue())?;
        let service = Mutex::new(service);
        let mut next = CONTROL + GuestDriver::bytes(QUEUE_SIZE);
        let mut alloc = |bytes: u64, align: u64| {
            let at = next.next_multiple_of(align);
            next = at + bytes;
            at
        };
        let send_ring = alloc(u64::from(entries) * Wqe::LEN as u64, 64);
        let completion_ring = alloc(u64::from(entries) * Cqe::LEN as u64, 64);
        let pages = u64::from(bytes).div_ceil(1 << PAGE_LOG2);
        let list = alloc(pages * PAGE_ENTRY, 8);
        let region = alloc(pages << PAGE_LOG2, 1 << PAGE_LOG2);
        for page in 0..pages {
            let address = region + (page << PAGE_LOG2);
            let at = GuestAddress(list + page * PAGE_ENTRY);
            memory.write_slice(&address.to_le_bytes(), at)?;
        }
        let mut handle = |request| handle(&mut driver, &service, device, request);
        let pd = handle(Request::AllocPd)?;
        let cq = handle(Request::CreateCq { entries })?;
        let number = handle(Request::CreateQp(CreateQp {
            pd,
            cq,
            send_ring,
            send_entries: entries,
            completion_ring,
        }))?;
        let key = handle(Request::RegisterMr(RegisterMr {
            pd,
            page_log2: PAGE_LOG2,
            remote_write: true,
            remote_read: false,
            address: region,
            pages: pages as u32,
            list,
        }))?;
        let ring = |address| RingPlace { address, entries };
        let (send, completions) = (ring(send_ring), ring(completion_ring));
        let qp = GuestQueuePair::new(Arc::clone(&memory), window, number, send, completions);
        Ok(Self {
            service,
            device,
            memory,
            driver,
            qp,
            region,
            key,
        })
    }

    /// Moves the queue pair to RTS, with the attributes that the bare card's has.
    fn connect(&mut self, peer: u32, at: [PortAddress; 2]) -> anyhow::Result<()> {
        let port = |address: PortAddress| Port {
            mac: address.mac,
            ip: address.ip,
        };
        let init = Step::Init {
            pkey: 0xffff,
            remote_write: true,
        };
        let ready = ReadyToReceive {
            qp: peer,
            psn: PSN,
            ports: at.map(port),
            path: Path {
                mtu_log2: MTU_LOG2,
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
            sack_every: SACK_EVERY,
        };
        let send = Step::Rts {
            psn: PSN,
            timeout: 250_000,
            backoff: RetryBackoff::Exponential,
            retry_count: 7,
            window: 1024,
            early_loss: 128,
        };
        let qp = self.qp.number();
        for step in [init, Step::Rtr(ready), send] {
            let request = Request::ModifyQp { qp, step };
            call(&mut self.driver, &self.service, self.device, &request)?;
        }
        Ok(())
    }
}

/// A control request of the guest, which the host serves at once.
fn call(
    driver: &mut GuestDriver,
    service: &Mutex<Service>,
    device: DeviceId,
    request: &Request,
) -> anyhow::Result<Answer> {
    let mut served = Ok(0);
    let answer = driver.call(request, || {
        let mut service = service.lock().unwrap_or_else(PoisonError::into_inner);
        served = service.process(device);
    });
    served.context("the host serves the guest's control queue")?;
    Ok(answer?)
}

fn handle(
    driver: &mut GuestDriver,
    service: &Mutex<Service>,
    device: DeviceId,
    request: Request,
) -> anyhow::Result<u32> {
    match call(driver, service, device, &request)? {
        Answer::Handle(handle) => Ok(handle),
        other => bail!("{request:?} was answered with {other:?}"),
    }
}
