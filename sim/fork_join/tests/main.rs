//! Steps of several items, and steps behind their owner.

mod behind;
mod steps;
