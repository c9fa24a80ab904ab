//! The check of an access against its memory region.

use hdl_emtt::region_check::{Bounds, RegionRequest, RegionVerdict, LATENCY};
use hdl_emtt::RegionCheck;
use hdl_macros::{bundle, clock, hdl};
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

/// Where the access is: exact differences, of a bit more than the numbers have. The access is inside if `before <= va - base` and `va - base <= region length - length`.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Differences {
    /// The address less the region's first address.
    offset: Bits<65>,
    /// The region's length less the access's.
    limit: Bits<49>,
}

/// What the differences say.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Outside {
    before: Bit,
    longer: Bit,
    beyond: Bit,
}

/// Registers and memory of a check with 4 regions.
#[bundle]
pub struct CheckInsideSrc {
    pub regions_memory: [Signal<Out, MrEntry>; 4],
    pub regions_read_data: Signal<Out, MrEntry>,
    pub arrived: [Signal<Out, RegionRequest>; 2],
    pub region: Signal<Out, MrEntry>,
    pub checked: Signal<Out, RegionVerdict>,
    pub bounds: Signal<Out, Bounds>,
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
    /// Registers of the block.
    pub inner_check: CheckInsideSnk,

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

    // What is in the registers, so that the properties are an invariant together.
    /// The memory has the watched region as it was written last.
    pub holds_memory: Signal<Out, Bit>,
    /// A request goes through the block beside the region as it was when the request entered.
    pub holds_read: Signal<Out, Bit>,
    /// With the key of a valid region, in its domain and with the right, there is no reason yet; otherwise there is.
    pub holds_checked: Signal<Out, Bit>,
    /// The block has the differences that are computed here.
    pub holds_differences: Signal<Out, Bit>,

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
    /// Of the request in the third register, and of the one in the fourth.
    differences: DFF<Differences>,
    outside: DFF<Outside>,
}

impl Logic for RegionCheckProof {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, before, started, region, written);
        clock!(self, clock, check, passing[..], differences, outside);
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

        // The numbers are computed in the steps of the block, which lets the solver see that both are equal. Differences of a bit more do not overflow.
        let read = self.passing[1].q.val();
        let base = bit_cast::<65, 64>(read.region.base_va);
        self.differences.d.next = Differences {
            offset: bit_cast::<65, 64>(read.request.va) - base,
            limit: bit_cast::<49, 48>(read.region.length) - bit_cast::<49, 32>(read.request.length),
        };
        let differences = self.differences.q.val();
        let offset = differences.offset.get_bits::<64>(0);
        let limit = differences.limit.get_bits::<48>(0);
        let compared = self.passing[2].q.val();
        let below = differences.offset.get_bit(64);
        let too_long = differences.limit.get_bit(48);
        self.outside.d.next = Outside {
            before: below | (offset < bit_cast::<64, 32>(compared.request.before)),
            longer: too_long,
            beyond: !below & (too_long | (offset > bit_cast::<64, 48>(limit))),
        };
        let outside = self.outside.q.val();
        let before = outside.before;
        let longer = outside.longer;
        let beyond = outside.beyond;
        self.holds_not_before.next = !allowed | !before;
        self.holds_not_longer.next = !allowed | !longer;
        self.holds_not_beyond.next = !allowed | !beyond;

        // What is in the registers.
        let mut word = self.inner_check.regions_memory[0].val();
        for i in 1..4 {
            word = if watched == (i as u64) {
                self.inner_check.regions_memory[i].val()
            } else {
                word
            };
        }
        self.holds_memory.next = !self.written.q.val() | (word == self.region.q.val());
        let first = self.passing[0].q.val();
        self.holds_read.next = (self.inner_check.arrived[0].val() == first.request)
            & (self.inner_check.arrived[1].val() == read.request)
            & (!first.watched | (self.inner_check.regions_read_data.val() == first.region))
            & (!read.watched | (self.inner_check.region.val() == read.region));
        let asked = compared.request;
        let region = compared.region;
        let fits = region.valid
            & (region.key == asked.key.get_bits::<8>(0))
            & (region.pd == asked.pd)
            & (!asked.remote_write | (region.remote_write & asked.qp_allows));
        let in_table = !(asked.key >> 10).any();
        let good = self.inner_check.checked.val().reason == DropReason::None;
        self.holds_checked.next =
            !asked.asks | ((!good | in_table) & (!compared.watched | (good == (in_table & fits))));
        let bounds = self.inner_check.bounds.val();
        self.holds_differences.next = (bounds.asks == asked.asks)
            & (bounds.before == asked.before)
            & (!compared.watched
                | ((bounds.below_base == below)
                    & (bounds.offset == offset)
                    & (bounds.longer_than_region == too_long)
                    & (bounds.limit == bit_cast::<64, 48>(limit))));

        self.reaches_allowed.next = allowed & asked.length.any() & asked.before.any();
        self.reaches_beyond.next =
            was.watched & (verdict.reason == DropReason::OutOfBounds) & !before & !longer & beyond;
    }
}
