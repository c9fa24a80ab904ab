//! Tests of the fabric through its public functions.

mod balance;
mod calendar;
mod common;
mod conservation;
mod conweave;
mod ecmp;
mod faults;
mod forwarding;
mod link_state;
mod observation;
mod pfc;
mod queues;
mod recorded;
mod srv6;
mod theory;
mod timing;
mod topology;
mod topology_errors;
mod trimming;
