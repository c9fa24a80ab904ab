//! A port of the card at AMD's DCMAC.

use hdl_macros::{hdl, join};
use hdl_primitives::{MacRxSrc, MacTxSnk};
use rust_hdl::prelude::*;

use crate::bundles::{DcmacSegmentSnk, DcmacSegmentSrc};
use crate::dcmac_receive::DcmacReceive;
use crate::dcmac_send::DcmacSend;
use crate::port_crossing::PortCrossing;

/// Joins a port of the card (1,024 bits, 250 MHz) and a 200G port of a DCMAC (PG369, four segments of 128 bits at 390.625 MHz). `docs/shims.md` has the rates and
/// the resets.
///
/// The DCMAC is started through its registers, by what makes `mac_reset` and `link_up`.
#[derive(LogicBlock, Default)]
pub struct DcmacShim {
    /// The card's clock, and the card's reset.
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    // Card.
    pub rx: MacRxSrc<1024>,
    pub tx: MacTxSnk<1024>,
    pub port_up: Signal<Out, Bit>,
    /// Received frames that were dropped, or cut because they are too long, modulo 2^32.
    pub rx_dropped: Signal<Out, Bits<32>>,

    // DCMAC, all on `mac_clock`.
    pub mac_clock: Signal<In, Clock>,
    /// The port is in reset.
    pub mac_reset: Signal<In, Bit>,
    /// The port is aligned, and its peer receives.
    pub link_up: Signal<In, Bit>,
    pub rx_axis_tvalid: Signal<In, Bit>,
    pub rx_axis: [DcmacSegmentSnk; 4],
    pub tx_axis_tvalid: Signal<Out, Bit>,
    pub tx_axis_tready: Signal<In, Bit>,
    pub tx_axis: [DcmacSegmentSrc; 4],

    in_reset: DFF<Bit>,
    up: DFF<Bit>,
    receive: DcmacReceive,
    send: DcmacSend,
    crossing: PortCrossing<1024, 1034>,
}

impl Logic for DcmacShim {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, mac_clock, in_reset, up);
        self.crossing.card_clock.next = self.clock.val();
        self.crossing.mac_clock.next = self.mac_clock.val();
        self.receive.clock.next = self.mac_clock.val();
        self.send.clock.next = self.mac_clock.val();
        self.in_reset.d.next = self.mac_reset.val();
        self.up.d.next = self.link_up.val() & !self.mac_reset.val();
        self.crossing.mac_reset.next = self.in_reset.q.val();
        self.receive.reset.next = self.in_reset.q.val();
        self.crossing.link_up.next = self.up.q.val();
        join!(
            self,
            rx_axis_tvalid => receive.rx_axis_tvalid,
            rx_axis => receive.rx_axis,
            receive.rx => crossing.mac_rx,
            crossing.mac_tx => send.tx,
            crossing.tx_reset => send.reset,
            send.tx_axis_tvalid => tx_axis_tvalid,
            tx_axis_tready => send.tx_axis_tready,
            send.tx_axis => tx_axis,
            reset => crossing.reset,
            crossing.rx => rx,
            tx => crossing.tx,
            crossing.port_up => port_up,
            crossing.rx_dropped => rx_dropped,
        );
    }
}
