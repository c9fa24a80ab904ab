//! ConWeave (Song et al., SIGCOMM 2023, section 3): a leaf watches the round trip of a flow's path and reroutes the flow while it runs; the leaf at the
//! other end puts its packets back into order.

use std::collections::HashMap;

use super::{Choice, Choose, Dice, Effects, Forwarded};
use crate::channel::Settings;
use crate::flight::PacketId;
use crate::hash::{choose, mix};
use crate::parcel::Class;
use crate::{ChannelId, SwitchId, Time, Topology};

/// Length of the packets that leaves send each other, in bytes. They have the highest priority, and take no time of lines here.
const MESSAGE: u32 = 64;

/// Times of ConWeave, in picoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    /// How much later than on an idle path a reply may come.
    pub reply: Time,
    /// How long no flow goes to a path with a congestion mark.
    pub busy: Time,
    /// How long a leaf waits for the news that its flow is in order again.
    pub expiry: Time,
    /// How long the other leaf holds packets if the tail does not come, and no packet told how long the old path takes.
    pub hold: Time,
    /// How much later than expected the tail may come.
    pub slack: Time,
}

/// What a packet carries between leaves.
#[derive(Clone, Copy, Debug)]
struct Tag {
    /// The leaf with its sender.
    from: SwitchId,
    flow: u64,
    /// The uplink that it took there.
    uplink: ChannelId,
    /// When it left the leaf of its sender.
    sent: Time,
    epoch: u32,
    /// The other leaf shall reply at once.
    request: bool,
    /// The last packet on a path.
    tail: bool,
    /// A packet behind the tail, which it may overtake, and when the tail left.
    tail_sent: Option<Time>,
    marked: bool,
}

/// A path in two tiers: the uplink of the first leaf, and the last leaf.
type Path = (ChannelId, SwitchId);

/// A flow at the leaf of its sender.
#[derive(Clone, Copy, Debug)]
struct Source {
    path: ChannelId,
    epoch: u32,
    last: Time,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// A reply is expected by then.
    Probing(Time),
    /// The reply came in time: the next packet begins an epoch.
    Answered,
    /// The flow was rerouted at this time, and may be out of order until the other leaf says that it is not.
    Rerouted(Time),
}

/// A flow at the leaf of its receiver.
#[derive(Debug, Default)]
struct Sink {
    epoch: u32,
    /// The tail of this epoch has come, or is given up.
    in_order: bool,
    held: Vec<(PacketId, ChannelId)>,
    /// The last packet of this epoch in front of the tail: when it left the other leaf, and when it came.
    before_tail: Option<(Time, Time)>,
    /// When the tail left the other leaf.
    tail_sent: Time,
    /// When what is held follows, at the latest.
    until: Time,
}

/// What a leaf tells the other, or itself later.
#[derive(Clone, Copy, Debug)]
enum Message {
    /// RTT_REPLY: a request arrived.
    Reply { flow: (SwitchId, u64), epoch: u32 },
    /// CLEAR: the flow is in order.
    Clear { flow: (SwitchId, u64), epoch: u32 },
    /// NOTIFY: a packet over this path had a congestion mark.
    Notify { path: Path },
    /// The tail may be given up by now.
    Flush { sink: (SwitchId, u64), epoch: u32 },
}

impl Sink {
    /// When the tail is given up: it takes as long as the last packet in front of it, and a little longer (section 3.3.2).
    fn tail_expected(&self, now: Time, times: Times) -> Time {
        let due = match self.before_tail {
            Some((sent, came)) => came + self.tail_sent.saturating_sub(sent),
            None => now + times.hold,
        };
        (due + times.slack).max(now)
    }
}

pub(super) struct ConWeave {
    times: Times,
    dice: Dice,
    /// By channel: the time of a message over two channels like it and the nodes behind them, and its settings.
    idle: Vec<(Time, Settings)>,
    tags: Vec<Option<Tag>>,
    /// The tag of the packet that was just decided about.
    next_tag: Option<Tag>,
    sources: HashMap<(SwitchId, u64), Source>,
    sinks: HashMap<(SwitchId, u64), Sink>,
    /// Until when a path counts as congested.
    busy: HashMap<Path, Time>,
    messages: HashMap<u32, Message>,
    sent: u32,
}

impl ConWeave {
    pub(super) fn new(topology: &Topology, times: Times, dice: Dice) -> Self {
        let (settings, indices) = Settings::of(topology);
        let idle = indices.into_iter().map(|index| {
            let settings = &settings[index as usize];
            let hop = settings.through_time(MESSAGE) + settings.params.delay_ps + settings.latency;
            (2 * hop, settings.clone())
        });
        Self {
            times,
            dice,
            idle: idle.collect(),
            tags: Vec::new(),
            next_tag: None,
            sources: HashMap::new(),
            sinks: HashMap::new(),
            busy: HashMap::new(),
            messages: HashMap::new(),
            sent: 0,
        }
    }

    /// When the reply to a request has to be here: the time of an idle path, and the allowance. The downlink is taken to be like the uplink.
    fn deadline(&self, now: Time, uplink: ChannelId, len: u32) -> Time {
        let (back, settings) = &self.idle[uplink.index()];
        let there = back + 2 * (settings.through_time(len) - settings.through_time(MESSAGE));
        now + there + back + self.times.reply
    }

    /// An uplink whose path is not congested, of two random ones (section 3.2.2).
    fn free_path(&mut self, choice: &Choice<'_>) -> Option<ChannelId> {
        let drawn = [(); 2].map(|()| choice.group[self.dice.draw(choice.at, choice.group.len())]);
        let is_free = |out: &ChannelId| {
            let until = self.busy.get(&(*out, choice.last));
            until.is_none_or(|&until| until <= choice.now)
        };
        drawn.into_iter().find(is_free)
    }

    /// What happens to a packet of a flow that `source` describes.
    fn step(&mut self, choice: &Choice<'_>, source: &mut Source) -> Tag {
        let now = choice.now;
        let mut tag = Tag {
            from: choice.at,
            flow: choice.flow,
            uplink: source.path,
            sent: now,
            epoch: source.epoch,
            request: false,
            tail: false,
            tail_sent: None,
            marked: false,
        };
        let expired = now - source.last > self.times.expiry;
        let over = match source.phase {
            Phase::Probing(_) => expired,
            Phase::Answered => true,
            Phase::Rerouted(since) => expired || now - since > self.times.expiry,
        };
        source.last = now;
        match source.phase {
            _ if over || !choice.group.contains(&source.path) => {
                if !choice.group.contains(&source.path) {
                    source.path = choice.group[self.dice.draw(choice.at, choice.group.len())];
                } else if expired {
                    // Nothing of the flow is on its way: it may go anywhere.
                    source.path = self.free_path(choice).unwrap_or(source.path);
                }
                source.epoch += 1;
                source.phase = Phase::Probing(self.deadline(now, source.path, choice.len));
                tag.epoch = source.epoch;
                tag.uplink = source.path;
                tag.request = true;
            }
            Phase::Probing(deadline) if now > deadline => {
                tag.tail = true;
                source.path = self.free_path(choice).unwrap_or(source.path);
                source.phase = Phase::Rerouted(now);
            }
            Phase::Rerouted(since) => tag.tail_sent = Some(since),
            Phase::Probing(_) | Phase::Answered => {}
        }
        tag
    }

    /// A flow at its sender's leaf, if it is in this epoch.
    fn source(&mut self, flow: (SwitchId, u64), epoch: u32) -> Option<&mut Source> {
        let source = self.sources.get_mut(&flow);
        source.filter(|source| source.epoch == epoch)
    }

    fn tell(&mut self, message: Message, time: Time, effects: &mut Effects) {
        self.messages.insert(self.sent, message);
        effects.timers.push((time, self.sent));
        self.sent = self.sent.wrapping_add(1);
    }

    /// The tail of an epoch has come, or is given up: what was held follows.
    fn resume(&mut self, sink: (SwitchId, u64), effects: &mut Effects) {
        if let Some(sink) = self.sinks.get_mut(&sink) {
            sink.in_order = true;
            effects.released.append(&mut sink.held);
        }
    }
}

impl Choose for ConWeave {
    fn choose(&mut self, choice: &Choice<'_>) -> ChannelId {
        self.next_tag = None;
        if choice.class == Class::Control || !choice.is_first {
            return choice.group[choose(mix(choice.flow), choice.group.len())];
        }
        let key = (choice.at, choice.flow);
        let mut source = match self.sources.get(&key) {
            Some(&source) => source,
            None => Source {
                path: self
                    .free_path(choice)
                    .unwrap_or_else(|| choice.group[self.dice.draw(choice.at, choice.group.len())]),
                epoch: 0,
                last: choice.now,
                phase: Phase::Answered,
            },
        };
        let tag = self.step(choice, &mut source);
        self.sources.insert(key, source);
        self.next_tag = Some(tag);
        tag.uplink
    }

    fn forwarded(&mut self, packet: &Forwarded) {
        if packet.is_first {
            let place = packet.packet.index();
            if self.tags.len() <= place {
                self.tags.resize(place + 1, None);
            }
            self.tags[place] = self.next_tag.take();
        }
    }

    fn marked(&mut self, packet: PacketId) {
        if let Some(Some(tag)) = self.tags.get_mut(packet.index()) {
            tag.marked = true;
        }
    }

    fn delivers(&mut self, packet: &Forwarded, effects: &mut Effects) {
        let tag = self.tags.get_mut(packet.packet.index());
        let tag = tag.and_then(Option::take).filter(|_| !packet.is_first);
        let Some(tag) = tag else {
            return;
        };
        let (now, flow) = (packet.now, (tag.from, tag.flow));
        let back = now + self.idle[tag.uplink.index()].0;
        if tag.request {
            let epoch = tag.epoch;
            self.tell(Message::Reply { flow, epoch }, back, effects);
        }
        if tag.marked {
            let path = (tag.uplink, packet.at);
            self.tell(Message::Notify { path }, back, effects);
        }
        // The flow's hash has its sender, so the leaf of the receiver and the hash name it.
        let key = (packet.at, tag.flow);
        let sink = self.sinks.entry(key).or_default();
        if tag.epoch > sink.epoch {
            sink.epoch = tag.epoch;
            sink.in_order = false;
            sink.before_tail = None;
            // Packets of an epoch before: their tail is lost, and the sender's leaf has stopped waiting for it.
            effects.before.append(&mut sink.held);
        }
        if tag.epoch == sink.epoch && !sink.in_order {
            if let Some(tail_sent) = tag.tail_sent {
                sink.tail_sent = tail_sent;
                let is_first = sink.held.is_empty();
                sink.held.push((packet.packet, packet.out));
                effects.holds = true;
                if is_first {
                    sink.until = sink.tail_expected(now, self.times);
                    let (time, epoch) = (sink.until, tag.epoch);
                    self.tell(Message::Flush { sink: key, epoch }, time, effects);
                }
            } else {
                sink.before_tail = Some((tag.sent, now));
                if !sink.held.is_empty() {
                    sink.until = sink.tail_expected(now, self.times);
                }
            }
        }
        if tag.tail {
            let epoch = tag.epoch;
            self.tell(Message::Clear { flow, epoch }, back, effects);
            self.resume(key, effects);
        }
    }

    fn on_timer(&mut self, token: u32, now: Time, effects: &mut Effects) {
        match self.messages.remove(&token) {
            Some(Message::Reply { flow, epoch }) => {
                if let Some(source) = self.source(flow, epoch) {
                    if matches!(source.phase, Phase::Probing(deadline) if now <= deadline) {
                        source.phase = Phase::Answered;
                    }
                }
            }
            Some(Message::Clear { flow, epoch }) => {
                if let Some(source) = self.source(flow, epoch) {
                    source.phase = Phase::Answered;
                }
            }
            Some(Message::Notify { path }) => {
                self.busy.insert(path, now + self.times.busy);
            }
            Some(Message::Flush { sink, epoch }) => {
                let at = self.sinks.get(&sink);
                match at.filter(|at| at.epoch == epoch && !at.in_order) {
                    Some(at) if at.until > now => {
                        let until = at.until;
                        self.tell(Message::Flush { sink, epoch }, until, effects);
                    }
                    Some(_) => self.resume(sink, effects),
                    None => {}
                }
            }
            None => {}
        }
    }
}
