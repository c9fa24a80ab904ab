//! AllReduce: every host ends with the sum of what all had. A step starts when its data has arrived.

use super::generate::flow;
use super::{Flow, Start, TriggerId, TriggerKind, Workload};

/// A ring over these hosts ([`super::ring_all_reduce`]).
pub(super) fn ring(hosts: &[usize], bytes: u64) -> Workload {
    let ranks = hosts.len();
    let part = bytes.div_ceil(ranks as u64);
    let steps = 2 * (ranks - 1);
    let mut workload = Workload::default();
    for _ in 0..ranks * (steps - 1) {
        workload.add_trigger(TriggerKind::OneShot);
    }
    // Trigger of the arrival of step `step` at rank `rank`.
    let arrival = |step: usize, rank: usize| TriggerId((step * ranks + rank) as u32);
    for step in 0..steps {
        for rank in 0..ranks {
            let next = (rank + 1) % ranks;
            workload.add_flow(Flow {
                start: match step {
                    0 => Start::At(0),
                    _ => Start::Trigger(arrival(step - 1, rank)),
                },
                on_received: (step + 1 < steps).then(|| arrival(step, next)),
                ..flow(step * ranks + rank, hosts[rank], hosts[next], part)
            });
        }
    }
    workload
}

/// A binary tree over these hosts ([`super::tree_all_reduce`]).
pub(super) fn tree(hosts: &[usize], bytes: u64) -> Workload {
    let ranks = hosts.len();
    let children = |rank: usize| (2 * rank + 1..2 * rank + 3).filter(|&child| child < ranks);
    let mut workload = Workload::default();
    // By rank: what its children sent has arrived; the sum has arrived. Rank 0 has the sum when its children's buffers have arrived.
    let reduced: Vec<Option<TriggerId>> = (0..ranks)
        .map(|rank| {
            let count = children(rank).count() as u32;
            (count > 0).then(|| workload.add_trigger(TriggerKind::Barrier(count)))
        })
        .collect();
    let has_sum: Vec<Option<TriggerId>> = (0..ranks)
        .map(|rank| match rank {
            0 => reduced[0],
            _ => reduced[rank].map(|_| workload.add_trigger(TriggerKind::OneShot)),
        })
        .collect();
    for rank in (1..ranks).rev() {
        let parent = (rank - 1) / 2;
        workload.add_flow(Flow {
            start: reduced[rank].map_or(Start::At(0), Start::Trigger),
            on_received: reduced[parent],
            ..flow(workload.flows.len(), hosts[rank], hosts[parent], bytes)
        });
    }
    for rank in 1..ranks {
        let parent = (rank - 1) / 2;
        let has_sum_at_parent = has_sum[parent].expect("a parent has children");
        workload.add_flow(Flow {
            start: Start::Trigger(has_sum_at_parent),
            on_received: has_sum[rank],
            ..flow(workload.flows.len(), hosts[parent], hosts[rank], bytes)
        });
    }
    workload
}
