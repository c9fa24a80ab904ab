//! One direction of a link: output queues and line.

use crate::flight::{Flight, PacketId, PacketStore, Queue};
use crate::frame::{FCS, GAP, MIN_FRAME, PREAMBLE};
use crate::parcel::{Class, Parcel};
use crate::topology::LinkParams;
use crate::{HostId, Node, SwitchId, Time, Topology};

/// Settings that many channels share, so that they stay in the cache.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Settings {
    pub params: LinkParams,
    /// Latency of the node behind the channel, in picoseconds.
    pub latency: Time,
    /// The sender is a host. A host decides the order of its own packets: it has one queue without limit and without marking.
    pub from_host: bool,
    /// The receiver is a host.
    pub last_hop: bool,
    /// Something random can happen on the line: jitter, loss or corruption.
    pub draws: bool,
    /// Picoseconds per byte, if that is a whole number.
    byte_time: Option<Time>,
}

impl Settings {
    /// Settings of every channel of a topology: the different ones, and the index of each channel's.
    pub(crate) fn of(topology: &Topology) -> (Vec<Self>, Vec<u32>) {
        let mut all: Vec<Self> = Vec::new();
        let indices = topology.channels().map(|id| {
            let params = &topology.links()[id.link().index()].params;
            let (from, to) = topology.ends(id);
            let settings = Self {
                latency: topology.latency(to),
                from_host: matches!(from, Node::Host { .. }),
                last_hop: matches!(to, Node::Host { .. }),
                draws: params.jitter_ps > 0 || params.loss > 0.0 || params.corruption > 0.0,
                byte_time: (8_000_000 % params.rate_mbps == 0)
                    .then(|| 8_000_000 / params.rate_mbps),
                params: params.clone(),
            };
            // Neighbours in the list of links mostly have the same settings.
            let known = all.iter().rposition(|other| *other == settings);
            known.unwrap_or_else(|| {
                all.push(settings);
                all.len() - 1
            }) as u32
        });
        let indices = indices.collect();
        (all, indices)
    }

    /// Time on the line, from preamble to gap.
    #[inline]
    pub(crate) fn line_time(&self, len: u32) -> Time {
        self.time_of(PREAMBLE + (len as usize).max(MIN_FRAME) + FCS + GAP)
    }

    /// Time from preamble to last bit.
    #[inline]
    pub(crate) fn through_time(&self, len: u32) -> Time {
        self.time_of(PREAMBLE + (len as usize).max(MIN_FRAME) + FCS)
    }

    /// Time from the first bit of the destination address to the last bit.
    pub(crate) fn frame_time(&self, len: u32) -> Time {
        self.time_of((len as usize).max(MIN_FRAME) + FCS)
    }

    /// Time `bytes` take, in picoseconds, rounded up.
    #[inline]
    fn time_of(&self, bytes: usize) -> Time {
        match self.byte_time {
            Some(byte) => bytes as u64 * byte,
            None => (bytes as u64 * 8_000_000).div_ceil(self.params.rate_mbps),
        }
    }

    /// Whether the queue of `class`, in which `depth` bytes wait, has room for `len` more.
    #[inline]
    pub(crate) fn has_room(&self, class: Class, depth: u64, len: u32) -> bool {
        let capacity = match class {
            Class::Data => self.params.queue_bytes,
            Class::Control => self.params.control_queue_bytes,
        };
        self.from_host || depth + u64::from(len) <= capacity
    }
}

/// The node behind a channel: [`Node`] in eight bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    Host { host: HostId, port: u8 },
    Switch(SwitchId),
}

/// What the events of a channel read: one cache line.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Channel {
    /// The line is busy until then.
    pub busy_until: Time,
    /// Length of the packet that was put on it last.
    pub line_len: u32,
    pub sent_frames: u64,
    pub sent_bytes: u64,
    data: Queue,
    control: Queue,
    /// Index of its [`Settings`].
    pub settings: u32,
    pub to: End,
    pub up: bool,
    /// A wake event is scheduled.
    pub wake_pending: bool,
    /// Data frames do not start (PFC).
    pub paused: bool,
    /// A host's port was held up, and is told when it is free.
    pub port_waits: bool,
    /// It has filters or taps, or its receiver takes frames from their first bit on.
    pub hooked: bool,
}

const _: () = assert!(size_of::<Channel>() == 64);

impl Channel {
    pub(crate) fn new(settings: u32, to: Node) -> Self {
        Self {
            busy_until: 0,
            line_len: 0,
            sent_frames: 0,
            sent_bytes: 0,
            data: Queue::default(),
            control: Queue::default(),
            settings,
            to: match to {
                Node::Switch(switch) => End::Switch(switch),
                Node::Host { host, port } => End::Host {
                    host,
                    port: u8::try_from(port).expect("a host has at most 8 ports"),
                },
            },
            up: true,
            wake_pending: false,
            paused: false,
            port_waits: false,
            hooked: false,
        }
    }

    /// Whether a packet can start at `now` without waiting.
    #[inline]
    pub(crate) fn is_idle(&self, now: Time) -> bool {
        self.busy_until <= now && !self.has_waiting()
    }

    #[inline]
    pub(crate) fn has_waiting(&self) -> bool {
        !self.data.is_empty() || !self.control.is_empty()
    }

    /// Whether a packet waits that may start.
    #[inline]
    pub(crate) fn may_start(&self) -> bool {
        !self.control.is_empty() || !self.paused && !self.data.is_empty()
    }

    pub(crate) fn push<P: Parcel>(
        &mut self,
        packets: &mut PacketStore<P>,
        class: Class,
        packet: PacketId,
    ) {
        let queue = match class {
            Class::Data => &mut self.data,
            Class::Control => &mut self.control,
        };
        packets.push_back(queue, packet);
    }

    /// Takes the next packet, with its class and length: control first.
    pub(crate) fn pop<P: Parcel>(
        &mut self,
        packets: &PacketStore<P>,
    ) -> Option<(PacketId, Class, u32)> {
        let control = packets.pop_front(&mut self.control);
        let control = control.map(|(packet, len)| (packet, Class::Control, len));
        control.or_else(|| {
            if self.paused {
                return None;
            }
            let (packet, len) = packets.pop_front(&mut self.data)?;
            Some((packet, Class::Data, len))
        })
    }

    /// The packet that [`Self::pop`] takes.
    pub(crate) fn first<'a, P: Parcel>(&self, packets: &'a PacketStore<P>) -> Option<&'a Flight> {
        packets
            .first(&self.control)
            .or_else(|| packets.first(&self.data))
    }

    /// The data packet that came last.
    pub(crate) fn last<'a, P: Parcel>(&self, packets: &'a PacketStore<P>) -> Option<&'a Flight> {
        packets.last(&self.data)
    }

    /// When the line will have sent everything in its queues.
    #[inline]
    pub(crate) fn free_at<P: Parcel>(&self, packets: &PacketStore<P>, settings: &Settings) -> Time {
        if !self.has_waiting() {
            return self.busy_until;
        }
        let queues = [&self.data, &self.control];
        let waiting = queues.into_iter().flat_map(|queue| packets.lengths(queue));
        let backlog: Time = waiting.map(|len| settings.line_time(len)).sum();
        self.busy_until + backlog
    }
}
