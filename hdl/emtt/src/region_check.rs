//! Memory region check: key, protection domain, write right, bounds (IBTA 10.6.3).
//!
//! Stages, with planned LUT6 levels (a CARRY8 chain of 64 bits counts as 3):
//! 1. `read_region`: address and write port of the region memory (3: write decode).
//! 2. `hold_region`: the block RAM's output register (0).
//! 3. `check_key`: key, domain and right compared (4); beside it `va - base_va` and `region length - length` (1 + carry).
//! 4. `check_bounds`: two 64-bit comparisons, then the verdict (1 + carry + 2).

use hdl_macros::hdl;
use hdl_primitives::BlockRam;
use rust_hdl::prelude::*;
use stellar_wire::hw::frame::DropReason;
use stellar_wire::hw::tables::{MrEntry, PageSize, TableSelect, TableWrite, EMTT_INDEX_BITS};
use stellar_wire::hw::FromBits;

/// Cycles from `request` to its `verdict`.
pub const LATENCY: usize = REGION_STAGES + 2;

/// Cycles from `request` to its region.
const REGION_STAGES: usize = 2;

/// An access to be checked.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct RegionRequest {
    /// The access is checked. An access without bytes is not, and is always allowed.
    pub asks: Bit,
    /// R_Key or L_Key.
    pub key: Bits<32>,
    /// Protection domain of the queue pair.
    pub pd: Bits<20>,
    /// Address of the first byte.
    pub va: Bits<64>,
    /// Length in bytes.
    pub length: Bits<32>,
    /// Number of bytes before `va` that must lie in the region too.
    pub before: Bits<32>,
    /// A remote write, which region and queue pair must allow. Local read access needs no right (IBTA 10.6.3.1).
    pub remote_write: Bit,
    /// The queue pair allows remote writes.
    pub qp_allows: Bit,
}

/// The result, and the fields of the region that page translation needs.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct RegionVerdict {
    /// `BadKey`, `WrongPd`, `NoWriteRight`, `OutOfBounds`, or `None`.
    pub reason: DropReason,
    /// This field and the following ones are those of the region. They are undefined with a `reason` and for an empty range.
    pub page_size: PageSize,
    pub base_va: Bits<64>,
    pub first_emtt: Bits<EMTT_INDEX_BITS>,
    pub on_demand: Bit,
}

/// Differences that decide the bounds. With `offset = va - base_va` and `limit = region length - length`, the range is inside the region if neither
/// difference is negative and `before <= offset <= limit`. Without a sum there is no overflow at 2^64.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Bounds {
    pub asks: Bit,
    /// `offset` is negative.
    pub below_base: Bit,
    /// `limit` is negative.
    pub longer_than_region: Bit,
    pub offset: Bits<64>,
    pub before: Bits<32>,
    pub limit: Bits<64>,
}

/// Stores the region table, and checks one request per cycle.
///
/// `A`: address bits of the table; 12 (4,096 regions) at full size. A key whose index is beyond the table is a `BadKey`; a table write
/// beyond it is ignored.
#[derive(LogicBlock, Default)]
pub struct RegionCheck<const A: usize> {
    pub clock: Signal<In, Clock>,
    /// A write to the table, if it selects `Mr`. It applies to requests of later cycles.
    pub table_valid: Signal<In, Bit>,
    pub table: Signal<In, TableWrite>,
    pub request: Signal<In, RegionRequest>,
    /// [`LATENCY`] cycles after the request.
    pub verdict: Signal<Out, RegionVerdict>,
    regions: BlockRam<MrEntry, A>,
    arrived: [DFF<RegionRequest>; REGION_STAGES],
    region: DFF<MrEntry>,
    checked: DFF<RegionVerdict>,
    bounds: DFF<Bounds>,
    decided: DFF<RegionVerdict>,
}

impl<const A: usize> Logic for RegionCheck<A> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, region, checked, bounds, decided);
        self.regions.clock.next = self.clock.val();
        for i in 0..REGION_STAGES {
            self.arrived[i].clock.next = self.clock.val();
            self.arrived[i].d.next = if i == 0 {
                self.request.val()
            } else {
                self.arrived[i - 1].q.val()
            };
        }

        // read_region
        let table = self.table.val();
        let beyond = table.index >> (A as u64);
        self.regions.write_enable.next =
            self.table_valid.val() & (table.select == TableSelect::Mr) & !beyond.any();
        self.regions.write_address.next = table.index.get_bits::<A>(0);
        self.regions.write_data.next = MrEntry::from_bits(table.entry);
        self.regions.read_address.next = self.request.val().key.get_bits::<A>(8);

        // hold_region
        self.region.d.next = self.regions.read_data.val();

        // check_key
        let request = self.arrived[REGION_STAGES - 1].q.val();
        let region = self.region.q.val();
        let beyond_table = request.key >> (8 + A as u64);
        let wrong_key = region.key != request.key.get_bits::<8>(0);
        let key_reason = if !request.asks {
            DropReason::None
        } else if beyond_table.any() | !region.valid | wrong_key {
            DropReason::BadKey
        } else if region.pd != request.pd {
            DropReason::WrongPd
        } else if request.remote_write & !(region.remote_write & request.qp_allows) {
            DropReason::NoWriteRight
        } else {
            DropReason::None
        };
        self.checked.d.next = RegionVerdict {
            reason: key_reason,
            page_size: region.page_size,
            base_va: region.base_va,
            first_emtt: region.first_emtt,
            on_demand: region.on_demand,
        };
        let offset = bit_cast::<65, 64>(request.va) - bit_cast::<65, 64>(region.base_va);
        let limit = bit_cast::<49, 48>(region.length) - bit_cast::<49, 32>(request.length);
        self.bounds.d.next = Bounds {
            asks: request.asks,
            below_base: offset.get_bit(64),
            longer_than_region: limit.get_bit(48),
            offset: offset.get_bits::<64>(0),
            before: request.before,
            limit: bit_cast::<64, 48>(limit.get_bits::<48>(0)),
        };

        // check_bounds
        let bounds = self.bounds.q.val();
        let beyond_end = bounds.offset > bounds.limit;
        let begins_before = bounds.offset < bit_cast::<64, 32>(bounds.before);
        let outside = bounds.below_base | bounds.longer_than_region | beyond_end | begins_before;
        let checked = self.checked.q.val();
        self.decided.d.next = RegionVerdict {
            reason: if (checked.reason == DropReason::None) & bounds.asks & outside {
                DropReason::OutOfBounds
            } else {
                checked.reason
            },
            page_size: checked.page_size,
            base_va: checked.base_va,
            first_emtt: checked.first_emtt,
            on_demand: checked.on_demand,
        };
        self.verdict.next = self.decided.q.val();
    }
}
