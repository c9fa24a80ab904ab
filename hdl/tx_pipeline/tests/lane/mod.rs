//! The transmit lane of one port: header records, payload and frames together, against the frames of the reference card.

mod answer_queue;
mod bench;
mod conversation;
mod endpoint;
mod equivalence;
mod items;
mod link_filter;
mod memory;
mod random;
mod refusals;
mod routes;
mod stalls;
