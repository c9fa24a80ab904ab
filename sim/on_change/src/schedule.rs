//! The order of the functions of a model in which those of two equal instances follow each other.

use std::collections::{BTreeMap, BTreeSet};

use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;

use crate::blocks::block;
use crate::plan::Function;
use crate::twins::{pairs, pairs_of_readers, Twins};
use crate::usage::Usage;

/// The order of functions, and which of them follow each other as a pair.
pub(crate) struct Schedule {
    /// The function at each place, by its place in Verilator's order.
    pub order: Vec<usize>,
    /// The functions of which the next one is the same for the second instance, by their new place.
    pub pairs: BTreeSet<usize>,
}

/// Brings the functions of equal instances together.
pub(crate) fn scheduled(functions: Vec<Function>, twins: &Twins) -> (Vec<Function>, Schedule) {
    let bodies: Vec<&str> = functions.iter().map(|f| f.body.as_str()).collect();
    let usages: Vec<&Usage> = functions.iter().map(|f| &f.usage).collect();
    let mut pairs = pairs(&bodies);
    pairs.extend(pairs_of_readers(&usages, &pairs, twins));
    let schedule = schedule(&usages, pairs);
    let mut functions: Vec<Option<Function>> = functions.into_iter().map(Some).collect();
    let in_order = schedule
        .order
        .iter()
        .filter_map(|&number| functions[number].take());
    (in_order.collect(), schedule)
}

/// Brings the functions of each of `pairs` together. Functions that use the same signal, of which one writes it, keep Verilator's order. A pair stays apart if something
/// has to run between its functions.
fn schedule(usages: &[&Usage], pairs: Vec<(usize, usize)>) -> Schedule {
    let behind = behind(usages);
    let mut pairs: BTreeMap<usize, usize> = pairs.into_iter().collect();
    loop {
        let apart = apart(&behind, &pairs);
        if apart.is_empty() {
            let blocks: Vec<String> = usages.iter().map(|usage| block(usage)).collect();
            return in_order(&behind, &pairs, &blocks);
        }
        pairs.retain(|first, _| !apart.contains(first));
    }
}

/// Returns the functions that have to run behind each function.
fn behind(usages: &[&Usage]) -> Vec<BTreeSet<usize>> {
    let mut behind = vec![BTreeSet::new(); usages.len()];
    // The last function that wrote a signal, and those that have read it since.
    let mut last: BTreeMap<&str, (Option<usize>, Vec<usize>)> = BTreeMap::new();
    for (number, usage) in usages.iter().enumerate() {
        for signal in &usage.reads {
            let (writer, readers) = last.entry(signal).or_default();
            if let Some(writer) = *writer {
                behind[writer].insert(number);
            }
            readers.push(number);
        }
        for signal in usage.writes.keys() {
            let (writer, readers) = last.entry(signal).or_default();
            for before in readers.drain(..).chain(writer.replace(number)) {
                if before != number {
                    behind[before].insert(number);
                }
            }
        }
    }
    behind
}

/// The graph of functions, in which each of `pairs` is one node, with the number of its first function.
fn joined(behind: &[BTreeSet<usize>], pairs: &BTreeMap<usize, usize>) -> DiGraphMap<usize, ()> {
    let first_of: BTreeMap<usize, usize> = pairs.iter().map(|(&a, &b)| (b, a)).collect();
    let node = |number: usize| first_of.get(&number).copied().unwrap_or(number);
    let mut graph = DiGraphMap::new();
    for (number, behind) in behind.iter().enumerate() {
        graph.add_node(node(number));
        for &other in behind {
            graph.add_edge(node(number), node(other), ());
        }
    }
    graph
}

/// Returns the first functions of pairs that cannot stay together: of each circle, those between whose functions another one has to run. Where all pairs of a
/// circle could stay by themselves, it is the first of them.
fn apart(behind: &[BTreeSet<usize>], pairs: &BTreeMap<usize, usize>) -> BTreeSet<usize> {
    let graph = joined(behind, pairs);
    let mut apart = BTreeSet::new();
    for circle in tarjan_scc(&graph) {
        let is_circle = circle.len() > 1 || graph.contains_edge(circle[0], circle[0]);
        if !is_circle {
            continue;
        }
        let circle: BTreeSet<usize> = circle.into_iter().collect();
        let of_pairs = || {
            circle
                .iter()
                .filter_map(|first| Some((*first, *pairs.get(first)?)))
        };
        let leads = |(a, b): &(usize, usize)| leads(behind, *a, *b) || leads(behind, *b, *a);
        let before = apart.len();
        apart.extend(of_pairs().filter(leads).map(|(first, _)| first));
        if apart.len() == before {
            apart.extend(of_pairs().map(|(first, _)| first).next());
        }
    }
    apart
}

/// Whether `to` has to run behind `from`.
fn leads(behind: &[BTreeSet<usize>], from: usize, to: usize) -> bool {
    let mut seen = BTreeSet::from([from]);
    let mut open = vec![from];
    while let Some(number) = open.pop() {
        for &next in &behind[number] {
            if next == to {
                return true;
            }
            // Everything that has to run behind a function is behind it in Verilator's order.
            if next < to && seen.insert(next) {
                open.push(next);
            }
        }
    }
    false
}

/// Functions that nothing has to run before any more, by their blocks.
#[derive(Default)]
struct Free<'a> {
    of_block: BTreeMap<&'a str, BTreeSet<usize>>,
    block: &'a str,
}

impl<'a> Free<'a> {
    fn insert(&mut self, block: &'a str, number: usize) {
        self.of_block.entry(block).or_default().insert(number);
    }

    /// The next function of the block that had the last one; where that has none, the block of the first in Verilator's order is next.
    fn pop(&mut self) -> Option<usize> {
        if !self.of_block.contains_key(self.block) {
            let firsts = self.of_block.iter();
            let firsts = firsts.filter_map(|(block, numbers)| Some((*numbers.first()?, *block)));
            (_, self.block) = firsts.min()?;
        }
        let numbers = self.of_block.get_mut(self.block)?;
        let number = numbers.pop_first();
        if numbers.is_empty() {
            self.of_block.remove(self.block);
        }
        number
    }
}

/// Orders functions whose pairs are in no circle, each of which is in one of `blocks`. What may run in any order stays together by blocks: a block works or rests as a whole, so marks that are
/// tested together are often all clear.
fn in_order(
    behind: &[BTreeSet<usize>],
    pairs: &BTreeMap<usize, usize>,
    blocks: &[String],
) -> Schedule {
    let graph = joined(behind, pairs);
    let mut waits: BTreeMap<usize, usize> = BTreeMap::new();
    for (_, to, ()) in graph.all_edges() {
        *waits.entry(to).or_default() += 1;
    }
    let mut free = Free::default();
    for node in graph.nodes().filter(|node| !waits.contains_key(node)) {
        free.insert(&blocks[node], node);
    }
    let mut schedule = Schedule {
        order: vec![],
        pairs: BTreeSet::new(),
    };
    while let Some(node) = free.pop() {
        if let Some(&second) = pairs.get(&node) {
            schedule.pairs.insert(schedule.order.len());
            schedule.order.extend([node, second]);
        } else {
            schedule.order.push(node);
        }
        for next in graph.neighbors(node) {
            let Some(wait) = waits.get_mut(&next) else {
                continue;
            };
            *wait -= 1;
            if *wait == 0 {
                free.insert(&blocks[next], next);
            }
        }
    }
    schedule
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Functions that read and write signals of one letter.
    fn usages(functions: &[(&str, &str)]) -> Vec<Usage> {
        let names = |text: &str| text.chars().map(String::from).collect::<Vec<_>>();
        let usage = |(reads, writes): &(&str, &str)| Usage {
            reads: names(reads).into_iter().collect(),
            writes: names(writes).into_iter().map(|name| (name, 1)).collect(),
            ..Usage::default()
        };
        functions.iter().map(usage).collect()
    }

    fn schedule_of(functions: &[(&str, &str)], pairs: &[(usize, usize)]) -> Schedule {
        let usages = usages(functions);
        schedule(&usages.iter().collect::<Vec<_>>(), pairs.to_vec())
    }

    #[test]
    fn pairs_follow_each_other() {
        // Two chains, `a` to `b` to `c` and `x` to `y` to `z`.
        let functions = [("a", "b"), ("b", "c"), ("x", "y"), ("y", "z")];
        let schedule = schedule_of(&functions, &[(0, 2), (1, 3)]);
        assert_eq!(schedule.order, [0, 2, 1, 3]);
        assert_eq!(schedule.pairs, [0, 2].into());
        let alone = schedule_of(&functions, &[]);
        assert_eq!(alone.order, [0, 1, 2, 3]);
        assert!(alone.pairs.is_empty());
    }

    #[test]
    fn the_second_instance_may_come_first() {
        let schedule = schedule_of(&[("x", "y"), ("m", "n"), ("a", "b")], &[(2, 0)]);
        assert_eq!(schedule.order, [1, 2, 0]);
        assert_eq!(schedule.pairs, [1].into());
    }

    #[test]
    fn what_lies_between_two_functions_keeps_them_apart() {
        // The second function reads what the first one wrote, and the third one what the second one wrote.
        let schedule = schedule_of(&[("a", "b"), ("b", "x"), ("x", "y")], &[(0, 2)]);
        assert_eq!(schedule.order, [0, 1, 2]);
        assert!(schedule.pairs.is_empty());
        // One instance hands a value to the other one, and gets another one back: only one of the pairs can stay.
        let crossed = [("a", "b"), ("x", "y"), ("b", "c"), ("y", "z")];
        let schedule = schedule_of(&crossed, &[(0, 3), (1, 2)]);
        assert_eq!(schedule.pairs.len(), 1);
        let place = |number: usize| schedule.order.iter().position(|&n| n == number);
        assert!(place(0) < place(2) && place(1) < place(3));
    }

    #[test]
    fn a_register_is_read_before_it_is_written() {
        let functions = [("a", "b"), ("n", "a"), ("x", "y"), ("m", "x")];
        let schedule = schedule_of(&functions, &[(0, 2), (1, 3)]);
        assert_eq!(schedule.order, [0, 2, 1, 3]);
        // Functions that write the same signal keep their order.
        let schedule = schedule_of(&[("", "a"), ("", "a"), ("", "b")], &[(1, 2)]);
        assert_eq!(schedule.order, [0, 1, 2]);
    }

    #[test]
    fn what_may_run_in_any_order_stays_with_its_block() {
        // Four functions that write signals of two blocks in turn; the last one reads what the first one wrote.
        let usage = |block: &str, signal: &str, reads: &[&str]| Usage {
            reads: reads.iter().map(|&name| name.to_owned()).collect(),
            writes: [(format!("t__DOT__u_{block}__DOT__{signal}"), 1)].into(),
            ..Usage::default()
        };
        let first = "t__DOT__u_port0__DOT__a";
        let usages = [
            usage("port0", "a", &[]),
            usage("core", "b", &[]),
            usage("port0", "c", &[]),
            usage("core", "d", &[first]),
        ];
        let schedule = schedule(&usages.iter().collect::<Vec<_>>(), vec![]);
        assert_eq!(schedule.order, [0, 2, 1, 3]);
        // A block waits for what it needs from another one.
        let usages = [
            usage("core", "b", &[]),
            usage("port0", "a", &[]),
            usage("core", "d", &[first]),
        ];
        let schedule = super::schedule(&usages.iter().collect::<Vec<_>>(), vec![]);
        assert_eq!(schedule.order, [0, 1, 2]);
    }
}
