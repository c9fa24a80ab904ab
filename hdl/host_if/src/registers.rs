//! BAR0 of the physical function.

use hdl_macros::{clock_reset, hdl, join};
use hdl_primitives::{ArmSrc, Counter, FenceSrc, Src};
use rust_hdl::prelude::*;
use stellar_wire::host::registers::{self as map, ImmediateArm, Immediates, TableCommand};
use stellar_wire::host::{ConsumerIndex, QpCounterSelect};
use stellar_wire::hw::config::{ConfigSelect, ConfigWrite};
use stellar_wire::hw::host_queues::EVENT_QUEUE_BITS;
use stellar_wire::hw::tables::EMTT_INDEX_BITS;
use stellar_wire::hw::{Qpn, QPN_BITS};

use crate::bundles::{
    AdminRegistersSrc, EventConsumerSrc, QpCounterSrc, RegisterReadSnk, RegisterWriteSnk,
};
use crate::config_entry::{config_select, SELECT_BITS};
use crate::register_address::{any, byte_mask, command, hit, is_at, merged, places, read_only};
use crate::register_view::{RegisterState, RegisterView};
use crate::table_rows::{data_path, features, has_row};

/// Words of a table entry.
const TABLE_WORDS: usize = map::TABLE_DATA.count as usize;

/// A write from PCIe.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct BarWrite {
    address: Bits<16>,
    data: Bits<64>,
    enable: Bits<8>,
}

#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum Fence {
    /// No fence is in progress.
    Idle,
    /// The fence waits for earlier table writes.
    Queued,
    /// The fence is valid at its output.
    Asked,
    /// The fence was accepted, and is not done yet.
    Issued,
}

/// The registers of [`stellar_wire::host::registers`]. The block accepts one write and one read per cycle; a read sees the writes of earlier cycles.
///
/// A write has the address of a 64-bit register and byte enables; an address that is not a multiple of 8 belongs to no register. The output of a
/// command stays valid until it is accepted, and further commands of the same kind are refused in this time. A fence waits for the table write before
/// it. `Q`, `M` and `E` are log2 of queue pairs, memory regions and translations, for [`stellar_wire::host::registers::FEATURES`] and for the rows of
/// the tables. The card has `P` ports with a PCIe endpoint each, and beats of `W` bits ([`stellar_wire::host::registers::DATA_PATH`]). LUT levels: 5 (4 for the rows of the tables, 1 for the refusal).
#[derive(LogicBlock, Default)]
pub struct Registers<
    const Q: usize,
    const M: usize,
    const E: usize,
    const P: usize = 2,
    const W: usize = 1024,
> {
    pub clock: Signal<In, Clock>,
    /// Every register has its reset value; commands in progress are discarded.
    pub reset: Signal<In, Bit>,

    // From PCIe.
    pub write: RegisterWriteSnk,
    pub read: RegisterReadSnk,

    // What is shown.
    pub port_up: Signal<In, Bits<2>>,
    pub interrupt_pending: Signal<In, Bits<64>>,
    pub counter_select: Signal<Out, Bits<8>>,
    /// Value of the counter that was selected two cycles before.
    pub counter_value: Signal<In, Bits<48>>,

    // What is set.
    pub udp_port: Signal<Out, Bits<16>>,
    pub mps_code: Signal<Out, Bits<3>>,
    pub mrrs_code: Signal<Out, Bits<3>>,
    pub read_timeout: Signal<Out, Bits<31>>,

    // To the tables.
    pub settings: Src<ConfigWrite>,
    // To the receive core.
    pub fence: FenceSrc,
    /// Pulses when the fence is done.
    pub fence_done: Signal<In, Bit>,
    // To the responder.
    pub arm: ArmSrc,
    // To and from the admin queue.
    pub admin: AdminRegistersSrc,
    // To the counters of queue pairs.
    pub qp_counter: QpCounterSrc,
    // To event_queues, which always take it.
    pub event_consumer: EventConsumerSrc,

    writing_valid: DFF<Bit>,
    writing: DFF<BarWrite>,
    scratch: DFF<Bits<64>>,
    port: DFF<Bits<16>>,
    payload: DFF<Bits<3>>,
    read_size: DFF<Bits<3>>,
    timeout: DFF<Bits<31>>,
    selected: DFF<Bits<8>>,
    table_data: [DFF<Bits<64>>; TABLE_WORDS],
    table_busy: DFF<Bit>,
    table: DFF<ConfigSelect>,
    row: DFF<Bits<EMTT_INDEX_BITS>>,
    fence_step: DFF<Fence>,
    fenced: DFF<Bit>,
    arm_busy: DFF<Bit>,
    armed_qp: DFF<Qpn>,
    armed_threshold: DFF<Bits<32>>,
    count_busy: DFF<Bit>,
    count_qp: DFF<Qpn>,
    count_number: DFF<Bits<{ QpCounterSelect::COUNTER_BITS }>>,
    /// The counter that was read last.
    count: DFF<Bits<64>>,
    renews: DFF<Bit>,
    produces: DFF<Bit>,
    consumer_valid: DFF<Bit>,
    /// The last value written by a command that needs no handshake.
    written: DFF<Bits<64>>,
    refused: Counter<32>,
    unmapped: Counter<32>,
    view: RegisterView,
}

impl<const Q: usize, const M: usize, const E: usize, const P: usize, const W: usize> Logic
    for Registers<Q, M, E, P, W>
{
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            writing_valid,
            writing,
            scratch,
            port,
            payload,
            read_size,
            timeout
        );
        dff_setup!(self, clock, selected, table_busy, table, row, fence_step, fenced);
        dff_setup!(
            self,
            clock,
            arm_busy,
            armed_qp,
            armed_threshold,
            consumer_valid,
            written,
            renews,
            produces
        );
        dff_setup!(self, clock, count_busy, count_qp, count_number, count);
        clock_reset!(self, refused, unmapped, view);

        // take_write
        self.writing_valid.d.next = self.write.valid.val();
        self.writing.d.next = BarWrite {
            address: self.write.address.val(),
            data: self.write.data.val(),
            enable: self.write.enable.val(),
        };

        // store: registers that keep what is written.
        let writes = self.writing_valid.q.val();
        let write = self.writing.q.val();
        let mask = byte_mask(write.enable);
        if writes & is_at(write.address, map::SCRATCH.index()) {
            self.scratch.d.next = merged(self.scratch.q.val(), write.data, mask);
        }
        if writes & is_at(write.address, map::UDP_PORT.index()) {
            let old = bit_cast::<64, 16>(self.port.q.val());
            self.port.d.next = bit_cast::<16, 64>(merged(old, write.data, mask));
        }
        if writes & is_at(write.address, map::MAX_PAYLOAD.index()) {
            let old = bit_cast::<64, 3>(self.payload.q.val());
            self.payload.d.next = bit_cast::<3, 64>(merged(old, write.data, mask));
        }
        if writes & is_at(write.address, map::MAX_READ.index()) {
            let old = bit_cast::<64, 3>(self.read_size.q.val());
            self.read_size.d.next = bit_cast::<3, 64>(merged(old, write.data, mask));
        }
        if writes & is_at(write.address, map::READ_TIMEOUT.index()) {
            let old = bit_cast::<64, 31>(self.timeout.q.val());
            self.timeout.d.next = bit_cast::<31, 64>(merged(old, write.data, mask));
        }
        if writes & is_at(write.address, map::COUNTER_SELECT.index()) {
            let old = bit_cast::<64, 8>(self.selected.q.val());
            self.selected.d.next = bit_cast::<8, 64>(merged(old, write.data, mask));
        }
        let table_busy = self.table_busy.q.val();
        let mut to_table = bits::<1>(0);
        for word in 0..TABLE_WORDS {
            self.table_data[word].clock.next = self.clock.val();
            to_table = to_table | hit(write.address, map::TABLE_DATA.index() + word as u64);
            let here = is_at(write.address, map::TABLE_DATA.index() + word as u64);
            self.table_data[word].d.next = if writes & here & !table_busy {
                merged(self.table_data[word].q.val(), write.data, mask)
            } else {
                self.table_data[word].q.val()
            };
        }

        // command
        let commands = writes & write.enable.all();
        let to_commit = is_at(write.address, map::TABLE_COMMAND.index());
        let to_fence = is_at(write.address, map::FENCE.index());
        let to_arm = is_at(write.address, map::IMMEDIATE_ARM.index());
        let to_count = is_at(write.address, map::QP_COUNTER_SELECT.index());
        let to_consumer = is_at(write.address, map::EVENT_CONSUMER.index());
        let fence = self.fence_step.q.val();
        let fence_busy = fence != Fence::Idle;
        let number = write.data.get_bits::<8>(TableCommand::SELECT_BIT);
        let row = write
            .data
            .get_bits::<EMTT_INDEX_BITS>(TableCommand::INDEX_BIT);
        let may_commit = !table_busy & has_row::<Q, M, E, P>(number, row);
        if commands & to_commit & may_commit {
            self.table_busy.d.next = true;
            self.table.d.next = config_select(number.get_bits::<SELECT_BITS>(0));
            self.row.d.next = row;
        } else if self.settings.ready.val() {
            self.table_busy.d.next = false;
        }
        if commands & to_arm & !self.arm_busy.q.val() {
            self.arm_busy.d.next = true;
            self.armed_qp.d.next =
                bit_cast::<QPN_BITS, Q>(write.data.get_bits::<Q>(ImmediateArm::QP_BIT));
            self.armed_threshold.d.next = write.data.get_bits::<32>(ImmediateArm::THRESHOLD_BIT);
        } else if self.arm.ready.val() {
            self.arm_busy.d.next = false;
        }
        if commands & to_count & !self.count_busy.q.val() {
            self.count_busy.d.next = true;
            self.count_qp.d.next =
                bit_cast::<QPN_BITS, Q>(write.data.get_bits::<Q>(QpCounterSelect::QP_BIT));
            self.count_number.d.next = write
                .data
                .get_bits::<{ QpCounterSelect::COUNTER_BITS }>(QpCounterSelect::COUNTER_BIT);
        } else if self.qp_counter.ready.val() {
            self.count_busy.d.next = false;
        }
        if self.count_busy.q.val() & self.qp_counter.ready.val() {
            self.count.d.next = self.qp_counter.value.val();
        }
        self.consumer_valid.d.next = commands & to_consumer;
        self.renews.d.next = commands & is_at(write.address, map::ADMIN_RING.index());
        self.produces.d.next = commands & is_at(write.address, map::ADMIN_PRODUCER.index());
        self.written.d.next = write.data;
        if fence == Fence::Idle {
            if commands & to_fence {
                self.fence_step.d.next = Fence::Queued;
                self.fenced.d.next = false;
            }
        } else if fence == Fence::Queued {
            if !table_busy {
                self.fence_step.d.next = Fence::Asked;
            }
        } else if fence == Fence::Asked {
            if self.fence.ready.val() {
                self.fence_step.d.next = Fence::Issued;
            }
        } else if self.fence_done.val() {
            self.fence_step.d.next = Fence::Idle;
            self.fenced.d.next = true;
        }

        // refuse
        let mut to_read_only = bits::<1>(0);
        for place in places(read_only) {
            to_read_only = to_read_only | hit(write.address, place);
        }
        let mut to_command = bits::<1>(0);
        for place in places(command) {
            to_command = to_command | hit(write.address, place);
        }
        let mut to_register = bits::<1>(0);
        for place in places(any) {
            to_register = to_register | hit(write.address, place);
        }
        let in_turn = !((to_commit & !may_commit)
            | (to_fence & fence_busy)
            | (to_arm & self.arm_busy.q.val())
            | (to_count & self.count_busy.q.val())
            | (to_table.any() & table_busy));
        let short = to_command.any() & !write.enable.all();
        let refuses = writes & (to_read_only.any() | short | !in_turn);
        self.refused.add.next = if refuses {
            bits::<16>(1)
        } else {
            bits::<16>(0)
        };

        // count_unmapped
        let mut strays = bits::<16>(0);
        strays = strays.replace_bit(0, writes & !to_register.any());
        let mut more = bits::<16>(0);
        more = more.replace_bit(0, self.view.read_unmapped.val());
        self.unmapped.add.next = strays + more;

        // show_outputs
        let mut entry = bits::<1024>(0);
        for word in 0..TABLE_WORDS {
            entry =
                entry | (bit_cast::<1024, 64>(self.table_data[word].q.val()) << (64 * word as u64));
        }
        join!(
            self,
            read => view.read,
            counter_value => view.counter_value,
        );
        self.view.table_data.next = entry;
        self.view.state.next = RegisterState {
            features: bits::<64>(features(Q, M, E, P).to_word()),
            data_path: bits::<64>(data_path(P, W, Q).to_word()),
            immediates: bits::<64>(Immediates::of(Q).to_word()),
            scratch: self.scratch.q.val(),
            port_up: self.port_up.val(),
            udp_port: self.port.q.val(),
            mps_code: self.payload.q.val(),
            mrrs_code: self.read_size.q.val(),
            read_timeout: self.timeout.q.val(),
            counter_select: self.selected.q.val(),
            unmapped: self.unmapped.total.val(),
            refused: self.refused.total.val(),
            interrupt_pending: self.interrupt_pending.val(),
            fence_busy,
            fence_done: self.fenced.q.val(),
            arm_busy: self.arm_busy.q.val(),
            count_busy: self.count_busy.q.val(),
            qp_counter: self.count.q.val(),
            table_busy,
            admin_done: self.admin.done.val(),
            admin_error: self.admin.error.val(),
        };
        self.settings.valid.next = table_busy;
        self.settings.record.next = ConfigWrite {
            select: self.table.q.val(),
            index: self.row.q.val(),
            entry,
        };
        self.fence.valid.next = fence == Fence::Asked;
        self.arm.valid.next = self.arm_busy.q.val();
        self.arm.qp.next = self.armed_qp.q.val();
        self.arm.threshold.next = self.armed_threshold.q.val();
        self.qp_counter.valid.next = self.count_busy.q.val();
        self.qp_counter.qp.next = self.count_qp.q.val();
        self.qp_counter.counter.next = self.count_number.q.val();
        self.event_consumer.valid.next = self.consumer_valid.q.val();
        let written = self.written.q.val();
        self.event_consumer.queue.next =
            written.get_bits::<EVENT_QUEUE_BITS>(ConsumerIndex::QP_BIT);
        self.event_consumer.index.next = written.get_bits::<24>(ConsumerIndex::INDEX_BIT);
        self.event_consumer.arm.next = written.get_bit(ConsumerIndex::ARM_BIT);
        self.admin.ring.valid.next = self.renews.q.val();
        self.admin.ring.record.next = written;
        self.admin.producer.valid.next = self.produces.q.val();
        self.admin.producer.record.next = written.get_bits::<16>(0);
        self.counter_select.next = self.selected.q.val();
        self.udp_port.next = self.port.q.val();
        self.mps_code.next = self.payload.q.val();
        self.mrrs_code.next = self.read_size.q.val();
        self.read_timeout.next = self.timeout.q.val();

        if self.reset.val() {
            self.writing_valid.d.next = false;
            self.scratch.d.next = bits::<64>(map::SCRATCH.reset);
            self.port.d.next = bits::<16>(map::UDP_PORT.reset);
            self.payload.d.next = bits::<3>(map::MAX_PAYLOAD.reset);
            self.read_size.d.next = bits::<3>(map::MAX_READ.reset);
            self.timeout.d.next = bits::<31>(map::READ_TIMEOUT.reset);
            self.selected.d.next = bits::<8>(map::COUNTER_SELECT.reset);
            self.table_busy.d.next = false;
            self.fence_step.d.next = Fence::Idle;
            self.fenced.d.next = false;
            self.arm_busy.d.next = false;
            self.count_busy.d.next = false;
            self.count.d.next = bits::<64>(map::QP_COUNTER_VALUE.reset);
            self.consumer_valid.d.next = false;
            self.renews.d.next = false;
            self.produces.d.next = false;
        }
    }
}
