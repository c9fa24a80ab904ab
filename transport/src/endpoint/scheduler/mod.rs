//! Order of the queue pairs at a port (hardware block `qp_schedule`), and the limits of tenants (hardware block `tenant_limits`).
//!
//! **Two levels.** A tenant is a doorbell page. Tenants with work share a port in proportion to their weights, whatever their number of queue pairs. The queue
//! pairs of a tenant are served in turn.
//!
//! **Tenants: fair queuing by virtual time.** Each tenant has a tag. When it has sent a burst, its tag grows by the bytes of the burst on the wire, divided by
//! its weight ([`TenantRow::step`]). The tenant with the lowest tag is next, and the virtual time of the port is the tag of the tenant that is served. A tenant that
//! wakes up is not ahead of this time: it gets no credit for the time in which it had nothing to send. A tag ahead of it is a debt, which stays.
//!
//! The bytes are charged after the burst, because a burst spans messages, and its length is known only when it begins. So a tenant may be ahead of its share by one
//! burst, and no more.
//!
//! **Why not deficit round robin.** A round must give the tenant of weight 1 as much as the longest burst, 20 KiB, or tenants that cannot pay for a burst are
//! passed over again and again. Then a tenant of weight 255 sends 5 MB in its turn, and the others wait for 100 us. Virtual time interleaves bursts.
//!
//! **Wheel.** Tags are sorted by [`BUCKETS`] buckets of 1 KiB of virtual time, which wrap. The tenants of a bucket are served in the order in which they came. So
//! no decision looks at more than one tenant, and the order of two tenants is wrong by one bucket at most, which does not add up, because the tags are exact.
//!
//! **Limits.** A tenant with a rate limit pays from a token bucket ([`TokenBucket`]), too. If the bucket is empty after a burst, the tenant rests: it is in no bucket of the
//! wheel, so the others do not wait for it. The resting tenants are asked in turn whether their bucket has tokens again, and return to the wheel.

mod limit;
mod wheel;

use std::collections::{BTreeMap, VecDeque};

use stellar_fetch::{fetch, fetch_at};
use stellar_wire::rows::{tenant_of, TenantRow};

pub use limit::TokenBucket;
use wheel::Wheel;
pub use wheel::BUCKETS;

use super::TenantShare;

/// A tenant with queue pairs that were in the schedule.
#[derive(Clone, Debug)]
struct Tenant {
    number: u32,
    /// Queue pairs, the next one in front. It is empty if the tenant is not in the schedule.
    queue: VecDeque<u32>,
    /// Virtual time at which it is served next.
    tag: u32,
    step: u16,
}

/// Queue pairs that may have something to send at one port. See the [module](self).
///
/// A queue pair that has nothing for the port leaves the schedule, until an event may give it something to send.
#[derive(Clone, Debug, Default)]
pub struct Schedule {
    tenants: Vec<Tenant>,
    /// Index of each tenant that has been seen, by number.
    indices: BTreeMap<u32, usize>,
    /// The tenant whose turn it is. It is not in the wheel.
    turn: Option<usize>,
    wheel: Wheel,
    /// Tenants without tokens, the next one to ask in front.
    resting: VecDeque<usize>,
    /// Whether a queue pair is in the schedule, by number.
    present: Vec<bool>,
}

impl Schedule {
    /// A queue pair may have something to send.
    pub fn wake(&mut self, page: u32, qp: u32) {
        let index = qp as usize;
        if self.present.len() <= index {
            self.present.resize(index + 1, false);
        }
        if std::mem::replace(&mut self.present[index], true) {
            return;
        }
        let tenant = self.tenant(tenant_of(page));
        let queue = &mut self.tenants[tenant].queue;
        queue.push_back(qp);
        if queue.len() == 1 {
            self.enter(tenant);
        }
    }

    /// Sets the share of a tenant, from its next burst on.
    pub fn set_share(&mut self, tenant: u32, row: &TenantRow) {
        let index = self.tenant(tenant);
        self.tenants[index].step = row.step;
    }

    /// Does what a reset of the card does: the schedule is empty, and shares are the default. Virtual time and debts go on.
    pub fn reset(&mut self) {
        self.turn = None;
        self.wheel.clear();
        self.resting.clear();
        self.present.fill(false);
        let step = TenantShare::default().row().step;
        for tenant in &mut self.tenants {
            tenant.queue.clear();
            tenant.step = step;
        }
    }

    /// The index of a tenant.
    fn tenant(&mut self, number: u32) -> usize {
        // Most cards of a cluster have one, and the map's memory is far away.
        if self
            .tenants
            .first()
            .is_some_and(|first| first.number == number)
        {
            return 0;
        }
        let (tenants, wheel) = (&mut self.tenants, &mut self.wheel);
        *self.indices.entry(number).or_insert_with(|| {
            tenants.push(Tenant {
                number,
                queue: VecDeque::new(),
                tag: 0,
                step: TenantShare::default().row().step,
            });
            wheel.reserve(tenants.len());
            tenants.len() - 1
        })
    }

    /// Puts a tenant that was away into the wheel, at its tag or at the present virtual time.
    fn enter(&mut self, index: usize) {
        let tag = self.wheel.present(self.tenants[index].tag);
        self.tenants[index].tag = tag;
        self.wheel.add(tag, index);
        self.turn = self.turn.or_else(|| self.wheel.next());
    }

    /// The queue pair that sends next.
    pub fn front(&self) -> Option<u32> {
        self.tenants[self.turn?].queue.front().copied()
    }

    /// The tenant of that queue pair.
    pub fn tenant_in_front(&self) -> Option<u32> {
        Some(self.tenants[self.turn?].number)
    }

    /// Asks for the memory of the schedule's lists.
    pub(super) fn fetch_lists(&self) {
        fetch_at(&self.tenants, self.turn.unwrap_or(0));
        fetch_at(&self.present, 0);
    }

    /// Asks for the memory of the list of the tenant in front.
    pub(super) fn fetch_queue(&self) {
        let tenant = self.tenants.get(self.turn.unwrap_or(0));
        if let Some(qp) = tenant.and_then(|tenant| tenant.queue.front()) {
            fetch(qp);
        }
    }

    /// The queue pair in front has sent `cost` bytes, and is the last one of its tenant then. With `rests`, the tenant has no tokens left.
    pub fn served(&mut self, cost: u32, rests: bool) {
        let Some(index) = self.turn else {
            return;
        };
        let tenant = &mut self.tenants[index];
        if tenant.queue.len() > 1 {
            tenant.queue.rotate_left(1);
        }
        tenant.tag = wheel::after(tenant.tag, cost, tenant.step);
        if rests {
            self.resting.push_back(index);
        } else {
            self.wheel.add(tenant.tag, index);
        }
        self.turn = self.wheel.next();
    }

    /// Removes the queue pair in front, which has nothing to send. Its tenant keeps its turn if it has others.
    pub fn park(&mut self) {
        let Some(index) = self.turn else {
            return;
        };
        let queue = &mut self.tenants[index].queue;
        if let Some(qp) = queue.pop_front() {
            self.present[qp as usize] = false;
        }
        if queue.is_empty() {
            self.turn = self.wheel.next();
        }
    }

    /// The tenant without tokens that is asked next.
    pub fn resting(&self) -> Option<u32> {
        let index = *self.resting.front()?;
        Some(self.tenants[index].number)
    }

    /// All tenants without tokens, in the order in which they are asked.
    pub(super) fn all_resting(&self) -> impl Iterator<Item = u32> + '_ {
        self.resting.iter().map(|&index| self.tenants[index].number)
    }

    /// Number of tenants without tokens.
    #[inline]
    pub fn rests(&self) -> usize {
        self.resting.len()
    }

    /// The tenant that was asked has tokens again, or is asked again after the others.
    pub fn asked(&mut self, may_send: bool) {
        let Some(index) = self.resting.pop_front() else {
            return;
        };
        if may_send {
            self.enter(index);
        } else {
            self.resting.push_back(index);
        }
    }
}

#[cfg(test)]
mod tests;
