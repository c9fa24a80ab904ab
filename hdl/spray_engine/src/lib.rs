//! Path choice in hardware: which entropy value each packet takes (`docs/multipath.md`).
//!
//! [`SprayEngine`] is the server; the other modules are its steps.
//!
//! | module | what |
//! |---|---|
//! | [`spray_engine`], [`step`], [`clocks`] | sequence of every operation |
//! | [`row`] | what is kept of a queue pair |
//! | [`candidates`] | slots a packet may take: in service, last resort, avoided value |
//! | [`order`], [`slot_order`], [`slot_at`] | keyed permutation of maps and of single slots |
//! | [`search`], [`first_place`], [`place_search`] | places of a map in turn, from a place on |
//! | [`ev_update`], [`ev_change`] | state changes of entropy values, backups |
//! | [`entropy`], [`place_value`], [`entropy_index`] | place to entropy value, and back |
//! | [`entropy_lookup`] | plane of an entropy value, beside other operations |
//! | [`key_stream`], [`start_draw`] | pseudo-random words: keys and start |
#![forbid(unsafe_code)]

pub mod candidates;
pub mod clocks;
pub mod entropy;
pub mod entropy_index;
pub mod entropy_lookup;
pub mod ev_change;
pub mod ev_update;
pub mod first_place;
pub mod key_stream;
pub mod order;
pub mod place_search;
pub mod place_value;
pub mod row;
pub mod search;
pub mod slot_at;
pub mod slot_order;
pub mod spray_engine;
pub mod start_draw;
pub mod step;

pub use spray_engine::SprayEngine;
