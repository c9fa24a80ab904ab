//! The front end of the receive lane.

use hdl_macros::{clock, clock_reset, hdl, join};
use hdl_primitives::{BufferFreeSnk, BufferReadSnk, Delay, MacRxSnk, TokenSrc};
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
use crate::own_address::OwnAddress;
use crate::packet_buffer::{self, PacketBuffer, StoredFrame};
use crate::parse::{self, Parse};
use crate::parse_ip::IpFields;
use crate::token_queue::TokenQueue;

/// Cycles by which the headers are delayed, to meet the iCRC.
const HEADERS_WAIT: usize = icrc_check::LATENCY - header_window::LATENCY - parse::LATENCY;
/// Cycles by which the result of the packet buffer is delayed, to meet the iCRC.
const STORED_WAIT: usize = icrc_check::LATENCY - packet_buffer::LATENCY;

/// The front end of the receive lane of one port.
///
/// Each frame from the MAC becomes a token for the core, in order. Its bytes, from the IP header on, are in the packet buffer.
///
/// `W` is the lane width. The packet buffer holds 2^(`A`+1) beats: 512 by default, which at 1,024 bits is 64 KiB.
/// The MAC is never stalled. Frames, also those of one beat, may follow each other without a gap, and there may be idle cycles between beats.
#[derive(LogicBlock, Default)]
pub struct RxFront<const W: usize, const A: usize = 8> {
    pub clock: Signal<In, Clock>,
    /// Discards frames in flight, tokens and the contents of the packet buffer. The rest of a frame that arrives during reset counts as a frame.
    pub reset: Signal<In, Bit>,

    pub mac: MacRxSnk<W>,

    /// UDP destination port of RoCE packets.
    pub udp_port: Signal<In, Bits<16>>,
    pub own: Signal<In, OwnAddress>,

    /// To the core.
    pub out: TokenSrc<CoreToken>,

    // To and from [`RxControl`](crate::RxControl). Without it, `in_finding` and `control_room` are zero, and control packets are `UnsupportedOpcode`.
    pub out_fields: Signal<Out, IpFields>,
    pub out_source: Signal<Out, Bits<128>>,
    pub out_transport: Signal<Out, Bits<TRANSPORT_BITS>>,
    pub in_finding: Signal<In, ControlCheckResult>,
    pub control_room: Signal<In, Bit>,
    pub control_taken: Signal<Out, Bit>,

    /// Packet buffer, with a latency of [`packet_buffer::READ_LATENCY`] cycles.
    pub read: BufferReadSnk<W>,
    /// The spans of the tokens are freed in order.
    pub free: BufferFreeSnk,

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
        clock_reset!(self, decap, align, buffer, icrc, verdict, tokens);
        clock!(self, clock, window, parse, headers_wait, stored_wait);

        join!(
            self,
            mac => decap.mac,
            decap.out => align.in_,

            align.out => buffer.in_,
            tokens.room => buffer.token_room,
            read => buffer.read,
            free => buffer.free,
            buffer.out_stored => stored_wait.data,

            align.out => window.in_,
            window.out_window => parse.in_window,
            window.out_info => parse.in_info,
            udp_port => parse.udp_port,
            own => decap.own,
            own => parse.own,
            parse.out_headers => headers_wait.data,

            parse.out_fields => out_fields,
            parse.out_source => out_source,
            parse.out_transport => out_transport,
            in_finding => verdict.in_finding,
            control_room => verdict.control_room,
            verdict.out_control => control_taken,

            align.out => icrc.in_,
            icrc.out_valid => verdict.in_valid,
            icrc.out_good => verdict.icrc_good,
            headers_wait.delayed => verdict.in_headers,
            stored_wait.delayed => verdict.in_stored,
            verdict.out_valid => tokens.in_valid,
            verdict.out_frame => tokens.in_frame,
            verdict.out_lost => tokens.in_lost,
            tokens.out => out,
        );
    }
}
