//! The start-up sequence of a CMAC.

use hdl_macros::hdl;
use rust_hdl::prelude::*;

#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum Link {
    /// The MAC is in reset.
    Reset,
    /// The receiver runs and is not aligned. The transmitter sends remote faults, so that the peer sends no frame into nothing.
    Align,
    /// Frames go both ways.
    Up,
}

/// Enables a CMAC in the order of PG203 ("core bring-up sequence"): the receiver at once; remote faults until it is aligned; then frames. A link that loses
/// its alignment begins again. Everything is on the MAC's clock.
///
/// RS-FEC is configured by constants at the core, before its reset ends (`fpga/rtl`).
#[derive(LogicBlock, Default)]
pub struct CmacStart {
    pub clock: Signal<In, Clock>,
    /// The core's `usr_rx_reset` and `usr_tx_reset`.
    pub usr_rx_reset: Signal<In, Bit>,
    pub usr_tx_reset: Signal<In, Bit>,
    pub stat_rx_aligned: Signal<In, Bit>,
    /// The peer receives nothing.
    pub stat_rx_remote_fault: Signal<In, Bit>,

    pub ctl_rx_enable: Signal<Out, Bit>,
    pub ctl_tx_enable: Signal<Out, Bit>,
    pub ctl_tx_send_rfi: Signal<Out, Bit>,
    /// The MAC is in reset, a register.
    pub mac_reset: Signal<Out, Bit>,
    /// Frames go both ways, a register.
    pub link_up: Signal<Out, Bit>,

    link: DFF<Link>,
    in_reset: DFF<Bit>,
    receives: DFF<Bit>,
    sends: DFF<Bit>,
    sends_fault: DFF<Bit>,
    up: DFF<Bit>,
}

impl Logic for CmacStart {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            link,
            in_reset,
            receives,
            sends,
            sends_fault,
            up
        );
        let resets = self.usr_rx_reset.val() | self.usr_tx_reset.val();
        let aligned = self.stat_rx_aligned.val();
        match self.link.q.val() {
            Link::Reset => {
                self.link.d.next = Link::Align;
            }
            Link::Align => {
                if aligned {
                    self.link.d.next = Link::Up;
                }
            }
            Link::Up => {
                if !aligned {
                    self.link.d.next = Link::Align;
                }
            }
        }
        if resets {
            self.link.d.next = Link::Reset;
        }
        let state = self.link.q.val();
        self.in_reset.d.next = resets;
        self.receives.d.next = state != Link::Reset;
        self.sends.d.next = state == Link::Up;
        self.sends_fault.d.next = state == Link::Align;
        self.up.d.next = (state == Link::Up) & aligned & !self.stat_rx_remote_fault.val() & !resets;

        self.ctl_rx_enable.next = self.receives.q.val();
        self.ctl_tx_enable.next = self.sends.q.val();
        self.ctl_tx_send_rfi.next = self.sends_fault.q.val();
        self.mac_reset.next = self.in_reset.q.val();
        self.link_up.next = self.up.q.val();
    }
}
