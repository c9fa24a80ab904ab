//! Memory of a host: any range of it, and the bytes that writes enable.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sim_world::HostMemory;
use stellar_transport::endpoint::Memory;
use stellar_transport::rx::{Owner, WriteTlp};

/// First address of the tests, and the bytes that they look at: some pages.
const BASE: u64 = 0x7000;
const BYTES: usize = 3 * 4096;

fn load(memory: &HostMemory, address: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    memory.load(Owner::Gpu, address, &mut bytes);
    bytes
}

#[test]
fn a_range_of_any_alignment_has_the_bytes_of_the_whole() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let memory = HostMemory::new(7);
    let one = |at: usize| load(&memory, BASE + at as u64, 1)[0];
    let whole: Vec<u8> = (0..BYTES).map(one).collect();
    for _ in 0..2_000 {
        let length = rng.random_range(0..40) + 100 * rng.random_range(0..3);
        let at = rng.random_range(0..BYTES - length);
        let part = load(&memory, BASE + at as u64, length);
        assert_eq!(part, whole[at..at + length], "{length} bytes at {at}");
    }
}

#[test]
fn a_write_stores_and_counts_the_bytes_that_it_enables() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut memory = HostMemory::new(7);
    memory.map(Owner::Gpu, BASE, BYTES as u64);
    let mut expected = load(&memory, BASE, BYTES);
    let mut written = vec![false; BYTES];
    for _ in 0..2_000 {
        let length_dw = rng.random_range(1..=40);
        let page = 4096 * rng.random_range(0..3);
        let at = page + 4 * rng.random_range(0..1024 - length_dw);
        let tlp = WriteTlp {
            address: BASE + at as u64,
            at: 0b10,
            length_dw,
            first_be: rng.random_range(0..16),
            last_be: if length_dw > 1 {
                rng.random_range(0..16)
            } else {
                0
            },
            data: (0..4 * length_dw).map(|_| rng.random()).collect(),
        };
        memory.write(&tlp);
        for (address, byte) in tlp.written() {
            let at = (address - BASE) as usize;
            expected[at] = byte;
            written[at] = true;
        }
    }
    assert_eq!(load(&memory, BASE, BYTES), expected);
    let count = |range: &[bool]| range.iter().filter(|&&byte| byte).count() as u64;
    assert_eq!(memory.written(), count(&written));
    for _ in 0..200 {
        let at = rng.random_range(0..BYTES - 300);
        let found = memory.written_in(Owner::Gpu, BASE + at as u64, 300);
        assert_eq!(found, count(&written[at..at + 300]));
    }
    assert!(memory.bad_accesses().is_empty());
}
