//! Shares of the tenants at a port.

use hdl_macros::{clock, hdl};
use hdl_primitives::BlockRam;
use rust_hdl::prelude::*;
use stellar_wire::hw::QPN_BITS;
use stellar_wire::rows::STEP_ONE;

use crate::bundles::ShareSnk;

/// What the schedule knows of a tenant's share.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Share {
    /// Virtual time per byte.
    pub step: Bits<16>,
    /// The tenant has a rate limit.
    pub limited: Bit,
}

/// The shares of 2^`P` tenants. After a reset the rows are cleared, one per cycle; until all are, `share_ready` is low, and all tenants have the default share.
///
/// The schedule clears its rows of 2^`Q` queue pairs in the same cycles, so as many rows are counted as the longer table has. Levels: 2 and a carry chain.
#[derive(LogicBlock, Default)]
pub struct ShareRows<const Q: usize, const P: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    // Shares of tenants.
    pub share: ShareSnk,

    /// The tenant whose share is `read` in the next cycle.
    pub tenant: Signal<In, Bits<P>>,
    pub read: Signal<Out, Share>,

    /// The row that is cleared. There is none left for a queue pair.
    pub row: Signal<Out, Bits<Q>>,
    pub queue_pairs_cleared: Signal<Out, Bit>,

    shares: BlockRam<Share, P>,
    /// Rows that are cleared; all are, and the last one can be read.
    swept: DFF<Bits<{ QPN_BITS + 1 }>>,
    all_swept: DFF<Bit>,
}

impl<const Q: usize, const P: usize> Logic for ShareRows<Q, P> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, swept, all_swept);
        clock!(self, clock, shares);
        let default_share = Share {
            step: bits::<16>(STEP_ONE as u64),
            limited: false,
        };

        // clear
        let swept = self.swept.q.val();
        let beyond_queue_pairs = swept >> (Q as u64);
        let beyond_tenants = swept >> (P as u64);
        let sweeps = !(beyond_queue_pairs.any() & beyond_tenants.any());
        if sweeps {
            self.swept.d.next = swept + 1;
        }
        self.all_swept.d.next = !sweeps;
        self.row.next = swept.get_bits::<Q>(0);
        self.queue_pairs_cleared.next = beyond_queue_pairs.any();

        // set
        let set = self.share.record.val();
        let new_share = Share {
            step: set.step,
            limited: set.rate.any(),
        };
        self.share.ready.next = !sweeps;
        self.shares.write_enable.next = sweeps | self.share.valid.val();
        self.shares.write_address.next = if sweeps {
            swept.get_bits::<P>(0)
        } else {
            self.share.tenant.val().get_bits::<P>(0)
        };
        self.shares.write_data.next = if sweeps { default_share } else { new_share };

        // read. Until all rows are cleared, no share has been set.
        self.shares.read_address.next = self.tenant.val();
        self.read.next = if self.all_swept.q.val() {
            self.shares.read_data.val()
        } else {
            default_share
        };

        if self.reset.val() {
            self.swept.d.next = bits(0);
            self.all_swept.d.next = false;
        }
    }
}
