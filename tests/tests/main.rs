//! Tests of several crates together, and of the documentation.

mod documentation;
mod lane;
mod layout;
