//! Random streams of packets, table writes and fences.

use proptest::prelude::*;
use stellar_transport::rx;
use stellar_wire::Position;

use crate::common::{psn, EARLY_REASONS};

/// The difference between a packet's payload and DMALen and their correct values.
#[derive(Clone, Copy, Debug)]
pub enum Length {
    Right,
    PayloadOff(i32),
    DmaOff(i32),
    Zero,
    Any(u16, u32),
}

#[derive(Clone, Debug)]
pub enum Step {
    /// A packet whose PSN is `ahead` of the expected one. Without `position`, its position continues the message or begins a new one.
    Packet {
        ahead: i32,
        position: Option<Position>,
        length: Length,
        /// Payload of the last packet, and MTUs before it when a message begins.
        tail: u16,
        full_packets: u32,
        early: Option<rx::DropReason>,
        /// A SEND, READ or atomic, if the queue pair is RC.
        refused: bool,
    },
    /// Passes unchanged.
    Probe,
    /// Passes unchanged.
    Error,
    WriteQp {
        initial_psn: u32,
        mtu_log2: u8,
    },
    WriteMr,
    /// Writes an index beyond the table whose low bits are those of the queue pair.
    WriteBeyond,
    Fence,
}

pub fn packet_step() -> impl Strategy<Value = Step> {
    let ahead = prop_oneof![
        12 => Just(0),
        2 => -2..=2_i32,
        1 => prop_oneof![Just(0x7f_ffff), Just(0x80_0000), Just(-0x80_0000), Just(-0x7f_ffff), any::<i32>()],
    ];
    let position = prop_oneof![
        8 => Just(None),
        1 => Just(Some(Position::First)),
        1 => Just(Some(Position::Middle)),
        1 => Just(Some(Position::Last)),
        1 => Just(Some(Position::Only)),
    ];
    let length = prop_oneof![
        12 => Just(Length::Right),
        1 => (-1..=1_i32).prop_map(Length::PayloadOff),
        1 => (-1..=1_i32).prop_map(Length::DmaOff),
        1 => Just(Length::Zero),
        1 => (0..=8192_u16, any::<u32>()).prop_map(|(p, d)| Length::Any(p, d)),
    ];
    let early = prop::option::weighted(0.05, prop::sample::select(&EARLY_REASONS[..]));
    let refused = prop::bool::weighted(0.05);
    (
        ahead,
        position,
        length,
        0..=256_u16,
        0..4_u32,
        early,
        refused,
    )
        .prop_map(
            |(ahead, position, length, tail, full_packets, early, refused)| Step::Packet {
                ahead,
                position,
                length,
                tail,
                full_packets,
                early,
                refused,
            },
        )
}

pub fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        30 => packet_step(),
        1 => (psn(), 8..=13_u8).prop_map(|(initial_psn, mtu_log2)| Step::WriteQp { initial_psn, mtu_log2 }),
        1 => Just(Step::WriteMr),
        1 => Just(Step::WriteBeyond),
        1 => Just(Step::Fence),
        1 => Just(Step::Probe),
        1 => Just(Step::Error),
    ]
}
