//! Virtual devices.

mod devices;
mod figure5;
