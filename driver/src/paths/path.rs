//! What the manager knows of one path.

use super::PathCounts;

/// A path is degraded if at least one in this many of its packets suffered: 20 %, by which throughput has to fall in the SRv6 paper's telemetry.
const DEGRADED_ONE_IN: u64 = 5;
/// A path on trial is healthy if less than one in this many suffered: half as many, so that a path does not come and go.
const HEALTHY_ONE_IN: u64 = 10;
/// A lost packet counts as this many marked ones: the turns that a path loses for either under bitmap (STrack; the Ultra Ethernet Consortium's simulator).
const LOST_WEIGHT: u64 = 4;
/// Packets from which a path is judged. Fewer are judged as if they were as many. One lost in a hundred, which selective retransmission
/// bears without cost, then hardly ever looks like a degraded path.
const ENOUGH: u64 = 64;
/// A path is compared with the others if it has this many packets.
const COMPARABLE: u64 = 32;
/// A degraded path is worse than a good one by this factor. What all paths suffer is no path's fault: a queue at the last hop marks all of them.
const WORSE: u64 = 4;
/// Samples for which a path is denied at first, and at most: it doubles with each trial that fails.
pub(super) const FIRST_REST: u32 = 16;
pub(super) const LONGEST_REST: u32 = 1024;

/// Packets of late and what they suffered: older ones have half of the weight of newer ones.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Recent {
    sent: u64,
    suffered: u64,
}

impl Recent {
    fn add(&mut self, new: PathCounts) {
        self.sent += new.sent;
        self.suffered += new.marked + LOST_WEIGHT * new.lost;
        while self.sent >= 2 * ENOUGH {
            self.sent /= 2;
            self.suffered /= 2;
        }
    }

    fn degraded(self) -> bool {
        self.suffered * DEGRADED_ONE_IN >= self.sent.max(ENOUGH)
    }

    fn healthy(self) -> bool {
        self.sent >= ENOUGH && self.suffered * HEALTHY_ONE_IN < self.sent
    }

    pub(super) fn comparable(self) -> bool {
        self.sent >= COMPARABLE
    }

    /// Orders paths by what a packet suffered.
    pub(super) fn worse_first(self, other: Self) -> std::cmp::Ordering {
        let weighed = |a: Self, b: Self| a.suffered * b.sent.max(1);
        weighed(other, self).cmp(&weighed(self, other))
    }

    /// Whether it is degraded, and worse than a good path.
    pub(super) fn degraded_beside(self, good: Self) -> bool {
        self.degraded()
            && self.suffered * good.sent.max(1) >= WORSE * good.suffered * self.sent.max(1)
    }
}

/// Whether a path may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Allowed,
    /// Denied, for this number of samples more.
    Denied(u32),
    /// Allowed again, and watched. After this number of samples more it is as any other path, though it may be neither healthy nor degraded.
    Trial(u32),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct PathState {
    before: Option<PathCounts>,
    pub recent: Recent,
    pub usage: Use,
    /// Samples for which it is denied next time.
    rest: u32,
}

impl PathState {
    pub fn new() -> Self {
        Self {
            before: None,
            recent: Recent::default(),
            usage: Use::Allowed,
            rest: FIRST_REST,
        }
    }

    pub fn in_use(&self) -> bool {
        !matches!(self.usage, Use::Denied(_))
    }

    /// Takes the counts of a sample. The first ones say from where to count.
    pub fn sample(&mut self, now: PathCounts) {
        if let Some(before) = self.before {
            // A queue pair that was set up again counts from zero.
            let since = |now: u64, before: u64| now.checked_sub(before).unwrap_or(now);
            let new = PathCounts {
                sent: since(now.sent, before.sent),
                marked: since(now.marked, before.marked),
                lost: since(now.lost, before.lost),
            };
            // Losses of packets that were sent before the path was denied are found later, and say nothing new.
            if self.in_use() {
                self.recent.add(new);
            }
        }
        self.before = Some(now);
        self.usage = match self.usage {
            Use::Trial(_) if self.recent.healthy() => {
                self.rest = FIRST_REST;
                Use::Allowed
            }
            Use::Trial(0) => Use::Allowed,
            Use::Trial(left) => Use::Trial(left - 1),
            Use::Denied(left) => Use::Denied(left.saturating_sub(1)),
            Use::Allowed => Use::Allowed,
        };
    }

    /// The path is denied. Next time it will be for longer.
    pub fn deny(&mut self) {
        self.usage = Use::Denied(self.rest);
        self.rest = (2 * self.rest).min(LONGEST_REST);
        self.recent = Recent::default();
    }

    pub fn rested(&self) -> bool {
        self.usage == Use::Denied(0)
    }

    pub fn try_again(&mut self) {
        self.usage = Use::Trial(FIRST_REST);
        self.recent = Recent::default();
    }
}
