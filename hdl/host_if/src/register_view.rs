//! Values that software reads in BAR0.

use hdl_macros::hdl;
use rust_hdl::prelude::*;
use stellar_wire::host::admin::AdminState;
use stellar_wire::host::registers::{self as map, status};

use crate::bundles::RegisterReadSnk;
use crate::register_address::{any, hit, is_at, places, shown};

/// Cycles from `read_valid` to `read_done`.
pub const READ_LATENCY: usize = 4;

/// Contents of the registers.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct RegisterState {
    pub features: Bits<64>,
    pub data_path: Bits<64>,
    pub immediates: Bits<64>,
    pub scratch: Bits<64>,
    pub port_up: Bits<2>,
    pub udp_port: Bits<16>,
    pub mps_code: Bits<3>,
    pub mrrs_code: Bits<3>,
    pub read_timeout: Bits<31>,
    pub counter_select: Bits<8>,
    pub unmapped: Bits<32>,
    pub refused: Bits<32>,
    pub interrupt_pending: Bits<64>,
    pub fence_busy: Bit,
    pub fence_done: Bit,
    pub arm_busy: Bit,
    pub count_busy: Bit,
    pub qp_counter: Bits<64>,
    pub table_busy: Bit,
    pub admin_done: Bits<16>,
    pub admin_error: Bits<8>,
}

/// Answers one read per cycle, [`READ_LATENCY`] cycles later: late enough to include the counter that the write before the read has selected.
///
/// Levels: 3 (address, selection).
#[derive(LogicBlock, Default)]
pub struct RegisterView {
    pub clock: Signal<In, Clock>,
    /// Discards reads in progress.
    pub reset: Signal<In, Bit>,
    pub read: RegisterReadSnk,
    /// High for one cycle per read of an address without a register.
    pub read_unmapped: Signal<Out, Bit>,

    pub state: Signal<In, RegisterState>,
    /// The table entry, first word in the low bits.
    pub table_data: Signal<In, Bits<1024>>,
    pub counter_value: Signal<In, Bits<48>>,

    reading_valid: DFF<Bit>,
    reading: DFF<Bits<16>>,
    settled_valid: DFF<Bit>,
    settled: DFF<Bits<16>>,
    picked_valid: DFF<Bit>,
    picked_single: DFF<Bits<64>>,
    picked_table: DFF<Bits<64>>,
    picked_counter: DFF<Bit>,
    picked_nothing: DFF<Bit>,
    done: DFF<Bit>,
    shown: DFF<Bits<64>>,
}

impl Logic for RegisterView {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            reading_valid,
            reading,
            settled_valid,
            settled,
            picked_valid
        );
        dff_setup!(
            self,
            clock,
            picked_single,
            picked_table,
            picked_counter,
            picked_nothing
        );
        dff_setup!(self, clock, done, shown);

        // take_read
        self.reading_valid.d.next = self.read.valid.val();
        self.reading.d.next = self.read.address.val();
        self.settled_valid.d.next = self.reading_valid.q.val();
        self.settled.d.next = self.reading.q.val();

        // pick: choose a single register and, in parallel, a table word.
        let at = self.settled.q.val();
        let state = self.state.val();
        let mut fence = bits::<64>(0);
        fence = fence.replace_bit(status::BUSY_BIT, state.fence_busy);
        fence = fence.replace_bit(status::DONE_BIT, state.fence_done);
        let mut arming = bits::<64>(0);
        arming = arming.replace_bit(status::BUSY_BIT, state.arm_busy);
        let mut counting = bits::<64>(0);
        counting = counting.replace_bit(status::BUSY_BIT, state.count_busy);
        let mut commit = bits::<64>(0);
        commit = commit.replace_bit(status::BUSY_BIT, state.table_busy);
        let admin = bit_cast::<64, 16>(state.admin_done)
            | (bit_cast::<64, 8>(state.admin_error) << (AdminState::ERROR_BIT as u64));
        let identity = bits::<64>(map::IDENTITY.reset);
        let version = bits::<64>(map::VERSION.reset);
        let constants = shown(is_at(at, map::IDENTITY.index()), identity)
            | shown(is_at(at, map::VERSION.index()), version)
            | shown(is_at(at, map::FEATURES.index()), state.features)
            | shown(is_at(at, map::DATA_PATH.index()), state.data_path)
            | shown(is_at(at, map::IMMEDIATES.index()), state.immediates);
        let udp_port = bit_cast::<64, 16>(state.udp_port);
        let payload = bit_cast::<64, 3>(state.mps_code);
        let read_size = bit_cast::<64, 3>(state.mrrs_code);
        let timeout = bit_cast::<64, 31>(state.read_timeout);
        let selected = bit_cast::<64, 8>(state.counter_select);
        let kept = shown(is_at(at, map::SCRATCH.index()), state.scratch)
            | shown(is_at(at, map::UDP_PORT.index()), udp_port)
            | shown(is_at(at, map::MAX_PAYLOAD.index()), payload)
            | shown(is_at(at, map::MAX_READ.index()), read_size)
            | shown(is_at(at, map::READ_TIMEOUT.index()), timeout)
            | shown(is_at(at, map::COUNTER_SELECT.index()), selected);
        let port_up = bit_cast::<64, 2>(state.port_up);
        let refused = bit_cast::<64, 32>(state.refused);
        let unmapped = bit_cast::<64, 32>(state.unmapped);
        let states = shown(is_at(at, map::PORT_STATE.index()), port_up)
            | shown(
                is_at(at, map::INTERRUPT_PENDING.index()),
                state.interrupt_pending,
            )
            | shown(is_at(at, map::REFUSED.index()), refused)
            | shown(is_at(at, map::UNMAPPED.index()), unmapped)
            | shown(is_at(at, map::FENCE.index()), fence)
            | shown(is_at(at, map::IMMEDIATE_ARM.index()), arming)
            | shown(is_at(at, map::QP_COUNTER_SELECT.index()), counting)
            | shown(is_at(at, map::QP_COUNTER_VALUE.index()), state.qp_counter)
            | shown(is_at(at, map::TABLE_COMMAND.index()), commit)
            | shown(is_at(at, map::ADMIN_STATE.index()), admin);
        let mut table_word = bits::<64>(0);
        for word in 0..u64::from(map::TABLE_DATA.count) {
            let value = self.table_data.val().get_bits::<64>(64 * word as usize);
            table_word = table_word | shown(is_at(at, map::TABLE_DATA.index() + word), value);
        }
        let mut from_register = bits::<1>(0);
        for place in places(any) {
            from_register = from_register | hit(at, place);
        }
        self.picked_valid.d.next = self.settled_valid.q.val();
        self.picked_single.d.next = constants | kept | states;
        self.picked_table.d.next = table_word;
        self.picked_counter.d.next = is_at(at, map::COUNTER_VALUE.index());
        self.picked_nothing.d.next = !from_register.any();

        // answer
        let value = bit_cast::<64, 48>(self.counter_value.val());
        let counter = shown(self.picked_counter.q.val(), value);
        self.done.d.next = self.picked_valid.q.val();
        self.shown.d.next = if self.picked_nothing.q.val() {
            Bits::<64>::mask()
        } else {
            self.picked_single.q.val() | self.picked_table.q.val() | counter
        };
        self.read.done.next = self.done.q.val();
        self.read.data.next = self.shown.q.val();
        self.read_unmapped.next = self.picked_valid.q.val() & self.picked_nothing.q.val();

        if self.reset.val() {
            self.reading_valid.d.next = false;
            self.settled_valid.d.next = false;
            self.picked_valid.d.next = false;
            self.done.d.next = false;
        }
    }
}
