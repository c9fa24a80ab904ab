//! What happens to packets on each path of the queue pairs of one requester engine.

use hdl_macros::{clock, clock_reset, hdl, hdl_fn, join};
use hdl_primitives::{Checked, FlowSnk, Parameters, UltraRam};
use rust_hdl::prelude::*;
use stellar_wire::hw::QPN_BITS;

use crate::count_row::{after_access, counts_of, with_counts, COUNTS, ROW};
use crate::optional::Optional;
use crate::path_accesses::{Access, AccessKind, PathAccesses, QpPath};
use crate::path_owners::PathOwners;

/// log2 of the rows of a set: two of 128 paths in each, or of 16 backups.
pub const ACTIVE_BITS: usize = 6;
/// That of the rows of its backups.
pub const BACKUP_BITS: usize = 3;
/// Bit of an index that backups have.
const BACKUP: usize = 7;
/// Cycles from the one in which a read is taken to its value.
pub const READ_LATENCY: usize = 5;

/// A path whose row has changed.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Change {
    valid: Bit,
    path: QpPath,
}

/// Whether the row that has changed is that of `path`.
#[hdl_fn]
fn same_row<const S: usize>(change: Change, path: QpPath) -> Bit {
    change.valid
        & (change.path.qp.get_bits::<S>(0) == path.qp.get_bits::<S>(0))
        & (change.path.index.get_bits::<7>(1) == path.index.get_bits::<7>(1))
}

/// The row of `path` in a memory that has 2^`N` rows for each of 2^`S` sets.
#[hdl_fn]
fn row_of<const S: usize, const N: usize, const A: usize>(path: QpPath) -> Bits<A> {
    (bit_cast::<A, S>(path.qp.get_bits::<S>(0)) << N as u64)
        | bit_cast::<A, N>(path.index.get_bits::<N>(1))
}

/// Counts packets sent, marked and lost on 144 paths of 2^`Q` queue pairs by the rule of [`PathCount`](stellar_wire::host::PathCount), and reads one path at a time, which clears it. There are 2^`S` sets of counts. `A` = `S` + 6 and
/// `B` = `S` + 3 are address widths of the memories.
///
/// Queue pairs whose numbers are equal modulo 2^`S` share a set ([`PathOwners`]). `T` is the width of what tells them apart, `Q` - `S`, or 1 if each has a set of its own.
///
/// Nothing but a read clears a count: not even a reset, which keeps owners, too.
///
/// Stages: `take` ([`PathAccesses`]), `fetch` (two cycles, of an UltraRAM; in the second one the owner is known), `collect` (row of the memory, or that of one of three accesses before the last), `add` (that of the last access; counts), `write`.
/// LUT levels: 7 (UltraRAM 5, forwarding 2; in `add` forwarding 1, path 1, full 2, count 2).
#[derive(LogicBlock)]
pub struct PathCounters<
    const Q: usize,
    const S: usize,
    const T: usize,
    const A: usize,
    const B: usize,
> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    /// Discards what is in progress.
    pub reset: Signal<In, Bit>,

    pub sent: FlowSnk<QpPath>,
    pub marked: FlowSnk<QpPath>,
    pub lost: FlowSnk<QpPath>,

    /// A read. It stays until it is done.
    pub read_valid: Signal<In, Bit>,
    pub read_path: Signal<In, QpPath>,
    /// High for one cycle, with the counts as they were before they were cleared.
    pub read_done: Signal<Out, Bit>,
    pub value: Signal<Out, Bits<COUNTS>>,
    /// Valid with `read_done`: another queue pair was the owner of the counts. From now on this one is.
    pub of_another: Signal<Out, Bit>,

    active: UltraRam<Bits<ROW>, A>,
    backups: UltraRam<Bits<ROW>, B>,
    owners: Optional<PathOwners<S, T>>,
    accesses: PathAccesses,

    fetching: DFF<Access>,
    fetched: DFF<Access>,
    fetched_claims: DFF<Bit>,
    /// The second, third or fourth access before is of the same row.
    forwards: [DFF<Bit>; 3],
    adds: DFF<Access>,
    adds_claims: DFF<Bit>,
    before: DFF<Bits<ROW>>,
    /// The access before is of the same row.
    follows: DFF<Bit>,
    summed: DFF<Change>,
    written: DFF<Change>,
    /// Rows of the last accesses.
    rows: [DFF<Bits<ROW>>; 3],
    done: DFF<Bit>,
    shown: DFF<Bits<COUNTS>>,
    claimed: DFF<Bit>,
}

impl<const Q: usize, const S: usize, const T: usize, const A: usize, const B: usize> Default
    for PathCounters<Q, S, T, A, B>
{
    fn default() -> Self {
        Self {
            _parameters: Default::default(),
            clock: Default::default(),
            reset: Default::default(),
            sent: Default::default(),
            marked: Default::default(),
            lost: Default::default(),
            read_valid: Default::default(),
            read_path: Default::default(),
            read_done: Default::default(),
            value: Default::default(),
            of_another: Default::default(),
            active: Default::default(),
            backups: Default::default(),
            owners: Optional::new(S < Q),
            accesses: Default::default(),
            fetching: Default::default(),
            fetched: Default::default(),
            fetched_claims: Default::default(),
            forwards: std::array::from_fn(|_| Default::default()),
            adds: Default::default(),
            adds_claims: Default::default(),
            before: Default::default(),
            follows: Default::default(),
            summed: Default::default(),
            written: Default::default(),
            rows: std::array::from_fn(|_| Default::default()),
            done: Default::default(),
            shown: Default::default(),
            claimed: Default::default(),
        }
    }
}

impl<const Q: usize, const S: usize, const T: usize, const A: usize, const B: usize> Parameters
    for PathCounters<Q, S, T, A, B>
{
    fn check() {
        let told_apart = if S < Q { Q - S } else { 1 };
        assert!(
            A == S + ACTIVE_BITS && B == S + BACKUP_BITS && S <= Q && T == told_apart && Q <= QPN_BITS,
            "PathCounters<{Q}, {S}, {T}, {A}, {B}>: give Q of at most {QPN_BITS}, S of at most Q, T = Q - S (or 1), A = S + {ACTIVE_BITS} and B = S + {BACKUP_BITS}"
        );
    }
}

impl<const Q: usize, const S: usize, const T: usize, const A: usize, const B: usize> Logic
    for PathCounters<Q, S, T, A, B>
{
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            fetching,
            fetched,
            fetched_claims,
            adds,
            adds_claims
        );
        dff_setup!(self, clock, before, follows, summed, written, done, shown, claimed);
        clock!(self, clock, active, backups, forwards[..], rows[..]);
        clock_reset!(self, accesses);

        // take
        self.accesses.read_done.next = self.done.q.val();
        join!(
            self,
            sent => accesses.sent,
            marked => accesses.marked,
            lost => accesses.lost,
            read_valid => accesses.read_valid,
            read_path => accesses.read_path,
        );

        // fetch
        let taken = self.accesses.taken.val();
        let fetching = self.fetching.q.val();
        let fetched = self.fetched.q.val();
        let adds = self.adds.q.val();
        self.active.read_address.next = row_of::<S, ACTIVE_BITS, A>(taken.path);
        self.backups.read_address.next = row_of::<S, BACKUP_BITS, B>(taken.path);
        self.fetching.d.next = taken;
        self.fetched.d.next = fetching;
        if S < Q {
            self.owners.clock.next = self.clock.val();
            self.owners.next_qp.next = taken.path.qp;
            self.owners.access.next = fetching;
            self.fetched_claims.d.next = self.owners.claims.val();
            if !self.owners.owns.val() {
                self.fetched.d.next.kind = AccessKind::Nothing;
            }
        } else {
            self.fetched_claims.d.next = false;
        }
        let change = Change {
            valid: adds.kind != AccessKind::Nothing,
            path: adds.path,
        };
        let summed = self.summed.q.val();
        self.forwards[0].d.next = same_row::<S>(change, fetching.path);
        self.forwards[1].d.next = same_row::<S>(summed, fetching.path);
        self.forwards[2].d.next = same_row::<S>(self.written.q.val(), fetching.path);

        // collect
        let stored = if fetched.path.index.get_bit(BACKUP) {
            self.backups.read_data.val()
        } else {
            self.active.read_data.val()
        };
        self.before.d.next = if self.forwards[0].q.val() {
            self.rows[0].q.val()
        } else if self.forwards[1].q.val() {
            self.rows[1].q.val()
        } else if self.forwards[2].q.val() {
            self.rows[2].q.val()
        } else {
            stored
        };
        self.adds.d.next = fetched;
        self.adds_claims.d.next = self.fetched_claims.q.val();
        self.follows.d.next = same_row::<S>(change, fetched.path);

        // add
        let before = if self.follows.q.val() {
            self.rows[0].q.val()
        } else {
            self.before.q.val()
        };
        let counts = counts_of(before, adds.path.index);
        self.rows[0].d.next = with_counts(before, adds.path.index, after_access(counts, adds.kind));
        self.summed.d.next = change;
        self.done.d.next = adds.kind == AccessKind::Read;
        self.shown.d.next = counts;
        self.claimed.d.next = self.adds_claims.q.val();
        self.read_done.next = self.done.q.val();
        self.value.next = self.shown.q.val();
        self.of_another.next = self.claimed.q.val();

        // write, and remember the rows that the memory may not show yet
        let of_backup = summed.path.index.get_bit(BACKUP);
        self.active.write_enable.next = summed.valid & !of_backup;
        self.active.write_address.next = row_of::<S, ACTIVE_BITS, A>(summed.path);
        self.active.write_data.next = self.rows[0].q.val();
        self.backups.write_enable.next = summed.valid & of_backup;
        self.backups.write_address.next = row_of::<S, BACKUP_BITS, B>(summed.path);
        self.backups.write_data.next = self.rows[0].q.val();
        self.written.d.next = summed;
        self.rows[1].d.next = self.rows[0].q.val();
        self.rows[2].d.next = self.rows[1].q.val();

        if self.reset.val() {
            self.fetching.d.next.kind = AccessKind::Nothing;
            self.fetched.d.next.kind = AccessKind::Nothing;
            self.adds.d.next.kind = AccessKind::Nothing;
            self.summed.d.next.valid = false;
            self.written.d.next.valid = false;
            self.done.d.next = false;
        }
    }
}
