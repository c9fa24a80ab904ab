//! CONGA (Alizadeh et al., SIGCOMM 2014, section 3).

use std::collections::HashMap;

use super::flowlets::Flowlets;
use super::{Choice, Choose, Dice, Effects, Forwarded};
use crate::{ChannelId, SwitchId, Time, Topology};

/// Greatest metric: three bits.
const MOST: f64 = 7.0;

/// Discounting rate estimator of a channel (section 3.2): bytes sent, of which a part is forgotten in every period.
#[derive(Clone, Copy, Debug, Default)]
struct Estimator {
    bytes: f64,
    /// The period of the last change.
    period: u64,
}

/// What a packet carries between leaves (section 3.1).
#[derive(Clone, Copy, Debug)]
struct Tag {
    /// The leaf with its sender.
    from: SwitchId,
    /// The uplink that it took there.
    uplink: ChannelId,
    /// Greatest metric of the channels on its way.
    metric: f64,
    /// For the other leaf: an uplink of its own, and the metric of the packets that came over it.
    feedback: Option<(ChannelId, f64)>,
}

/// What a leaf knows about packets from another leaf: the metric by their uplink.
#[derive(Debug, Default)]
struct FromLeaf {
    metrics: Vec<Metric>,
    /// The one that is fed back next.
    next: usize,
}

#[derive(Debug)]
struct Metric {
    uplink: ChannelId,
    value: f64,
    /// It has changed since it was fed back.
    changed: bool,
}

impl FromLeaf {
    fn note(&mut self, uplink: ChannelId, value: f64) {
        let known = self.metrics.iter_mut().find(|at| at.uplink == uplink);
        match known {
            Some(known) => {
                known.changed |= known.value != value;
                known.value = value;
            }
            None => self.metrics.push(Metric {
                uplink,
                value,
                changed: true,
            }),
        }
    }

    /// What a packet to the leaf carries: the uplinks in turn, those that have changed first.
    fn feed_back(&mut self) -> Option<(ChannelId, f64)> {
        let count = self.metrics.len();
        let turn = || (0..count).map(|step| (self.next + step) % count);
        let changed = turn().find(|&at| self.metrics[at].changed);
        let at = changed.or_else(|| turn().next())?;
        self.next = at + 1;
        let metric = &mut self.metrics[at];
        metric.changed = false;
        Some((metric.uplink, metric.value))
    }
}

/// Each flowlet takes the uplink with the least congested path, as the leaf at its other end has reported it. A leaf is the first switch of a packet.
pub(super) struct Conga {
    period: Time,
    age: Time,
    alpha: f64,
    /// How many neighbouring uplinks a flowlet chooses among.
    uplinks: usize,
    flowlets: Flowlets,
    dice: Dice,
    estimators: Vec<Estimator>,
    /// Bytes in the estimator of a channel that is always busy.
    full: Vec<f64>,
    /// By packet.
    tags: Vec<Option<Tag>>,
    /// By leaf and other leaf.
    from: HashMap<(SwitchId, SwitchId), FromLeaf>,
    /// By leaf, other leaf and uplink: the metric and when it came.
    to: HashMap<(SwitchId, SwitchId, ChannelId), (f64, Time)>,
    best: Vec<ChannelId>,
}

impl Conga {
    /// With `times`: gap between flowlets, period of the estimators, age at which reports expire. A flowlet chooses among `uplinks` neighbouring ones.
    pub(super) fn new(
        topology: &Topology,
        times: [Time; 3],
        alpha: f64,
        uplinks: usize,
        dice: Dice,
    ) -> Self {
        let [gap, period, age] = times;
        let full = topology.channels().map(|id| {
            let rate = topology.links()[id.link().index()].params.rate_mbps;
            // Megabits per second are bytes per 8 us.
            rate as f64 / 8e6 * period as f64 / alpha
        });
        let full: Vec<f64> = full.collect();
        Self {
            period,
            age,
            alpha,
            uplinks,
            flowlets: Flowlets::new(gap),
            dice,
            estimators: vec![Estimator::default(); full.len()],
            full,
            tags: Vec::new(),
            from: HashMap::new(),
            to: HashMap::new(),
            best: Vec::new(),
        }
    }

    /// Congestion of a channel at `now`, 0 to 7.
    fn local(&self, id: ChannelId, now: Time) -> f64 {
        let Estimator { bytes, period } = self.estimators[id.index()];
        let missed = now / self.period - period;
        let bytes = bytes * (1.0 - self.alpha).powi(missed.min(10_000) as i32);
        (bytes / self.full[id.index()] * (MOST + 1.0))
            .floor()
            .min(MOST)
    }

    fn count(&mut self, id: ChannelId, now: Time, len: u32) {
        let estimator = &mut self.estimators[id.index()];
        let missed = now / self.period - estimator.period;
        estimator.bytes *= (1.0 - self.alpha).powi(missed.min(10_000) as i32);
        estimator.bytes += f64::from(len);
        estimator.period = now / self.period;
    }

    /// The uplinks that a flowlet chooses among.
    fn candidates<'a>(&mut self, choice: &Choice<'a>) -> &'a [ChannelId] {
        let group = choice.group;
        let Some(others) = group.len().checked_sub(self.uplinks) else {
            return group;
        };
        let first = self.dice.draw(choice.at, others + 1);
        &group[first..first + self.uplinks]
    }

    /// Congestion of the path over an uplink, here and behind it.
    fn metric(&self, choice: &Choice<'_>, uplink: ChannelId) -> f64 {
        let remote = self.to.get(&(choice.at, choice.last, uplink));
        let remote = remote.filter(|(_, time)| choice.now - time <= self.age);
        let remote = remote.map_or(0.0, |&(metric, _)| metric);
        self.local(uplink, choice.now).max(remote)
    }
}

impl Choose for Conga {
    fn choose(&mut self, choice: &Choice<'_>) -> ChannelId {
        let out = self.flowlets.current(choice).unwrap_or_else(|| {
            let group = self.candidates(choice);
            let metrics = group.iter().map(|&uplink| self.metric(choice, uplink));
            let least = metrics.fold(f64::INFINITY, f64::min);
            let mut best = std::mem::take(&mut self.best);
            best.clear();
            let good = group.iter().copied();
            best.extend(good.filter(|&uplink| self.metric(choice, uplink) == least));
            // A flow moves only to a better path (section 3.5).
            let last = self.flowlets.last(choice).filter(|out| best.contains(out));
            let out = last.unwrap_or_else(|| best[self.dice.draw(choice.at, best.len())]);
            self.best = best;
            out
        });
        self.flowlets.note(choice, out);
        out
    }

    fn forwarded(&mut self, packet: &Forwarded) {
        let Forwarded { now, at, out, .. } = *packet;
        self.count(out, now, packet.len);
        let place = packet.packet.index();
        if self.tags.len() <= place {
            self.tags.resize(place + 1, None);
        }
        if packet.is_first {
            let returns = self.from.get_mut(&(at, packet.last));
            self.tags[place] = Some(Tag {
                from: at,
                uplink: out,
                metric: 0.0,
                feedback: returns.and_then(FromLeaf::feed_back),
            });
        }
        let metric = self.local(out, now);
        if let Some(tag) = &mut self.tags[place] {
            tag.metric = tag.metric.max(metric);
        }
    }

    fn delivers(&mut self, packet: &Forwarded, _: &mut Effects) {
        let Forwarded { now, at, .. } = *packet;
        let tag = self.tags.get_mut(packet.packet.index());
        // A packet that comes from a host of this leaf has no tag; what is there is of a packet before it.
        let tag = tag.and_then(Option::take).filter(|_| !packet.is_first);
        let Some(tag) = tag else {
            return;
        };
        let from = self.from.entry((at, tag.from)).or_default();
        from.note(tag.uplink, tag.metric);
        if let Some((uplink, metric)) = tag.feedback {
            self.to.insert((at, tag.from, uplink), (metric, now));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_metrics_are_fed_back_first_and_all_in_turn() {
        let mut from = FromLeaf::default();
        let [a, b, c] = [1, 2, 3].map(ChannelId);
        assert_eq!(from.feed_back(), None);
        for (uplink, value) in [(a, 1.0), (b, 2.0), (c, 3.0)] {
            from.note(uplink, value);
        }
        let next = |from: &mut FromLeaf| from.feed_back().map(|(uplink, _)| uplink);
        assert_eq!([(); 4].map(|()| next(&mut from)), [a, b, c, a].map(Some));
        from.note(a, 5.0);
        from.note(b, 2.0);
        assert_eq!(from.feed_back(), Some((a, 5.0)));
        assert_eq!(next(&mut from), Some(b));
    }
}
