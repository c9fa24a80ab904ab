//! Properties of the manager over a network that is a table of shares.

use std::collections::BTreeMap;
use std::convert::Infallible;

use proptest::prelude::*;

use super::path::{FIRST_REST, LONGEST_REST};
use super::{PathAccess, PathCounts, PathManager};

/// Percent of the packets of a path that are lost and marked.
#[derive(Clone, Copy, Debug, Default)]
struct Harm {
    lost: u64,
    marked: u64,
}

/// Queue pairs that spray evenly over the paths that are allowed.
struct Network {
    paths: Vec<Harm>,
    /// Packets of a queue pair in a sample.
    packets: u64,
    pairs: BTreeMap<u32, Vec<(PathCounts, bool)>>,
}

impl Network {
    fn new(pairs: u32, paths: usize, packets: u64) -> Self {
        let allowed = vec![(PathCounts::default(), true); paths];
        Self {
            paths: vec![Harm::default(); paths],
            packets,
            pairs: (0..pairs).map(|pair| (pair, allowed.clone())).collect(),
        }
    }

    fn allowed(&self, pair: u32) -> Vec<usize> {
        let paths = &self.pairs[&pair];
        (0..paths.len()).filter(|&path| paths[path].1).collect()
    }

    /// Sends the packets of a sample, and lets the manager look at them. Returns the changes.
    fn sample(&mut self, manager: &mut PathManager<u32>) -> Vec<(u32, u8, bool)> {
        for paths in self.pairs.values_mut() {
            let used = paths.iter().filter(|path| path.1).count() as u64;
            for ((counts, allowed), harm) in paths.iter_mut().zip(&self.paths) {
                if *allowed {
                    let sent = self.packets / used;
                    // What is due by now, so that small shares are not rounded away.
                    let due = |percent| {
                        (counts.sent + sent) * percent / 100 - counts.sent * percent / 100
                    };
                    let (lost, marked) = (due(harm.lost), due(harm.marked));
                    counts.sent += sent;
                    counts.lost += lost;
                    counts.marked += marked;
                }
            }
        }
        let Ok(changes) = manager.sample(self);
        changes
            .iter()
            .map(|change| (change.pair, change.path, change.denied))
            .collect()
    }
}

impl PathAccess for Network {
    type Pair = u32;
    type Error = Infallible;

    fn counts(&mut self, pair: u32) -> Result<Vec<PathCounts>, Infallible> {
        Ok(self.pairs[&pair].iter().map(|path| path.0).collect())
    }

    fn deny(&mut self, pair: u32, path: u8) -> Result<(), Infallible> {
        let allowed = &mut self.pairs.get_mut(&pair).expect("it is watched")[usize::from(path)].1;
        assert!(*allowed, "path {path} is denied twice");
        *allowed = false;
        Ok(())
    }

    fn allow(&mut self, pair: u32, path: u8) -> Result<(), Infallible> {
        let allowed = &mut self.pairs.get_mut(&pair).expect("it is watched")[usize::from(path)].1;
        assert!(!*allowed, "path {path} is allowed twice");
        *allowed = true;
        Ok(())
    }
}

fn manager(network: &Network) -> PathManager<u32> {
    let mut manager = PathManager::new();
    network.pairs.keys().for_each(|&pair| manager.watch(pair));
    manager
}

fn harm() -> impl Strategy<Value = Harm> {
    prop_oneof![
        2 => Just(Harm::default()),
        1 => (0..=100_u64).prop_map(|lost| Harm { lost, marked: 0 }),
        1 => (0..=100_u64).prop_map(|marked| Harm { lost: 0, marked }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever happens to paths, half of them stay in use, and so does the last one.
    #[test]
    fn at_least_half_of_the_paths_stay_in_use(
        histories in prop::collection::vec(prop::collection::vec(harm(), 1..12), 1..6),
        packets in 0..3_000_u64,
        samples in 1..60,
    ) {
        let paths = histories[0].len();
        let mut network = Network::new(2, paths, packets);
        let mut manager = manager(&network);
        for history in &histories {
            for path in 0..paths {
                network.paths[path] = history[path % history.len()];
            }
            for _ in 0..samples {
                network.sample(&mut manager);
                for pair in 0..2 {
                    let allowed = network.allowed(pair);
                    prop_assert!(allowed.len() >= paths.div_ceil(2), "{allowed:?}");
                    for path in 0..paths {
                        prop_assert_eq!(manager.denies(pair, path as u8), !allowed.contains(&path));
                    }
                }
            }
        }
    }

    /// What all paths suffer alike moves nobody.
    #[test]
    fn congestion_that_all_paths_have_denies_none(lost in 0..=50_u64, marked in 0..=50_u64, paths in 2..40_usize) {
        let mut network = Network::new(1, paths, 64 * paths as u64);
        network.paths = vec![Harm { lost, marked }; paths];
        let mut manager = manager(&network);
        for _ in 0..40 {
            prop_assert_eq!(network.sample(&mut manager), []);
        }
    }

    /// A path that loses a tenth of its packets or more, or has marks on a third, is left by all queue pairs, soon, and by each for itself; the others stay.
    /// It returns when it is well, and not before.
    #[test]
    fn all_queue_pairs_leave_a_degraded_path_and_return_to_it(
        paths in 3..32_usize,
        bad in 0..32_usize,
        (lost, marked) in prop_oneof![(10..=100_u64, Just(0)), (Just(0), 34..=100_u64)],
    ) {
        let bad = bad % paths;
        let mut network = Network::new(2, paths, 32 * paths as u64);
        let mut manager = manager(&network);
        for _ in 0..10 {
            prop_assert_eq!(network.sample(&mut manager), []);
        }
        network.paths[bad] = Harm { lost, marked };
        let mut left = Vec::new();
        for _ in 0..6 {
            left.extend(network.sample(&mut manager));
        }
        prop_assert_eq!(left, [(0, bad as u8, true), (1, bad as u8, true)]);
        network.paths[bad] = Harm::default();
        let mut returned = Vec::new();
        for _ in 0..2 * FIRST_REST {
            returned.extend(network.sample(&mut manager));
        }
        prop_assert_eq!(returned, [(0, bad as u8, false), (1, bad as u8, false)]);
    }
}

/// A path that stays bad is tried ever more rarely, one that comes and goes is not denied for less than its rest, and one that lost packets in its last trial has to show that it is
/// well before the rest becomes short again.
#[test]
fn trials_of_a_path_that_stays_bad_become_rare() {
    let mut network = Network::new(1, 8, 8 * 64);
    network.paths[5] = Harm {
        lost: 30,
        marked: 0,
    };
    let mut manager = manager(&network);
    let mut trials = Vec::new();
    for sample in 0..6 * LONGEST_REST {
        for (_, path, denied) in network.sample(&mut manager) {
            assert_eq!(path, 5);
            if !denied {
                trials.push(sample);
            }
        }
    }
    let rests: Vec<_> = trials.windows(2).map(|two| two[1] - two[0]).collect();
    let doubling = (1..)
        .map(|n| FIRST_REST << n)
        .take_while(|&rest| rest < LONGEST_REST);
    for (rest, least) in rests.iter().zip(doubling) {
        assert!((least..=least + 4).contains(rest), "{rests:?}");
    }
    let last = rests.last().expect("trials");
    assert!(
        (LONGEST_REST..=LONGEST_REST + 4).contains(last),
        "{rests:?}"
    );
}

/// One loss in a hundred, which the transport bears, takes no path out of use.
#[test]
fn rare_losses_deny_no_path() {
    let mut network = Network::new(1, 16, 16 * 100);
    for path in 0..8 {
        network.paths[path] = Harm { lost: 1, marked: 0 };
    }
    let mut manager = manager(&network);
    for _ in 0..200 {
        assert_eq!(network.sample(&mut manager), []);
    }
}

/// A queue pair that is set up again counts from zero; one that is forgotten stays as it is.
#[test]
fn counters_may_restart_and_a_forgotten_queue_pair_is_left_alone() {
    let mut network = Network::new(2, 4, 4 * 64);
    network.paths[1] = Harm {
        lost: 50,
        marked: 0,
    };
    let mut manager = manager(&network);
    network.sample(&mut manager);
    for paths in network.pairs.values_mut() {
        for path in paths {
            path.0 = PathCounts::default();
        }
    }
    // Less than before it began anew.
    network.packets = 4 * 40;
    manager.forget(1);
    assert_eq!(network.sample(&mut manager), [(0, 1, true)]);
    assert_eq!(network.allowed(1), [0, 1, 2, 3]);
    assert!(!manager.denies(1, 1));
}
