//! Starts AMD's DCMAC and both of its 200G ports through its registers.

use hdl_crossings::async_fifo::STAGES;
use hdl_crossings::{CrossingSource, LevelSynchroniser};
use hdl_macros::{hdl, join};
use rust_hdl::prelude::*;

use crate::axi_lite_access::AxiLiteAccess;
use crate::bundles::AxiLiteSrc;
use crate::dcmac_sequence::DcmacSequence;

/// [`DcmacStart`] with the times of a board, for a clock of 100 MHz: pauses of 1.3 ms, a look at a port every 20 us, 168 ms for the transceivers, 0.7 s until a
/// port has to be aligned, 0.66 ms for an access. AMD's example and Linux' driver have 1 ms, 1 ms, 100 ms and 1 s.
pub type DcmacStart100 = DcmacStart<17, 10, 24, 25, 15, 16, 16, 17>;

/// Brings up a DCMAC (PG369) by its AXI4-Lite interface: `docs/shims.md`, "Start-up of the DCMAC". `clock` is that of the interface and stays on, `mac_clock` that
/// of the frames. `PAUSE`, `POLL`, `LIMIT`, `TIME`, `POLLS` and `LOOKS` are those of [`DcmacSequence`], `ANSWER` and `COUNT` the limit of an [`AxiLiteAccess`] and its
/// counter.
#[derive(LogicBlock, Default)]
pub struct DcmacStart<
    const PAUSE: usize,
    const POLL: usize,
    const LIMIT: usize,
    const TIME: usize,
    const POLLS: usize,
    const LOOKS: usize,
    const ANSWER: usize,
    const COUNT: usize,
> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub axi: AxiLiteSrc,
    /// The reset of the interface, active low.
    pub axi_aresetn: Signal<Out, Bit>,

    // The transceivers of both ports; asynchronous inputs.
    pub gt_reset: Signal<Out, Bit>,
    pub gt_rx_reset: Signal<Out, Bits<2>>,
    pub gt_tx_done: Signal<In, Bits<2>>,
    pub gt_rx_done: Signal<In, Bits<2>>,

    pub mac_clock: Signal<In, Clock>,
    /// For the `DcmacShim` of each port, on `mac_clock`: the port is in reset, and it is up.
    pub mac_reset: Signal<Out, Bits<2>>,
    pub link_up: Signal<Out, Bits<2>>,

    tx_done_seen: LevelSynchroniser<2, STAGES>,
    rx_done_seen: LevelSynchroniser<2, STAGES>,
    sequence: DcmacSequence<PAUSE, POLL, LIMIT, TIME, POLLS, LOOKS>,
    access: AxiLiteAccess<4, ANSWER, COUNT>,
    resets: [CrossingSource<1>; 2],
    resets_seen: [LevelSynchroniser<1, STAGES>; 2],
    ups: [CrossingSource<1>; 2],
    ups_seen: [LevelSynchroniser<1, STAGES>; 2],
}

impl<
        const PAUSE: usize,
        const POLL: usize,
        const LIMIT: usize,
        const TIME: usize,
        const POLLS: usize,
        const LOOKS: usize,
        const ANSWER: usize,
        const COUNT: usize,
    > Logic for DcmacStart<PAUSE, POLL, LIMIT, TIME, POLLS, LOOKS, ANSWER, COUNT>
{
    #[hdl]
    fn update(&mut self) {
        self.tx_done_seen.clock.next = self.clock.val();
        self.rx_done_seen.clock.next = self.clock.val();
        self.sequence.clock.next = self.clock.val();
        self.access.clock.next = self.clock.val();
        join!(
            self,
            reset => sequence.reset,
            reset => access.reset,
            gt_tx_done => tx_done_seen.level,
            gt_rx_done => rx_done_seen.level,
            tx_done_seen.synchronised => sequence.gt_tx_done,
            rx_done_seen.synchronised => sequence.gt_rx_done,
            access.ready => sequence.access_ready,
            sequence.access_start => access.start,
            sequence.access_write => access.write,
            sequence.access_address => access.address,
            sequence.access_data => access.data,
            access.done => sequence.access_done,
            access.failed => sequence.access_failed,
            access.read_data => sequence.access_read_data,
            access.axi => axi,
            access.axi_aresetn => axi_aresetn,
            sequence.gt_reset => gt_reset,
            sequence.gt_rx_reset => gt_rx_reset,
        );
        // Two levels of a port do not belong together: the shim is down while either says so.
        let mut resets = bits::<2>(0);
        let mut ups = bits::<2>(0);
        for p in 0..2 {
            self.resets[p].clock.next = self.clock.val();
            self.ups[p].clock.next = self.clock.val();
            self.resets_seen[p].clock.next = self.mac_clock.val();
            self.ups_seen[p].clock.next = self.mac_clock.val();
            self.resets[p].d.next = self.sequence.mac_reset.val().get_bits::<1>(p);
            self.ups[p].d.next = self.sequence.link_up.val().get_bits::<1>(p);
            self.resets_seen[p].level.next = self.resets[p].q.val();
            self.ups_seen[p].level.next = self.ups[p].q.val();
            resets = resets.replace_bit(p, self.resets_seen[p].synchronised.val().get_bit(0));
            ups = ups.replace_bit(p, self.ups_seen[p].synchronised.val().get_bit(0));
        }
        self.mac_reset.next = resets;
        self.link_up.next = ups;
    }
}
