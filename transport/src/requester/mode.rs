//! A requester of either mode.

use stellar_wire::host::WcStatus;

use super::{Card, Messages, MrcRequester, RcRequester, RequestPacket, RequesterCounters};
use crate::rx::Psn;
use crate::time::Ticks;

/// The requester of a queue pair.
#[derive(Clone, Debug)]
pub enum Requester {
    Mrc(Box<MrcRequester>),
    Rc(Box<RcRequester>),
}

/// Calls a method that both requesters have.
macro_rules! either {
    ($requester:expr, $method:ident($($argument:expr),*)) => {
        match $requester {
            Self::Mrc(mrc) => mrc.$method($($argument),*),
            Self::Rc(rc) => rc.$method($($argument),*),
        }
    };
}

impl Requester {
    /// The next packet for a port, if there is one that may leave there now.
    pub fn transmit(&mut self, port: u8, now: Ticks, card: &mut Card<'_>) -> Option<RequestPacket> {
        let mut packet = None;
        self.transmit_each(port, now, 1, card, |sent| packet = Some(sent));
        packet
    }

    /// Does what [`Self::transmit`] does, but returns as many new packets as may be sent at once, up to `most`. They may belong to several messages.
    pub fn transmit_burst(
        &mut self,
        port: u8,
        now: Ticks,
        most: u32,
        card: &mut Card<'_>,
    ) -> Vec<RequestPacket> {
        let mut packets = Vec::new();
        self.transmit_each(port, now, most, card, |packet| packets.push(packet));
        packets
    }

    /// Does what [`Self::transmit_burst`] does, and passes each packet to `leave`.
    #[inline(always)]
    fn transmit_each(
        &mut self,
        port: u8,
        now: Ticks,
        most: u32,
        card: &mut Card<'_>,
        leave: impl FnMut(RequestPacket),
    ) {
        either!(self, transmit_each(port, now, most, card, leave));
    }

    /// Expires the timers that are due.
    pub fn on_timer(&mut self, now: Ticks, card: &mut Card<'_>) {
        either!(self, on_timer(now, card));
    }

    /// The local buffer of a message cannot be read: it fails once it is the oldest.
    pub fn local_fault(&mut self, slot: u16, card: &mut Card<'_>) {
        either!(self, local_fault(slot, card));
    }

    /// Puts the queue pair in error and flushes all its work.
    pub fn flush(&mut self, card: &mut Card<'_>) {
        either!(self, fail(None, card));
    }

    /// Status that put the queue pair in error; [`WcStatus::WrFlushErr`] if its receive side did.
    pub fn error(&self) -> Option<WcStatus> {
        either!(self, error())
    }

    /// Time before which no timer expires.
    pub fn deadline(&self) -> Option<Ticks> {
        either!(self, deadline())
    }

    /// The requester's send queue.
    pub fn messages_mut(&mut self) -> &mut Messages {
        either!(self, messages_mut())
    }

    /// The requester's counters.
    pub fn counters(&self) -> &RequesterCounters {
        either!(self, counters())
    }

    /// Records that a port went up or down.
    pub fn set_plane(&mut self, plane: u8, up: bool) {
        either!(self, set_plane(plane, up));
    }

    /// A data packet leaves its port. RC measures no round trips of packets.
    pub fn departed(&mut self, psn: Psn, plane: u8, at: Ticks) {
        if let Self::Mrc(mrc) = self {
            mrc.departed(psn, plane, at);
        }
    }

    /// Stops counting by path, which takes more memory than all else.
    pub fn omit_path_loads(&mut self) {
        either!(self, omit_path_loads());
    }

    /// Data packets sent by path. An RC requester without a path policy has one.
    pub fn path_loads(&self) -> &[u64] {
        either!(self, path_loads())
    }
}
