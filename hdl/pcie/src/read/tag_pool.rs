//! Tags that no outstanding request uses.

use hdl_macros::{clock_reset, hdl, join};
use hdl_primitives::{BlockFifo, Src};
use rust_hdl::prelude::*;

use super::records::{TagUse, TAGS, TAG_BITS};

/// Bits of a number of tags.
pub const COUNT_BITS: usize = TAG_BITS + 1;

/// Holds the tags of a range that no outstanding request uses, in a FIFO. The tag that was unused longest is next, so a stray completion most likely meets a
/// free tag.
///
/// There are 2^`A` tags, 256 in the card; `C` must be `A` + 1. After reset it outputs every tag once on `sweep_tag`, one per cycle, and adds those of its
/// range to the FIFO. Blocks with a table by tag clear the entry then. No tag may be taken before the sweep has ended: a request that leaves in that time
/// would lose its entry in the tables. The read scoreboard sees to it, because a gate here would be in the path that `ready` takes back to the
/// commands. At most one tag leaves and one returns per cycle. Levels: 2.
#[derive(LogicBlock)]
pub struct TagPool<const A: usize = TAG_BITS, const C: usize = COUNT_BITS> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    /// Tables by tag are being cleared: nothing may be taken or returned.
    pub sweeping: Signal<Out, Bit>,
    pub sweep_tag: Signal<Out, Bits<8>>,

    /// The tag, and the phase of its use that now begins.
    pub free: Src<TagUse>,

    pub return_valid: Signal<In, Bit>,
    /// The use that ended.
    pub returned: Signal<In, TagUse>,

    /// A tag is in use: high from two cycles after the first one left.
    pub some_used: Signal<Out, Bit>,

    tags: BlockFifo<TagUse, A, C>,
    /// The top bit is set when all tags have been output.
    swept: DFF<Bits<C>>,
    lacks: DFF<Bit>,
    _first: u64,
    _count: u64,
}

impl<const A: usize, const C: usize> TagPool<A, C> {
    /// Makes a pool of the tags from `first` to `end - 1`.
    pub fn new(first: usize, end: usize) -> Self {
        assert!(
            first < end && end <= 1 << A && A <= TAG_BITS,
            "TagPool of {first} to {end}: give a range of the {} tags, which are at most {TAGS}",
            1 << A
        );
        Self {
            clock: Default::default(),
            reset: Default::default(),
            sweeping: Default::default(),
            sweep_tag: Default::default(),
            free: Default::default(),
            return_valid: Default::default(),
            returned: Default::default(),
            tags: Default::default(),
            some_used: Default::default(),
            swept: Default::default(),
            lacks: Default::default(),
            _first: first as u64,
            _count: (end - first) as u64,
        }
    }
}

impl<const A: usize, const C: usize> Logic for TagPool<A, C> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, swept, lacks);
        clock_reset!(self, tags);
        let sweeping = !self.swept.q.val().get_bit(A);
        let sweep_tag = bit_cast::<8, A>(self.swept.q.val().get_bits::<A>(0));
        let returned = self.returned.val();

        // Tables are cleared to phase 0.
        let of_pool = (sweep_tag - self._first) < self._count;
        self.tags.in_.valid.next = (sweeping & of_pool) | self.return_valid.val();
        self.tags.in_.data.next = if sweeping {
            TagUse {
                tag: sweep_tag,
                phase: true,
            }
        } else {
            TagUse {
                tag: returned.tag,
                phase: !returned.phase,
            }
        };
        if sweeping {
            self.swept.d.next = self.swept.q.val() + 1;
        }

        self.sweeping.next = sweeping;
        self.sweep_tag.next = sweep_tag;
        join!(self, tags.out => free);
        self.lacks.d.next = self.tags.count.val() != self._count;
        self.some_used.next = self.lacks.q.val();

        if self.reset.val() {
            self.swept.d.next = bits(0);
        }
    }
}
