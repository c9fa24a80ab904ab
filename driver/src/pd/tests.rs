//! Regions, on a recording mock PCI function.

use std::time::Duration;

use stellar_wire::host::registers::{Features, FEATURES, TABLE_COMMAND};
use stellar_wire::rows::ConfigSelect;

use super::*;
use crate::fake::{open, FakeCard, ATS_CONTROL};
use crate::{Context, DeviceError, Function, PageSize, PciFunction};

/// All translations that the card has.
const ALL: u64 = 1 << FakeCard::FEATURES.log2_translations;

fn card() -> (Arc<FakeCard>, Context) {
    let function = FakeCard::new();
    let context = open(Arc::clone(&function) as _);
    (function, context)
}

#[test]
fn memory_of_another_card_is_refused() {
    let [(_, here), (_, there)] = [card(), card()];
    let pd = here.alloc_pd().unwrap();
    let foreign = pd.register(there.alloc(4096).unwrap(), AccessFlags::default());
    assert!(matches!(foreign, Err(Error::OtherCard)));
    // Memory of another context of the same card is accepted.
    let neighbour = here.device().open().unwrap();
    let memory = neighbour.alloc(4096).unwrap();
    pd.register(memory, AccessFlags::default()).unwrap();
}

/// Makes memory of `count` pages, none of which exists.
fn pages(count: u64) -> Pages {
    Pages {
        size: PageSize::Size4K,
        addresses: (0..count).map(|page| (page * 7 + 1) << 12).collect(),
        base: 0,
        device: 3,
    }
}

#[allow(unsafe_code)]
fn register(pd: &ProtectionDomain, count: u64) -> Result<MemoryRegion, Error> {
    // SAFETY: no card is there that could touch anything.
    unsafe { pd.register_translated(pages(count), AccessFlags::default()) }
}

/// Returns the number of register writes for registering `count` pages, and for deregistering them.
fn writes(card: &FakeCard, pd: &ProtectionDomain, count: u64) -> [u64; 2] {
    let before = card.stores();
    let region = register(pd, count).unwrap();
    let registered = card.stores() - before;
    region.deregister().unwrap();
    [registered, card.stores() - before - registered]
}

#[test]
fn translated_addresses_need_ats_of_both_functions() {
    let function = FakeCard::new();
    function.set_config(Function::Data, ATS_CONTROL, 0);
    let context = open(Arc::clone(&function) as _);
    let pd = context.alloc_pd().unwrap();
    let refused = register(&pd, 1).err().unwrap();
    assert!(matches!(refused, Error::NoAts));
    assert!(refused.to_string().contains("have the host enable it"));
    let memory = context.alloc(4096).unwrap();
    pd.register(memory, AccessFlags::default()).unwrap();
}

#[test]
fn a_card_that_does_not_respond_is_gone_at_once() {
    let (function, context) = card();
    let pd = context.alloc_pd().unwrap();
    let region = register(&pd, 1).unwrap();
    function.set_register(TABLE_COMMAND, u64::MAX);
    let began = function.now();
    let gone = register(&pd, 1);
    assert!(matches!(
        gone,
        Err(Error::Device(DeviceError::Gone {
            what: "write a table row"
        }))
    ));
    drop(region);
    assert!(function.now() - began < Duration::from_micros(20));
}

#[test]
fn a_few_translations_take_two_register_writes_each_and_many_one_for_a_list() {
    let (function, context) = card();
    let pd = context.alloc_pd().unwrap();
    let [one, few, many, more] =
        [1, 31, 32, 3 * 8192 + 1].map(|count| writes(&function, &pd, count));
    for way in 0..2 {
        assert_eq!(few[way] - one[way], 60);
        // These writes come in addition to the region's row.
        assert_eq!(many[way] + 2, one[way] + 1);
        assert_eq!(more[way] - many[way], 3);
    }
    assert!(function.take_doorbells().is_empty());
}

#[test]
fn a_list_holds_the_rows_that_registers_would_have_been_given() {
    let (function, context) = card();
    let pd = context.alloc_pd().unwrap();
    let first = |count: u64| -> Vec<u64> {
        let region = register(&pd, count).unwrap();
        let rows = (0..31).map(|index| function.row(ConfigSelect::Emtt.index(), index).unwrap()[0]);
        let rows = rows.collect();
        region.deregister().unwrap();
        rows
    };
    let by_registers = first(31);
    assert!(by_registers.iter().all(|&row| row != 0));
    assert_eq!(first(10_000), by_registers);
    let last = function.row(ConfigSelect::Emtt.index(), 9_999).unwrap();
    assert_eq!(last[0], 0, "deregistered");
}

#[test]
fn an_admin_queue_that_stops_is_an_error_and_begins_anew() {
    let (function, context) = card();
    let pd = context.alloc_pd().unwrap();
    function.fail_admin(1);
    match register(&pd, 100) {
        Err(Error::Device(DeviceError::Admin { reason })) => {
            assert!(reason.contains("could not read"), "{reason}");
        }
        other => panic!("{:?}", other.map(|_| ())),
    }
    // The failed registration has freed all of its translations.
    for _ in 0..3 {
        register(&pd, ALL).unwrap().deregister().unwrap();
    }
}

/// 1 TiB in pages of 2 MiB, all translations that the card has: every page has its own, by doorbells to the admin queue alone.
#[test]
#[allow(unsafe_code)]
fn a_terabyte_in_pages_of_2_mib_is_registered() {
    let (function, context) = card();
    let pd = context.alloc_pd().unwrap();
    // One page: its translation in two writes, and the region's row.
    let region_row = writes(&function, &pd, 1)[0] - 2;
    let before = function.stores();
    let mut pages = pages(ALL);
    pages.size = PageSize::Size2M;
    for address in &mut pages.addresses {
        *address <<= 9;
    }
    let addresses = pages.addresses.clone();
    // SAFETY: no card is there that could touch anything.
    let region = unsafe { pd.register_translated(pages, AccessFlags::default()) }.unwrap();
    assert_eq!(region.length(), 1 << 40);
    assert_eq!(function.stores() - before, ALL / 8192 + region_row);
    let rows = function.last_rows(ConfigSelect::Emtt.index());
    assert_eq!(rows.len() as u64, ALL);
    for (index, address) in (0..).zip(addresses) {
        let row = rows[&index][0];
        assert_eq!(
            (row & 1, row >> 12),
            (1, address >> 12),
            "translation {index}"
        );
    }
    region.deregister().unwrap();
    let rows = function.last_rows(ConfigSelect::Emtt.index());
    assert!(rows.values().all(|row| row[0] == 0));
}

#[test]
fn one_translation_too_many_is_refused_and_costs_nothing() {
    let (function, context) = card();
    let pd = context.alloc_pd().unwrap();
    let kept = register(&pd, 1000).unwrap();
    let before = function.stores();
    for count in [ALL - 999, ALL + 1] {
        let error = register(&pd, count).err().unwrap().to_string();
        let expected = "no page translations left; the card has 524288: free some";
        assert_eq!(error, expected);
    }
    assert_eq!(function.stores(), before);
    let rest = register(&pd, ALL - 1000).unwrap();
    rest.deregister().unwrap();
    kept.deregister().unwrap();
    register(&pd, ALL).unwrap();
}

/// A card that claims more than it has: its table ends in the last list of a region, of which no translation is written then.
#[test]
fn a_list_that_runs_beyond_the_table_is_an_error_and_other_regions_stay() {
    let function = FakeCard::new();
    let claims = Features {
        log2_translations: FakeCard::FEATURES.log2_translations + 1,
        ..FakeCard::FEATURES
    };
    function.set_register(FEATURES, claims.to_word());
    let pd = open(Arc::clone(&function) as _).alloc_pd().unwrap();
    let kept = register(&pd, 1000).unwrap();
    match register(&pd, ALL) {
        Err(Error::Device(DeviceError::Admin { reason })) => {
            assert!(reason.contains("no such row"), "{reason}");
        }
        other => panic!("{:?}", other.map(|_| ())),
    }
    let rows = function.last_rows(ConfigSelect::Emtt.index());
    let lists = (ALL - 1000) / 8192 * 8192;
    assert_eq!(rows.len() as u64, 1000 + lists);
    assert!(
        rows.range(..1000).all(|(_, row)| row[0] & 1 == 1),
        "the first region"
    );
    assert!(rows.range(1000..).all(|(_, row)| row[0] == 0), "taken back");
    // The queue was started again.
    kept.deregister().unwrap();
    let again = register(&pd, 1000).unwrap();
    let rows = function.last_rows(ConfigSelect::Emtt.index());
    assert!(rows.range(..1000).all(|(_, row)| row[0] & 1 == 1));
    again.deregister().unwrap();
}
