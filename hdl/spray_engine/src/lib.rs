//! Path selection in hardware: the entropy value of each packet (`docs/multipath.md`).
//!
//! [`SprayEngine`] is the functional unit; the other modules are its steps.
//!
//! | module | contents |
//! |---|---|
//! | [`spray_engine`], [`step`], [`cycles`] | sequence of every operation |
//! | [`row`], [`profile`] | state of a queue pair, writes of entropy profiles |
//! | [`candidates`] | slots that a packet may take: in service, last resort, avoided value |
//! | [`order`], [`slot_order`], [`slot_at`] | keyed permutation of maps and of single slots |
//! | [`search`], [`first_place`], [`place_search`] | search for the places of a map in order |
//! | [`ev_update`], [`ev_change`] | state changes of entropy values, backups |
//! | [`entropy`], [`place_value`], [`entropy_index`] | from place to entropy value, and from entropy value to index |
//! | [`entropy_lookup`] | index of an entropy value, in parallel with operations |
//! | [`policy`] | traits of the policies, and what feedback changes |
//! | [`key_stream`], [`start_draw`] | pseudo-random words: keys, first path |
#![forbid(unsafe_code)]

pub mod candidates;
pub mod cycles;
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
pub mod policy;
pub mod profile;
pub mod row;
pub mod search;
pub mod slot_at;
pub mod slot_order;
pub mod spray_engine;
pub mod start_draw;
pub mod step;

pub use spray_engine::SprayEngine;
