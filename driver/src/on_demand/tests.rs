//! Tests of on-demand regions on a recording mock PCI function.

use std::sync::Arc;

use stellar_wire::rows::ConfigSelect;

use super::*;
use crate::fake::{open, FakeCard};
use crate::{AccessFlags, Context, ProtectionDomain};

fn card() -> (Arc<FakeCard>, Context, ProtectionDomain) {
    let function = FakeCard::new();
    let context = open(Arc::clone(&function) as _);
    let pd = context.alloc_pd().unwrap();
    (function, context, pd)
}

fn region(pd: &ProtectionDomain, length: u64, page_size: PageSize) -> Result<MemoryRegion, Error> {
    let shape = OnDemandShape { length, page_size };
    pd.register_on_demand(shape, AccessFlags::default())
}

/// Frames in the card's table, 0 without a valid translation.
fn frames(card: &FakeCard, pages: std::ops::Range<u32>) -> Vec<u64> {
    let frame = |index| {
        let row = card
            .row(ConfigSelect::Emtt.index(), index)
            .unwrap_or_default();
        let row = row.first().copied().unwrap_or(0);
        if row & 1 == 1 {
            row >> 12
        } else {
            0
        }
    };
    pages.map(frame).collect()
}

#[test]
fn rows_of_earlier_regions_are_gone_before_any_page_comes() {
    let (card, context, pd) = card();
    let stale = EmttRow {
        valid: true,
        frame: 7,
        ..EmttRow::default()
    };
    let device = &context.0.device;
    device.write_translations(0, &[stale; 3]).unwrap();
    assert_eq!(frames(&card, 0..3), [7; 3]);
    let region = region(&pd, 3 * 4096, PageSize::Size4K).unwrap();
    assert_eq!(frames(&card, 0..3), [0; 3]);
    region.store(4095, &[1, 2]).unwrap();
    let there = frames(&card, 0..3);
    assert!(
        there[0] != 0 && there[1] != 0 && there[2] == 0,
        "{there:x?}"
    );
    region.deregister().unwrap();
    assert_eq!(frames(&card, 0..3), [0; 3]);
}

#[test]
fn bytes_are_those_stored_and_zeros_elsewhere() {
    let (card, _context, pd) = card();
    let mut region = region(&pd, 40_000, PageSize::Size4K).unwrap();
    let stored: Vec<u8> = (0..9_000).map(|i| i as u8 | 1).collect();
    region.store(3_000, &stored).unwrap();
    region.store(39_999, &[9]).unwrap();
    assert_eq!(region.resident(), 4 * 4096);
    let mut expected = vec![0; 40_000];
    expected[3_000..12_000].copy_from_slice(&stored);
    expected[39_999] = 9;
    let mut found = vec![0xff; 40_000];
    region.load(0, &mut found).unwrap();
    assert!(found == expected);
    // Only whole pages are freed. The last page ends with the region.
    region.discard(4_095, 4_097).unwrap();
    region.discard(36_864, 40_000 - 36_864).unwrap();
    expected[4_096..8_192].fill(0);
    expected[39_999] = 0;
    region.load(0, &mut found).unwrap();
    assert!(found == expected);
    assert_eq!(frames(&card, 1..2), [0]);
    // The pages are absent, and the access sends nothing to the card.
    let before = card.stores();
    region.discard(20_000, 10_000).unwrap();
    assert_eq!(card.stores(), before);
}

#[test]
fn a_fault_brings_what_a_packet_may_have_touched_and_nothing_beyond() {
    let (card, context, pd) = card();
    let region = region(&pd, 5 * 4096, PageSize::Size4K).unwrap();
    let device = &context.0.device;
    let Backing::OnDemand(memory) = &region.registered.backing else {
        panic!("another backing");
    };
    for (va, pages) in [
        (4096, 1),
        (4097, 2),
        (5 * 4096 - 1, 3),
        (5 * 4096, 3),
        (u64::MAX, 3),
    ] {
        memory.serve(device, va).unwrap();
        assert_eq!(region.resident(), pages * 4096, "{va:#x}");
    }
    // Bytes 1 to 8,192 lie in three pages, of which the first is not there.
    device.reach.grow(8192);
    device.reach.grow(256);
    memory.serve(device, 1).unwrap();
    assert_eq!(region.resident(), 4 * 4096);
    let memory = Arc::clone(memory);
    region.deregister().unwrap();
    memory.serve(device, 0).unwrap();
    assert_eq!(frames(&card, 0..5), [0; 5], "a fault that came too late");
}

#[test]
fn what_cannot_be_is_refused() {
    let (_card, context, pd) = card();
    for (length, size) in [
        (0, PageSize::Size4K),
        (1 << 48, PageSize::Size2M),
        (1, PageSize::Size1G),
    ] {
        assert!(matches!(region(&pd, length, size), Err(Error::Region(_))));
    }
    let too_many = region(&pd, 1 << 47, PageSize::Size4K);
    assert!(matches!(too_many, Err(Error::Exhausted { .. })));
    let mut region = region(&pd, 10_000, PageSize::Size64K).unwrap();
    assert!(matches!(region.prefetch(9_999, 2), Err(Error::Region(_))));
    assert!(matches!(
        region.store(u64::MAX, &[0]),
        Err(Error::Region(_))
    ));
    assert!(matches!(
        region.load(10_000, &mut [0]),
        Err(Error::Region(_))
    ));
    assert!(matches!(region.discard(1, 10_000), Err(Error::Region(_))));
    region.prefetch(0, 0).unwrap();
    assert_eq!(region.resident(), 0);
    assert!(region.memory().is_none());
    let memory = context.alloc(4096).unwrap();
    let mut fixed = pd.register(memory, AccessFlags::default()).unwrap();
    assert!(matches!(fixed.prefetch(0, 1), Err(Error::Region(_))));
    assert!(matches!(fixed.discard(0, 1), Err(Error::Region(_))));
    assert_eq!(fixed.resident(), 4096);
}

#[test]
fn pages_that_posted_work_requests_read_are_not_discarded() {
    let (_card, _context, pd) = card();
    let mut region = region(&pd, 3 * 4096, PageSize::Size4K).unwrap();
    region.registered.prepare(4096, 100).unwrap();
    let posted = Arc::clone(&region.registered);
    assert_eq!(region.resident(), 4096);
    match region.discard(0, 4096) {
        Err(Error::Region(reason)) => assert!(reason.contains("1 posted"), "{reason}"),
        other => panic!("{other:?}"),
    }
    drop(posted);
    region.discard(0, 3 * 4096).unwrap();
    assert_eq!(region.resident(), 0);
}
