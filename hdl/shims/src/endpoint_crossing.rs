//! A PCIe endpoint whose clock is not the card's.

use hdl_crossings::async_fifo::STAGES;
use hdl_crossings::gray_pointer::gray_of;
use hdl_crossings::{CrossingSource, LevelSynchroniser, LutAsyncFifo};
use hdl_crossings::{PulseHandshake, ResetSynchroniser};
use hdl_macros::hdl;
use hdl_pcie::bundles::{AxisSnk, AxisSrc};
use rust_hdl::prelude::*;
use stellar_wire::pcie::sideband::request;

use crate::request_launch::RequestLaunch;

/// Bits of a beat, and of `tkeep`, and of `tuser` of the three streams.
const W: usize = 1_024;
const K: usize = 32;
const RQ: usize = 373;
const RC: usize = 337;
const CQ: usize = 465;
/// Place of `tkeep` in a word, of `tlast`, and of `tuser`.
const KEEP: usize = W;
const LAST: usize = KEEP + K;
const USER: usize = LAST + 1;
/// A beat in a FIFO; that of a request has one more bit, which says that a TLP stays open.
const RQ_WORD: usize = USER + RQ + 1;
const RC_WORD: usize = USER + RC;
const CQ_WORD: usize = USER + CQ;
/// A FIFO has 2^`A` beats, and a pointer `C` bits.
const A: usize = 5;
const C: usize = A + 1;
/// Cycles of the card for which a reset of the FIFOs lasts.
const HOLD: usize = 5;

/// Joins endpoint 1 of the card and a PCIe block of 1,024 bits whose user clock is not the card's. Versal's CPM5 has a clock for each of its controllers, and the card takes that of the
/// first one. `docs/shims.md`, "The second endpoint".
///
/// `user_reset` and a link that is down empty the FIFOs. Meanwhile the card hears that the link is down, so both sides begin at a TLP again. The card's reset does not touch them: the card
/// ends a TLP that it has begun by itself (`slot_packer`), and the PCIe block has to hear that.
#[derive(LogicBlock, Default)]
pub struct EndpointCrossing {
    /// The card's clock.
    pub clock: Signal<In, Clock>,
    pub rq: AxisSnk<W, K, RQ>,
    pub rc: AxisSrc<W, K, RC>,
    pub cq: AxisSrc<W, K, CQ>,
    pub link_down: Signal<Out, Bit>,
    pub flr_in_process: Signal<Out, Bit>,
    pub flr_done: Signal<In, Bit>,

    // The PCIe block, all on `user_clock`.
    pub user_clock: Signal<In, Clock>,
    pub user_reset: Signal<In, Bit>,
    pub user_rq: AxisSrc<W, K, RQ>,
    pub user_rc: AxisSnk<W, K, RC>,
    pub user_cq: AxisSnk<W, K, CQ>,
    pub user_link_down: Signal<In, Bit>,
    pub user_flr_in_process: Signal<In, Bit>,
    pub user_flr_done: Signal<Out, Bit>,

    // Levels and the pulse. A user clock that stands from the start is a link that is down.
    up: CrossingSource<1>,
    up_seen: LevelSynchroniser<1, STAGES>,
    flr: CrossingSource<1>,
    flr_seen: LevelSynchroniser<1, STAGES>,
    flr_pulse: PulseHandshake<STAGES>,

    // Resets: the reader's first (`docs/crossings.md`). Each crosses from a register of its own.
    held: DFF<Bits<{ HOLD + 1 }>>,
    holds: DFF<Bit>,
    reset_source: CrossingSource<1>,
    user_side_reset: ResetSynchroniser<STAGES>,
    rq_reset_source: CrossingSource<1>,
    rq_write_reset: ResetSynchroniser<STAGES>,

    // Requests. A TLP is open behind the last beat.
    open: DFF<Bit>,
    chains: DFF<Bits<C>>,
    beats: DFF<Bits<C>>,
    written: CrossingSource<C>,
    written_seen: LevelSynchroniser<C, STAGES>,
    complete: CrossingSource<C>,
    complete_seen: LevelSynchroniser<C, STAGES>,
    rq_fifo: LutAsyncFifo<Bits<RQ_WORD>, A, C>,
    launch: RequestLaunch<RQ_WORD, C, 3>,
    rc_fifo: LutAsyncFifo<Bits<RC_WORD>, A, C>,
    cq_fifo: LutAsyncFifo<Bits<CQ_WORD>, A, C>,
}

impl Logic for EndpointCrossing {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, held, holds, open, chains, beats);
        self.up_seen.clock.next = self.clock.val();
        self.flr_seen.clock.next = self.clock.val();
        self.flr_pulse.from_clock.next = self.clock.val();
        self.reset_source.clock.next = self.clock.val();
        self.rq_write_reset.clock.next = self.clock.val();
        self.written.clock.next = self.clock.val();
        self.complete.clock.next = self.clock.val();
        self.rq_fifo.write_clock.next = self.clock.val();
        self.rc_fifo.read_clock.next = self.clock.val();
        self.cq_fifo.read_clock.next = self.clock.val();
        self.up.clock.next = self.user_clock.val();
        self.flr.clock.next = self.user_clock.val();
        self.flr_pulse.to_clock.next = self.user_clock.val();
        self.user_side_reset.clock.next = self.user_clock.val();
        self.rq_reset_source.clock.next = self.user_clock.val();
        self.written_seen.clock.next = self.user_clock.val();
        self.complete_seen.clock.next = self.user_clock.val();
        self.launch.clock.next = self.user_clock.val();
        self.rq_fifo.read_clock.next = self.user_clock.val();
        self.rc_fifo.write_clock.next = self.user_clock.val();
        self.cq_fifo.write_clock.next = self.user_clock.val();

        // function-level reset
        self.flr.d.next = bit_cast::<1, 1>(self.user_flr_in_process.val().into());
        self.flr_seen.level.next = self.flr.q.val();
        self.flr_in_process.next = self.flr_seen.synchronised.val().get_bit(0);
        self.flr_pulse.pulse.next = self.flr_done.val();
        self.user_flr_done.next = self.flr_pulse.out.val();

        // resets
        let up = !self.user_reset.val() & !self.user_link_down.val();
        self.up.d.next = bit_cast::<1, 1>(up.into());
        self.up_seen.level.next = self.up.q.val();
        let begins = !self.up_seen.synchronised.val().get_bit(0);
        if begins {
            self.held.d.next = bits(0);
        } else if !self.held.q.val().get_bit(HOLD) {
            self.held.d.next = self.held.q.val() + 1;
        }
        let holds = begins | !self.held.q.val().get_bit(HOLD);
        self.holds.d.next = holds;
        self.reset_source.d.next = bit_cast::<1, 1>(holds.into());
        self.user_side_reset.asynchronous.next = self.reset_source.q.val().get_bit(0);
        let user_side = self.user_side_reset.reset.val();
        self.rq_reset_source.d.next = bit_cast::<1, 1>(user_side.into());
        self.rq_write_reset.asynchronous.next = self.rq_reset_source.q.val().get_bit(0);
        let writer = self.rq_write_reset.reset.val();
        self.rq_fifo.read_reset.next = user_side;
        self.rq_fifo.write_reset.next = writer;
        self.launch.reset.next = user_side;
        self.rc_fifo.read_reset.next = self.holds.q.val();
        self.cq_fifo.read_reset.next = self.holds.q.val();
        self.rc_fifo.write_reset.next = user_side;
        self.cq_fifo.write_reset.next = user_side;
        // The writer's reset lasts for some cycles more, in which the first beat behind it waits.
        self.link_down.next = self.holds.q.val();

        // requests
        let mut open = self.open.q.val();
        for n in 0..request::places(W) {
            let starts = self.rq.tuser.val().get_bit(request::starts(W, n));
            let ends = self.rq.tuser.val().get_bit(request::ends(W, n));
            open = open ^ starts ^ ends;
        }
        let moves = self.rq.tvalid.val() & self.rq_fifo.in_.ready.val();
        let mut request = bit_cast::<RQ_WORD, W>(self.rq.tdata.val())
            | (bit_cast::<RQ_WORD, K>(self.rq.tkeep.val()) << (KEEP as u64))
            | (bit_cast::<RQ_WORD, RQ>(self.rq.tuser.val()) << (USER as u64));
        request = request
            .replace_bit(LAST, self.rq.tlast.val())
            .replace_bit(RQ_WORD - 1, open);
        self.rq_fifo.in_.valid.next = self.rq.tvalid.val();
        self.rq_fifo.in_.data.next = request;
        self.rq.tready.next = self.rq_fifo.in_.ready.val();
        if moves {
            self.open.d.next = open;
        }
        if writer {
            self.open.d.next = false;
        }
        let chains = if writer {
            bits::<C>(0)
        } else if moves & !open {
            self.chains.q.val() + 1
        } else {
            self.chains.q.val()
        };
        let beats = if writer {
            bits::<C>(0)
        } else if moves {
            self.beats.q.val() + 1
        } else {
            self.beats.q.val()
        };
        self.chains.d.next = chains;
        self.beats.d.next = beats;
        self.written.d.next = gray_of(beats);
        self.written_seen.level.next = self.written.q.val();
        self.launch.beats_seen.next = self.written_seen.synchronised.val();
        self.complete.d.next = gray_of(chains);
        self.complete_seen.level.next = self.complete.q.val();
        self.launch.complete_seen.next = self.complete_seen.synchronised.val();
        self.launch.in_.valid.next = self.rq_fifo.out.valid.val();
        self.launch.in_.data.next = self.rq_fifo.out.data.val();
        self.rq_fifo.out.ready.next = self.launch.in_.ready.val();
        let left = self.launch.out.data.val();
        self.user_rq.tvalid.next = self.launch.out.valid.val();
        self.launch.out.ready.next = self.user_rq.tready.val();
        self.user_rq.tdata.next = left.get_bits::<W>(0);
        self.user_rq.tkeep.next = left.get_bits::<K>(KEEP);
        self.user_rq.tlast.next = left.get_bit(LAST);
        self.user_rq.tuser.next = left.get_bits::<RQ>(USER);

        // completions, and requests of the host. In a reset of the FIFOs they are taken and lost.
        let completion = bit_cast::<RC_WORD, W>(self.user_rc.tdata.val())
            | (bit_cast::<RC_WORD, K>(self.user_rc.tkeep.val()) << (KEEP as u64))
            | (bit_cast::<RC_WORD, RC>(self.user_rc.tuser.val()) << (USER as u64));
        self.rc_fifo.in_.valid.next = self.user_rc.tvalid.val();
        self.rc_fifo.in_.data.next = completion.replace_bit(LAST, self.user_rc.tlast.val());
        self.user_rc.tready.next = self.rc_fifo.in_.ready.val() | user_side;
        let came = self.rc_fifo.out.data.val();
        self.rc.tvalid.next = self.rc_fifo.out.valid.val();
        self.rc_fifo.out.ready.next = self.rc.tready.val();
        self.rc.tdata.next = came.get_bits::<W>(0);
        self.rc.tkeep.next = came.get_bits::<K>(KEEP);
        self.rc.tlast.next = came.get_bit(LAST);
        self.rc.tuser.next = came.get_bits::<RC>(USER);

        let asked = bit_cast::<CQ_WORD, W>(self.user_cq.tdata.val())
            | (bit_cast::<CQ_WORD, K>(self.user_cq.tkeep.val()) << (KEEP as u64))
            | (bit_cast::<CQ_WORD, CQ>(self.user_cq.tuser.val()) << (USER as u64));
        self.cq_fifo.in_.valid.next = self.user_cq.tvalid.val();
        self.cq_fifo.in_.data.next = asked.replace_bit(LAST, self.user_cq.tlast.val());
        self.user_cq.tready.next = self.cq_fifo.in_.ready.val() | user_side;
        let message = self.cq_fifo.out.data.val();
        self.cq.tvalid.next = self.cq_fifo.out.valid.val();
        self.cq_fifo.out.ready.next = self.cq.tready.val();
        self.cq.tdata.next = message.get_bits::<W>(0);
        self.cq.tkeep.next = message.get_bits::<K>(KEEP);
        self.cq.tlast.next = message.get_bit(LAST);
        self.cq.tuser.next = message.get_bits::<CQ>(USER);
    }
}
