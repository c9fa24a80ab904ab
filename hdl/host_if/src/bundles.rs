//! Port groups of the host interface.

use hdl_macros::bundle;
use hdl_primitives::{FlowSnk, FlowSrc};
use rust_hdl::prelude::*;
use stellar_wire::host::QpCounterSelect;
use stellar_wire::hw::dma::WriteTlpHeader;
use stellar_wire::hw::host_queues::{EventQueueConfig, EVENT_QUEUE_BITS};
use stellar_wire::hw::Qpn;

/// The driving end of writes to BAR0, which are always taken.
#[bundle]
pub struct RegisterWriteSrc {
    pub valid: Signal<Out, Bit>,
    /// Byte address in the BAR.
    pub address: Signal<Out, Bits<16>>,
    pub data: Signal<Out, Bits<64>>,
    /// Bit i: byte i of `data` is written.
    pub enable: Signal<Out, Bits<8>>,
}

/// The driving end of reads of BAR0, which are always taken and answered in order.
#[bundle]
pub struct RegisterReadSrc {
    pub valid: Signal<Out, Bit>,
    /// Byte address in the BAR.
    pub address: Signal<Out, Bits<16>>,
    /// Rises [`READ_LATENCY`](crate::register_view::READ_LATENCY) cycles after `valid`, with the data.
    pub done: Signal<In, Bit>,
    pub data: Signal<In, Bits<64>>,
}

/// The driving end of writes to doorbell pages.
#[bundle(keep)]
pub struct DoorbellWriteSrc {
    pub valid: Signal<Out, Bit>,
    pub page: Signal<Out, Bits<16>>,
    /// Bytes from the start of the page.
    pub offset: Signal<Out, Bits<12>>,
    pub data: Signal<Out, Bits<64>>,
    /// Bit i: byte i of `data` is written.
    pub enable: Signal<Out, Bits<8>>,
    pub ready: Signal<In, Bit>,
}

/// The driving end of a stream of consumer indices of completion queues.
#[bundle(keep)]
pub struct ConsumerSrc {
    pub valid: Signal<Out, Bit>,
    pub qp: Signal<Out, Qpn>,
    pub index: Signal<Out, Bits<24>>,
    /// The next completion raises an interrupt.
    pub arm: Signal<Out, Bit>,
    pub ready: Signal<In, Bit>,
}

/// The driving end of consumer indices of event queues, which are always taken.
#[bundle]
pub struct EventConsumerSrc {
    pub valid: Signal<Out, Bit>,
    /// Number of the event queue.
    pub queue: Signal<Out, Bits<EVENT_QUEUE_BITS>>,
    pub index: Signal<Out, Bits<24>>,
    /// The next event raises an interrupt.
    pub arm: Signal<Out, Bit>,
}

/// The driving end of a stream of settings of event queues.
#[bundle(keep)]
pub struct EventSettingsSrc {
    pub valid: Signal<Out, Bit>,
    /// Number of the event queue.
    pub queue: Signal<Out, Bits<EVENT_QUEUE_BITS>>,
    pub record: Signal<Out, EventQueueConfig>,
    pub ready: Signal<In, Bit>,
}

/// The driving end of the registers of the admin queue.
#[bundle]
pub struct AdminRegistersSrc {
    /// A new ring ([`AdminRing`](stellar_wire::host::admin::AdminRing)) restarts the queue.
    pub ring: FlowSrc<Bits<64>>,
    pub producer: FlowSrc<Bits<16>>,
    /// Number of commands that the admin queue has executed.
    pub done: Signal<In, Bits<16>>,
    /// [`AdminState`](stellar_wire::host::admin::AdminState).
    pub error: Signal<In, Bits<8>>,
}

/// The driving end of reads of queue pairs' counters, one at a time.
#[bundle(keep)]
pub struct QpCounterSrc {
    pub valid: Signal<Out, Bit>,
    pub qp: Signal<Out, Qpn>,
    /// Number of a `QpCounter`, or with bit 8 the index of a path. A number without a counter has the value 0.
    pub counter: Signal<Out, Bits<{ QpCounterSelect::COUNTER_BITS }>>,
    /// The value is there.
    pub ready: Signal<In, Bit>,
    pub value: Signal<In, Bits<64>>,
}

/// The driving end of a stream of owners of queue pairs: who may ring their doorbells.
#[bundle(keep)]
pub struct OwnerSrc {
    pub valid: Signal<Out, Bit>,
    pub qp: Signal<Out, Qpn>,
    /// The queue pair has an owner; otherwise it loses its owner.
    pub present: Signal<Out, Bit>,
    pub page: Signal<Out, Bits<16>>,
    pub ready: Signal<In, Bit>,
}

/// The driving end of a stream of entries and messages, `W` bits each, for host memory.
#[bundle(keep)]
pub struct HostWriteSrc<const W: usize> {
    pub valid: Signal<Out, Bit>,
    /// An entry of 32 bytes that lies directly behind the one before it in this stream, and with it in one block of the beat's size.
    pub joins: Signal<Out, Bit>,
    pub header: Signal<Out, WriteTlpHeader>,
    pub data: Signal<Out, Bits<W>>,
    pub ready: Signal<In, Bit>,
}

/// The driving end of raised interrupts: a pulse for each.
#[bundle]
pub struct RaiseSrc {
    pub valid: Signal<Out, Bit>,
    pub vector: Signal<Out, Bits<6>>,
}

/// The driving end of a stream of completions that are the first that their queue loses.
#[bundle(keep)]
pub struct OverrunSrc {
    pub valid: Signal<Out, Bit>,
    pub qp: Signal<Out, Qpn>,
    pub wr_id: Signal<Out, Bits<64>>,
    pub ready: Signal<In, Bit>,
}

/// The driving end of a stream of queue pairs that moved to the error state.
#[bundle(keep)]
pub struct QpFailureSrc {
    pub valid: Signal<Out, Bit>,
    pub qp: Signal<Out, Qpn>,
    /// Code of a `WcStatus`.
    pub status: Signal<Out, Bits<8>>,
    pub ready: Signal<In, Bit>,
}

/// The driving end of a stream of doorbells for a queue pair of another page.
#[bundle(keep)]
pub struct RefusedDoorbellSrc {
    pub valid: Signal<Out, Bit>,
    pub page: Signal<Out, Bits<16>>,
    pub qp: Signal<Out, Bits<24>>,
    pub ready: Signal<In, Bit>,
}

/// What the host's queues count: one cycle per event.
#[bundle]
pub struct QueuePulsesSrc {
    pub completions_written: Signal<Out, Bit>,
    pub completions_lost: Signal<Out, Bit>,
    pub consumers_refused: Signal<Out, Bit>,
    pub events_written: Signal<Out, Bit>,
    pub events_lost: Signal<Out, Bit>,
    pub event_consumers_refused: Signal<Out, Bit>,
    pub interrupts_sent: Signal<Out, Bit>,
}

/// What doorbell pages count: one cycle per event.
#[bundle]
pub struct DoorbellPulsesSrc {
    /// The queue pair belongs to another page, or to none.
    pub not_owned: Signal<Out, Bit>,
    /// A write of less than 64 bits to an existing place.
    pub short_write: Signal<Out, Bit>,
    /// A write to a place that does not exist.
    pub wrong_offset: Signal<Out, Bit>,
}
