//! Rings in host memory that the card writes.

#[cfg(feature = "hdl")]
use rust_hdl::prelude::*;

/// log2 of the event queues: bits of an event queue's number.
pub const EVENT_QUEUE_BITS: usize = 6;

row! {
    /// Registers of a ring in host memory, checked by software.
    pub struct RingRow => RingConfig {
        /// There is a ring. Without one, every entry is lost.
        valid: bool => Bit,
        /// The reader wants interrupts when it arms the ring.
        interrupts: bool => Bit,
        /// Interrupt vector.
        vector: u16 => Bits<6>,
        /// log2 of the entries, 0 to 20.
        log2_entries: u8 => Bits<5>,
        /// Bus address of entry 0, a multiple of an entry's length.
        base: u64 => Bits<64>,
        /// Of a completion queue: the event queue for events of its queue pair. An event queue does not use it.
        event_queue: u16 => Bits<EVENT_QUEUE_BITS>,
    }
}
