//! Path selection.

mod slot_order;
mod spray_engine;
