//! The event heap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::packet::PacketId;
use crate::{ChannelId, LinkId, Time};

/// Something that happens at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    /// A host hands a frame to its channel.
    Send(ChannelId, PacketId),
    /// A host has put the last bit of a frame on its channel.
    Serialized(ChannelId, PacketId),
    /// The channel's line is free and frames wait.
    Wake(ChannelId),
    /// A frame has passed the channel and the latency of the switch behind it, or begins to arrive at a host that takes frames from their first bit
    /// on.
    Arrive(ChannelId, PacketId),
    /// A link changes state.
    Link { link: LinkId, up: bool },
    /// The routing protocol has converged on the links that are up.
    Reroute,
}

/// Events by time, and among equal times by the order they were put in.
#[derive(Debug, Default)]
pub(crate) struct EventQueue {
    heap: BinaryHeap<Reverse<(Time, u64, Event)>>,
    pushed: u64,
}

impl EventQueue {
    pub(crate) fn push(&mut self, time: Time, event: Event) {
        self.heap.push(Reverse((time, self.pushed, event)));
        self.pushed += 1;
    }

    pub(crate) fn next_time(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse((time, ..))| *time)
    }

    /// Takes the first event if its time has come by `limit`.
    pub(crate) fn pop_until(&mut self, limit: Time) -> Option<(Time, Event)> {
        if self.next_time()? > limit {
            return None;
        }
        self.heap
            .pop()
            .map(|Reverse((time, _, event))| (time, event))
    }
}
