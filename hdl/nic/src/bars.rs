//! The BARs: registers, doorbells, and the way to the MSI-X table.

use hdl_host_if::{
    AdminRegistersSrc, BarDecoder, ConsumerSrc, DoorbellPulsesSrc, Doorbells, EventConsumerSrc,
    OwnerSnk, QpCounterSrc, RefusedDoorbellSrc, Registers,
};
use hdl_macros::{clock_reset, hdl, join};
use hdl_pcie::bars::Completer;
use hdl_pcie::bundles::{AxisSnk, AxisSrc};
use hdl_pcie::requester::message_gate::{INSIDE_BITS, LEFT_BITS};
use hdl_primitives::{ArmSrc, BarAccessSrc, BarDataSnk, DoorbellSrc, FenceSrc, Src};
use rust_hdl::prelude::*;
use stellar_wire::host::counters::{OF_CARD_BIT, OF_PORT_BIT, PORT_BIT};
use stellar_wire::hw::config::ConfigWrite;

/// Number of bits that select a counter of the receive core.
const CORE_COUNTER_BITS: usize = 6;

/// What the host reads and writes in the card, behind AMD's PCIe block: BAR0 (registers), BAR2 (doorbells), and BAR4, which the interrupts have. `Q`, `M`
/// and `E` are log2 of queue pairs, memory regions and translations, `P` is the number of ports. A beat has `W` bits, which are `K` double words; `CQ`, `CD` and
/// `CC` are those of [`Completer`]: bits of `tuser` of requests, the place of `discontinue` in it, and bits of `tuser` of completions.
#[derive(LogicBlock)]
pub struct Bars<
    const Q: usize,
    const M: usize,
    const E: usize,
    const P: usize,
    const W: usize,
    const K: usize,
    const CQ: usize,
    const CD: usize,
    const CC: usize,
> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    // Requests of the host, and their completions.
    pub cq: AxisSnk<W, K, CQ>,
    pub cc: AxisSrc<W, K, CC>,
    /// One cycle each: a request was refused, or came damaged.
    pub refused: Signal<Out, Bit>,
    pub damaged: Signal<Out, Bit>,

    // BAR4. Interrupt messages in the request stream, and those that leave it.
    pub messages: Signal<In, Bits<INSIDE_BITS>>,
    pub messages_left: Signal<In, Bits<LEFT_BITS>>,
    pub vector_access: BarAccessSrc,
    pub vector_word: BarDataSnk,

    // BAR2.
    pub owner: OwnerSnk,
    pub doorbell: DoorbellSrc,
    pub consumer: ConsumerSrc,
    pub doorbell_refused: RefusedDoorbellSrc,
    pub doorbell_pulses: DoorbellPulsesSrc,

    // BAR0: state that software reads.
    pub port_up: Signal<In, Bits<2>>,
    pub interrupt_pending: Signal<In, Bits<64>>,
    /// Selects a counter of the receive core, and one of the card and of each port; their values follow.
    pub core_counter_select: Signal<Out, Bits<CORE_COUNTER_BITS>>,
    pub core_counter: Signal<In, Bits<48>>,
    pub counter_select: Signal<Out, Bits<PORT_BIT>>,
    pub card_counter: Signal<In, Bits<48>>,
    pub port_counter: [Signal<In, Bits<48>>; P],
    pub qp_counter: QpCounterSrc,

    // BAR0: settings and commands.
    pub udp_port: Signal<Out, Bits<16>>,
    pub mps_code: Signal<Out, Bits<3>>,
    pub mrrs_code: Signal<Out, Bits<3>>,
    pub read_timeout: Signal<Out, Bits<31>>,
    pub settings: Src<ConfigWrite>,
    pub admin: AdminRegistersSrc,
    pub event_consumer: EventConsumerSrc,
    pub arm: ArmSrc,
    pub fence: FenceSrc,
    /// One cycle: the fence is done.
    pub fence_done: Signal<In, Bit>,

    completer: Completer<W, K, CQ, CD, CC>,
    decoder: BarDecoder,
    registers: Registers<Q, M, E, P, W>,
    doorbells: Doorbells<Q>,
    /// The selected counter. A register, because the ways from the counters are long.
    counter: DFF<Bits<48>>,
}

impl<
        const Q: usize,
        const M: usize,
        const E: usize,
        const P: usize,
        const W: usize,
        const K: usize,
        const CQ: usize,
        const CD: usize,
        const CC: usize,
    > Default for Bars<Q, M, E, P, W, K, CQ, CD, CC>
{
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            cq: Default::default(),
            cc: Default::default(),
            refused: Default::default(),
            damaged: Default::default(),
            vector_access: Default::default(),
            vector_word: Default::default(),
            messages: Default::default(),
            messages_left: Default::default(),
            owner: Default::default(),
            doorbell: Default::default(),
            consumer: Default::default(),
            doorbell_refused: Default::default(),
            doorbell_pulses: Default::default(),
            port_up: Default::default(),
            interrupt_pending: Default::default(),
            core_counter_select: Default::default(),
            core_counter: Default::default(),
            counter_select: Default::default(),
            card_counter: Default::default(),
            port_counter: std::array::from_fn(|_| Default::default()),
            qp_counter: Default::default(),
            udp_port: Default::default(),
            mps_code: Default::default(),
            mrrs_code: Default::default(),
            read_timeout: Default::default(),
            settings: Default::default(),
            admin: Default::default(),
            event_consumer: Default::default(),
            arm: Default::default(),
            fence: Default::default(),
            fence_done: Default::default(),
            completer: Default::default(),
            decoder: Default::default(),
            registers: Default::default(),
            doorbells: Default::default(),
            counter: Default::default(),
        }
    }
}

impl<
        const Q: usize,
        const M: usize,
        const E: usize,
        const P: usize,
        const W: usize,
        const K: usize,
        const CQ: usize,
        const CD: usize,
        const CC: usize,
    > Logic for Bars<Q, M, E, P, W, K, CQ, CD, CC>
{
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, counter);
        clock_reset!(self, completer, decoder, registers, doorbells);
        join!(
            self,
            cq => completer.cq,
            completer.cc => cc,
            messages => completer.messages,
            messages_left => completer.messages_left,
            completer.refused => refused,
            completer.damaged => damaged,
            completer.access => decoder.access,
            decoder.word => completer.word,
            decoder.register_write => registers.write,
            decoder.register_read => registers.read,
            decoder.doorbell_write => doorbells.write,
            decoder.vector_access => vector_access,
            vector_word => decoder.vector_word,
            owner => doorbells.owner,
            doorbells.doorbell => doorbell,
            doorbells.consumer => consumer,
            doorbells.refused => doorbell_refused,
            doorbells.pulses => doorbell_pulses,
            port_up => registers.port_up,
            interrupt_pending => registers.interrupt_pending,
            registers.qp_counter => qp_counter,
            registers.udp_port => udp_port,
            registers.mps_code => mps_code,
            registers.mrrs_code => mrrs_code,
            registers.read_timeout => read_timeout,
            registers.settings => settings,
            registers.admin => admin,
            registers.event_consumer => event_consumer,
            registers.arm => arm,
            registers.fence => fence,
            fence_done => registers.fence_done,
        );

        let select = self.registers.counter_select.val();
        self.core_counter_select.next = select.get_bits::<CORE_COUNTER_BITS>(0);
        self.counter_select.next = select.get_bits::<PORT_BIT>(0);
        self.counter.d.next = if select.get_bit(OF_CARD_BIT) {
            self.card_counter.val()
        } else if !select.get_bit(OF_PORT_BIT) {
            self.core_counter.val()
        } else if select.get_bit(PORT_BIT) {
            self.port_counter[P - 1].val()
        } else {
            self.port_counter[0].val()
        };
        self.registers.counter_value.next = self.counter.q.val();
    }
}
