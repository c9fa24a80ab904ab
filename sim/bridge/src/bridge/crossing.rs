//! The way of a frame across the bridge.

use std::time::Instant;

use pcap_file::PcapError;
use sim_net::{Time, FCS, GAP, PREAMBLE};
use sim_world::Direction;

use super::{Crossing, Inner};
use crate::frame::{is_rocev2, pad, MAX_FRAME};
use crate::impairment::Fate;

/// Picoseconds per byte on the wire: 200 Gb/s.
const BYTE_PS: Time = 40;
/// Length of an Ethernet header, the shortest frame that the bridge accepts.
const HEADER: usize = 14;
/// Clock cycles between two checks of the pace.
const PACE_CLOCKS: u32 = 64;

/// The comment of a frame in the capture.
const fn comment(fate: Fate) -> &'static str {
    match fate {
        Fate::Passed => "",
        Fate::Dropped => "dropped by the bridge",
        Fate::Duplicated => "duplicated by the bridge",
        Fate::HeldBack => "held back by the bridge",
    }
}

impl Inner {
    /// Counts a frame, and passes it to observer and capture.
    fn note(&mut self, crossing: &Crossing<'_>) {
        let counts = &mut self.counts;
        match crossing.direction {
            Direction::Inbound => counts.from_peer += 1,
            Direction::Outbound => counts.from_card += 1,
        }
        match crossing.fate {
            Fate::Passed => {}
            Fate::Dropped => counts.dropped += 1,
            Fate::Duplicated => counts.duplicated += 1,
            Fate::HeldBack => counts.held_back += 1,
        }
        if let Some(observer) = &mut self.observer {
            observer(crossing);
        }
        let Crossing {
            time,
            direction,
            frame,
            fate,
        } = *crossing;
        let written = match &mut self.capture {
            Some(capture) => capture.add(time, direction, frame, comment(fate)),
            None => Ok(()),
        };
        if let Err(error) = written {
            self.end_capture(&error);
        }
    }

    fn end_capture(&mut self, error: &PcapError) {
        tracing::error!("the capture ends here: {error}");
        self.capture = None;
    }

    /// Passes a frame through the impairment of its direction. Returns the frames that leave it.
    fn cross(&mut self, now: Time, direction: Direction, frame: Vec<u8>) -> Vec<Vec<u8>> {
        let mut out = Vec::new();
        let shown = frame.clone();
        let fate = if is_rocev2(&frame) {
            let impairer = match direction {
                Direction::Inbound => &mut self.to_card,
                Direction::Outbound => &mut self.to_peer,
            };
            impairer.pass(now, frame, &mut out)
        } else {
            out.push(frame);
            Fate::Passed
        };
        self.note(&Crossing {
            time: now,
            direction,
            frame: &shown,
            fate,
        });
        out
    }

    /// Takes a frame of the peer. The card gets every frame, the host's stack every frame that is not RoCEv2.
    pub(super) fn take_from_peer(
        &mut self,
        now: Time,
        frame: Vec<u8>,
        receive: &mut dyn FnMut(usize, Vec<u8>),
    ) {
        if !(HEADER..=MAX_FRAME).contains(&frame.len()) {
            self.counts.malformed += 1;
            return;
        }
        let frame = pad(frame);
        let answers = if is_rocev2(&frame) {
            Vec::new()
        } else {
            self.host.answer(now, &frame)
        };
        for frame in self.cross(now, Direction::Inbound, frame) {
            self.give(now, frame, receive);
        }
        for answer in answers {
            self.send_to_peer(now, answer);
        }
    }

    /// Hands a frame to the card's receive side, and occupies the wire for its duration.
    fn give(&mut self, now: Time, frame: Vec<u8>, receive: &mut dyn FnMut(usize, Vec<u8>)) {
        let bytes = (frame.len() + PREAMBLE + FCS + GAP) as Time;
        self.busy_until = self.busy_until.max(now) + bytes * BYTE_PS;
        receive(self.port, frame);
    }

    pub(super) fn send_to_peer(&mut self, now: Time, frame: Vec<u8>) {
        for frame in self.cross(now, Direction::Outbound, frame) {
            self.link.send(frame);
        }
    }

    pub(super) fn hold_pace(&mut self, now: Time) {
        self.clocks += 1;
        if self.clocks < PACE_CLOCKS {
            return;
        }
        self.clocks = 0;
        if let Some(pace) = &mut self.pace {
            let ahead = pace.ahead(now, Instant::now());
            if !ahead.is_zero() {
                self.link.wait(ahead);
            }
        }
    }

    pub(super) fn expire(&mut self, now: Time, receive: &mut dyn FnMut(usize, Vec<u8>)) {
        let mut out = Vec::new();
        self.to_card.expire(now, &mut out);
        for frame in out.drain(..) {
            self.give(now, frame, receive);
        }
        self.to_peer.expire(now, &mut out);
        for frame in out {
            self.link.send(frame);
        }
    }
}
