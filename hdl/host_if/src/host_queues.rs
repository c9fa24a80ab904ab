//! Completion queues, event queues and interrupts together.

use hdl_macros::{clock_reset, hdl, join};
use hdl_primitives::{
    BarAccessSnk, BarDataSrc, FlowSnk, PageFaultSnk, QpSettingsSnk, QpSrc, Snk, ThresholdSnk,
    TlpSrc,
};
use rust_hdl::prelude::*;
use stellar_wire::hw::host_queues::CompletionQueueConfig;
use stellar_wire::hw::messages::Completion;
use stellar_wire::hw::read::FailedRead;

use crate::bundles::{
    ConsumerSnk, EventConsumerSnk, EventSettingsSnk, QpFailureSnk, QueuePulsesSrc,
    RefusedDoorbellSnk,
};
use crate::completion_queues::CompletionQueues;
use crate::event_queues::EventQueues;
use crate::host_writes::HostWrites;
use crate::interrupts::Interrupts;

/// Everything that writes rings: [`CompletionQueues`], [`EventQueues`], [`Interrupts`] and [`HostWrites`], with their ports.
///
/// 2^`Q` queue pairs, a lane of `W` bits.
#[derive(LogicBlock, Default)]
pub struct HostQueues<const Q: usize, const W: usize, const F: usize = 10, const D: usize = 11> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    // Completions.
    pub send: Snk<Completion>,
    pub receive: Snk<Completion>,

    // Events.
    pub qp_error: QpFailureSnk,
    pub imm_threshold: ThresholdSnk,
    pub doorbell_refused: RefusedDoorbellSnk,
    pub page_fault: PageFaultSnk,
    pub failed_read: Snk<FailedRead>,

    // Configuration.
    pub completion_config: QpSettingsSnk<CompletionQueueConfig>,
    pub event_config: EventSettingsSnk,

    // MSI-X: accesses to BAR4, and the capability's bits.
    pub vector_access: BarAccessSnk,
    pub vector_word: BarDataSrc,
    pub msix_enable: Signal<In, Bit>,
    pub msix_mask: Signal<In, Bit>,
    /// Messages in front of PCIe: bit v says that vector v may send, and one that was taken back returns.
    pub message_permits: Signal<Out, Bits<64>>,
    pub message_returned: FlowSnk<Bits<6>>,

    // Readers.
    pub consumer: ConsumerSnk,
    pub event_consumer: EventConsumerSnk,

    // To the requester: queue pairs whose completion queue was overrun.
    pub failed: QpSrc,

    // To PCIe.
    pub tlp: TlpSrc<W>,
    /// One cycle: a TLP is on its way to `tlp`.
    pub accepted: Signal<Out, Bit>,

    /// To registers.
    pub interrupt_pending: Signal<Out, Bits<64>>,
    pub pulses: QueuePulsesSrc,

    completions: CompletionQueues<Q, F, D, W>,
    events: EventQueues<Q>,
    interrupts: Interrupts,
    writes: HostWrites<W>,
}

impl<const Q: usize, const W: usize, const F: usize, const D: usize> Logic
    for HostQueues<Q, W, F, D>
{
    #[hdl]
    fn update(&mut self) {
        clock_reset!(self, completions, events, interrupts, writes);

        join!(
            self,
            send => completions.send,
            receive => completions.receive,
            completion_config => completions.settings,
            consumer => completions.consumer,
        );

        join!(
            self,
            qp_error => events.qp_error,
            imm_threshold => events.imm_threshold,
            doorbell_refused => events.doorbell_refused,
            page_fault => events.page_fault,
            failed_read => events.failed_read,
            completions.overrun => events.overrun,
            completions.failed => failed,
            event_config => events.settings,
            event_consumer => events.consumer,
        );

        // A queue pair's completion queue names the event queue of the queue pair.
        self.events.assigned.valid.next =
            self.completion_config.valid.val() & self.completions.settings.ready.val();
        self.events.assigned.qp.next = self.completion_config.qp.val();
        self.events.assigned.record.next = self.completion_config.record.val().event_queue;

        join!(
            self,
            completions.raise => interrupts.completion_raise,
            events.raise => interrupts.event_raise,
            vector_access => interrupts.access,
            interrupts.word => vector_word,
            msix_enable => interrupts.enable,
            msix_mask => interrupts.function_mask,
            interrupts.permits => message_permits,
            message_returned => interrupts.returned,
            interrupts.pending => interrupt_pending,
        );

        join!(
            self,
            completions.write => writes.completion,
            events.write => writes.event,
            interrupts.write => writes.interrupt,
            writes.tlp => tlp,
            writes.accepted => accepted,
        );

        join!(
            self,
            completions.written => pulses.completions_written,
            completions.lost => pulses.completions_lost,
            completions.consumer_refused => pulses.consumers_refused,
            events.written => pulses.events_written,
            events.lost => pulses.events_lost,
            events.consumer_refused => pulses.event_consumers_refused,
            interrupts.sent => pulses.interrupts_sent,
        );
    }
}
