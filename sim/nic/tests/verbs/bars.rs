//! What a host reads and writes in the card's BARs beside registers: the MSI-X table, and doorbell pages.

use std::sync::Arc;

use sim_nic::LoneCard;
use stellar_driver::PciFunction;
use stellar_wire::host::config_space::{command, header, Bar, Function, PAGE_BYTES};
use stellar_wire::host::registers::{COUNTER_SELECT, COUNTER_VALUE};
use stellar_wire::host::vector_table::{PENDING_OFFSET, VECTORS};
use stellar_wire::host::{CardCounter, Doorbell, PortCounter, VectorEntry};

/// A card whose BARs respond.
fn powered() -> (LoneCard, Arc<dyn PciFunction>) {
    let card = LoneCard::new().unwrap();
    let function = card.function(0);
    enable(function.as_ref());
    (card, function)
}

fn enable(function: &dyn PciFunction) {
    let on = command::MEMORY | command::BUS_MASTER;
    function
        .config_write16(Function::Control, header::COMMAND, on)
        .unwrap();
}

fn entry(function: &dyn PciFunction, vector: u16) -> VectorEntry {
    let at = VectorEntry::offset(vector);
    VectorEntry::from_words([0, 8].map(|word| function.read64(Bar::Vectors, at + word).unwrap()))
}

#[test]
fn vectors_are_masked_until_they_are_used_and_again_after_a_reset() {
    let (_card, function) = powered();
    let function = function.as_ref();
    let last = VECTORS - 1;
    assert!(entry(function, 0).masked && entry(function, last).masked);
    let _interrupt = function.interrupt(last).unwrap();
    let used = entry(function, last);
    assert_eq!((used.masked, used.data), (false, last.into()));
    assert!(entry(function, 0).masked);
    // In halves, as an operating system writes it.
    let at = VectorEntry::offset(5);
    for (offset, half) in [(0, 0xfee0_0000), (4, 1), (8, 77), (12, u32::MAX)] {
        function.write32(Bar::Vectors, at + offset, half).unwrap();
    }
    let written = VectorEntry {
        address: 0x1_fee0_0000,
        data: 77,
        masked: true,
    };
    assert_eq!(entry(function, 5), written);
    assert_eq!(function.read32(Bar::Vectors, at + 12).unwrap(), 1);
    assert_eq!(function.read64(Bar::Vectors, PENDING_OFFSET).unwrap(), 0);
    function.reset().unwrap();
    enable(function);
    assert!(entry(function, last).masked);
}

/// Reads a counter, by the value of `COUNTER_SELECT`.
fn count(function: &dyn PciFunction, select: u8) -> u64 {
    let (select_at, value_at) = (COUNTER_SELECT.offset.into(), COUNTER_VALUE.offset.into());
    function
        .write64(Bar::Registers, select_at, select.into())
        .unwrap();
    function.read64(Bar::Registers, value_at).unwrap();
    function.read64(Bar::Registers, value_at).unwrap()
}

#[test]
fn a_doorbell_page_cannot_be_read_and_the_card_counts_who_tries() {
    let (_card, function) = powered();
    let function = function.as_ref();
    let refused = || count(function, PortCounter::HostRequestsRefused.select(0));
    assert_eq!(refused(), 0);
    assert_eq!(function.read64(Bar::Doorbells, 0).unwrap(), u64::MAX);
    assert_eq!(
        function.read32(Bar::Doorbells, 4096 * 9 + 4).unwrap(),
        u32::MAX
    );
    assert_eq!(refused(), 2);
}

#[test]
fn frames_that_the_crossing_dropped_are_counted_since_the_reset() {
    let (card, function) = powered();
    let function = function.as_ref();
    let port = card.shape().ports() as u8 - 1;
    let dropped = || count(function, PortCounter::ReceiveOverruns.select(port));
    card.drop_received(0, port.into(), u32::MAX);
    assert!(dropped() > 0, "counting, one per cycle");
    function.reset().unwrap();
    enable(function);
    assert_eq!(dropped(), 0);
    card.drop_received(0, port.into(), 5);
    assert_eq!(dropped(), 5, "across 2^32");
    if port == 1 {
        assert_eq!(count(function, PortCounter::ReceiveOverruns.select(0)), 0);
    }
}

#[test]
fn the_card_counts_doorbells_that_have_no_effect_by_their_reason() {
    let (_card, function) = powered();
    let function = function.as_ref();
    let page = 9 * PAGE_BYTES;
    let foreign = Doorbell { qp: 3, producer: 1 };
    let word = u64::from_le_bytes(foreign.to_bytes());
    for _ in 0..3 {
        let at = page + u64::from(Doorbell::OFFSET);
        function.write64(Bar::Doorbells, at, word).unwrap();
    }
    let in_place = page + u64::from(Doorbell::slot(1));
    function.write32(Bar::Doorbells, in_place, 0).unwrap();
    function.write32(Bar::Doorbells, in_place, 0).unwrap();
    function
        .write64(Bar::Doorbells, page + 0x300, word)
        .unwrap();
    let counted = [
        (CardCounter::DoorbellsNotOwned, 3),
        (CardCounter::DoorbellsShort, 2),
        (CardCounter::DoorbellsMisplaced, 1),
        // There is no event queue yet.
        (CardCounter::EventsLost, 3),
    ];
    for (counter, expected) in counted {
        assert_eq!(count(function, counter.select()), expected, "{counter}");
    }
}
