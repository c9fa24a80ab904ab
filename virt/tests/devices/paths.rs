//! Counts by path of guests' queue pairs, on a recording mock of the card that has counts in its registers.

use std::collections::BTreeMap;
use std::sync::Arc;

use stellar_driver::fake::FakeCard;
use stellar_driver::paths::{PathAccess, PathManager};
use stellar_virt::guest::GuestPathAccess;
use stellar_virt::host::QUOTA;
use stellar_wire::host::{PathCount, PathCountSelect};
use stellar_wire::rows::{ConfigSelect, PathUseRow, Row};
use stellar_wire::vstellar::*;

use crate::devices::common::{ports, steps, Guest, Host};
use crate::devices::hypervisor::NoIommu;

/// Paths of the queue pairs, and their backups.
const PATHS: u8 = 4;
const BACKUPS: u8 = 8;

struct World {
    card: Arc<FakeCard>,
    host: Arc<Host>,
}

impl World {
    fn new() -> Self {
        let card = FakeCard::new();
        let host = Host::new(0, card.clone(), Box::new(NoIommu));
        Self { card, host }
    }

    /// A guest with a queue pair in RTS.
    fn sending(&self, number: u32) -> (Guest, u32) {
        let mut guest = Guest::new(&self.host, number);
        let qp = guest.pair().qp.number();
        connect(&mut guest, qp);
        (guest, qp)
    }

    /// Counts on a path of the card.
    fn count(&self, qp: u32, index: u8, [sent, marked, lost]: [u16; 3]) {
        let count = PathCount { sent, marked, lost };
        let select = PathCountSelect { qp, index };
        self.card.set_path_count(select, count);
    }
}

fn connect(guest: &mut Guest, qp: u32) {
    let [init, rtr, rts] = steps(9, ports(1));
    let Step::Rtr(mut ready) = rtr else {
        panic!("{rtr:?}")
    };
    ready.path.paths = PATHS;
    for step in [init, Step::Rtr(ready), rts] {
        guest.call(Request::ModifyQp { qp, step }).unwrap();
    }
}

/// What a guest reads, by index, on the paths on which something was counted.
fn counted(guest: &mut Guest, qp: u32) -> BTreeMap<u8, [u64; 3]> {
    let (host, id) = (Arc::clone(&guest.host), guest.id);
    let notify = || {
        assert_eq!(host.service().process(id).unwrap(), 1);
    };
    let paths = guest.driver.path_counts(qp, notify).unwrap();
    let indices: Vec<u8> = paths.iter().map(|path| path.index).collect();
    let expected: Vec<u8> = (0..PATHS).chain(128..128 + BACKUPS).collect();
    assert_eq!(indices, expected);
    let counts = |path: GuestPathCounts| (path.index, [path.sent, path.marked, path.lost]);
    let some = |path: &(u8, [u64; 3])| path.1 != [0; 3];
    paths.into_iter().map(counts).filter(some).collect()
}

#[test]
fn a_guest_reads_the_sums_of_its_own_queue_pairs_beside_another() {
    let world = World::new();
    let (mut a, qa) = world.sending(1);
    let (mut b, qb) = world.sending(2);
    for (guest, qp) in [(&mut a, qa), (&mut b, qb)] {
        assert_eq!(counted(guest, qp), BTreeMap::new());
    }
    for round in 1..=3 {
        world.count(qa, 1, [4095, 2, 1]);
        world.count(qa, 130, [5, 0, 0]);
        world.count(qb, 1, [7, 0, 7]);
        let first = [
            (1, [4095 * round, 2 * round, round]),
            (130, [5 * round, 0, 0]),
        ];
        assert_eq!(counted(&mut a, qa), first.into());
        assert_eq!(counted(&mut b, qb), [(1, [7 * round, 0, 7 * round])].into());
    }
    // What one guest asks takes nothing from the other one.
    world.count(qb, 2, [1, 0, 0]);
    let foreign = Request::QueryPaths { qp: qb, first: 0 };
    assert_eq!(a.refusal(foreign), Status::BadHandle);
    assert_eq!(counted(&mut b, qb)[&2], [1, 0, 0]);
}

#[test]
fn counts_are_of_this_connection_and_of_this_owner() {
    let world = World::new();
    let (mut first, qp) = world.sending(1);
    counted(&mut first, qp);
    world.count(qp, 0, [9, 9, 9]);
    assert_eq!(counted(&mut first, qp), [(0, [9; 3])].into());
    let query = Request::QueryPaths { qp, first: 0 };
    for step in [Step::Error, Step::Reset] {
        first.call(Request::ModifyQp { qp, step }).unwrap();
        assert_eq!(first.refusal(query), Status::BadState, "{step:?}");
    }
    world.count(qp, 0, [8, 8, 8]);
    connect(&mut first, qp);
    assert_eq!(counted(&mut first, qp), BTreeMap::new());
    world.count(qp, 0, [1, 0, 0]);
    assert_eq!(counted(&mut first, qp), [(0, [1, 0, 0])].into());

    // The guest dies, and another one gets the number. The card still has what was counted for the first one.
    world.count(qp, 0, [77, 7, 7]);
    world.host.service().remove_guest(first.guest).unwrap();
    let most = world.host.device.limits().queue_pairs;
    let quota = GuestQuota {
        queue_pairs: most,
        ..QUOTA
    };
    let mut heir = Guest::with_quota(&world.host, 2, quota);
    let pd = heir.handle(Request::AllocPd);
    let cq = heir.handle(Request::CreateCq { entries: 8 });
    let asked = heir.qp_request(pd, cq);
    let mut made = || heir.handle(Request::CreateQp(asked));
    let again = (0..most).map(|_| made()).find(|&new| new == qp);
    assert_eq!(again, Some(qp), "the number is free again");
    assert_eq!(heir.refusal(query), Status::BadState);
    connect(&mut heir, qp);
    assert_eq!(counted(&mut heir, qp), BTreeMap::new());
    assert_eq!(counted(&mut heir, qp), BTreeMap::new());
}

/// A chain may have space for a few paths only: the guest asks again, from the next one on.
#[test]
fn counts_that_do_not_fit_the_chain_are_asked_for_again() {
    let world = World::new();
    let (mut guest, qp) = world.sending(1);
    let id = guest.id;
    let ask = |first| Request::QueryPaths { qp, first };
    let host = Arc::clone(&world.host);
    let mut read = |first: u8, space: usize| {
        let notify = || {
            host.service().process(id).unwrap();
        };
        match guest.driver.call_with(&ask(first), space, notify).unwrap() {
            Answer::Paths(GuestPaths { all, paths }) => {
                assert_eq!(all, PATHS + BACKUPS);
                paths
            }
            other => panic!("{other:?}"),
        }
    };
    let mut pages = Vec::new();
    let mut all = Vec::new();
    while all.len() < usize::from(PATHS + BACKUPS) {
        let page = read(all.len() as u8, MOST_ANSWER);
        pages.push(page.len());
        all.extend(page.into_iter().map(|path| path.index));
    }
    assert_eq!(pages, [3, 3, 3, 3]);
    let expected: Vec<u8> = (0..PATHS).chain(128..128 + BACKUPS).collect();
    assert_eq!(all, expected);
    assert_eq!(read(PATHS + BACKUPS, LONGEST_ANSWER), []);
    assert_eq!(read(255, MOST_ANSWER), []);
    // Each path begins with its own first read.
    world.count(qp, 2, [3, 2, 1]);
    world.count(qp, 3, [6, 5, 4]);
    let page = read(3, GuestPaths::bytes(3) + 31);
    assert_eq!(page.len(), 3);
    assert_eq!((page[0].index, page[0].sent), (3, 6));
    assert_eq!(read(2, MOST_ANSWER)[0].lost, 1);
}

#[test]
fn the_manager_of_paths_serves_in_a_guest() {
    let world = World::new();
    let (mut guest, qp) = world.sending(1);
    let (_other, beside) = world.sending(2);
    let mut manager = PathManager::new();
    manager.watch(qp);
    let host = Arc::clone(&world.host);
    let id = guest.id;
    let notify = || {
        host.service().process(id).unwrap();
    };
    let mut changes = Vec::new();
    for _ in 0..4 {
        for index in 0..PATHS {
            let lost = if index == 2 { 20 } else { 0 };
            world.count(qp, index, [100, 0, lost]);
            world.count(beside, index, [100, 0, 100]);
        }
        let mut paths = GuestPathAccess::new(&mut guest.driver, notify);
        changes.extend(manager.sample(&mut paths).unwrap());
    }
    let [change] = changes[..] else {
        panic!("{changes:?}")
    };
    assert_eq!((change.pair, change.path, change.denied), (qp, 2, true));
    let used = |qp| {
        let words = world.card.row(ConfigSelect::PathUse.index(), qp)?;
        PathUseRow::unpack(&[words[0] as u32]).ok()
    };
    let denied = PathUseRow {
        index: 2,
        denied: true,
    };
    assert_eq!((used(qp), used(beside)), (Some(denied), None));
    // Places of backups are behind those of paths, and a manager may change a path before it has read any.
    let mut paths = GuestPathAccess::new(&mut guest.driver, notify);
    paths.deny(qp, PATHS + 1).unwrap();
    paths.allow(qp, 2).unwrap();
    let allowed = PathUseRow {
        denied: false,
        ..denied
    };
    assert_eq!(used(qp), Some(allowed));
    let told = manager.sample(&mut GuestPathAccess::new(&mut guest.driver, notify));
    assert!(told.is_ok());
    host.service().remove_guest(guest.guest).unwrap();
}
