//! DRILL (Ghorbani et al., SIGCOMM 2017, section 3.2).

use std::collections::HashMap;

use super::{Choice, Choose, Dice};
use crate::{ChannelId, SwitchId};

/// DRILL(d, m): of d random outputs and the m that were the shortest the last time, the shortest, for each packet anew. The comparison sees queues as
/// they are; a real switch sees those of a moment ago.
pub(super) struct Drill {
    samples: usize,
    remembered: usize,
    dice: Dice,
    /// The outputs remembered, by switch and last switch. The paper has them by forwarding engine; a switch has one here.
    memory: HashMap<(SwitchId, SwitchId), Vec<ChannelId>>,
    candidates: Vec<ChannelId>,
}

impl Drill {
    pub(super) fn new(samples: usize, remembered: usize, dice: Dice) -> Self {
        Self {
            samples,
            remembered,
            dice,
            memory: HashMap::new(),
            candidates: Vec::new(),
        }
    }
}

impl Choose for Drill {
    fn choose(&mut self, choice: &Choice<'_>) -> ChannelId {
        let memory = self.memory.entry((choice.at, choice.last)).or_default();
        self.candidates.clear();
        for _ in 0..self.samples {
            let drawn = self.dice.draw(choice.at, choice.group.len());
            self.candidates.push(choice.group[drawn]);
        }
        let known = memory.iter().filter(|out| choice.group.contains(out));
        self.candidates.extend(known);
        self.candidates.sort_by_key(|&out| choice.loads.bytes(out));
        self.candidates.dedup();
        memory.clear();
        memory.extend(self.candidates.iter().take(self.remembered));
        self.candidates[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::balance::Loads;
    use crate::channel::{Channel, End};
    use crate::parcel::Class;
    use crate::stats::Ledger;
    use crate::{HostId, Node};

    /// Chooses `count` times among eight outputs, of which output n holds n + 1 bytes; returns how often each was chosen.
    fn chosen(samples: usize, remembered: usize, count: usize) -> [usize; 8] {
        let node = Node::Host {
            host: HostId(0),
            port: 0,
        };
        let channels = vec![Channel::new(0, node); 8];
        assert!(matches!(channels[0].to, End::Host { .. }));
        let mut ledgers = vec![Ledger::default(); 8];
        for (bytes, ledger) in (1..).zip(&mut ledgers) {
            ledger.data.bytes = bytes;
        }
        let group: Vec<ChannelId> = (0..8).map(ChannelId).collect();
        let mut drill = Drill::new(samples, remembered, Dice::of_switches(1, 7));
        let mut counts = [0; 8];
        for _ in 0..count {
            let out = drill.choose(&Choice {
                now: 0,
                at: SwitchId(0),
                last: SwitchId(1),
                flow: 1,
                class: Class::Data,
                len: 100,
                is_first: true,
                group: &group,
                loads: Loads {
                    channels: &channels,
                    ledgers: &ledgers,
                    now: 0,
                },
            });
            counts[out.index()] += 1;
        }
        counts
    }

    #[test]
    fn the_best_of_d_samples_is_chosen() {
        // The best of d independent samples is output n with probability ((8 - n)^d - (7 - n)^d) / 8^d.
        for samples in [1, 2, 4] {
            let counts = chosen(samples, 0, 20_000);
            for (n, count) in (0..).zip(counts) {
                let power = |base: i32| f64::from(8 - base).powi(samples as i32);
                let expected = (power(n) - power(n + 1)) / power(0) * 20_000.0;
                // Five standard deviations.
                let tolerance = 5.0 * expected.sqrt() + 1.0;
                assert!(
                    (count as f64 - expected).abs() < tolerance,
                    "{samples}: {counts:?}"
                );
            }
        }
    }

    #[test]
    fn an_output_that_was_the_best_is_remembered() {
        // Once one of the samples is the shortest queue, the memory keeps it.
        let counts = chosen(1, 1, 20_000);
        assert!(counts[0] > 19_800, "{counts:?}");
    }
}
