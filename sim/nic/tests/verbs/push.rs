//! Tests of send queue entries that are pushed with their doorbell.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use sim_nic::CardPair;
use stellar_driver::*;
use stellar_wire::host::config_space::{Bar, PAGE_BYTES};
use stellar_wire::host::{Doorbell, Wqe};

use crate::verbs::hosts::*;

/// A read of a few bytes over the simulated PCIe takes at least this long.
const PCIE_READ: Duration = Duration::from_nanos(600);

/// Measures the time from the post of 8 bytes until the last of them is in the peer's memory.
fn latency(
    hosts: &[Host; 2],
    qp: &QueuePair,
    target: &MemoryRegion,
    mark: u8,
    push: bool,
) -> Duration {
    let device = hosts[0].context.device();
    let function = device.probe().function();
    let to = target.remote();
    let data = [mark; 8];
    let mut request = WorkRequest::write(mark.into(), Source::Inline(&data), to.address, to.rkey);
    request.push = push;
    let posted = function.now();
    qp.post_send(&request).unwrap();
    while bytes(target)[..8] != data {
        assert!(function.now() < posted + TIMEOUT, "nothing arrived");
        function.relax();
    }
    let arrived = function.now();
    assert_eq!(hosts[0].completions(1)[0].wr_id, u64::from(mark));
    arrived - posted
}

#[test]
fn a_pushed_entry_saves_a_read() {
    let (_turn, cards) = cards();
    let hosts = open(&cards.devices, false);
    let (qa, qb) = (hosts[0].qp(), hosts[1].qp());
    connect([&qa, &qb], 77);
    let target = hosts[1].region(4096, true);
    // The first packet of a queue pair meets cold tables nowhere: all take as long.
    for round in 0..4 {
        let fetched = latency(&hosts, &qa, &target, 2 * round + 1, false);
        let pushed = latency(&hosts, &qa, &target, 2 * round + 2, true);
        assert!(
            pushed + PCIE_READ <= fetched,
            "pushed {pushed:?}, read by the card {fetched:?}"
        );
    }
    assert_eq!(
        (cards.pair.bad_accesses(0), cards.pair.bad_accesses(1)),
        (0, 0)
    );
}

#[test]
fn pushed_or_not_work_requests_keep_their_order() {
    let (_turn, cards) = cards();
    let hosts = open(&cards.devices, false);
    let (qa, qb) = (hosts[0].qp(), hosts[1].qp());
    connect([&qa, &qb], 0xff_fffe);
    let target = hosts[1].region(4096, true);
    let to = target.remote();
    let pushes = [true, true, false, true, false, false, true, true];
    for (wr_id, push) in (0..).zip(pushes) {
        let mark = [wr_id as u8 + 1; 16];
        let mut request = WorkRequest::write(
            wr_id,
            Source::Inline(&mark),
            to.address + 16 * wr_id,
            to.rkey,
        );
        request.push = push;
        qa.post_send(&request.with_immediate(wr_id as u32)).unwrap();
    }
    let sent: Vec<_> = hosts[0]
        .completions(8)
        .iter()
        .map(|wc| (wc.wr_id, wc.status))
        .collect();
    assert_eq!(
        sent,
        [0, 1, 2, 3, 4, 5, 6, 7].map(|wr_id| (wr_id, WcStatus::Success))
    );
    let received: Vec<_> = hosts[1]
        .completions(8)
        .iter()
        .map(|wc| wc.immediate)
        .collect();
    assert_eq!(received, [0, 1, 2, 3, 4, 5, 6, 7].map(Some));
    let expected: Vec<u8> = (0..128).map(|at| at / 16 + 1).collect();
    assert!(bytes(&target)[..128] == expected, "other bytes arrived");
}

/// A function with a neighbour: before each store to a doorbell page, the neighbour stores the next word of an entry that it pushes to its own page.
struct BesideAPusher {
    function: Arc<dyn PciFunction>,
    /// The neighbour's page and queue pair, once there is one.
    neighbour: OnceLock<(u64, u32)>,
    stores: AtomicUsize,
}

impl PciFunction for BesideAPusher {
    fn config_load(&self, function: Function, offset: u16) -> Result<u32, DeviceError> {
        self.function.config_load(function, offset)
    }

    fn config_store(&self, function: Function, offset: u16, value: u16) -> Result<(), DeviceError> {
        self.function.config_store(function, offset, value)
    }

    fn load(&self, access: Access) -> Result<u64, DeviceError> {
        self.function.load(access)
    }

    fn store(&self, access: Access, value: u64) -> Result<(), DeviceError> {
        if let (Bar::Doorbells, Some(&(page, qp))) = (access.bar(), self.neighbour.get()) {
            let doorbell = Doorbell { qp, producer: 0 };
            let at = self.stores.fetch_add(1, Ordering::Relaxed) % 9;
            let entry = [0xa5; Wqe::LEN];
            let (offset, word) = doorbell.pushing(&entry).nth(at).unwrap();
            let place = page * PAGE_BYTES + u64::from(offset);
            self.function.write64(Bar::Doorbells, place, word)?;
        }
        self.function.store(access, value)
    }

    fn allocate_memory(&self, bytes: usize) -> Result<Arc<dyn DmaMemory>, DeviceError> {
        self.function.allocate_memory(bytes)
    }

    fn interrupt(&self, vector: u16) -> Result<Arc<dyn Interrupt>, DeviceError> {
        self.function.interrupt(vector)
    }

    fn reset(&self) -> Result<(), DeviceError> {
        self.function.reset()
    }

    fn now(&self) -> Duration {
        self.function.now()
    }

    fn relax(&self) {
        self.function.relax();
    }
}

/// Each page has its own space for an entry, so a neighbour between whose words all words of the victim come costs it no read.
#[test]
fn a_neighbour_that_pushes_all_the_time_does_not_have_other_entries_read_from_memory() {
    let pair = CardPair::new().unwrap();
    let beside = Arc::new(BesideAPusher {
        function: pair.function(0),
        neighbour: OnceLock::new(),
        stores: AtomicUsize::new(0),
    });
    let functions: [Arc<dyn PciFunction>; 2] = [beside.clone(), pair.function(1)];
    let devices = [0, 1].map(|host| {
        let config = DeviceConfig::new(ports(host), host.into());
        let probe = Probe::new(Arc::clone(&functions[usize::from(host)])).unwrap();
        probe.bring_up(config).unwrap()
    });
    let hosts = open(&devices, false);
    let neighbours = open(&devices, false);
    let (qa, qb) = (hosts[0].qp(), hosts[1].qp());
    connect([&qa, &qb], 78);
    let others = [neighbours[0].qp(), neighbours[1].qp()];
    connect([&others[0], &others[1]], 79);
    let target = hosts[1].region(4096, true);
    let page = neighbours[0].context.page().into();
    beside.neighbour.set((page, others[0].number())).unwrap();

    let reads = || -> u64 {
        let counters = pair.pcie_counters(0);
        counters.read_flows().map(|(_, traffic)| traffic.tlps).sum()
    };
    let before = reads();
    for mark in 1..=8 {
        latency(&hosts, &qa, &target, mark, true);
    }
    assert_eq!(reads() - before, 0, "the card read entries");
    assert!(beside.stores.load(Ordering::Relaxed) >= 8 * 9);
    latency(&hosts, &qa, &target, 9, false);
    assert_eq!(reads() - before, 1, "an entry that was not pushed");
    assert_eq!(pair.bad_accesses(0), 0);
}
