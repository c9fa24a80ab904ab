//! Completion queues, event queue and interrupts together.

use hdl_macros::hdl;
use rust_hdl::prelude::*;
use stellar_wire::hw::dma::WriteTlpHeader;
use stellar_wire::hw::host_queues::{CompletionQueueConfig, EventQueueConfig, InterruptEntry};
use stellar_wire::hw::messages::Completion;

use crate::completion_queues::CompletionQueues;
use crate::event_queue::EventQueue;
use crate::host_writes::HostWrites;
use crate::interrupts::Interrupts;

/// Everything that writes rings: [`CompletionQueues`], [`EventQueue`], [`Interrupts`] and [`HostWrites`], with their ports.
///
/// 2^`Q` queue pairs, a lane of `W` bits.
#[derive(LogicBlock, Default)]
pub struct HostQueues<const Q: usize, const W: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    // Completions.
    pub send_valid: Signal<In, Bit>,
    pub send: Signal<In, Completion>,
    pub send_ready: Signal<Out, Bit>,
    pub receive_valid: Signal<In, Bit>,
    pub receive: Signal<In, Completion>,
    pub receive_ready: Signal<Out, Bit>,

    // Events.
    pub qp_error_valid: Signal<In, Bit>,
    pub qp_error_qp: Signal<In, Bits<10>>,
    pub qp_error_status: Signal<In, Bits<8>>,
    pub qp_error_ready: Signal<Out, Bit>,
    pub imm_threshold_valid: Signal<In, Bit>,
    pub imm_threshold_qp: Signal<In, Bits<10>>,
    pub imm_threshold_count: Signal<In, Bits<32>>,
    pub imm_threshold_ready: Signal<Out, Bit>,
    pub doorbell_refused_valid: Signal<In, Bit>,
    pub doorbell_refused_page: Signal<In, Bits<16>>,
    pub doorbell_refused_qp: Signal<In, Bits<24>>,
    pub doorbell_refused_ready: Signal<Out, Bit>,
    pub page_fault_valid: Signal<In, Bit>,
    pub page_fault_region: Signal<In, Bits<24>>,
    pub page_fault_va: Signal<In, Bits<64>>,
    pub page_fault_ready: Signal<Out, Bit>,

    // Configuration.
    pub completion_config_valid: Signal<In, Bit>,
    pub completion_config_qp: Signal<In, Bits<10>>,
    pub completion_config: Signal<In, CompletionQueueConfig>,
    pub completion_config_ready: Signal<Out, Bit>,
    pub event_config_valid: Signal<In, Bit>,
    pub event_config: Signal<In, EventQueueConfig>,
    pub event_config_ready: Signal<Out, Bit>,
    pub interrupt_config_valid: Signal<In, Bit>,
    pub interrupt_config_vector: Signal<In, Bits<6>>,
    pub interrupt_config: Signal<In, InterruptEntry>,
    pub interrupt_config_ready: Signal<Out, Bit>,

    // Readers.
    pub consumer_valid: Signal<In, Bit>,
    pub consumer_qp: Signal<In, Bits<10>>,
    pub consumer_index: Signal<In, Bits<24>>,
    pub consumer_arm: Signal<In, Bit>,
    pub consumer_ready: Signal<Out, Bit>,
    pub event_consumer_valid: Signal<In, Bit>,
    pub event_consumer_index: Signal<In, Bits<24>>,
    pub event_consumer_arm: Signal<In, Bit>,

    // To PCIe.
    pub tlp_valid: Signal<Out, Bit>,
    pub tlp_ready: Signal<In, Bit>,
    pub tlp_data: Signal<Out, Bits<W>>,
    pub tlp_header: Signal<Out, WriteTlpHeader>,
    pub tlp_first: Signal<Out, Bit>,
    pub tlp_last: Signal<Out, Bit>,

    /// To registers.
    pub interrupt_pending: Signal<Out, Bits<64>>,
    // Counters: one clock per event.
    pub completions_written: Signal<Out, Bit>,
    pub completions_lost: Signal<Out, Bit>,
    pub consumers_refused: Signal<Out, Bit>,
    pub events_written: Signal<Out, Bit>,
    pub events_lost: Signal<Out, Bit>,
    pub event_consumers_refused: Signal<Out, Bit>,
    pub interrupts_sent: Signal<Out, Bit>,

    completions: CompletionQueues<Q>,
    events: EventQueue,
    interrupts: Interrupts,
    writes: HostWrites<W>,
}

impl<const Q: usize, const W: usize> Logic for HostQueues<Q, W> {
    #[hdl]
    fn update(&mut self) {
        clock!(self, clock, completions, events, interrupts, writes);
        self.completions.reset.next = self.reset.val();
        self.events.reset.next = self.reset.val();
        self.interrupts.reset.next = self.reset.val();
        self.writes.reset.next = self.reset.val();

        self.completions.send_valid.next = self.send_valid.val();
        self.completions.send.next = self.send.val();
        self.send_ready.next = self.completions.send_ready.val();
        self.completions.receive_valid.next = self.receive_valid.val();
        self.completions.receive.next = self.receive.val();
        self.receive_ready.next = self.completions.receive_ready.val();
        self.completions.config_valid.next = self.completion_config_valid.val();
        self.completions.config_qp.next = self.completion_config_qp.val();
        self.completions.settings.next = self.completion_config.val();
        self.completion_config_ready.next = self.completions.config_ready.val();
        self.completions.consumer_valid.next = self.consumer_valid.val();
        self.completions.consumer_qp.next = self.consumer_qp.val();
        self.completions.consumer_index.next = self.consumer_index.val();
        self.completions.consumer_arm.next = self.consumer_arm.val();
        self.consumer_ready.next = self.completions.consumer_ready.val();

        self.events.qp_error_valid.next = self.qp_error_valid.val();
        self.events.qp_error_qp.next = self.qp_error_qp.val();
        self.events.qp_error_status.next = self.qp_error_status.val();
        self.qp_error_ready.next = self.events.qp_error_ready.val();
        self.events.imm_threshold_valid.next = self.imm_threshold_valid.val();
        self.events.imm_threshold_qp.next = self.imm_threshold_qp.val();
        self.events.imm_threshold_count.next = self.imm_threshold_count.val();
        self.imm_threshold_ready.next = self.events.imm_threshold_ready.val();
        self.events.doorbell_refused_valid.next = self.doorbell_refused_valid.val();
        self.events.doorbell_refused_page.next = self.doorbell_refused_page.val();
        self.events.doorbell_refused_qp.next = self.doorbell_refused_qp.val();
        self.doorbell_refused_ready.next = self.events.doorbell_refused_ready.val();
        self.events.page_fault_valid.next = self.page_fault_valid.val();
        self.events.page_fault_region.next = self.page_fault_region.val();
        self.events.page_fault_va.next = self.page_fault_va.val();
        self.page_fault_ready.next = self.events.page_fault_ready.val();
        self.events.overrun_valid.next = self.completions.overrun_valid.val();
        self.events.overrun_qp.next = self.completions.overrun_qp.val();
        self.events.overrun_wr_id.next = self.completions.overrun_wr_id.val();
        self.completions.overrun_ready.next = self.events.overrun_ready.val();
        self.events.config_valid.next = self.event_config_valid.val();
        self.events.settings.next = self.event_config.val();
        self.event_config_ready.next = self.events.config_ready.val();
        self.events.consumer_valid.next = self.event_consumer_valid.val();
        self.events.consumer_index.next = self.event_consumer_index.val();
        self.events.consumer_arm.next = self.event_consumer_arm.val();

        self.interrupts.completion_raise_valid.next = self.completions.raise_valid.val();
        self.interrupts.completion_raise_vector.next = self.completions.raise_vector.val();
        self.interrupts.event_raise_valid.next = self.events.raise_valid.val();
        self.interrupts.event_raise_vector.next = self.events.raise_vector.val();
        self.interrupts.config_valid.next = self.interrupt_config_valid.val();
        self.interrupts.config_vector.next = self.interrupt_config_vector.val();
        self.interrupts.settings.next = self.interrupt_config.val();
        self.interrupt_config_ready.next = self.interrupts.config_ready.val();
        self.interrupt_pending.next = self.interrupts.pending.val();

        self.writes.completion_valid.next = self.completions.write_valid.val();
        self.writes.completion_header.next = self.completions.write_header.val();
        self.writes.completion_data.next = self.completions.write_data.val();
        self.completions.write_ready.next = self.writes.completion_ready.val();
        self.writes.event_valid.next = self.events.write_valid.val();
        self.writes.event_header.next = self.events.write_header.val();
        self.writes.event_data.next = self.events.write_data.val();
        self.events.write_ready.next = self.writes.event_ready.val();
        self.writes.interrupt_valid.next = self.interrupts.write_valid.val();
        self.writes.interrupt_header.next = self.interrupts.write_header.val();
        self.writes.interrupt_data.next = self.interrupts.write_data.val();
        self.interrupts.write_ready.next = self.writes.interrupt_ready.val();
        self.writes.tlp_ready.next = self.tlp_ready.val();
        self.tlp_valid.next = self.writes.tlp_valid.val();
        self.tlp_data.next = self.writes.tlp_data.val();
        self.tlp_header.next = self.writes.tlp_header.val();
        self.tlp_first.next = self.writes.tlp_first.val();
        self.tlp_last.next = self.writes.tlp_last.val();

        self.completions_written.next = self.completions.written.val();
        self.completions_lost.next = self.completions.lost.val();
        self.consumers_refused.next = self.completions.consumer_refused.val();
        self.events_written.next = self.events.written.val();
        self.events_lost.next = self.events.lost.val();
        self.event_consumers_refused.next = self.events.consumer_refused.val();
        self.interrupts_sent.next = self.interrupts.sent.val();
    }
}
