//! Path choice: rotations, states of entropy values, spread over uplinks, profiles and source routes.

mod backups;
mod common;
mod config;
mod distribution;
mod ev_state;
mod histories;
mod hopper;
mod hp3;
mod hp3_order;
mod planes;
mod policies;
mod profile;
mod register;
mod rotation;
mod srv6;
