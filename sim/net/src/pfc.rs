//! Priority flow control (IEEE 802.1Q, clause 36): a switch asks the sender of a link not to start data frames while too much that came over this link
//! waits in it.

use serde::{Deserialize, Serialize};

use crate::channel::Settings;
use crate::event::Event;
use crate::flight::PacketId;
use crate::parcel::{Class, Parcel};
use crate::{ChannelId, Fabric, Node};

/// Bytes of a PFC frame from destination address to the end of its padding.
const PAUSE_FRAME: u32 = 60;

/// When a switch pauses the sender of a link. Queues need room for what comes after that: two MTUs and what the line carries in two delays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PfcThresholds {
    /// The sender is paused when more bytes wait than this.
    pub xoff_bytes: u64,
    /// The sender goes on when no more bytes wait than this.
    pub xon_bytes: u64,
}

/// The state of PFC in a fabric: what waits in switches, by the channel that it came over.
pub(crate) struct Pfc {
    /// By packet: the channel and the bytes that are counted there.
    came: Vec<Option<(ChannelId, u32)>>,
    waiting: Vec<u64>,
    /// The sender has been asked to pause.
    asked: Vec<bool>,
}

impl Pfc {
    /// The state of a fabric with so many channels, if any of its links has thresholds.
    pub(crate) fn new(settings: &[Settings], channels: usize) -> Option<Self> {
        let used = settings.iter().any(|of| of.params.pfc.is_some());
        used.then(|| Self {
            came: Vec::new(),
            waiting: vec![0; channels],
            asked: vec![false; channels],
        })
    }
}

impl<P: Parcel> Fabric<P> {
    /// A packet came to a switch over a channel. Control is another priority, which is never paused.
    #[inline]
    pub(crate) fn hold(&mut self, id: ChannelId, packet: PacketId, class: Class) {
        if self.pfc.is_some() && class == Class::Data {
            self.hold_data(id, packet);
        }
    }

    fn hold_data(&mut self, id: ChannelId, packet: PacketId) {
        let len = self.packets.flight(packet).len;
        let thresholds = self.settings_of(id).params.pfc;
        let (Some(pfc), Some(thresholds)) = (&mut self.pfc, thresholds) else {
            return;
        };
        let place = packet.index();
        if pfc.came.len() <= place {
            pfc.came.resize(place + 1, None);
        }
        pfc.came[place] = Some((id, len));
        let waiting = &mut pfc.waiting[id.index()];
        *waiting += u64::from(len);
        let exceeds = *waiting > thresholds.xoff_bytes;
        if exceeds && !pfc.asked[id.index()] {
            pfc.asked[id.index()] = true;
            self.ledgers[id.index()].pauses += 1;
            self.ask(id, true);
        }
    }

    /// A packet leaves the queues of a switch, whatever becomes of it.
    #[inline]
    pub(crate) fn release(&mut self, packet: PacketId) {
        if self.pfc.is_some() {
            self.release_held(packet);
        }
    }

    fn release_held(&mut self, packet: PacketId) {
        let Some(pfc) = &mut self.pfc else { return };
        let came = pfc.came.get_mut(packet.index()).and_then(Option::take);
        let Some((id, len)) = came else { return };
        let settings = self.channels[id.index()].settings as usize;
        let thresholds = self.settings[settings].params.pfc;
        let waiting = &mut pfc.waiting[id.index()];
        *waiting -= u64::from(len);
        let goes_on = thresholds.is_some_and(|thresholds| *waiting <= thresholds.xon_bytes);
        if goes_on && pfc.asked[id.index()] {
            pfc.asked[id.index()] = false;
            self.ask(id, false);
        }
    }

    /// Asks the sender of a channel to pause or to go on. The PFC frame leaves after the frame that is on the line the other way, and takes none of its
    /// time: it is shorter than the gaps that clocks leave.
    fn ask(&mut self, id: ChannelId, paused: bool) {
        let back = id.opposite();
        let start = self.channels[back.index()].busy_until.max(self.now);
        let settings = self.settings_of(back);
        let arrival = start + settings.through_time(PAUSE_FRAME) + settings.params.delay_ps;
        let channel = id;
        self.events.push(arrival, Event::Pause { channel, paused });
    }

    /// The sender of a channel pauses or goes on.
    pub(crate) fn pause(&mut self, id: ChannelId, paused: bool) {
        let now = self.now;
        let channel = &mut self.channels[id.index()];
        channel.paused = paused && channel.up;
        if channel.may_start() && !channel.wake_pending {
            channel.wake_pending = true;
            let time = channel.busy_until.max(now);
            self.events.push(time, Event::Wake(id));
        }
    }

    /// The link of a channel went down: nobody is paused, and a switch asks anew.
    pub(crate) fn forget_pause(&mut self, id: ChannelId) {
        self.channels[id.index()].paused = false;
        if let Some(pfc) = &mut self.pfc {
            pfc.asked[id.index()] = false;
        }
    }

    /// Whether a host's channel is still to send what its port was given: the port is free later then.
    pub(crate) fn is_held_up(&mut self, id: ChannelId, free: Event) -> bool {
        let channel = &mut self.channels[id.index()];
        if channel.has_waiting() {
            // [`Self::free_port`] follows.
            channel.port_waits = true;
            return true;
        }
        let sends = channel.busy_until > self.now;
        if sends {
            self.events.push(channel.busy_until, free);
        }
        sends
    }

    /// A channel has put a packet on the line: if that was the last one of a host's port that was held up, the port is free behind it.
    #[inline]
    pub(crate) fn free_port(&mut self, id: ChannelId) {
        let channel = &mut self.channels[id.index()];
        if !channel.port_waits || channel.has_waiting() {
            return;
        }
        channel.port_waits = false;
        let free = channel.busy_until;
        if let (Node::Host { host, port }, _) = self.topology().ends(id) {
            self.events.push(free, Event::PortFree(host, port as u32));
        }
    }
}
