//! The packets of a burst, clock by clock.

use rust_hdl::prelude::*;
use stellar_transport::requester::Sent;
use stellar_wire::hw::window::SentPacket;

/// How a burst comes: clocks without a packet before each, and the end.
#[derive(Clone, Debug)]
pub struct Pace {
    pub gaps: Vec<u32>,
    /// So many clocks after the last packet, or the first clock there may be one.
    pub end: u32,
}

impl Pace {
    /// Every clock, and the end with the last.
    pub fn full(packets: usize) -> Self {
        Self {
            gaps: vec![0; packets],
            end: 0,
        }
    }
}

/// What stands at the ports of new packets in a clock.
#[derive(Clone, Copy, Default)]
pub struct Beat {
    pub packet: Option<Sent>,
    pub end: bool,
}

/// By clock, from the one after the request on.
pub fn beats(packets: &[Sent], pace: &Pace) -> Vec<Beat> {
    let mut beats = vec![];
    for (&packet, &gap) in packets.iter().zip(&pace.gaps) {
        beats.extend(vec![Beat::default(); gap as usize]);
        beats.push(Beat {
            packet: Some(packet),
            end: false,
        });
    }
    if beats.is_empty() {
        beats.push(Beat::default());
    }
    beats.extend(vec![Beat::default(); pace.end as usize]);
    beats.last_mut().expect("one at least").end = true;
    beats
}

/// As the window keeps it.
pub fn record(sent: &Sent) -> SentPacket {
    SentPacket {
        ev: u64::from(sent.ev.value()).to_bits(),
        at: u64::from(sent.at.0).to_bits(),
        retries: u64::from(sent.retries).to_bits(),
        length: u64::from(sent.length).to_bits(),
        slot: u64::from(sent.slot).to_bits(),
    }
}
