//! Cards as PCI functions of simulated hosts: the in-process back end of the driver, and the base of the server of cards.
//!
//! [`Hosts`] is two hosts with a Verilated card each, cabled port to port, on one clock, over any memory. [`CardPair`] is the same with memory of
//! this process. [`FabricPair`] puts the cards on a fabric, and makes reports. [`LoneCard`] is one host, whose frames the caller sends and receives.
//! [`SimHosts::function`] gives a host's card as the driver's [`stellar_driver::PciFunction`]. Register accesses cross the card's BAR ports cycle by
//! cycle, and all DMA and every interrupt is a TLP of its PCIe endpoints.
//!
//! **Time** stands still between calls. It passes in [`SimHosts::run`], in register accesses (as many cycles as they take), and where the driver
//! waits for the card. From one thread, a run is a function of the calls made.
//!
//! **What stands for hardware that is not there**: the card has no configuration space, because AMD's PCIe block has it. `ConfigSpace` answers the
//! configuration accesses of each function out of [`stellar_wire::host::config_space`]; a function-level reset is the card's `reset` pin. Memory space
//! that is off hides the BARs; a bus master that is off holds the requests of its function back. The operating system's part of MSI-X writes the
//! card's own table of vectors.

mod access;
mod card;
mod config_space;
mod fabric;
mod function;
mod hosts;
mod lone;
mod memory;
mod pair;
mod sim_hosts;
mod turns;
mod watch;
mod wire;

pub use config_space::ConfigEffect;
pub use fabric::FabricPair;
pub use hosts::Hosts;
pub use lone::LoneCard;
pub use pair::CardPair;
pub use sim_hosts::SimHosts;
pub use wire::{Line, SentFrame};
