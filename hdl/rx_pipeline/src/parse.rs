//! The parser, for one frame per cycle.

use hdl_macros::hdl;
use rust_hdl::prelude::*;
use stellar_wire::hw::frame::PacketHeaders;

use crate::frame_info::FrameInfo;
use crate::ip_checksum::{self, IpChecksum};
use crate::layout::{TRANSPORT_BITS, WINDOW_BITS};
use crate::own_address::OwnAddress;
use crate::parse_ip::{self, IpFields, ParseIp};
use crate::parse_transport::{self, ParseTransport};

/// Cycles from the window to the headers.
pub const LATENCY: usize = parse_ip::LATENCY + parse_transport::LATENCY;
const _: () = assert!(
    ip_checksum::LATENCY + 1 == LATENCY,
    "the checksum must be ready for the last stage"
);

/// Extracts `PacketHeaders` and determines the parser's drop reason, the first one in the order of `docs/rx_lane.md` if several apply.
/// A frame that ends inside its outer or IP headers is `BadLength`, because the missing fields cannot be checked.
/// Nothing stalls, and there is no state and no valid bit: the caller delays the valid bit.
#[derive(LogicBlock, Default)]
pub struct Parse {
    pub clock: Signal<In, Clock>,
    pub in_window: Signal<In, Bits<WINDOW_BITS>>,
    pub in_info: Signal<In, FrameInfo>,
    /// UDP destination port of RoCE packets.
    pub udp_port: Signal<In, Bits<16>>,
    pub own: Signal<In, OwnAddress>,
    pub out_headers: Signal<Out, PacketHeaders>,

    // To `control_check`, [`parse_ip::LATENCY`] cycles after the window.
    pub out_fields: Signal<Out, IpFields>,
    pub out_transport: Signal<Out, Bits<TRANSPORT_BITS>>,
    pub out_source: Signal<Out, Bits<128>>,

    ip: ParseIp,
    checksum: IpChecksum,
    transport: ParseTransport,
}

impl Logic for Parse {
    #[hdl]
    fn update(&mut self) {
        clock!(self, clock, ip, checksum, transport);
        self.ip.in_window.next = self.in_window.val();
        self.ip.in_info.next = self.in_info.val();
        self.ip.own.next = self.own.val();
        self.checksum.in_header.next = self
            .in_window
            .val()
            .get_bits::<{ ip_checksum::HEADER_BITS }>(0);
        self.transport.in_fields.next = self.ip.out_fields.val();
        self.transport.in_transport.next = self.ip.out_transport.val();
        self.transport.udp_port.next = self.udp_port.val();
        self.transport.checksum_good.next = self.checksum.out_good.val();
        self.out_fields.next = self.ip.out_fields.val();
        self.out_transport.next = self.ip.out_transport.val();
        self.out_source.next = self.ip.out_source.val();
        self.out_headers.next = self.transport.out_headers.val();
    }
}
