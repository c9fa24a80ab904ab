//! Rows of counters in block RAM: one row per queue pair.

use hdl_macros::{clock, hdl};
use hdl_primitives::{BypassRam, Checked, Parameters};
use rust_hdl::prelude::*;
use stellar_wire::hw::QPN_BITS;

/// Bits that select a counter of a row.
pub const SELECT_BITS: usize = 6;
/// Cycles from a count to the write of its row.
pub const LATENCY: usize = 3;

/// 2^`Q` rows of `N` counters with `W` bits each. A count adds up to `A` bits to each counter of one row; `ADD` = `N` x `A`, `ROW` = `N` x `W`.
///
/// It takes one count per cycle, also of one row in consecutive cycles: the sum of the count before is forwarded. A count may restart its row: the
/// counters are zero before it. A read takes a cycle without a count, in which it uses the port of the memory; so it waits for one. It returns the
/// counter after all counts that came before.
///
/// After a reset every row is cleared, one per cycle; counts in this time are lost.
///
/// Stages: `take` (a count, or else a read), `fetch` (address to the memory), `add` (row of the memory or forwarded; sum), `write` (row; a read selects its counter).
/// LUT levels: 4 (bypass of the memory, forwarding, restart, sum).
#[derive(LogicBlock, Default)]
pub struct CounterRows<
    const N: usize,
    const W: usize,
    const A: usize,
    const ADD: usize,
    const ROW: usize,
    const Q: usize,
> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    pub count_valid: Signal<In, Bit>,
    pub count_row: Signal<In, Bits<Q>>,
    /// The row is zero before this count.
    pub restarts: Signal<In, Bit>,
    /// For each counter of the row, how many more.
    pub add: Signal<In, Bits<ADD>>,

    /// A read. It stays, with its row and its counter, until it is done.
    pub read_valid: Signal<In, Bit>,
    pub read_row: Signal<In, Bits<Q>>,
    pub read_select: Signal<In, Bits<SELECT_BITS>>,
    /// High for one cycle, with the value: zero beyond the last counter.
    pub read_done: Signal<Out, Bit>,
    pub value: Signal<Out, Bits<64>>,

    rows: BypassRam<Bits<ROW>, Q>,
    /// Rows that were cleared; bit `Q` is set when all are.
    swept: DFF<Bits<{ QPN_BITS + 1 }>>,
    /// A read is on its way.
    reading: DFF<Bit>,

    taken_counts: DFF<Bit>,
    taken_reads: DFF<Bit>,
    taken_restarts: DFF<Bit>,
    taken_row: DFF<Bits<Q>>,
    taken_add: DFF<Bits<ADD>>,
    fetched_counts: DFF<Bit>,
    fetched_reads: DFF<Bit>,
    fetched_restarts: DFF<Bit>,
    fetched_row: DFF<Bits<Q>>,
    fetched_add: DFF<Bits<ADD>>,
    /// The count before, now in `sum`, is of the same row.
    forwards: DFF<Bit>,
    summed: DFF<Bit>,
    summed_reads: DFF<Bit>,
    summed_row: DFF<Bits<Q>>,
    sum: DFF<Bits<ROW>>,
    done: DFF<Bit>,
    shown: DFF<Bits<64>>,
}

impl<
        const N: usize,
        const W: usize,
        const A: usize,
        const ADD: usize,
        const ROW: usize,
        const Q: usize,
    > Parameters for CounterRows<N, W, A, ADD, ROW, Q>
{
    fn check() {
        assert!(
            ADD == N * A && ROW == N * W,
            "CounterRows<{N}, {W}, {A}, {ADD}, {ROW}, {Q}>: give ADD = N x A and ROW = N x W"
        );
        assert!(
            A <= W && W <= 64 && N <= 1 << SELECT_BITS && (1..=QPN_BITS).contains(&Q),
            "CounterRows<{N}, {W}, {A}, {ADD}, {ROW}, {Q}>: give A of at most W, W of at most 64, N of at most 64, and Q of 1 to {QPN_BITS}"
        );
    }
}

impl<
        const N: usize,
        const W: usize,
        const A: usize,
        const ADD: usize,
        const ROW: usize,
        const Q: usize,
    > Logic for CounterRows<N, W, A, ADD, ROW, Q>
{
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, swept, reading, done, shown);
        dff_setup!(
            self,
            clock,
            taken_counts,
            taken_reads,
            taken_restarts,
            taken_row,
            taken_add
        );
        dff_setup!(
            self,
            clock,
            fetched_counts,
            fetched_reads,
            fetched_restarts,
            fetched_row,
            fetched_add,
            forwards
        );
        dff_setup!(self, clock, summed, summed_reads, summed_row, sum);
        clock!(self, clock, rows);

        // sweep
        let sweeping = !self.swept.q.val().get_bit(Q);
        if sweeping {
            self.swept.d.next = self.swept.q.val() + 1;
        }

        // take. Registers of counts hold while there is none, so that nothing moves.
        let counts = self.count_valid.val() & !sweeping;
        let reads = self.read_valid.val() & !counts & !self.reading.q.val() & !sweeping;
        self.taken_counts.d.next = counts;
        self.taken_reads.d.next = reads;
        if counts {
            self.taken_restarts.d.next = self.restarts.val();
            self.taken_row.d.next = self.count_row.val();
            self.taken_add.d.next = self.add.val();
        } else if reads {
            self.taken_restarts.d.next = false;
            self.taken_row.d.next = self.read_row.val();
            self.taken_add.d.next = bits::<ADD>(0);
        }
        if reads {
            self.reading.d.next = true;
        } else if self.done.q.val() {
            self.reading.d.next = false;
        }

        // fetch
        let takes = self.taken_counts.q.val() | self.taken_reads.q.val();
        self.rows.read_address.next = self.taken_row.q.val();
        self.fetched_counts.d.next = self.taken_counts.q.val();
        self.fetched_reads.d.next = self.taken_reads.q.val();
        self.forwards.d.next =
            self.fetched_counts.q.val() & (self.fetched_row.q.val() == self.taken_row.q.val());
        if takes {
            self.fetched_restarts.d.next = self.taken_restarts.q.val();
            self.fetched_row.d.next = self.taken_row.q.val();
            self.fetched_add.d.next = self.taken_add.q.val();
        }

        // add
        let before = if self.fetched_restarts.q.val() {
            bits::<ROW>(0)
        } else if self.forwards.q.val() {
            self.sum.q.val()
        } else {
            self.rows.read_data.val()
        };
        let add = self.fetched_add.q.val();
        let mut after = bits::<ROW>(0);
        for i in 0..N {
            let now = before.get_bits::<W>(W * i) + bit_cast::<W, A>(add.get_bits::<A>(A * i));
            after = after | (bit_cast::<ROW, W>(now) << ((W * i) as u64));
        }
        self.summed.d.next = self.fetched_counts.q.val();
        self.summed_reads.d.next = self.fetched_reads.q.val();
        if self.fetched_counts.q.val() | self.fetched_reads.q.val() {
            self.summed_row.d.next = self.fetched_row.q.val();
            self.sum.d.next = after;
        }

        // write
        self.rows.write_enable.next = sweeping | self.summed.q.val();
        if sweeping {
            self.rows.write_address.next = self.swept.q.val().get_bits::<Q>(0);
            self.rows.write_data.next = bits::<ROW>(0);
        } else {
            self.rows.write_address.next = self.summed_row.q.val();
            self.rows.write_data.next = self.sum.q.val();
        }
        let sum = self.sum.q.val();
        let mut selected = bits::<64>(0);
        for i in 0..N {
            let here = if self.read_select.val() == i as u64 {
                sum.get_bits::<W>(W * i)
            } else {
                bits::<W>(0)
            };
            selected = selected | bit_cast::<64, W>(here);
        }
        self.done.d.next = self.summed_reads.q.val();
        if self.summed_reads.q.val() {
            self.shown.d.next = selected;
        }
        self.read_done.next = self.done.q.val();
        self.value.next = self.shown.q.val();

        if self.reset.val() {
            self.swept.d.next = bits(0);
            self.reading.d.next = false;
            self.taken_counts.d.next = false;
            self.taken_reads.d.next = false;
            self.fetched_counts.d.next = false;
            self.fetched_reads.d.next = false;
            self.summed.d.next = false;
            self.summed_reads.d.next = false;
            self.done.d.next = false;
        }
    }
}
