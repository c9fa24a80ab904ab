//! Frames inside the fabric.

use crate::headers::Headers;
use crate::{Frame, Time};

/// Place of a packet in the [`PacketStore`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PacketId(u32);

/// A packet's stay on a channel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OnWire {
    /// When its last bit arrives.
    pub last_bit: Time,
    /// How often the link had failed when the stay started.
    pub failures: usize,
}

/// A frame with what the fabric has found out about it.
#[derive(Clone, Debug)]
pub(crate) struct Packet {
    pub frame: Frame,
    /// Computed at the first switch; `None` before that, and after a byte changed.
    pub headers: Option<Headers>,
    pub wire: Option<OnWire>,
}

impl Packet {
    pub(crate) fn new(frame: Frame) -> Self {
        Self {
            frame,
            headers: None,
            wire: None,
        }
    }
}

/// Every packet in the fabric, so that events and queues move four bytes instead of a packet.
#[derive(Debug, Default)]
pub(crate) struct PacketStore {
    slots: Vec<Option<Packet>>,
    free: Vec<PacketId>,
}

impl PacketStore {
    pub(crate) fn insert(&mut self, packet: Packet) -> PacketId {
        if let Some(id) = self.free.pop() {
            self.slots[id.0 as usize] = Some(packet);
            return id;
        }
        let id = PacketId(u32::try_from(self.slots.len()).expect("fewer than 2^32 frames"));
        self.slots.push(Some(packet));
        id
    }

    pub(crate) fn get_mut(&mut self, id: PacketId) -> &mut Packet {
        self.slots[id.0 as usize]
            .as_mut()
            .expect("an id in use names a packet")
    }

    pub(crate) fn remove(&mut self, id: PacketId) -> Packet {
        self.free.push(id);
        self.slots[id.0 as usize]
            .take()
            .expect("an id in use names a packet")
    }

    /// Packets in the store.
    pub(crate) fn live(&self) -> u64 {
        self.slots.iter().flatten().count() as u64
    }
}
