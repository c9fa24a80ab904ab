//! The blocks of the receive lane.

mod control;
mod core_issue;
mod front;
mod qp_fetch;
