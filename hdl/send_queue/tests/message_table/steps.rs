//! Random operations.

use proptest::prelude::*;
use stellar_wire::host::WcStatus;

use crate::server::Server;

#[derive(Clone, Debug)]
pub enum Step {
    /// Posts this many entries, as far as there is space.
    Post(usize),
    /// Any producer index.
    Doorbell(u16),
    /// Looks up the next message, and sends this many eighths of its remaining packets.
    Current(u32),
    /// Takes the messages of up to this many packets, and sends them.
    Take(u32),
    /// Slot, relative to the next one to start.
    Get(i16),
    /// A packet at a position relative to the oldest unacknowledged one: eighths of the packets in flight, plus an offset.
    Holding(u32, i32),
    Fault(i16),
    /// Acknowledges this many eighths of the packets in flight. A message that cannot be executed is flushed.
    Complete(u32),
    Flush(Option<i16>),
    /// Configures at once, or when everything has completed.
    Configure(bool),
}

impl Step {
    pub fn run(&self, server: &mut Server, qp: usize) {
        match *self {
            Self::Post(entries) => server.post_any(qp, entries),
            Self::Doorbell(producer) => {
                let ahead = producer.wrapping_sub(server.pairs[qp].producer());
                // A ring of 2^15 entries accepts many; a few are enough for the test.
                if ahead < 200 || !server.pairs[qp].takes(producer) {
                    server.doorbell(qp, producer);
                }
            }
            Self::Current(eighths) => {
                server.current(qp, eighths);
            }
            Self::Take(count) => {
                server.take(qp, count);
            }
            Self::Get(ahead) => server.get(qp, ahead),
            Self::Holding(eighths, more) => {
                let pair = &server.pairs[qp];
                let sent = u64::from(pair.next.distance_from(pair.una));
                server.holding(qp, (sent * u64::from(eighths) / 8) as i32 + more);
            }
            Self::Fault(ahead) => server.fault(qp, ahead, WcStatus::LocProtErr),
            Self::Complete(eighths) => {
                if let Some(failed) = server.complete(qp, eighths) {
                    server.flush(qp, Some(failed));
                }
            }
            Self::Flush(ahead) => {
                let slot = ahead.map(|ahead| server.slot(qp, ahead));
                server.flush(qp, slot.map(|slot| (slot, WcStatus::RemAccessErr)));
            }
            Self::Configure(at_once) => {
                if !at_once {
                    server.quiesce();
                }
                server.configure(qp);
            }
        }
    }
}

pub fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        20 => prop_oneof![5 => 1..6_usize, 1 => 6..100_usize].prop_map(Step::Post),
        1 => prop_oneof![any::<u16>(), 0..20_u16].prop_map(Step::Doorbell),
        30 => prop_oneof![1 => 0..8_u32, 3 => Just(8)].prop_map(Step::Current),
        30 => (1..=32_u32).prop_map(Step::Take),
        10 => (-5..3_i16).prop_map(Step::Get),
        10 => (0..=8_u32, -3..4_i32).prop_map(|(eighths, more)| Step::Holding(eighths, more)),
        1 => (-5..2_i16).prop_map(Step::Fault),
        25 => (0..=8_u32).prop_map(Step::Complete),
        1 => prop::option::of(-4..2_i16).prop_map(Step::Flush),
        2 => any::<bool>().prop_map(Step::Configure),
    ]
}
