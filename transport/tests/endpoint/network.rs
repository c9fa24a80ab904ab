//! A network of two links that delays, reorders, loses, duplicates and marks.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use stellar_transport::endpoint::PORTS;
use stellar_wire::mrc::{Entropy, NackReason, Neth};
use stellar_wire::{Aeth, Ecn, ExtHeaders, Ip, Opcode, RoceFrame, Syndrome};

/// The values that a rule may depend on.
pub struct Seen<'a> {
    pub port: usize,
    pub frame: &'a RoceFrame,
    /// Time in ticks.
    pub now: u64,
}

impl Seen<'_> {
    /// A data packet.
    pub fn is_data(&self) -> bool {
        self.frame.bth.opcode.is_write()
    }

    pub fn is(&self, opcode: Opcode) -> bool {
        self.frame.bth.opcode == opcode
    }

    pub fn psn(&self) -> u32 {
        self.frame.bth.psn
    }
}

/// The fate of a frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fate {
    pub lost: bool,
    /// It is lost, and the receiver refuses it.
    pub refused: Option<Refusal>,
    /// Arrives a second time, this many ticks after the first.
    pub again_after: Option<u64>,
    pub marked: bool,
    /// Ticks on top of the link's delay.
    pub delay: u64,
}

impl Fate {
    pub fn lost_if(lost: bool) -> Self {
        Self {
            lost,
            ..Self::default()
        }
    }
}

/// How a receiver refuses a data packet.
#[derive(Clone, Copy, Debug)]
pub enum Refusal {
    /// By an AETH with this syndrome: RC ACK, MRC Transport ACK.
    Nak(Syndrome),
    /// MRC: by a NACK for this reason.
    Nack(NackReason),
}

type Rule = Box<dyn FnMut(&Seen<'_>) -> Fate>;

/// A frame on its way.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arrival {
    pub at: u64,
    order: u64,
    pub to: usize,
    pub port: usize,
    pub frame: Vec<u8>,
}

pub struct Network {
    rule: Rule,
    on_the_way: BinaryHeap<Reverse<Arrival>>,
    /// When each port is free again.
    free: [[u64; PORTS]; 2],
    order: u64,
    /// Every frame that was sent, as (time, from, port, frame), if the test requested a log.
    pub log: Option<Vec<(u64, usize, usize, RoceFrame)>>,
}

/// One-way delay of a link: 2 us.
pub const LINK_DELAY: u64 = 250;
/// Bytes a 200G port sends in a tick.
const BYTES_PER_TICK: u64 = 200;

impl Network {
    pub fn new(rule: impl FnMut(&Seen<'_>) -> Fate + 'static) -> Self {
        Self {
            rule: Box::new(rule),
            on_the_way: BinaryHeap::new(),
            free: Default::default(),
            order: 0,
            log: None,
        }
    }

    pub fn set_rule(&mut self, rule: impl FnMut(&Seen<'_>) -> Fate + 'static) {
        self.rule = Box::new(rule);
    }

    pub fn is_free(&self, card: usize, port: usize, now: u64) -> bool {
        self.free[card][port] <= now
    }

    /// Takes a frame from a card. It must be good.
    pub fn send(&mut self, from: usize, port: usize, now: u64, bytes: Vec<u8>) {
        let frame = RoceFrame::parse(&bytes).expect("a card sends good frames");
        self.free[from][port] = now + (bytes.len() as u64).div_ceil(BYTES_PER_TICK);
        let fate = (self.rule)(&Seen {
            port,
            frame: &frame,
            now,
        });
        let bytes = if fate.marked { mark(&frame) } else { bytes };
        if let Some(log) = &mut self.log {
            log.push((now, from, port, frame.clone()));
        }
        let first = self.free[from][port] + LINK_DELAY + fate.delay;
        if let Some(why) = fate.refused {
            let answer = refusal(&frame, why).emit().expect("a good frame");
            self.deliver(first + LINK_DELAY, from, port, answer);
        }
        if fate.lost || fate.refused.is_some() {
            return;
        }
        if let Some(later) = fate.again_after {
            self.deliver(first + later, 1 - from, port, bytes.clone());
        }
        self.deliver(first, 1 - from, port, bytes);
    }

    pub fn deliver(&mut self, at: u64, to: usize, port: usize, frame: Vec<u8>) {
        self.order += 1;
        self.on_the_way.push(Reverse(Arrival {
            at,
            order: self.order,
            to,
            port,
            frame,
        }));
    }

    /// The next frame to arrive no later than `now`.
    pub fn arrival(&mut self, now: u64) -> Option<Arrival> {
        let due = self
            .on_the_way
            .peek()
            .is_some_and(|Reverse(next)| next.at <= now);
        due.then(|| self.on_the_way.pop().map(|Reverse(next)| next))
            .flatten()
    }

    /// When something happens next: an arrival, or a port that becomes free.
    pub fn next(&self, now: u64) -> Option<u64> {
        let arrival = self.on_the_way.peek().map(|Reverse(next)| next.at);
        let free = self.free.iter().flatten().copied().filter(|&at| at > now);
        free.chain(arrival).min()
    }
}

/// The answer to a data packet that is refused. Its queue pair has the same number at both ends.
pub fn refusal(packet: &RoceFrame, why: Refusal) -> RoceFrame {
    let mut frame = packet.clone();
    (frame.eth.src, frame.eth.dst) = (packet.eth.dst, packet.eth.src);
    if let Ip::V4(ip) = &mut frame.ip {
        (ip.src, ip.dst) = (ip.dst, ip.src);
    }
    frame.bth.ack_req = false;
    frame.bth.retransmit = false;
    frame.payload.clear();
    frame.ext = ExtHeaders::default();
    match why {
        Refusal::Nak(syndrome) => {
            frame.bth.opcode = match packet.bth.opcode.is_mrc() {
                true => Opcode::MrcAck,
                false => Opcode::RcAck,
            };
            frame.bth.tseth_present = false;
            frame.ext.aeth = Some(Aeth { syndrome, msn: 0 });
        }
        Refusal::Nack(reason) => {
            let stamp = packet.ext.tseth.map(|tseth| tseth.tx_timestamp);
            frame.bth.opcode = Opcode::MrcNack;
            frame.bth.tseth_present = false;
            frame.ext.neth = Some(Neth {
                reason,
                entropy: Entropy(packet.udp.sport.into()),
                src_context: packet.bth.dest_qp as u16,
                dst_context: packet.bth.dest_qp as u16,
                nack_psn: packet.bth.psn,
                tx_timestamp: stamp.unwrap_or_default(),
                ..Neth::default()
            });
        }
    }
    frame
}

/// The frame with congestion experienced.
fn mark(frame: &RoceFrame) -> Vec<u8> {
    let mut frame = frame.clone();
    match &mut frame.ip {
        Ip::V4(ip) => ip.ecn = Ecn::CongestionExperienced,
        Ip::V6(ip) => ip.ecn = Ecn::CongestionExperienced,
    }
    frame.emit().expect("still a good frame")
}
