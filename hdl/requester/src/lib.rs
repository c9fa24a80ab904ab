//! Requester in hardware: what a queue pair sends, and how acknowledgements and timers change its state (`docs/requester.md`).

pub mod bundles;
mod burst;
mod choice;
mod deadline;
mod delay_estimate;
pub mod doorbell_queue;
pub mod engine;
mod loss_flow;
mod op_arbiter;
mod ports;
mod qp_admin_flow;
pub mod qp_schedule;
mod rc_flow;
mod rc_space;
mod records;
mod requester_core;
mod sack_flow;
mod segment;
mod sequencer;
mod spray_feedback_fifo;
pub mod timer_scan;
mod transmit_flow;
mod unit_client;
mod wake_queue;

pub use doorbell_queue::DoorbellQueue;
pub use engine::{RequesterEngine, RequesterEngine1024, RequesterEngine16};
pub use qp_schedule::QpSchedule;
pub use records::{ConfigureKind, Failure, StatPulses};
pub use requester_core::RequesterCore;
pub use sequencer::Sequencer;
pub use timer_scan::TimerScan;
pub use unit_client::UnitClient;
pub use wake_queue::WakeQueue;
