//! Served cards, over their sockets.

mod bridge;
mod doorbells;
mod interrupts;
mod pci;
mod transfer;
