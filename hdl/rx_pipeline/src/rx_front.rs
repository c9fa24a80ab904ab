//! The front end of the receive lane.

use hdl_macros::hdl;
use hdl_primitives::delay::Delay;
use rust_hdl::prelude::*;
use stellar_wire::hw::core::CoreToken;
use stellar_wire::hw::frame::PacketHeaders;

use crate::align::Align;
use crate::control_check::ControlCheckResult;
use crate::decap::Decap;
use crate::frame_verdict::FrameVerdict;
use crate::header_window::{self, HeaderWindow};
use crate::icrc_check::{self, IcrcCheck};
use crate::layout::TRANSPORT_BITS;
use crate::packet_buffer::{self, PacketBuffer, StoredFrame};
use crate::parse::{self, Parse};
use crate::parse_ip::IpFields;
use crate::token_queue::TokenQueue;

/// Cycles by which the headers are delayed, to meet the iCRC.
const HEADERS_WAIT: usize = icrc_check::LATENCY - header_window::LATENCY - parse::LATENCY;
/// Cycles by which the result of the packet buffer is delayed, to meet the iCRC.
const STORED_WAIT: usize = icrc_check::LATENCY - packet_buffer::LATENCY;

/// Each frame from the MAC becomes a token for the core, in order. Its bytes, from the IP header on, are in the packet buffer.
///
/// `W` is the lane width. The packet buffer holds 2^(`A`+1) beats: 512 by default, which at 1,024 bits is 64 KiB.
/// The MAC is never stalled. Frames, also those of one beat, may follow each other without a gap, and there may be idle cycles between beats.
#[derive(LogicBlock, Default)]
pub struct RxFront<const W: usize, const A: usize = 8> {
    pub clock: Signal<In, Clock>,
    /// Discards frames in flight, tokens and the contents of the packet buffer. The rest of a frame that arrives during reset counts as a frame.
    pub reset: Signal<In, Bit>,

    /// From the MAC, without `ready`.
    pub mac_valid: Signal<In, Bit>,
    /// Byte 0 of the beat in bits 7:0.
    pub mac_data: Signal<In, Bits<W>>,
    /// Valid bytes, 1 to W/8; full except in the last beat.
    pub mac_bytes: Signal<In, Bits<8>>,
    pub mac_last: Signal<In, Bit>,
    /// With `mac_last`: the MAC reports an error of the frame.
    pub mac_error: Signal<In, Bit>,

    /// UDP destination port of RoCE packets.
    pub udp_port: Signal<In, Bits<16>>,

    /// To the core. A token stays until it is accepted.
    pub out_valid: Signal<Out, Bit>,
    pub out_token: Signal<Out, CoreToken>,
    pub out_ready: Signal<In, Bit>,

    // To and from [`RxControl`](crate::RxControl). Without it, `in_finding` and `control_room` are zero, and control packets are `UnsupportedOpcode`.
    pub out_fields: Signal<Out, IpFields>,
    pub out_source: Signal<Out, Bits<128>>,
    pub out_transport: Signal<Out, Bits<TRANSPORT_BITS>>,
    pub in_finding: Signal<In, ControlCheckResult>,
    pub control_room: Signal<In, Bit>,
    pub control_taken: Signal<Out, Bit>,

    /// Packet buffer: ring address of a beat. That beat and the next one are read [`packet_buffer::READ_LATENCY`] cycles later.
    pub read_beat: Signal<In, Bits<12>>,
    pub read_low: Signal<Out, Bits<W>>,
    pub read_high: Signal<Out, Bits<W>>,
    /// The oldest `free_beats` beats are no longer needed. The spans of the tokens are freed in order.
    pub free_valid: Signal<In, Bit>,
    pub free_beats: Signal<In, Bits<8>>,

    decap: Decap<W>,
    align: Align<W>,
    buffer: PacketBuffer<W, A>,
    window: HeaderWindow<W>,
    parse: Parse,
    icrc: IcrcCheck<W>,
    headers_wait: Delay<PacketHeaders, HEADERS_WAIT>,
    stored_wait: Delay<StoredFrame, STORED_WAIT>,
    verdict: FrameVerdict,
    tokens: TokenQueue,
}

impl<const W: usize, const A: usize> Logic for RxFront<W, A> {
    #[hdl]
    fn update(&mut self) {
        clock!(self, clock, decap, align, buffer, window, parse, icrc);
        clock!(self, clock, headers_wait, stored_wait, verdict, tokens);
        self.decap.reset.next = self.reset.val();
        self.align.reset.next = self.reset.val();
        self.buffer.reset.next = self.reset.val();
        self.icrc.reset.next = self.reset.val();
        self.verdict.reset.next = self.reset.val();
        self.tokens.reset.next = self.reset.val();

        self.decap.mac_valid.next = self.mac_valid.val();
        self.decap.mac_data.next = self.mac_data.val();
        self.decap.mac_bytes.next = self.mac_bytes.val();
        self.decap.mac_last.next = self.mac_last.val();
        self.decap.mac_error.next = self.mac_error.val();
        self.align.in_valid.next = self.decap.out_valid.val();
        self.align.in_data.next = self.decap.out_data.val();
        self.align.in_beat.next = self.decap.out_beat.val();

        self.buffer.in_valid.next = self.align.out_valid.val();
        self.buffer.in_data.next = self.align.out_data.val();
        self.buffer.in_beat.next = self.align.out_beat.val();
        self.buffer.token_room.next = self.tokens.room.val();
        self.buffer.read_beat.next = self.read_beat.val();
        self.read_low.next = self.buffer.read_low.val();
        self.read_high.next = self.buffer.read_high.val();
        self.buffer.free_valid.next = self.free_valid.val();
        self.buffer.free_beats.next = self.free_beats.val();
        self.stored_wait.data.next = self.buffer.out_stored.val();

        self.window.in_valid.next = self.align.out_valid.val();
        self.window.in_data.next = self.align.out_data.val();
        self.window.in_beat.next = self.align.out_beat.val();
        self.parse.in_window.next = self.window.out_window.val();
        self.parse.in_info.next = self.window.out_info.val();
        self.parse.udp_port.next = self.udp_port.val();
        self.headers_wait.data.next = self.parse.out_headers.val();

        self.out_fields.next = self.parse.out_fields.val();
        self.out_source.next = self.parse.out_source.val();
        self.out_transport.next = self.parse.out_transport.val();
        self.verdict.in_finding.next = self.in_finding.val();
        self.verdict.control_room.next = self.control_room.val();
        self.control_taken.next = self.verdict.out_control.val();

        self.icrc.in_valid.next = self.align.out_valid.val();
        self.icrc.in_data.next = self.align.out_data.val();
        self.icrc.in_beat.next = self.align.out_beat.val();

        self.verdict.in_valid.next = self.icrc.out_valid.val();
        self.verdict.icrc_good.next = self.icrc.out_good.val();
        self.verdict.in_headers.next = self.headers_wait.delayed.val();
        self.verdict.in_stored.next = self.stored_wait.delayed.val();
        self.tokens.in_valid.next = self.verdict.out_valid.val();
        self.tokens.in_frame.next = self.verdict.out_frame.val();
        self.tokens.in_lost.next = self.verdict.out_lost.val();

        self.out_valid.next = self.tokens.out_valid.val();
        self.out_token.next = self.tokens.out_token.val();
        self.tokens.out_ready.next = self.out_ready.val();
    }
}
