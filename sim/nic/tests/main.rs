//! Verilated cards on a fabric.

mod addressing;
mod base_round_trip;
mod cables;
mod counters;
mod group;
mod large_mtu;
mod mixed;
mod model_spec;
mod one_path;
mod own_queue;
mod queue_pairs;
mod scenarios;
mod times;
mod transfer;
mod twin;
mod unasked;
mod verbs;
