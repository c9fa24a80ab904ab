//! Requester in hardware: what a queue pair sends, and what answers and time change (`docs/requester.md`).

mod burst;
mod call;
mod choice;
mod deadline;
pub mod engine;
mod job_pick;
mod loss_flow;
mod manage_flow;
mod path_news;
mod ports;
pub mod qp_schedule;
mod rc_flow;
mod rc_window;
mod records;
mod requester_core;
mod sack_flow;
mod segment;
mod sequencer;
pub mod timer_scan;
mod transmit_flow;
mod wake_queue;

pub use call::Call;
pub use engine::{RequesterEngine, RequesterEngine1024, RequesterEngine16};
pub use qp_schedule::QpSchedule;
pub use records::{ConfigureKind, Counted, Failure};
pub use requester_core::RequesterCore;
pub use sequencer::Sequencer;
pub use timer_scan::TimerScan;
pub use wake_queue::WakeQueue;
