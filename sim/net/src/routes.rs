//! Equal-cost shortest paths between switches.

use std::collections::{HashMap, VecDeque};

use crate::{ChannelId, SwitchId};

/// A channel from one switch to another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hop {
    pub channel: ChannelId,
    pub from: SwitchId,
    pub to: SwitchId,
}

/// For every switch and every destination switch, the channels that lie on a shortest path (fewest hops).
#[derive(Debug)]
pub(crate) struct Routes {
    switches: usize,
    /// Index into `groups` of (from, to), by `from * switches + to`.
    table: Vec<u32>,
    /// First member of each group and of the one behind it; group 0 is empty: no route.
    groups: Vec<u32>,
    members: Vec<ChannelId>,
}

impl Routes {
    /// Routes over `hops` between `switches` switches.
    pub(crate) fn new(switches: usize, hops: &[Hop]) -> Self {
        let mut incoming = vec![Vec::new(); switches];
        let mut outgoing = vec![Vec::new(); switches];
        for hop in hops {
            incoming[hop.to.index()].push(hop.from.index());
            outgoing[hop.from.index()].push((hop.to.index(), hop.channel));
        }
        let mut routes = Self {
            switches,
            table: vec![0; switches * switches],
            groups: vec![0, 0],
            members: Vec::new(),
        };
        let mut known = HashMap::new();
        let mut group = Vec::new();
        for target in 0..switches {
            let distance = distances(target, &incoming);
            for from in (0..switches).filter(|&from| from != target) {
                let Some(here) = distance[from] else { continue };
                group.clear();
                group.extend(
                    outgoing[from]
                        .iter()
                        .filter(|(to, _)| distance[*to].is_some_and(|d| d + 1 == here))
                        .map(|(_, channel)| *channel),
                );
                let index = *known.entry(group.clone()).or_insert_with(|| {
                    routes.members.extend(&group);
                    routes.groups.push(routes.members.len() as u32);
                    routes.groups.len() as u32 - 2
                });
                routes.table[from * switches + target] = index;
            }
        }
        routes
    }

    /// Channels at `from` towards `to`, in the order of the topology's links; empty if there is no way.
    #[inline]
    pub(crate) fn group(&self, from: SwitchId, to: SwitchId) -> &[ChannelId] {
        let index = self.table[from.index() * self.switches + to.index()] as usize;
        &self.members[self.groups[index] as usize..self.groups[index + 1] as usize]
    }
}

/// Hops from every switch to `target`, breadth first.
fn distances(target: usize, incoming: &[Vec<usize>]) -> Vec<Option<u32>> {
    let mut distance = vec![None; incoming.len()];
    distance[target] = Some(0);
    let mut queue = VecDeque::from([(target, 0)]);
    while let Some((to, hops)) = queue.pop_front() {
        for &from in &incoming[to] {
            if distance[from].is_none() {
                distance[from] = Some(hops + 1);
                queue.push_back((from, hops + 1));
            }
        }
    }
    distance
}
