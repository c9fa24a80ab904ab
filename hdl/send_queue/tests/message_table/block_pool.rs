//! `block_pool` against a model: the free blocks in their order, and the chain of each owner.

use std::collections::VecDeque;

use hdl_send_queue::block_pool::BlockPool;
use hdl_testkit::equivalence::TestRng;
use hdl_testkit::Dut;
use rand::{Rng, SeedableRng};

const BLOCKS: u64 = 8;

struct Bench {
    dut: Dut,
    free: VecDeque<u64>,
    chains: Vec<VecDeque<u64>>,
}

impl Bench {
    fn new() -> Self {
        let mut dut = Dut::new::<BlockPool<3>>();
        dut.set("reset", 1);
        dut.clock();
        dut.set("reset", 0);
        dut.set("clear", 1);
        for block in 0..BLOCKS {
            dut.set("clear_block", block);
            dut.clock();
        }
        dut.set("clear", 0);
        dut.clock();
        Self {
            dut,
            free: (0..BLOCKS).collect(),
            chains: vec![VecDeque::new(); 3],
        }
    }

    /// One cycle with the ports as they are set, and one without a request.
    fn clock(&mut self) {
        self.dut.clock();
        self.dut.set("take", 0);
        self.dut.set("give", 0);
        self.dut.clock();
    }

    fn take(&mut self, owner: usize) {
        let Some(block) = self.free.pop_front() else {
            return;
        };
        let last = self.chains[owner].back().copied();
        self.dut.set("take", 1);
        self.dut.set("append", last.is_some().into());
        self.dut.set("append_to", last.unwrap_or(3));
        self.chains[owner].push_back(block);
        self.clock();
    }

    fn give(&mut self, owner: usize, count: usize) {
        let given: Vec<_> = self.chains[owner].drain(..count).collect();
        let (Some(&first), Some(&last)) = (given.first(), given.last()) else {
            return;
        };
        self.dut.set("give", 1);
        self.dut.set("give_first", first);
        self.dut.set("give_last", last);
        self.dut.set("give_count", count as u64);
        self.free.extend(given);
        self.clock();
    }

    fn check(&mut self) {
        self.dut.eval();
        assert_eq!(self.dut.get("free"), self.free.len() as u64);
        if let Some(&block) = self.free.front() {
            assert_eq!(self.dut.get("spare"), block);
        }
        for chain in self.chains.clone() {
            for (block, next) in chain.iter().zip(chain.iter().skip(1)) {
                for (port, followed) in [
                    ("follow", "followed"),
                    ("follow_arriving", "followed_arriving"),
                ] {
                    self.dut.set(port, *block);
                    self.dut.clock();
                    assert_eq!(self.dut.get(followed), *next, "behind {block}");
                }
            }
        }
    }
}

#[test]
fn blocks_are_lent_and_come_back_in_their_order() {
    let mut rng = TestRng::seed_from_u64(7);
    let mut bench = Bench::new();
    for _ in 0..2000 {
        let owner = rng.random_range(0..3);
        let owned = bench.chains[owner].len();
        match rng.random_range(0..8) {
            0..5 => bench.take(owner),
            5 => bench.give(owner, owned),
            _ => bench.give(owner, owned.min(1)),
        }
        bench.check();
    }
}
