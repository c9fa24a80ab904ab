//! The order of events, and names in the hierarchy.

mod hierarchy;
mod order;
