//! The check of an access against its memory region.

use hdl_emtt::region_check::{RegionRequest, LATENCY};
use hdl_emtt::RegionCheck;
use hdl_macros::{clock, hdl};
use rust_hdl::prelude::*;
use stellar_wire::hw::frame::DropReason;
use stellar_wire::hw::tables::{MrEntry, TableSelect, TableWrite};
use stellar_wire::hw::FromBits;

/// A request, with its region as the table had it then.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Passing {
    request: RegionRequest,
    /// The watched region was written, and the request names it.
    watched: Bit,
    region: MrEntry,
}

/// Properties of [`RegionCheck`] with a table of 4 regions, told for one of them that the solver chooses, once it was written.
#[derive(LogicBlock, Default)]
pub struct RegionCheckProof {
    pub clock: Signal<In, Clock>,
    pub table_valid: Signal<In, Bit>,
    pub table: Signal<In, TableWrite>,
    pub request: Signal<In, RegionRequest>,
    /// The region that is watched.
    pub watched: Signal<In, Bits<2>>,

    /// `watched` does not change.
    pub given_one_watched: Signal<Out, Bit>,

    /// An access is allowed only with the key of a valid region.
    pub holds_key: Signal<Out, Bit>,
    /// It is allowed only in the protection domain of its queue pair.
    pub holds_domain: Signal<Out, Bit>,
    /// A remote write is allowed only if region and queue pair allow it.
    pub holds_right: Signal<Out, Bit>,
    /// An access that is allowed begins, with the bytes before it, at the region's first byte or behind it.
    pub holds_not_before: Signal<Out, Bit>,
    /// It is not longer than the region.
    pub holds_not_longer: Signal<Out, Bit>,
    /// It ends at the region's last byte or before it.
    pub holds_not_beyond: Signal<Out, Bit>,
    /// An index beyond the table is never allowed.
    pub holds_in_table: Signal<Out, Bit>,
    /// An access to the watched region can be allowed.
    pub reaches_allowed: Signal<Out, Bit>,
    /// One can be refused for its end alone.
    pub reaches_beyond: Signal<Out, Bit>,

    check: RegionCheck<2>,
    before: DFF<Bits<2>>,
    started: DFF<Bit>,
    region: DFF<MrEntry>,
    written: DFF<Bit>,
    passing: [DFF<Passing>; LATENCY],
}

impl Logic for RegionCheckProof {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, before, started, region, written);
        clock!(self, clock, check, passing[..]);
        self.check.table_valid.next = self.table_valid.val();
        self.check.table.next = self.table.val();
        self.check.request.next = self.request.val();

        let watched = self.watched.val();
        self.before.d.next = watched;
        self.started.d.next = true;
        self.given_one_watched.next = !self.started.q.val() | (watched == self.before.q.val());

        let table = self.table.val();
        let writes = self.table_valid.val() & (table.select == TableSelect::Mr);
        let here = (table.index.get_bits::<2>(0) == watched) & !(table.index >> 2).any();
        if writes & here {
            self.region.d.next = MrEntry::from_bits(table.entry);
            self.written.d.next = true;
        }
        let request = self.request.val();
        for i in 0..LATENCY {
            self.passing[i].d.next = if i == 0 {
                Passing {
                    request: request,
                    watched: self.written.q.val() & (request.key.get_bits::<2>(8) == watched),
                    region: self.region.q.val(),
                }
            } else {
                self.passing[i - 1].q.val()
            };
        }

        let was = self.passing[LATENCY - 1].q.val();
        let asked = was.request;
        let region = was.region;
        let verdict = self.check.verdict.val();
        let passes = asked.asks & (verdict.reason == DropReason::None);
        let allowed = passes & was.watched;
        self.holds_key.next =
            !allowed | (region.valid & (region.key == asked.key.get_bits::<8>(0)));
        self.holds_domain.next = !allowed | (region.pd == asked.pd);
        self.holds_right.next =
            !allowed | !asked.remote_write | (region.remote_write & asked.qp_allows);
        self.holds_in_table.next = !passes | !(asked.key >> 10).any();

        // Numbers of 66 bits do not overflow. The end is told by the distance from the region's first byte, as in the block, which the solver sees through.
        let va = bit_cast::<66, 64>(asked.va);
        let base = bit_cast::<66, 64>(region.base_va);
        let behind_base = va - base + bit_cast::<66, 32>(asked.length);
        let beyond = behind_base > bit_cast::<66, 48>(region.length);
        let before = va < base + bit_cast::<66, 32>(asked.before);
        let longer = bit_cast::<48, 32>(asked.length) > region.length;
        self.holds_not_before.next = !allowed | !before;
        self.holds_not_longer.next = !allowed | !longer;
        self.holds_not_beyond.next = !allowed | !beyond;
        self.reaches_allowed.next = allowed & asked.length.any() & asked.before.any();
        self.reaches_beyond.next =
            was.watched & (verdict.reason == DropReason::OutOfBounds) & !before & !longer & beyond;
    }
}
