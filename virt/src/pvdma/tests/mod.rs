//! PVDMA compared with a simple reference, and on a machine that fails.

mod machine;
mod reference;

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use machine::{check_order, window, Machine};
use reference::Reference;

/// Blocks of a test guest.
const BLOCKS: u64 = 6;
const GUESTS: u32 = 3;
const LIMITS: Limits = Limits {
    most_blocks: 9,
    most_idle: 4,
};

fn service(limits: Limits) -> (Machine, Pvdma) {
    let machine = Machine::default();
    let part = || Box::new(machine.clone());
    let pvdma = Pvdma::new(limits, part(), part(), part());
    for guest in (0..GUESTS).map(GuestId) {
        pvdma.add_guest(guest, window(guest)).unwrap();
    }
    (machine, pvdma)
}

#[derive(Clone, Debug)]
enum Op {
    Acquire(u32, u64, u64),
    Release(prop::sample::Index),
    Evict(usize),
    Die(u32),
    Fail(usize),
}

fn op() -> impl Strategy<Value = Op> {
    let bytes = BLOCKS * BLOCK;
    prop_oneof![
        5 => (0..GUESTS, 0..bytes, 0..3 * BLOCK).prop_map(|(g, a, l)| Op::Acquire(g, a, l)),
        4 => any::<prop::sample::Index>().prop_map(Op::Release),
        1 => (0usize..4).prop_map(Op::Evict),
        1 => (0..GUESTS).prop_map(Op::Die),
    ]
}

fn op_or_failure() -> impl Strategy<Value = Op> {
    prop_oneof![6 => op(), 1 => (0usize..4).prop_map(Op::Fail)]
}

fn check_nothing_is_left(machine: &Machine, pvdma: &Pvdma) {
    assert_eq!(pvdma.usage(), Usage::default());
    let notes = machine.notes();
    assert!(notes.pinned.is_empty() && notes.mapped.is_empty());
}

proptest! {
    /// Random use of three guests, compared with the reference: after every step the same blocks are pinned and mapped and the same calls fail. After
    /// the guests' death no block is pinned.
    #[test]
    fn the_cache_holds_what_the_reference_holds(ops in prop::collection::vec(op(), 1..80)) {
        let (machine, pvdma) = service(LIMITS);
        let mut reference = Reference::default();
        let mut leases = Vec::new();
        for op in ops {
            match op {
                Op::Acquire(guest, address, length) => {
                    let expected = reference.acquire(guest, address, length);
                    let lease = pvdma.acquire(GuestId(guest), address, length);
                    prop_assert_eq!(lease.is_ok(), expected.is_some(), "{:?}", lease);
                    if let (Ok(lease), Some(blocks)) = (lease, expected) {
                        prop_assert_eq!(lease.iova(), window(GuestId(guest)).base + address);
                        leases.push((lease, blocks));
                    }
                }
                Op::Release(which) if !leases.is_empty() => {
                    let (lease, blocks) = leases.swap_remove(which.index(leases.len()));
                    drop(lease);
                    reference.release(&blocks);
                }
                Op::Evict(count) => {
                    let expected = count.min(reference.idle.len());
                    prop_assert_eq!(pvdma.evict(count).unwrap(), expected);
                    reference.forget_oldest(count);
                }
                Op::Die(guest) if reference.gone.insert(guest) => {
                    pvdma.remove_guest(GuestId(guest)).unwrap();
                    reference.bury();
                }
                _ => {}
            }
            check_order(&machine);
            prop_assert_eq!(&machine.notes().pinned, &reference.pinned());
            let iova = |(guest, address): &(GuestId, u64)| window(*guest).base + address;
            let mapped: BTreeSet<_> = machine.notes().pinned.iter().map(iova).collect();
            prop_assert_eq!(&machine.notes().mapped, &mapped);
            let usage = Usage { blocks: reference.users.len(), idle: reference.idle.len() };
            prop_assert_eq!(pvdma.usage(), usage);
        }
        for guest in (0..GUESTS).filter(|guest| !reference.gone.contains(guest)) {
            pvdma.remove_guest(GuestId(guest)).unwrap();
        }
        leases.clear();
        check_nothing_is_left(&machine, &pvdma);
    }

    /// Random operations on a machine whose pins, maps, unmaps and fences fail. Leased memory stays mapped, no block is unpinned before it is unmapped (the
    /// machine checks that), and an eviction that failed succeeds when it is tried again.
    #[test]
    fn failures_leave_nothing_unmapped_that_is_used(ops in prop::collection::vec(op_or_failure(), 1..80)) {
        let (machine, pvdma) = service(LIMITS);
        let mut leases: Vec<Lease> = Vec::new();
        for op in ops {
            match op {
                Op::Acquire(guest, address, length) => leases.extend(pvdma.acquire(GuestId(guest), address, length)),
                Op::Release(which) if !leases.is_empty() => drop(leases.swap_remove(which.index(leases.len()))),
                Op::Evict(count) => { let _ = pvdma.evict(count); }
                Op::Fail(kind) => machine.notes().failing[kind] = true,
                _ => {}
            }
            check_order(&machine);
            for lease in &leases {
                for block in lease.iova() / BLOCK..(lease.iova() + lease.length()).div_ceil(BLOCK) {
                    prop_assert!(machine.notes().mapped.contains(&(block * BLOCK)));
                }
            }
            prop_assert_eq!(machine.notes().pinned.len(), pvdma.usage().blocks);
        }
        machine.notes().failing = [false; 4];
        leases.clear();
        for guest in (0..GUESTS).map(GuestId) {
            prop_assert_eq!(pvdma.remove_guest(guest), Ok(0));
        }
        check_nothing_is_left(&machine, &pvdma);
    }
}

#[test]
fn a_second_user_hits_and_the_block_goes_with_the_last() {
    let none_idle = Limits {
        most_idle: 0,
        ..LIMITS
    };
    let (machine, pvdma) = service(none_idle);
    let first = pvdma.acquire(GuestId(0), 100, 10).unwrap();
    let second = pvdma.acquire(GuestId(0), BLOCK - 1, 2).unwrap();
    let counters = pvdma.counters();
    assert_eq!((counters.hits, counters.misses), (1, 2));
    drop(first);
    assert_eq!(machine.notes().pinned.len(), 2);
    drop(second);
    check_nothing_is_left(&machine, &pvdma);
    assert_eq!(pvdma.counters().evicted, 2);
}

#[test]
fn a_dead_guest_gives_back_all_at_once_or_with_its_last_lease() {
    let (machine, pvdma) = service(LIMITS);
    let lease = pvdma.acquire(GuestId(0), 0, BLOCK).unwrap();
    drop(pvdma.acquire(GuestId(0), BLOCK, BLOCK).unwrap());
    assert_eq!(pvdma.remove_guest(GuestId(0)), Ok(1));
    let refused = pvdma.acquire(GuestId(0), 0, 1);
    assert_eq!(
        refused.err(),
        Some(PvdmaError::UnknownGuest(GuestId(0))),
        "a dead guest gets nothing"
    );
    drop(lease);
    check_nothing_is_left(&machine, &pvdma);
    pvdma.add_guest(GuestId(0), window(GuestId(0))).unwrap();
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    let (machine, pvdma) = service(LIMITS);
    let error = |address, length| {
        let refused = pvdma.acquire(GuestId(0), address, length);
        refused.err().unwrap().to_string()
    };
    let end = BLOCKS * BLOCK;
    for (address, length) in [(0, 0), (end, 1), (end - 1, 2), (u64::MAX, 2)] {
        let said = error(address, length);
        assert!(said.contains("do not lie below 0xc00000"), "{said}");
    }
    let all = |guest| pvdma.acquire(GuestId(guest), 0, end);
    let held = all(1).unwrap();
    let said = all(2).err().unwrap().to_string();
    assert!(said.contains("3 more blocks of 2 MiB"), "{said}");
    assert_eq!(machine.notes().pinned.len(), 6, "nothing was pinned for it");
    drop(held);
    let add = |guest, base, length| {
        let added = pvdma.add_guest(GuestId(guest), Window { base, length });
        added.err().unwrap().to_string()
    };
    assert!(add(0, 0, BLOCK).contains("guest 0 exists"));
    assert!(add(7, window(GuestId(1)).base, BLOCK).contains("overlaps"));
    for (base, length) in [
        (1, BLOCK),
        (0, BLOCK + 4096),
        (0, 0),
        (u64::MAX - BLOCK + 1, 2 * BLOCK),
    ] {
        assert!(add(7, base, length).contains("whole blocks of 2 MiB"));
    }
    machine.notes().failing = [true, false, false, false];
    assert!(error(0, 1).contains("did not pin the block at guest address 0x0"));
    machine.notes().failing = [false, true, false, false];
    assert!(error(BLOCK, 1).contains("did not map the block at guest address 0x200000"));
}

#[test]
fn a_block_the_iommu_did_not_forget_is_not_used_again_until_it_did() {
    let (machine, pvdma) = service(LIMITS);
    drop(pvdma.acquire(GuestId(0), 0, 1).unwrap());
    machine.notes().failing = [false, false, true, false];
    assert!(matches!(
        pvdma.evict(1),
        Err(PvdmaError::Unmap { address: 0, .. })
    ));
    let again = pvdma.acquire(GuestId(0), 0, 1);
    assert_eq!(again.err(), Some(PvdmaError::Broken(0)));
    machine.notes().failing = [false, false, false, true];
    assert!(matches!(pvdma.evict(1), Err(PvdmaError::Fence(_))));
    assert_eq!(machine.notes().pinned.len(), 1);
    assert_eq!((pvdma.evict(1), pvdma.counters().failures), (Ok(1), 2));
    check_nothing_is_left(&machine, &pvdma);
}
