//! One-sided transfers: every byte is written once, is in memory before its write counts, and is counted once.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::sample::Index;
use stellar_transfer::*;

use crate::engine::cluster::{bytes, pattern, Cluster, Setup};
use crate::engine::network::NetNic;

const SOURCE: usize = 30_000;

#[derive(Clone, Debug)]
struct Step {
    from: Index,
    to: Index,
    shape: Shape,
    sharding: u8,
    /// The receiver expects it before it is sent.
    early: bool,
}

#[derive(Clone, Debug)]
enum Shape {
    Write {
        offset: usize,
        length: usize,
    },
    Pages {
        bytes: u32,
        gap: u64,
        order: Vec<Index>,
    },
    Scatter {
        length: usize,
    },
}

fn shapes() -> impl Strategy<Value = Shape> {
    prop_oneof![
        (0usize..10_000, 0usize..20_000)
            .prop_map(|(offset, length)| Shape::Write { offset, length }),
        (
            1u32..1500,
            0u64..90,
            prop::collection::vec(any::<Index>(), 1..12)
        )
            .prop_map(|(bytes, gap, order)| Shape::Pages { bytes, gap, order }),
        (1usize..9000).prop_map(|length| Shape::Scatter { length }),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (
        any::<Index>(),
        any::<Index>(),
        shapes(),
        0u8..4,
        any::<bool>(),
    );
    let step = step.prop_map(|(from, to, shape, sharding, early)| Step {
        from,
        to,
        shape,
        sharding,
        early,
    });
    prop::collection::vec(step, 1..8)
}

fn setups() -> impl Strategy<Value = Setup> {
    (2usize..4, 1usize..4, 1u32..5, 1u32..5, any::<u64>()).prop_map(
        |(engines, rails, depth, immediates, seed)| Setup {
            engines,
            rails,
            depth,
            immediates,
            seed,
            ..Setup::default()
        },
    )
}

/// The expected contents of a target, and how often each byte must be written.
struct Target {
    engine: usize,
    region: LocalRegion<NetNic>,
    holds: Vec<u8>,
    touched: Vec<u32>,
}

impl Target {
    fn new(cluster: &Cluster, engine: usize, length: usize) -> Self {
        Self {
            engine,
            region: cluster.region(engine, length, Access::RemoteWrite),
            holds: vec![0; length],
            touched: vec![0; length],
        }
    }

    fn write(&mut self, at: usize, from: &[u8]) {
        self.holds[at..at + from.len()].copy_from_slice(from);
        self.touched[at..at + from.len()]
            .iter_mut()
            .for_each(|n| *n += 1);
    }

    fn check(&self) {
        let memory = self.region.memory().unwrap();
        assert!(bytes(memory) == self.holds, "other bytes");
        assert_eq!(memory.touched(), self.touched);
    }
}

/// Places of a permutation, by selection.
fn permutation(order: &[Index]) -> Vec<u32> {
    let mut left: Vec<u32> = (0..order.len() as u32).collect();
    let take = |index: &Index| left.swap_remove(index.index(left.len()));
    order.iter().map(take).collect()
}

/// A run of the property test.
struct Run {
    cluster: Cluster,
    rails: usize,
    sources: Vec<LocalRegion<NetNic>>,
    targets: Vec<Target>,
    /// Targets and number of writes for each receiver and immediate.
    waits: BTreeMap<(usize, u32), (Vec<usize>, u64)>,
}

impl Run {
    fn new(setup: Setup) -> Self {
        let cluster = Cluster::new(setup);
        let source = |engine: usize| {
            let region = cluster.region(engine, SOURCE, Access::Local);
            let memory = region.memory().unwrap();
            memory.write(0, &pattern(SOURCE, engine)).unwrap();
            region
        };
        Self {
            sources: (0..setup.engines).map(source).collect(),
            rails: setup.rails,
            cluster,
            targets: Vec::new(),
            waits: BTreeMap::new(),
        }
    }

    fn sharding(&self, choice: u8) -> Sharding {
        match choice {
            0 => Sharding::Whole,
            1 => Sharding::Bytes,
            other => Sharding::Rail(usize::from(other) % self.rails),
        }
    }

    fn plan(&mut self, step: &Step, immediate: u32) {
        let engines = self.cluster.engines.len();
        let from = step.from.index(engines);
        let others: Vec<usize> = (0..engines).filter(|&engine| engine != from).collect();
        let to = others[step.to.index(others.len())];
        let content = pattern(SOURCE, from);
        let per_write = self.sharding(step.sharding).immediates(self.rails);
        let targets = match &step.shape {
            Shape::Write { offset, length } => {
                let mut target = Target::new(&self.cluster, to, length + 9);
                target.write(4, &content[*offset..offset + length]);
                vec![(target, per_write)]
            }
            Shape::Pages { bytes, gap, order } => {
                let (bytes, count) = (*bytes as usize, order.len());
                let stride = bytes + *gap as usize;
                let mut target = Target::new(&self.cluster, to, 3 + stride * count);
                for (page, place) in permutation(order).into_iter().enumerate() {
                    target.write(
                        3 + place as usize * stride,
                        &content[page * bytes..][..bytes],
                    );
                }
                vec![(target, per_write * count as u64)]
            }
            Shape::Scatter { length } => others
                .iter()
                .map(|&other| {
                    let mut target = Target::new(&self.cluster, other, *length);
                    target.write(0, &content[other..other + length]);
                    (target, per_write)
                })
                .collect(),
        };
        for (target, count) in targets {
            let wait = self.waits.entry((target.engine, immediate)).or_default();
            wait.0.push(self.targets.len());
            wait.1 += count;
            self.targets.push(target);
        }
    }

    fn submit(&mut self, step: &Step, immediate: u32, first: usize) -> TransferId {
        let from = step.from.index(self.cluster.engines.len());
        let source = &self.sources[from];
        let target = self.targets[first].region.descriptor();
        let sharding = self.sharding(step.sharding);
        let transfer = match &step.shape {
            Shape::Write { offset, length } => {
                Transfer::write(source.slice(*offset as u64, *length as u64), target.at(4))
            }
            Shape::Pages { bytes, gap, order } => {
                let source_pages = Pages {
                    offset: 0,
                    stride: (*bytes).into(),
                    indices: (0..order.len() as u32).collect(),
                };
                let target_pages = Pages {
                    offset: 3,
                    stride: u64::from(*bytes) + gap,
                    indices: permutation(order),
                };
                Transfer::pages(source, source_pages, target, target_pages, *bytes)
            }
            Shape::Scatter { length } => {
                let others = self.cluster.engines.len() - 1;
                let parts = self.targets[first..first + others].iter().map(|target| {
                    let slice = source.slice(target.engine as u64, *length as u64);
                    (slice, target.region.descriptor().at(0))
                });
                Transfer::scatter(parts)
            }
        };
        let transfer = transfer.with_immediate(immediate).sharded(sharding);
        self.cluster.engines[from].submit(&transfer).unwrap()
    }

    /// Reads events and checks that every counter that is reached has its bytes in memory. Returns the transfers that are done and the counters
    /// reached.
    fn look(&mut self) -> (usize, usize) {
        let (mut done, mut reached) = (0, 0);
        for engine in 0..self.cluster.engines.len() {
            while let Some(event) = self.cluster.engines[engine].next_event() {
                match event {
                    Event::Done { result: Ok(()), .. } => done += 1,
                    Event::Reached {
                        immediate,
                        result: Ok(()),
                    } => {
                        reached += 1;
                        let (targets, _) = &self.waits[&(engine, immediate)];
                        targets
                            .iter()
                            .for_each(|&target| self.targets[target].check());
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
        (done, reached)
    }

    fn expect(&mut self, early: impl Fn(u32) -> bool) {
        for (&(engine, immediate), &(_, count)) in &self.waits {
            if early(immediate) {
                let engine = &mut self.cluster.engines[engine];
                engine.expect(immediate, count, Senders::Anyone).unwrap();
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Transfers of every shape and sharding at the same time, between all engines. The bytes of a counter are in memory when it is reached, every
    /// byte is written once, and no write counts twice. The network asserts that credits and queues are respected.
    #[test]
    fn every_byte_is_written_once_and_before_it_counts(setup in setups(), steps in steps()) {
        // Two transfers may use one immediate, one after the other.
        let immediate = |step: usize| (step / 2) as u32;
        let early = |immediate: u32| steps[2 * immediate as usize].early;
        let mut run = Run::new(setup);
        let mut firsts = Vec::new();
        for (number, step) in steps.iter().enumerate() {
            firsts.push(run.targets.len());
            run.plan(step, immediate(number));
        }
        run.expect(early);
        for (number, step) in steps.iter().enumerate() {
            run.submit(step, immediate(number), firsts[number]);
            run.cluster.turn();
        }
        let (mut done, mut reached) = (0, 0);
        for _ in 0..100 {
            run.cluster.turn();
            let news = run.look();
            (done, reached) = (done + news.0, reached + news.1);
        }
        run.expect(|immediate| !early(immediate));
        for _ in 0..200_000 {
            run.cluster.turn();
            let news = run.look();
            (done, reached) = (done + news.0, reached + news.1);
            if (done, reached) == (steps.len(), run.waits.len()) {
                break;
            }
        }
        prop_assert_eq!((done, reached), (steps.len(), run.waits.len()));
        run.cluster.settle();
        prop_assert_eq!(run.look(), (0, 0));
        run.targets.iter().for_each(Target::check);
        for &(engine, immediate) in run.waits.keys() {
            prop_assert_eq!(run.cluster.engines[engine].arrivals(immediate), 0);
        }
        prop_assert!(run.cluster.engines.iter().all(Engine::is_idle));
    }
}
