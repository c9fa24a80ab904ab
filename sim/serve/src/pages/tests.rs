//! Slots of doorbell pages, without a card.

use super::*;
use proptest::prelude::*;
use stellar_wire::host::config_space::DOORBELL_PAGES;
use vm_memory::Bytes;

/// A driver's mapping of the pages.
fn mapped(pages: &Pages) -> MmapRegion {
    let file = FileOffset::new(pages.file.try_clone().unwrap(), 0);
    MmapRegion::from_file(file, Bar::Doorbells.length() as usize).unwrap()
}

fn store(memory: &MmapRegion, slot: u64, word: u64) {
    let memory = memory.as_volatile_slice();
    memory
        .store((word | RUNG).to_le(), slot as usize, Ordering::Release)
        .unwrap();
}

fn doorbell(page: u64, slot: u16) -> u64 {
    page * PAGE_BYTES + u64::from(Doorbell::slot(slot))
}

fn consumer(page: u64, slot: u16) -> u64 {
    page * PAGE_BYTES + u64::from(ConsumerIndex::slot(slot))
}

fn slots(pages: &Arc<Pages>) -> Slots {
    Slots::of(Some(Arc::clone(pages)))
}

#[test]
fn no_driver_shortens_the_pages() {
    let pages = Pages::new().unwrap();
    assert!(pages.file.set_len(4096).is_err());
    assert!(pages.file.set_len(Bar::Doorbells.length() + 4096).is_err());
    assert!(fcntl_add_seals(&pages.file, SealFlags::WRITE).is_err());
    let last = Bar::Doorbells.length() - 8;
    store(&mapped(&pages), last, 5);
    assert_eq!(pages.take(last), Some(5));
}

#[test]
fn a_word_is_taken_once_and_the_same_word_again_when_it_is_stored_again() {
    let pages = Arc::new(Pages::new().unwrap());
    let memory = mapped(&pages);
    let mut slots = slots(&pages);
    let slot = doorbell(3, 9);
    store(&memory, slot, 0);
    assert_eq!(slots.take(), [], "nobody has named it");
    assert!(slots.add(slot) && slots.add(slot));
    for _ in 0..2 {
        assert_eq!(slots.take(), [(slot, 0)]);
        assert_eq!(slots.take(), []);
        store(&memory, slot, 0);
    }
    assert!(slots.remove(slot) && !slots.remove(slot));
    assert_eq!(slots.take(), []);
}

#[test]
fn a_store_of_less_than_a_word_rings_when_the_bit_that_rings_is_set() {
    let pages = Arc::new(Pages::new().unwrap());
    let memory = mapped(&pages);
    let mut slots = slots(&pages);
    let slot = doorbell(0, 1);
    assert!(slots.add(slot));
    let bytes = memory.as_volatile_slice();
    bytes
        .store(77_u32.to_le(), slot as usize, Ordering::Release)
        .unwrap();
    assert_eq!(slots.take(), []);
    let high = (RUNG >> 32) as u32 | 5;
    let at = slot as usize + 4;
    bytes.store(high.to_le(), at, Ordering::Release).unwrap();
    assert_eq!(slots.take(), [(slot, 5 << 32 | 77)]);
    // A store across two slots: the content of each counts, and only one is polled.
    let word = [0xff_u8; 8];
    bytes.write_slice(&word, slot as usize + 4).unwrap();
    assert_eq!(slots.take(), [(slot, !RUNG << 32 & !RUNG)]);
}

#[test]
fn only_slots_of_the_pages_are_looked_at() {
    let pages = Arc::new(Pages::new().unwrap());
    let mut all = slots(&pages);
    let end = Bar::Doorbells.length();
    for place in [
        Doorbell::OFFSET.into(),
        ConsumerIndex::OFFSET.into(),
        Doorbell::PUSHED_OFFSET.into(),
        u64::from(Doorbell::SLOTS) - 8,
        u64::from(Doorbell::SLOTS) + 4,
        end,
        end + u64::from(Doorbell::SLOTS),
        u64::MAX,
        u64::MAX - 7,
    ] {
        assert!(!all.add(place) && !all.remove(place), "{place:#x}");
    }
    assert!(all.add(end - 8));
    assert!(!Slots::default().add(doorbell(0, 0)), "nothing is mapped");
    assert_eq!(Slots::default().take(), []);
}

#[test]
fn there_is_a_most_of_slots_and_a_clock_pays_for_a_few() {
    let pages = Arc::new(Pages::new().unwrap());
    let mut all = slots(&pages);
    assert!((0..3).all(|_| all.is_due()));
    let pages_of_one = DOORBELL_PAGES as u64 - MOST_SLOTS as u64..DOORBELL_PAGES as u64;
    assert!(pages_of_one.clone().all(|page| all.add(doorbell(page, 5))));
    let (first, other) = (doorbell(pages_of_one.start, 5), consumer(0, 0));
    assert!(all.add(first), "it is one of them");
    assert!(!all.add(other));
    assert!(all.remove(first));
    assert!(all.add(other));
    let period = MOST_SLOTS / SLOTS_PER_CLOCK;
    let due = (0..10 * period).filter(|_| all.is_due()).count();
    assert_eq!(due, 10);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// A driver stores and a server polls, in any order. The last word of every slot arrives, every word arrives once, and words arrive in the order
    /// of their stores. If a driver frees completion entries before it rings, the card sees both in that order.
    #[test]
    fn the_last_word_of_every_slot_arrives(steps in prop::collection::vec((0..4u16, any::<bool>(), 0..3u8), 1..200)) {
        let pages = Arc::new(Pages::new().unwrap());
        let memory = mapped(&pages);
        let mut slots = slots(&pages);
        for slot in 0..4 {
            prop_assert!(slots.add(doorbell(7, slot)) && slots.add(consumer(7, slot)));
        }
        let mut seen = std::collections::BTreeMap::new();
        let mut stored = seen.clone();
        let mut look = |stored: &std::collections::BTreeMap<u64, u64>| {
            let mut kinds = Vec::new();
            for (slot, word) in slots.take() {
                assert!(seen.insert(slot, word).is_none_or(|before| before < word));
                assert_eq!(stored.get(&slot), Some(&word));
                kinds.push(slot % PAGE_BYTES >= u64::from(ConsumerIndex::SLOTS));
            }
            assert!(kinds.is_sorted_by(|a, b| a >= b), "consumer indices come first");
            seen.clone()
        };
        for (number, (slot, is_consumer, looks)) in steps.into_iter().enumerate() {
            let slot = if is_consumer { consumer(7, slot) } else { doorbell(7, slot) };
            store(&memory, slot, number as u64);
            stored.insert(slot, number as u64);
            if looks == 0 {
                look(&stored);
            }
        }
        let seen = look(&stored);
        prop_assert_eq!(seen, stored);
    }
}

/// The driver stores words from one thread while the server polls from another.
#[test]
fn a_driver_and_a_server_at_the_same_time_lose_nothing() {
    const WORDS: u64 = 100_000;
    let pages = Arc::new(Pages::new().unwrap());
    let memory = mapped(&pages);
    let mut slots = slots(&pages);
    let (room, ring) = (consumer(1, 2), doorbell(1, 2));
    assert!(slots.add(room) && slots.add(ring));
    let driver = std::thread::spawn(move || {
        for word in 1..=WORDS {
            store(&memory, room, word);
            store(&memory, ring, word);
        }
    });
    let (mut rooms, mut rings) = (0, 0);
    while rings < WORDS {
        let is_over = driver.is_finished();
        for (slot, word) in slots.take() {
            let last = if slot == room { &mut rooms } else { &mut rings };
            assert!(*last < word);
            *last = word;
        }
        assert!(
            rooms >= rings,
            "rung before there was room: {rooms}, {rings}"
        );
        assert!(!is_over || rings == WORDS, "lost");
    }
    driver.join().unwrap();
}
