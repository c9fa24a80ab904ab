//! Host interface in hardware: registers, doorbells, completion and event queues, interrupts.
//!
//! ```text
//! accesses ─► bar_decoder ─► BAR0, BAR2, BAR4
//! BAR0 ─► registers ─► table writes, fences, arming, event queues' consumer indices
//! BAR2 ─► doorbells ─┬► doorbell of a send queue
//!                    ├► consumer index ─► completion_queues ─► entries ────────────► host_writes ─► TLP stream
//!                    └► refused ──────────────► event_queues ► entries ────────────►      ▲
//!                              the other events ─►                                        │
//!                                       raises of both ──────► interrupts ─► messages ────┘
//! BAR4 ──────────────────────────────────────────────────────────►
//! ```
//! | block | does | cycles |
//! |---|---|---|
//! | [`bar_decoder`] | passes accesses to the BAR they are for | 0, reads of what cannot be read 1 |
//! | [`registers`] | BAR0 of the physical function: [`stellar_wire::host::registers`] | 2 to write |
//! | [`register_view`] | its reads | 4 |
//! | [`admin_queue`] | table rows from a ring in host memory | 1 per row, and the time of its table |
//! | [`doorbells`] | BAR2: accepts writes of a page for its queue pairs, reports the others | 3 per doorbell |
//! | [`completion_queues`] | rings of completions, one per queue pair | 3 per entry |
//! | [`event_queues`] | rings of events, one of the card and those of tenants | 5 per entry |
//! | [`event_sources`] | makes an event of whatever happened, one source after another | 0 |
//! | [`ring_writer`] | the entry that leaves for a ring of either kind, and the interrupt behind it | 1 |
//! | [`interrupts`] | BAR4: MSI-X table, mask and pending bits | 3 per message or access |
//! | [`host_writes`] | entries and messages as one stream of write TLPs | 1 |
//! | [`host_queues`] | the four above together | |
//!
//! Port groups of these blocks are in [`bundles`].
//!
//! **Order.** A ring raises its interrupt in a cycle after `host_writes` accepted the entry, and PCIe keeps posted writes in order. So an
//! interrupt never arrives before the entry it announces. Blocks with a parameter `Q` have 2^`Q` queue pairs and use the low `Q` bits of `qp`.
#![forbid(unsafe_code)]

pub mod admin_queue;
pub mod bar_decoder;
pub mod bundles;
pub mod completion_queues;
pub mod config_entry;
pub mod doorbells;
pub mod event_queues;
pub mod event_sources;
pub mod host_queues;
pub mod host_writes;
pub mod interrupts;
pub mod queue_pairs;
pub mod register_address;
pub mod register_view;
pub mod registers;
pub mod ring;
pub mod ring_writer;
pub mod table_rows;

pub use admin_queue::AdminQueue;
pub use bar_decoder::BarDecoder;
pub use bundles::{
    AdminRegistersSnk, AdminRegistersSrc, ConsumerSnk, ConsumerSrc, DoorbellPulsesSnk,
    DoorbellPulsesSrc, DoorbellWriteSnk, DoorbellWriteSrc, EventConsumerSnk, EventConsumerSrc,
    EventSettingsSnk, EventSettingsSrc, HostWriteSnk, HostWriteSrc, OverrunSnk, OverrunSrc,
    OwnerSnk, OwnerSrc, QpCounterSnk, QpCounterSrc, QpFailureSnk, QpFailureSrc, QueuePulsesSnk,
    QueuePulsesSrc, RaiseSnk, RaiseSrc, RefusedDoorbellSnk, RefusedDoorbellSrc, RegisterReadSnk,
    RegisterReadSrc, RegisterWriteSnk, RegisterWriteSrc,
};
pub use completion_queues::CompletionQueues;
pub use doorbells::Doorbells;
pub use event_queues::EventQueues;
pub use event_sources::EventSources;
pub use host_queues::HostQueues;
pub use host_writes::HostWrites;
pub use interrupts::Interrupts;
pub use registers::Registers;
pub use ring_writer::RingWriter;
