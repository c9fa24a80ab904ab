//! Every block: its rust-hdl simulation and its Verilog agree, and the Verilog is clean.

use std::collections::VecDeque;

use hdl_rx_pipeline::beat::OuterHeaders;
use hdl_rx_pipeline::frame_info::FrameInfo;
use hdl_rx_pipeline::frame_verdict::JudgedFrame;
use hdl_rx_pipeline::packet_buffer::{FrameFate, StoredFrame};
use hdl_rx_pipeline::{
    Align, Decap, FrameVerdict, HeaderWindow, IcrcCheck, PacketBuffer, Parse, RxFront, TokenQueue,
};
use hdl_testkit::equivalence::{check, Random};
use rand::Rng;
use rust_hdl::prelude::*;

use crate::front::stimulus::{finding, headers, own, span, Beats, Sideband};

fn decap<const W: usize>(clocks: u64) {
    let mut beats = Beats::<W>::new(1);
    check(
        Decap::<W>::default,
        Some(|u| &mut u.clock),
        |u, rng| {
            u.reset.next = rng.random_bool(0.02);
            u.mac.valid.next = rng.random_bool(0.8);
            let (data, bytes, last, error) = beats.next();
            u.mac.data.next = data;
            u.mac.bytes.next = bytes.into();
            u.mac.last.next = last;
            u.mac.error.next = error;
            u.own.next = own(rng);
        },
        clocks,
        11,
    )
    .unwrap();
}

fn align<const W: usize>(clocks: u64) {
    let mut side = Sideband::default();
    check(
        Align::<W>::default,
        Some(|u| &mut u.clock),
        |u, rng| {
            u.reset.next = rng.random_bool(0.02);
            u.in_.valid.next = rng.random_bool(0.8);
            u.in_.data.next = Bits::random(rng);
            u.in_.beat.next = side.next(rng, W);
        },
        clocks,
        12,
    )
    .unwrap();
}

fn header_window<const W: usize>(clocks: u64) {
    let mut side = Sideband::default();
    check(
        HeaderWindow::<W>::default,
        Some(|u| &mut u.clock),
        |u, rng| {
            u.in_.valid.next = rng.random_bool(0.8);
            u.in_.data.next = Bits::random(rng);
            u.in_.beat.next = side.next(rng, W);
        },
        clocks,
        13,
    )
    .unwrap();
}

fn icrc_check<const W: usize>(clocks: u64) {
    let mut side = Sideband::default();
    check(
        IcrcCheck::<W>::default,
        Some(|u| &mut u.clock),
        |u, rng| {
            u.reset.next = rng.random_bool(0.02);
            u.in_.valid.next = rng.random_bool(0.8);
            u.in_.data.next = Bits::random(rng);
            u.in_.beat.next = side.next(rng, W);
        },
        clocks,
        14,
    )
    .unwrap();
}

fn packet_buffer<const W: usize>(clocks: u64) {
    let mut side = Sideband::default();
    check(
        PacketBuffer::<W, 7>::default,
        Some(|u| &mut u.clock),
        |u, rng| {
            u.reset.next = rng.random_bool(0.005);
            u.in_.valid.next = rng.random_bool(0.9);
            u.in_.data.next = Bits::random(rng);
            u.in_.beat.next = side.next(rng, W);
            u.token_room.next = rng.random_bool(0.9);
            u.read.beat.next = Bits::random(rng);
            // Only beats that are certainly stored are freed, because the occupancy must not run below zero.
            u.free.valid.next = false;
            u.free.beats.next = Bits::random(rng);
        },
        clocks,
        15,
    )
    .unwrap();
}

fn rx_front<const W: usize>(clocks: u64) {
    let mut beats = Beats::<W>::new(2);
    let mut held = VecDeque::from(vec![(Bits::<W>::default(), 1u64, true, false)]);
    check(
        RxFront::<W>::default,
        Some(|u| &mut u.clock),
        |u, rng| {
            u.reset.next = false;
            u.mac.valid.next = rng.random_bool(0.85);
            if u.mac.valid.next {
                held.push_back(beats.next());
                held.pop_front();
            }
            let (data, bytes, last, error) = held[0];
            u.mac.data.next = data;
            u.mac.bytes.next = bytes.into();
            u.mac.last.next = last;
            u.mac.error.next = error;
            u.udp_port.next = 4791u64.into();
            u.own.next = own(rng);
            u.in_finding.next = finding(rng);
            u.control_room.next = rng.random_bool(0.8);
            u.out.ready.next = rng.random_bool(0.7);
            u.read.beat.next = Bits::random(rng);
            u.free.valid.next = false;
            u.free.beats.next = Bits::random(rng);
        },
        clocks,
        16,
    )
    .unwrap();
}

#[test]
fn decap_is_its_verilog() {
    decap::<512>(200);
}

#[test]
fn align_is_its_verilog() {
    align::<512>(200);
}

#[test]
fn header_window_is_its_verilog() {
    header_window::<512>(200);
    header_window::<1024>(100);
}

#[test]
fn icrc_check_is_its_verilog() {
    icrc_check::<512>(100);
}

#[test]
fn packet_buffer_is_its_verilog() {
    packet_buffer::<512>(300);
}

#[test]
fn rx_front_is_its_verilog() {
    rx_front::<512>(150);
    rx_front::<1024>(100);
}

#[test]
fn parse_is_its_verilog() {
    let mut beats = Beats::<1024>::new(3);
    check(
        Parse::default,
        Some(|u| &mut u.clock),
        |u, rng| {
            let (data, ..) = beats.next();
            let ip_at = 8 * 14;
            u.in_window.next = (data >> ip_at as u64).get_bits(0);
            u.in_info.next = FrameInfo {
                outer: OuterHeaders {
                    ipv6: rng.random(),
                    other_mac: rng.random_bool(0.3),
                    foreign: rng.random_bool(0.1),
                    runt: rng.random_bool(0.1),
                    ..OuterHeaders::default()
                },
                bytes: u64::from(rng.random_range(0..200u32)).into(),
                oversize: rng.random_bool(0.1),
                mac_error: rng.random(),
            };
            u.udp_port.next = 4791u64.into();
            u.own.next = own(rng);
        },
        300,
        17,
    )
    .unwrap();
}

#[test]
fn frame_verdict_is_its_verilog() {
    check(
        FrameVerdict::default,
        Some(|u| &mut u.clock),
        |u, rng| {
            u.reset.next = rng.random_bool(0.02);
            u.in_valid.next = rng.random();
            u.in_headers.next = headers(rng);
            u.in_stored.next = StoredFrame {
                fate: match rng.random_range(0..4) {
                    0 => FrameFate::BufferFull,
                    1 => FrameFate::Oversize,
                    2 => FrameFate::NoToken,
                    _ => FrameFate::Stored,
                },
                span: span(rng),
                mac_error: rng.random_bool(0.2),
            };
            u.icrc_good.next = rng.random();
            u.in_finding.next = finding(rng);
            u.control_room.next = rng.random_bool(0.8);
        },
        400,
        18,
    )
    .unwrap();
}

#[test]
fn token_queue_is_its_verilog() {
    check(
        TokenQueue::default,
        Some(|u| &mut u.clock),
        |u, rng| {
            u.reset.next = rng.random_bool(0.005);
            let kind = rng.random_range(0..4);
            u.in_valid.next = kind == 0;
            u.in_lost.next = kind == 1;
            u.in_frame.next = JudgedFrame {
                span: span(rng),
                headers: headers(rng),
            };
            u.out.ready.next = rng.random_bool(0.6);
        },
        400,
        19,
    )
    .unwrap();
}

#[test]
#[should_panic(expected = "a lane of 256 bits")]
fn another_width_is_refused() {
    let _ = RxFront::<256>::default();
}

#[test]
#[should_panic(expected = "a packet buffer of 2 x 2^12 beats")]
fn a_ring_that_addresses_cannot_name_is_refused() {
    let _ = PacketBuffer::<512, 12>::default();
}
