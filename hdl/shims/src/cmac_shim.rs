//! A port of the card at AMD's CMAC.

use hdl_crossings::async_fifo::STAGES;
use hdl_crossings::gray_pointer::{binary_of, gray_of};
use hdl_crossings::{BlockAsyncFifo, CrossingSource, LevelSynchroniser, ResetSynchroniser};
use hdl_macros::{hdl, join};
use hdl_primitives::{MacRxSrc, MacTxSnk};
use rust_hdl::prelude::*;

use crate::bundles::{CmacRxSnk, CmacTxSrc};
use crate::cmac_start::CmacStart;
use crate::frame_beat::FrameBeat;
use crate::rx_admit::RxAdmit;
use crate::rx_deliver::RxDeliver;
use crate::tx_launch::TxLaunch;
use crate::tx_store::TxStore;

/// Joins a port of the card (250 MHz) and a CMAC with its AXI4-stream interface (PG203, 512 bits at 322.266 MHz, `rx_clk` driven by `gt_txusrclk2`).
///
/// Each direction is a FIFO of 512 beats in block RAM: 32 KiB. A received frame is dropped whole if the FIFO has no room for the longest one. A frame to send
/// begins when it is complete. `docs/shims.md` has the rates and the resets.
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
    up: CrossingSource<1>,
    up_seen: LevelSynchroniser<1, STAGES>,

    rx_admit: RxAdmit<10>,
    rx_fifo: BlockAsyncFifo<FrameBeat, 9, 10>,
    rx_deliver: RxDeliver,
    // The reader's reset first (`docs/crossings.md`). Each reset crosses from a register of its own.
    mac_reset: CrossingSource<1>,
    rx_read_reset: ResetSynchroniser<STAGES>,
    rx_reset: CrossingSource<1>,
    rx_write_reset: ResetSynchroniser<STAGES>,
    drops: DFF<Bits<32>>,
    drops_gray: CrossingSource<32>,
    drops_seen: LevelSynchroniser<32, STAGES>,
    drops_known: DFF<Bits<32>>,

    tx_store: TxStore<10>,
    tx_fifo: BlockAsyncFifo<FrameBeat, 9, 10>,
    tx_launch: TxLaunch<10>,
    tx_read_reset: ResetSynchroniser<STAGES>,
    tx_reset: CrossingSource<1>,
    tx_write_reset: ResetSynchroniser<STAGES>,
    complete: CrossingSource<10>,
    complete_seen: LevelSynchroniser<10, STAGES>,
}

impl Logic for CmacShim {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, drops_known);
        dff_setup!(self, mac_clock, drops);
        clock!(self, clock, up_seen, rx_deliver, rx_read_reset, drops_seen);
        clock!(self, clock, tx_store, tx_write_reset, complete);
        self.start.clock.next = self.mac_clock.val();
        self.up.clock.next = self.mac_clock.val();
        self.rx_admit.clock.next = self.mac_clock.val();
        self.rx_write_reset.clock.next = self.mac_clock.val();
        self.drops_gray.clock.next = self.mac_clock.val();
        self.tx_launch.clock.next = self.mac_clock.val();
        self.tx_read_reset.clock.next = self.mac_clock.val();
        self.complete_seen.clock.next = self.mac_clock.val();
        self.rx_fifo.write_clock.next = self.mac_clock.val();
        self.rx_fifo.read_clock.next = self.clock.val();
        self.tx_fifo.write_clock.next = self.clock.val();
        self.tx_fifo.read_clock.next = self.mac_clock.val();

        // start-up
        join!(
            self,
            usr_rx_reset => start.usr_rx_reset,
            usr_tx_reset => start.usr_tx_reset,
            stat_rx_aligned => start.stat_rx_aligned,
            stat_rx_remote_fault => start.stat_rx_remote_fault,
            start.ctl_rx_enable => ctl_rx_enable,
            start.ctl_tx_enable => ctl_tx_enable,
            start.ctl_tx_send_rfi => ctl_tx_send_rfi,
        );
        self.up.d.next = bit_cast::<1, 1>(self.start.link_up.val().into());
        self.up_seen.level.next = self.up.q.val();
        self.port_up.next = self.up_seen.synchronised.val().get_bit(0);

        // resets
        self.mac_reset.clock.next = self.mac_clock.val();
        self.mac_reset.d.next = bit_cast::<1, 1>(self.start.mac_reset.val().into());
        self.rx_read_reset.asynchronous.next = self.mac_reset.q.val().get_bit(0);
        self.rx_reset.clock.next = self.clock.val();
        self.rx_reset.d.next = bit_cast::<1, 1>(self.rx_read_reset.reset.val().into());
        self.rx_write_reset.asynchronous.next = self.rx_reset.q.val().get_bit(0);
        self.tx_read_reset.asynchronous.next = self.mac_reset.q.val().get_bit(0);
        self.tx_reset.clock.next = self.mac_clock.val();
        self.tx_reset.d.next = bit_cast::<1, 1>(self.tx_read_reset.reset.val().into());
        self.tx_write_reset.asynchronous.next = self.tx_reset.q.val().get_bit(0);

        // receive
        join!(
            self,
            start.mac_reset => rx_admit.mac_reset,
            rx_write_reset.reset => rx_admit.fifo_reset,
            rx_write_reset.reset => rx_fifo.write_reset,
            rx_read_reset.reset => rx_fifo.read_reset,
            rx_read_reset.reset => rx_deliver.fifo_reset,
            rx_axis => rx_admit.rx_axis,
            rx_fifo.count => rx_admit.count,
            rx_fifo.out => rx_deliver.in_,
            rx_deliver.rx => rx,
        );
        self.rx_fifo.in_.valid.next = self.rx_admit.out.valid.val();
        self.rx_fifo.in_.data.next = self.rx_admit.out.data.val();

        let drops = if self.rx_admit.dropped.val() {
            self.drops.q.val() + 1
        } else {
            self.drops.q.val()
        };
        self.drops.d.next = drops;
        self.drops_gray.d.next = gray_of(drops);
        self.drops_seen.level.next = self.drops_gray.q.val();
        self.drops_known.d.next = binary_of(self.drops_seen.synchronised.val());
        self.rx_dropped.next = self.drops_known.q.val();

        // transmit
        join!(
            self,
            reset => tx_store.reset,
            tx_write_reset.reset => tx_store.fifo_reset,
            tx_write_reset.reset => tx_fifo.write_reset,
            tx_read_reset.reset => tx_fifo.read_reset,
            tx_read_reset.reset => tx_launch.fifo_reset,
            start.link_up => tx_launch.link_up,
            tx => tx_store.tx,
            tx_store.out => tx_fifo.in_,
            tx_store.complete => complete.d,
            complete.q => complete_seen.level,
            complete_seen.synchronised => tx_launch.complete_seen,
            tx_fifo.out => tx_launch.in_,
            tx_launch.tx_axis => tx_axis,
        );
    }
}
