//! The blocks of the host interface: both simulations against each other, and each block against the reference.

mod admin_queue;
mod bar_decoder;
mod bench;
mod completion_queues;
mod doorbells;
mod equivalence;
mod event_queues;
mod host_queues;
mod host_writes;
mod interrupts;
mod register_model;
mod registers;
mod ring_reference;
