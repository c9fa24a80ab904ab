//! Resets of a FIFO from one source, chained as in docs/crossings.md.
use hdl_crossings::{LutAsyncFifo, ResetSynchroniser};
use hdl_macros::{hdl, join};
use hdl_primitives::{DataOfferSnk, DataSrc};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;

use crate::bench::{Bench, Stalls};
use crate::clocks::{instance, metastable, RATIOS};

/// A FIFO with resets from one pin, in the order that it needs: the reset of the write side follows that of the read side.
#[derive(LogicBlock, Default)]
pub struct Chained {
    pub write_clock: Signal<In, Clock>,
    pub read_clock: Signal<In, Clock>,
    pub asynchronous: Signal<In, Bit>,
    pub in_: DataOfferSnk<Bits<48>>,
    pub count: Signal<Out, Bits<5>>,
    pub out: DataSrc<Bits<48>>,
    pub read_reset: Signal<Out, Bit>,
    pub write_reset: Signal<Out, Bit>,
    of_read: ResetSynchroniser<2>,
    of_write: ResetSynchroniser<2>,
    fifo: LutAsyncFifo<Bits<48>, 4, 5>,
}

impl Logic for Chained {
    #[hdl]
    fn update(&mut self) {
        self.of_read.clock.next = self.read_clock.val();
        self.of_write.clock.next = self.write_clock.val();
        self.fifo.read_clock.next = self.read_clock.val();
        self.fifo.write_clock.next = self.write_clock.val();
        self.of_read.asynchronous.next = self.asynchronous.val();
        self.of_write.asynchronous.next = self.of_read.reset.val();
        self.fifo.read_reset.next = self.of_read.reset.val();
        self.fifo.write_reset.next = self.of_write.reset.val();
        self.read_reset.next = self.of_read.reset.val();
        self.write_reset.next = self.of_write.reset.val();
        self.count.next = self.fifo.count.val();
        join!(self, in_ => fifo.in_, fifo.out => out);
    }
}

#[test]
fn resets_from_one_pin_have_the_order_that_the_fifo_needs() {
    let library = metastable::<Chained>();
    for periods in RATIOS {
        for seed in 0..12 {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let mut bench = Bench::new(instance(&library, seed + 1), periods, &mut rng);
            // Both resets are high after configuration.
            let rest = Stalls { offer: 0, take: 0 };
            bench.run(100, rest, &mut rng).unwrap();
            for _ in 0..6 {
                let stalls = Stalls {
                    offer: rng.random_range(0..=8),
                    take: rng.random_range(0..=8),
                };
                let edges = rng.random_range(7..20);
                (bench.reset_by_chain(edges, stalls, &mut rng))
                    .and_then(|()| bench.run(rng.random_range(1..300), stalls, &mut rng))
                    .unwrap_or_else(|e| panic!("periods {periods:?} fs, seed {seed}: {e}"));
            }
            bench.drain(&mut rng).unwrap();
        }
    }
}
