//! Random streams of packets, table writes and fences.

use proptest::prelude::*;
use stellar_transport::rx::{self, RcClass};

use crate::common::{psn, EARLY_REASONS};

/// The PSN of a packet.
#[derive(Clone, Copy, Debug)]
pub enum Number {
    /// A PSN at this distance from the expected PSN; negative distances are behind it.
    Ahead(i32),
    /// At this position in the window, in parts of 4,096.
    Within(u32),
    /// This far ahead of the end of the window.
    Edge(i32),
    /// The PSN of the packet this many packets ago, again.
    Again(usize),
}

#[derive(Clone, Debug)]
pub enum Step {
    Packet {
        number: Number,
        early: Option<rx::DropReason>,
        /// The parser's own `BadPayloadLength`, which must not be taken for `rc_track`'s.
        bad_frame: bool,
        /// The result of `rc_track`: the class, and for RC only the expected PSN and the MSN count.
        rc: (RcClass, u32, u32),
        late: rx::DropReason,
        access: rx::DropReason,
        length: u16,
    },
    Probe {
        early: Option<rx::DropReason>,
        /// PSN in the packet's BTH.
        psn: u32,
    },
    Error,
    WriteQp(u32),
    WriteMr,
    WriteBeyond,
    Fence,
}

/// `None` nearly always.
pub fn seldom(reasons: &'static [rx::DropReason]) -> impl Strategy<Value = rx::DropReason> {
    prop_oneof![40 => Just(rx::DropReason::None), 1 => prop::sample::select(reasons)]
}

pub fn number() -> impl Strategy<Value = Number> {
    let edge = prop::sample::select(
        &[
            1_i32, 63, 64, 65, 960, 1022, 1023, 1024, 1025, 2047, 2048, 4095, 4096, 8191, 8192,
            0x7f_ffff, 0x80_0000, 0x80_0001,
        ][..],
    );
    prop_oneof![
        6 => Just(Number::Ahead(0)),
        6 => (-3..=3_i32).prop_map(Number::Ahead),
        6 => (0..4096_u32).prop_map(Number::Within),
        2 => (-65..=65_i32).prop_map(Number::Edge),
        2 => edge.clone().prop_map(Number::Ahead),
        2 => edge.prop_map(|ahead| Number::Ahead(-ahead)),
        1 => (0x7f_ff80..0x80_0080_i32).prop_map(Number::Ahead),
        1 => (0..20_usize).prop_map(Number::Again),
    ]
}

pub fn packet_step() -> impl Strategy<Value = Step> {
    let class = prop_oneof![
        8 => Just(RcClass::Expected),
        1 => Just(RcClass::Duplicate),
        1 => Just(RcClass::Gap),
        1 => Just(RcClass::GapAgain),
    ];
    let late: &'static [rx::DropReason] = &[
        rx::DropReason::BadPayloadLength,
        rx::DropReason::BadSequence,
        rx::DropReason::UnsupportedOpcode,
    ];
    let access: &'static [rx::DropReason] = &[
        rx::DropReason::BadKey,
        rx::DropReason::WrongPd,
        rx::DropReason::NoWriteRight,
        rx::DropReason::OutOfBounds,
        rx::DropReason::InvalidPage,
        rx::DropReason::PageAbsent,
    ];
    let early = prop::option::weighted(0.05, prop::sample::select(&EARLY_REASONS[..]));
    let rc = (class, psn(), psn());
    let length = prop_oneof![Just(0), Just(8192), 1..8192_u16];
    (
        number(),
        early,
        prop::bool::weighted(0.02),
        rc,
        seldom(late),
        seldom(access),
        length,
    )
        .prop_map(
            |(number, early, bad_frame, rc, late, access, length)| Step::Packet {
                number,
                early,
                bad_frame,
                rc,
                late,
                access,
                length,
            },
        )
}

pub fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        60 => packet_step(),
        1 => psn().prop_map(Step::WriteQp),
        1 => Just(Step::WriteMr),
        1 => Just(Step::WriteBeyond),
        1 => Just(Step::Fence),
        1 => Just(Step::Error),
        6 => (prop::option::weighted(0.1, prop::sample::select(&EARLY_REASONS[..])), psn())
            .prop_map(|(early, psn)| Step::Probe { early, psn }),
    ]
}
