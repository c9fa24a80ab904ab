//! Windows compared with a flat model.

use super::*;
use std::collections::BTreeSet;

use proptest::prelude::*;
use stellar_transport::rx::{write_tlps, MaxPayload, Piece};

/// Lengths of the windows in bytes. Some are shorter than a line, so one access can hit several windows.
const LENGTHS: [u64; 4] = [16, 64, 72, 256];
const BASE: u64 = 0x10_0000;

fn file(bytes: u64) -> File {
    let file = tempfile::tempfile().unwrap();
    file.set_len(bytes).unwrap();
    file
}

fn write(memory: &mut PeerMemory, address: u64, payload: &[u8]) {
    let piece = Piece {
        address,
        length: payload.len(),
        translated: false,
    };
    for tlp in write_tlps(&[piece], payload, MaxPayload::new(256).unwrap()) {
        memory.write(&tlp);
    }
}

/// Contiguous windows, each on its own part of one of two files, in the files' order.
fn scattered(lengths: &[usize], order: &[usize], holes: &BTreeSet<usize>) -> PeerMemory {
    let files = [file(1 << 16), file(1 << 16)];
    let mut memory = PeerMemory::default();
    let mut address = BASE;
    for (number, length) in lengths.iter().enumerate() {
        let length = LENGTHS[*length];
        if !holes.contains(&number) {
            let place = order[number] as u64;
            let file = files[number % 2].try_clone().unwrap();
            let access = DmaMapFlags::READ_WRITE;
            memory
                .map(address, length, file, 512 * place, access)
                .unwrap();
        }
        address += length;
    }
    memory
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Data that is written over many small windows is read back, and nothing else changes. If there is a hole, nothing is written.
    #[test]
    fn small_windows_act_as_one_memory(
        lengths in prop::collection::vec(0..LENGTHS.len(), 24),
        order in Just((0..24usize).collect::<Vec<_>>()).prop_shuffle(),
        holes in prop::collection::btree_set(0..24usize, 0..2),
        writes in prop::collection::vec((0u64..1500, 1usize..600, any::<u8>()), 1..12),
    ) {
        let mut memory = scattered(&lengths, &order, &holes);
        let mut model: Vec<Option<u8>> = Vec::new();
        for (number, length) in lengths.iter().enumerate() {
            let byte = (!holes.contains(&number)).then_some(0);
            model.extend(vec![byte; LENGTHS[*length] as usize]);
        }
        let mut bad_accesses = 0;
        for (at, length, salt) in writes {
            let bytes: Vec<u8> = (0..length).map(|i| i as u8 ^ salt).collect();
            write(&mut memory, BASE + at, &bytes);
            // A TLP of at most 256 bytes is written completely or not at all.
            let mut from = at as usize;
            let end = from + length;
            while from < end {
                let to = (from / 256 * 256 + 256).min(end);
                let whole = model.get(from..to).is_some_and(|part| part.iter().all(Option::is_some));
                for place in from..to {
                    if whole {
                        model[place] = Some(bytes[place - at as usize]);
                    }
                }
                bad_accesses += u64::from(!whole);
                from = to;
            }
        }
        prop_assert_eq!(memory.bad_accesses(), bad_accesses);
        for (place, byte) in (BASE..).zip(&model) {
            let mut found = [0xee];
            let answer = memory.read(place, false, &mut found);
            prop_assert_eq!(answer.is_ok().then_some(found[0]), *byte);
        }
        let whole = model.iter().position(Option::is_none).unwrap_or(model.len());
        let mut found = vec![0; whole];
        prop_assert!(memory.read(BASE, false, &mut found).is_ok());
        let expected: Vec<u8> = model[..whole].iter().flatten().copied().collect();
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn what_cannot_be_mapped_is_refused() {
    let mut memory = PeerMemory::default();
    let all = DmaMapFlags::READ_WRITE;
    let mut message = |address, length, offset| {
        let error = memory.map(address, length, file(0x3000), offset, all);
        error.err().map(|error| error.to_string())
    };
    assert_eq!(message(0x2000, 0x2000, 0x1000), None);
    assert!(message(0x6000, 0x2000, 0x2000)
        .unwrap()
        .contains("of a file of 0x3000"));
    assert!(message(0x6000, 0x1000, u64::MAX)
        .unwrap()
        .contains("of a file"));
    assert!(message(0x6000, 0, 0).is_some());
    assert!(message(u64::MAX - 0xfff, 0x2000, 0).is_some());
    for address in [0x1000, 0x2000, 0x3000] {
        let over = message(address, 0x2000, 0).unwrap();
        assert!(over.contains("lies over"), "{over}");
    }
    assert_eq!(memory.windows(), 1);
}

#[test]
fn a_window_that_is_unmapped_or_read_only_takes_nothing() {
    let mut memory = PeerMemory::default();
    let shared = file(0x2000);
    let again = || shared.try_clone().unwrap();
    let (read, all) = (DmaMapFlags::READ, DmaMapFlags::READ_WRITE);
    memory.map(0x1000, 0x1000, again(), 0, all).unwrap();
    memory.map(0x8000, 0x2000, again(), 0, read).unwrap();
    assert_eq!(memory.files.len(), 1);
    write(&mut memory, 0x1ff8, &[7; 8]);
    write(&mut memory, 0x8ff8, &[8; 8]);
    assert_eq!(memory.bad_accesses(), 1);
    let mut seen = [0; 8];
    memory.read(0x8ff8, false, &mut seen).unwrap();
    assert_eq!(seen, [7; 8]);
    assert!(memory.read(0x8ff8, true, &mut seen).is_err());
    assert_eq!(memory.unmap(0x1000, 0x800), 0);
    assert_eq!(memory.unmap(0, 0x2000), 1);
    assert!(memory.read(0x1ff8, false, &mut seen).is_err());
    assert_eq!((memory.windows(), memory.bad_accesses()), (1, 3));
    memory.clear();
    assert!(memory.read(0x8ff8, false, &mut seen).is_err());
    // A file that has grown meanwhile is mapped again.
    shared.set_len(0x4000).unwrap();
    memory.map(0x1000, 0x4000, again(), 0, all).unwrap();
    write(&mut memory, 0x4ffc, &[9; 4]);
    memory.read(0x4ff8, false, &mut seen).unwrap();
    assert_eq!(seen, [0, 0, 0, 0, 9, 9, 9, 9]);
}
