//! Memory region check: R_Key, protection domain, write right, bounds (IBTA 10.6.3, remote access).
//!
//! Stages, with planned LUT6 levels (a CARRY8 chain of 64 bits counts as 3):
//! 1. `read_region`: address and write port of the region memory from the token (3: write decode).
//! 2. `hold_region`: the block RAM's output register (0).
//! 3. `check_key`: key, domain and right compared (4); beside it `va - base_va` and `length - payload` (1 + carry).
//! 4. `check_bounds`: one 64-bit comparison, then the verdict (1 + carry + 2).

use hdl_macros::hdl;
use hdl_primitives::BlockRam;
use rust_hdl::prelude::*;
use stellar_wire::hw::core::{AddressedToken, RegionToken, TokenKind};
use stellar_wire::hw::frame::DropReason;
use stellar_wire::hw::tables::{MrEntry, TableSelect};

use crate::table_entry::{mr_entry, mr_entry__hdl, writes_table, writes_table__hdl};

/// Clocks from `in_token` to its `out_token`.
pub const LATENCY: usize = 4;

/// Clocks from `in_token` to the region it names.
const REGION_STAGES: usize = 2;

/// Differences that decide the bounds. With `offset = va - base_va` and `limit = length - payload`, a payload of at least one byte
/// is inside if neither difference is negative and `offset <= limit`: no sum is formed, so none can pass 2^64.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Bounds {
    below_base: Bit,
    longer_than_region: Bit,
    offset: Bits<64>,
    limit: Bits<64>,
}

/// Checks each packet against the region its R_Key names, and adds the verdict to the token.
///
/// `A`: address bits of the region table; 12 (4,096 regions) in every full-size lane. An R_Key whose index is beyond the table is a
/// `BadKey`; a table write beyond it is ignored.
#[derive(LogicBlock, Default)]
pub struct MrCheck<const A: usize> {
    pub clock: Signal<In, Clock>,
    /// Synchronous; forgets tokens in flight, keeps the table.
    pub reset: Signal<In, Bit>,
    pub in_valid: Signal<In, Bit>,
    pub in_token: Signal<In, AddressedToken>,
    pub out_valid: Signal<Out, Bit>,
    /// [`LATENCY`] clocks after the token it was made from.
    pub out_token: Signal<Out, RegionToken>,
    valid: [DFF<Bit>; LATENCY],
    regions: BlockRam<MrEntry, A>,
    arrived: [DFF<AddressedToken>; REGION_STAGES],
    region: DFF<MrEntry>,
    checked: DFF<RegionToken>,
    bounds: DFF<Bounds>,
    bounds_apply: DFF<Bit>,
    verdict: DFF<RegionToken>,
}

impl<const A: usize> Logic for MrCheck<A> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, region, checked, bounds, bounds_apply, verdict);
        self.regions.clock.next = self.clock.val();
        for i in 0..LATENCY {
            self.valid[i].clock.next = self.clock.val();
            self.valid[i].d.next = if i == 0 {
                self.in_valid.val()
            } else {
                self.valid[i - 1].q.val()
            };
        }
        for i in 0..REGION_STAGES {
            self.arrived[i].clock.next = self.clock.val();
            self.arrived[i].d.next = if i == 0 {
                self.in_token.val()
            } else {
                self.arrived[i - 1].q.val()
            };
        }

        // read_region
        let incoming = self.in_token.val();
        let table = incoming.token.table;
        let beyond = table.index >> (A as u64);
        self.regions.write_enable.next =
            self.in_valid.val() & writes_table(incoming.token, TableSelect::Mr) & !beyond.any();
        self.regions.write_address.next = table.index.get_bits::<A>(0);
        self.regions.write_data.next = mr_entry(table.entry);
        self.regions.read_address.next = incoming.rkey.get_bits::<A>(8);

        // hold_region
        self.region.d.next = self.regions.read_data.val();

        // check_key
        let packet = self.arrived[REGION_STAGES - 1].q.val();
        let region = self.region.q.val();
        let payload = packet.token.headers.payload_length;
        let beyond_table = packet.rkey >> (8 + A as u64);
        let wrong_key = region.key != packet.rkey.get_bits::<8>(0);
        let asks_memory = (packet.token.kind == TokenKind::Packet) & payload.any();
        let key_reason = if !asks_memory {
            DropReason::None
        } else if beyond_table.any() | !region.valid | wrong_key {
            DropReason::BadKey
        } else if region.pd != packet.qp.pd {
            DropReason::WrongPd
        } else if !(region.remote_write & packet.qp.remote_write) {
            DropReason::NoWriteRight
        } else {
            DropReason::None
        };
        self.checked.d.next = RegionToken {
            token: packet.token,
            qp: packet.qp,
            reason: packet.reason,
            access_reason: key_reason,
            rc_class: packet.rc_class,
            rc_epsn: packet.rc_epsn,
            rc_msn: packet.rc_msn,
            va: packet.va,
            page_size: region.page_size,
            base_va: region.base_va,
            first_emtt: region.first_emtt,
        };
        self.bounds_apply.d.next = asks_memory;
        let offset = bit_cast::<65, 64>(packet.va) - bit_cast::<65, 64>(region.base_va);
        let limit = bit_cast::<49, 48>(region.length) - bit_cast::<49, 13>(payload);
        self.bounds.d.next = Bounds {
            below_base: offset.get_bit(64),
            longer_than_region: limit.get_bit(48),
            offset: offset.get_bits::<64>(0),
            limit: bit_cast::<64, 48>(limit.get_bits::<48>(0)),
        };

        // check_bounds
        let bounds = self.bounds.q.val();
        let beyond_end = bounds.offset > bounds.limit;
        let outside = bounds.below_base | bounds.longer_than_region | beyond_end;
        let mut verdict = self.checked.q.val();
        verdict.access_reason =
            if (verdict.access_reason == DropReason::None) & self.bounds_apply.q.val() & outside {
                DropReason::OutOfBounds
            } else {
                verdict.access_reason
            };
        self.verdict.d.next = verdict;

        self.out_valid.next = self.valid[LATENCY - 1].q.val();
        self.out_token.next = self.verdict.q.val();

        if self.reset.val() {
            for i in 0..LATENCY {
                self.valid[i].d.next = false;
            }
        }
    }
}
