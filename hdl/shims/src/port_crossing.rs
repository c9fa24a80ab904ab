//! A port of the card on the clock of its MAC.

use hdl_crossings::async_fifo::STAGES;
use hdl_crossings::gray_pointer::{binary_of, gray_of};
use hdl_crossings::{BlockAsyncFifo, CrossingSource, LevelSynchroniser, ResetSynchroniser};
use hdl_macros::{hdl, join};
use hdl_primitives::{MacRxSnk, MacRxSrc, MacTxSnk};
use rust_hdl::prelude::*;

use crate::bundles::FrameTxSrc;
use crate::rx_admit::RxAdmit;
use crate::rx_deliver::RxDeliver;
use crate::tx_launch::TxLaunch;
use crate::tx_store::TxStore;

/// Joins a port of the card and the streams of a MAC on another clock, `W` bits per beat. `P` is `W` and [`FLAG_BITS`](crate::frame_word::FLAG_BITS).
///
/// Each direction is a FIFO of 512 beats in block RAM. A received frame is dropped whole if the FIFO has no room for the longest one. A frame to send begins
/// when it is complete, and has no gap. `docs/shims.md` has the rates and the resets.
#[derive(LogicBlock, Default)]
pub struct PortCrossing<const W: usize, const P: usize> {
    /// The card's clock, and the card's reset.
    pub card_clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub rx: MacRxSrc<W>,
    pub tx: MacTxSnk<W>,
    pub port_up: Signal<Out, Bit>,
    /// Received frames that were dropped, or cut because they are too long, modulo 2^32.
    pub rx_dropped: Signal<Out, Bits<32>>,

    pub mac_clock: Signal<In, Clock>,
    /// The MAC is in reset, a register. It has to last for 8 cycles of the slower clock.
    pub mac_reset: Signal<In, Bit>,
    /// Frames go both ways, a register.
    pub link_up: Signal<In, Bit>,
    pub mac_rx: MacRxSnk<W>,
    pub mac_tx: FrameTxSrc<W>,
    /// Discards what stands between this block and the MAC.
    pub tx_reset: Signal<Out, Bit>,

    up: CrossingSource<1>,
    up_seen: LevelSynchroniser<1, STAGES>,

    rx_admit: RxAdmit<W, P, 10>,
    rx_fifo: BlockAsyncFifo<Bits<P>, 9, 10>,
    rx_deliver: RxDeliver<W, P>,
    // The reader's reset first (`docs/crossings.md`). Each reset crosses from a register of its own.
    reset_source: CrossingSource<1>,
    rx_read_reset: ResetSynchroniser<STAGES>,
    rx_reset_source: CrossingSource<1>,
    rx_write_reset: ResetSynchroniser<STAGES>,
    drops: DFF<Bits<32>>,
    drops_gray: CrossingSource<32>,
    drops_seen: LevelSynchroniser<32, STAGES>,
    drops_known: DFF<Bits<32>>,

    tx_store: TxStore<W, P, 10>,
    tx_fifo: BlockAsyncFifo<Bits<P>, 9, 10>,
    tx_launch: TxLaunch<W, P, 10>,
    tx_read_reset: ResetSynchroniser<STAGES>,
    tx_reset_source: CrossingSource<1>,
    tx_write_reset: ResetSynchroniser<STAGES>,
    complete: CrossingSource<10>,
    complete_seen: LevelSynchroniser<10, STAGES>,
}

impl<const W: usize, const P: usize> Logic for PortCrossing<W, P> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, card_clock, drops_known);
        dff_setup!(self, mac_clock, drops);
        self.up_seen.clock.next = self.card_clock.val();
        self.rx_deliver.clock.next = self.card_clock.val();
        self.rx_read_reset.clock.next = self.card_clock.val();
        self.drops_seen.clock.next = self.card_clock.val();
        self.tx_store.clock.next = self.card_clock.val();
        self.tx_write_reset.clock.next = self.card_clock.val();
        self.complete.clock.next = self.card_clock.val();
        self.up.clock.next = self.mac_clock.val();
        self.rx_admit.clock.next = self.mac_clock.val();
        self.rx_write_reset.clock.next = self.mac_clock.val();
        self.drops_gray.clock.next = self.mac_clock.val();
        self.tx_launch.clock.next = self.mac_clock.val();
        self.tx_read_reset.clock.next = self.mac_clock.val();
        self.complete_seen.clock.next = self.mac_clock.val();
        self.rx_fifo.write_clock.next = self.mac_clock.val();
        self.rx_fifo.read_clock.next = self.card_clock.val();
        self.tx_fifo.write_clock.next = self.card_clock.val();
        self.tx_fifo.read_clock.next = self.mac_clock.val();

        // link
        self.up.d.next = bit_cast::<1, 1>(self.link_up.val().into());
        self.up_seen.level.next = self.up.q.val();
        self.port_up.next = self.up_seen.synchronised.val().get_bit(0);

        // resets
        self.reset_source.clock.next = self.mac_clock.val();
        self.reset_source.d.next = bit_cast::<1, 1>(self.mac_reset.val().into());
        self.rx_read_reset.asynchronous.next = self.reset_source.q.val().get_bit(0);
        self.rx_reset_source.clock.next = self.card_clock.val();
        self.rx_reset_source.d.next = bit_cast::<1, 1>(self.rx_read_reset.reset.val().into());
        self.rx_write_reset.asynchronous.next = self.rx_reset_source.q.val().get_bit(0);
        self.tx_read_reset.asynchronous.next = self.reset_source.q.val().get_bit(0);
        self.tx_reset_source.clock.next = self.mac_clock.val();
        self.tx_reset_source.d.next = bit_cast::<1, 1>(self.tx_read_reset.reset.val().into());
        self.tx_write_reset.asynchronous.next = self.tx_reset_source.q.val().get_bit(0);

        // receive
        join!(
            self,
            mac_reset => rx_admit.mac_reset,
            rx_write_reset.reset => rx_admit.fifo_reset,
            rx_write_reset.reset => rx_fifo.write_reset,
            rx_read_reset.reset => rx_fifo.read_reset,
            rx_read_reset.reset => rx_deliver.fifo_reset,
            mac_rx => rx_admit.rx,
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
            tx_read_reset.reset => tx_launch.reset,
            tx_read_reset.reset => tx_reset,
            link_up => tx_launch.link_up,
            tx => tx_store.tx,
            tx_store.out => tx_fifo.in_,
            tx_store.complete => complete.d,
            complete.q => complete_seen.level,
            complete_seen.synchronised => tx_launch.complete_seen,
            tx_fifo.out => tx_launch.in_,
            tx_launch.tx => mac_tx,
        );
    }
}
