//! What happens to packets on each path of the queue pairs of one requester engine.

use hdl_macros::{clock, clock_reset, hdl, hdl_fn};
use hdl_primitives::ram::BypassRam;
use hdl_primitives::{Checked, FlowSnk, Parameters, SyncFifo, UltraRam};
use rust_hdl::prelude::*;
use stellar_wire::host::PathCount;
use stellar_wire::hw::{Qpn, QPN_BITS};

use crate::optional::Optional;

/// Bits of a count, and of the three counts of a path.
const COUNT: usize = PathCount::BITS;
const COUNTS: usize = PathCount::ALL_BITS;
const MARKED: usize = PathCount::MARKED_BIT;
const LOST: usize = PathCount::LOST_BIT;
/// A row of the memory has two paths, so it is as wide as an UltraRAM.
const ROW: usize = 2 * COUNTS;
/// log2 of the rows of a set: two of 128 paths in each, or of 16 backups.
pub const ACTIVE_BITS: usize = 6;
/// That of the rows of its backups.
pub const BACKUP_BITS: usize = 3;
/// Bit of an index that backups have.
const BACKUP: usize = 7;
/// log2 of the marks, and of the losses, that wait while packets leave in every cycle: at most 32 in a row, those of a burst. An engine takes 62 cycles for a burst, so 30 are left for what waits. It needs at
/// least 10 cycles for a SACK, and two operations of the window for a packet that is lost, so about 6 come in this time.
const WAITING_BITS: usize = 5;
/// Cycles from the one in which a read is taken to its value.
pub const READ_LATENCY: usize = 5;

/// A path of a queue pair.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct QpPath {
    /// Number of the queue pair in its engine.
    pub qp: Qpn,
    /// Index of the entropy value.
    pub index: Bits<8>,
}

/// What is done to the counts of a path.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum Access {
    Nothing,
    Sent,
    Marked,
    Lost,
    /// Reads and clears.
    Read,
}

/// Whether an access changes the row of `path`, which is that of `other` too.
#[hdl_fn]
fn same_row<const S: usize>(changes: Bit, path: QpPath, other: QpPath) -> Bit {
    changes
        & (path.qp.get_bits::<S>(0) == other.qp.get_bits::<S>(0))
        & (path.index.get_bits::<7>(1) == other.index.get_bits::<7>(1))
}

/// The row of `path` in a memory that has 2^`N` rows for each of 2^`S` sets.
#[hdl_fn]
fn row_of<const S: usize, const N: usize, const A: usize>(path: QpPath) -> Bits<A> {
    (bit_cast::<A, S>(path.qp.get_bits::<S>(0)) << N as u64)
        | bit_cast::<A, N>(path.index.get_bits::<N>(1))
}

/// Counts packets sent, marked and lost on 144 paths of 2^`Q` queue pairs by the rule of [`PathCount`], and reads one path at a time, which clears it. There are 2^`S` sets of counts. `A` = `S` + 6 and
/// `B` = `S` + 3 are address widths of the memories.
///
/// Queue pairs whose numbers are equal modulo 2^`S` share a set. It counts for one of them, its owner: the one that was read last, and at first that with the lowest number. `T` is the width of what tells them apart,
/// `Q` - `S`, or 1 if each has a set of its own.
///
/// It takes a packet sent in every cycle. Marks and losses wait for a cycle without one, and a read waits for a cycle without any of these. Nothing else clears a count: not even a reset, which keeps owners, too.
///
/// Stages: `take`, `fetch` (two cycles, of an UltraRAM; in the second one the owner is known), `collect` (row of the memory, or that of one of three accesses before the last), `add` (that of the last access; counts), `write`.
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
    /// Upper bits of the number of each set's owner.
    owners: Optional<BypassRam<Bits<T>, S>>,
    marks: SyncFifo<QpPath, WAITING_BITS, { WAITING_BITS + 1 }>,
    losses: SyncFifo<QpPath, WAITING_BITS, { WAITING_BITS + 1 }>,
    /// A read is on its way.
    reading: DFF<Bit>,

    taken: DFF<Access>,
    taken_path: DFF<QpPath>,
    fetching: DFF<Access>,
    fetching_path: DFF<QpPath>,
    fetched: DFF<Access>,
    fetched_path: DFF<QpPath>,
    fetched_claims: DFF<Bit>,
    /// The second, third or fourth access before is of the same row.
    forwards: [DFF<Bit>; 3],
    adds: DFF<Access>,
    adds_path: DFF<QpPath>,
    adds_claims: DFF<Bit>,
    before: DFF<Bits<ROW>>,
    /// The access before is of the same row.
    follows: DFF<Bit>,
    summed: DFF<Bit>,
    summed_path: DFF<QpPath>,
    written: DFF<Bit>,
    written_path: DFF<QpPath>,
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
            marks: Default::default(),
            losses: Default::default(),
            reading: Default::default(),
            taken: Default::default(),
            taken_path: Default::default(),
            fetching: Default::default(),
            fetching_path: Default::default(),
            fetched: Default::default(),
            fetched_path: Default::default(),
            fetched_claims: Default::default(),
            forwards: std::array::from_fn(|_| Default::default()),
            adds: Default::default(),
            adds_path: Default::default(),
            adds_claims: Default::default(),
            before: Default::default(),
            follows: Default::default(),
            summed: Default::default(),
            summed_path: Default::default(),
            written: Default::default(),
            written_path: Default::default(),
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
        dff_setup!(self, clock, reading, done, shown, claimed);
        dff_setup!(
            self,
            clock,
            taken,
            taken_path,
            fetching,
            fetching_path,
            fetched,
            fetched_path,
            fetched_claims
        );
        dff_setup!(self, clock, adds, adds_path, adds_claims, before, follows);
        dff_setup!(self, clock, summed, summed_path, written, written_path);
        clock!(self, clock, active, backups, forwards[..], rows[..]);
        clock_reset!(self, marks, losses);

        // wait: marks and losses
        self.marks.in_.valid.next = self.marked.valid.val();
        self.marks.in_.data.next = self.marked.record.val();
        self.losses.in_.valid.next = self.lost.valid.val();
        self.losses.in_.data.next = self.lost.record.val();
        assert!(
            !self.marked.valid.val() | self.marks.in_.ready.val(),
            "a mark finds no space"
        );
        assert!(
            !self.lost.valid.val() | self.losses.in_.ready.val(),
            "a loss finds no space"
        );

        // take
        let sends = self.sent.valid.val();
        let has_mark = self.marks.out.valid.val();
        let has_loss = self.losses.out.valid.val();
        let reads = self.read_valid.val() & !self.reading.q.val() & !sends & !has_mark & !has_loss;
        self.marks.out.ready.next = !sends;
        self.losses.out.ready.next = !sends & !has_mark;
        if sends {
            self.taken.d.next = Access::Sent;
            self.taken_path.d.next = self.sent.record.val();
        } else if has_mark {
            self.taken.d.next = Access::Marked;
            self.taken_path.d.next = self.marks.out.data.val();
        } else if has_loss {
            self.taken.d.next = Access::Lost;
            self.taken_path.d.next = self.losses.out.data.val();
        } else if reads {
            self.taken.d.next = Access::Read;
            self.taken_path.d.next = self.read_path.val();
        } else {
            self.taken.d.next = Access::Nothing;
        }
        if reads {
            self.reading.d.next = true;
        } else if self.done.q.val() {
            self.reading.d.next = false;
        }

        // fetch
        let taken_path = self.taken_path.q.val();
        self.active.read_address.next = row_of::<S, ACTIVE_BITS, A>(taken_path);
        self.backups.read_address.next = row_of::<S, BACKUP_BITS, B>(taken_path);
        self.fetching.d.next = self.taken.q.val();
        self.fetching_path.d.next = taken_path;
        let fetching_path = self.fetching_path.q.val();
        let fetched_path = self.fetched_path.q.val();
        let adds = self.adds.q.val();
        let adds_path = self.adds_path.q.val();
        let changes = adds != Access::Nothing;
        let fetching = self.fetching.q.val();
        if S < Q {
            self.owners.clock.next = self.clock.val();
            let set = fetching_path.qp.get_bits::<S>(0);
            let qp = fetching_path.qp.get_bits::<T>(S);
            let is_owner = self.owners.read_data.val() == qp;
            let claims = (fetching == Access::Read) & !is_owner;
            self.owners.read_address.next = taken_path.qp.get_bits::<S>(0);
            self.owners.write_enable.next = claims;
            self.owners.write_address.next = set;
            self.owners.write_data.next = qp;
            self.fetched_claims.d.next = claims;
            self.fetched.d.next = if is_owner | claims {
                fetching
            } else {
                Access::Nothing
            };
        } else {
            self.fetched_claims.d.next = false;
            self.fetched.d.next = fetching;
        }
        self.fetched_path.d.next = fetching_path;
        self.forwards[0].d.next = same_row::<S>(changes, adds_path, fetching_path);
        self.forwards[1].d.next =
            same_row::<S>(self.summed.q.val(), self.summed_path.q.val(), fetching_path);
        self.forwards[2].d.next = same_row::<S>(
            self.written.q.val(),
            self.written_path.q.val(),
            fetching_path,
        );

        // collect
        let stored = if fetched_path.index.get_bit(BACKUP) {
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
        self.adds.d.next = self.fetched.q.val();
        self.adds_path.d.next = fetched_path;
        self.adds_claims.d.next = self.fetched_claims.q.val();
        self.follows.d.next = same_row::<S>(changes, adds_path, fetched_path);

        // add
        let before = if self.follows.q.val() {
            self.rows[0].q.val()
        } else {
            self.before.q.val()
        };
        let low = before.get_bits::<COUNTS>(0);
        let high = before.get_bits::<COUNTS>(COUNTS);
        let is_high = adds_path.index.get_bit(0);
        let counts = if is_high { high } else { low };
        let sent = counts.get_bits::<COUNT>(0);
        let marked = counts.get_bits::<COUNT>(MARKED);
        let lost = counts.get_bits::<COUNT>(LOST);
        let may_count = !(sent.all() | marked.all() | lost.all());
        let one_sent = bit_cast::<COUNT, 1>((may_count & (adds == Access::Sent)).into());
        let one_marked = bit_cast::<COUNT, 1>((may_count & (adds == Access::Marked)).into());
        let one_lost = bit_cast::<COUNT, 1>((may_count & (adds == Access::Lost)).into());
        let counted = bit_cast::<COUNTS, COUNT>(sent + one_sent)
            | (bit_cast::<COUNTS, COUNT>(marked + one_marked) << MARKED as u64)
            | (bit_cast::<COUNTS, COUNT>(lost + one_lost) << LOST as u64);
        let after = if adds == Access::Read {
            bits::<COUNTS>(0)
        } else {
            counted
        };
        let low_after = if is_high { low } else { after };
        let high_after = if is_high { after } else { high };
        self.rows[0].d.next = bit_cast::<ROW, COUNTS>(low_after)
            | (bit_cast::<ROW, COUNTS>(high_after) << COUNTS as u64);
        self.summed.d.next = changes;
        self.summed_path.d.next = adds_path;
        self.done.d.next = adds == Access::Read;
        self.shown.d.next = counts;
        self.claimed.d.next = self.adds_claims.q.val();
        self.read_done.next = self.done.q.val();
        self.value.next = self.shown.q.val();
        self.of_another.next = self.claimed.q.val();

        // write, and remember the rows that the memory may not show yet
        let summed_path = self.summed_path.q.val();
        let of_backup = summed_path.index.get_bit(BACKUP);
        self.active.write_enable.next = self.summed.q.val() & !of_backup;
        self.active.write_address.next = row_of::<S, ACTIVE_BITS, A>(summed_path);
        self.active.write_data.next = self.rows[0].q.val();
        self.backups.write_enable.next = self.summed.q.val() & of_backup;
        self.backups.write_address.next = row_of::<S, BACKUP_BITS, B>(summed_path);
        self.backups.write_data.next = self.rows[0].q.val();
        self.written.d.next = self.summed.q.val();
        self.written_path.d.next = summed_path;
        self.rows[1].d.next = self.rows[0].q.val();
        self.rows[2].d.next = self.rows[1].q.val();

        if self.reset.val() {
            self.taken.d.next = Access::Nothing;
            self.fetching.d.next = Access::Nothing;
            self.fetched.d.next = Access::Nothing;
            self.adds.d.next = Access::Nothing;
            self.summed.d.next = false;
            self.written.d.next = false;
            self.reading.d.next = false;
            self.done.d.next = false;
        }
    }
}
