//! A port of the card at AMD's CMAC.

use hdl_macros::{hdl, join};
use hdl_primitives::{MacRxSrc, MacTxSnk};
use rust_hdl::prelude::*;

use crate::bundles::{CmacRxSnk, CmacTxSrc};
use crate::cmac_receive::CmacReceive;
use crate::cmac_send::CmacSend;
use crate::cmac_start::CmacStart;
use crate::port_crossing::PortCrossing;

/// Joins a port of the card (250 MHz) and a CMAC with its AXI4-stream interface (PG203, 512 bits at 322.266 MHz, `rx_clk` driven by `gt_txusrclk2`).
/// `docs/shims.md` has the rates and the resets.
#[derive(LogicBlock, Default)]
pub struct CmacShim {
    /// The card's clock, and the card's reset.
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    // Card.
    pub rx: MacRxSrc<512>,
    pub tx: MacTxSnk<512>,
    pub port_up: Signal<Out, Bit>,
    /// Received frames that were dropped, or cut because they are too long, modulo 2^32.
    pub rx_dropped: Signal<Out, Bits<32>>,

    // CMAC, all on `mac_clock`.
    pub mac_clock: Signal<In, Clock>,
    pub rx_axis: CmacRxSnk,
    pub tx_axis: CmacTxSrc,
    pub usr_rx_reset: Signal<In, Bit>,
    pub usr_tx_reset: Signal<In, Bit>,
    pub stat_rx_aligned: Signal<In, Bit>,
    pub stat_rx_remote_fault: Signal<In, Bit>,
    pub ctl_rx_enable: Signal<Out, Bit>,
    pub ctl_tx_enable: Signal<Out, Bit>,
    pub ctl_tx_send_rfi: Signal<Out, Bit>,

    start: CmacStart,
    receive: CmacReceive,
    send: CmacSend,
    crossing: PortCrossing<512, 522>,
}

impl Logic for CmacShim {
    #[hdl]
    fn update(&mut self) {
        self.crossing.card_clock.next = self.clock.val();
        self.crossing.mac_clock.next = self.mac_clock.val();
        self.start.clock.next = self.mac_clock.val();
        self.receive.clock.next = self.mac_clock.val();
        self.send.clock.next = self.mac_clock.val();
        join!(
            self,
            usr_rx_reset => start.usr_rx_reset,
            usr_tx_reset => start.usr_tx_reset,
            stat_rx_aligned => start.stat_rx_aligned,
            stat_rx_remote_fault => start.stat_rx_remote_fault,
            start.ctl_rx_enable => ctl_rx_enable,
            start.ctl_tx_enable => ctl_tx_enable,
            start.ctl_tx_send_rfi => ctl_tx_send_rfi,
            start.mac_reset => crossing.mac_reset,
            start.mac_reset => receive.reset,
            start.link_up => crossing.link_up,
            rx_axis => receive.rx_axis,
            receive.rx => crossing.mac_rx,
            crossing.mac_tx => send.tx,
            crossing.tx_reset => send.reset,
            send.tx_axis => tx_axis,
            reset => crossing.reset,
            crossing.rx => rx,
            tx => crossing.tx,
            crossing.port_up => port_up,
            crossing.rx_dropped => rx_dropped,
        );
    }
}
