//! The vfio-user back end: a simulated card in another process, served over a UNIX socket by `stellar serve`.
//!
//! Register accesses are messages and their replies. Memory for the card is shared with the server by file descriptor, interrupts are
//! eventfds. Doorbells and consumer indices of queue pairs that have a slot in their doorbell page are stores into pages that the server shares and polls between two cycles
//! ([`stellar_wire::host::simulation`]); every other write to doorbell pages is a message.
//!
//! **Time** is that of the simulated cards, read from a page that the server keeps up to date
//! ([`stellar_wire::host::simulation`]). The simulation runs as long as there is work. Without work it
//! stands still, so a waiting driver requests the time until which it has to run.

mod connect;
mod function;
mod interrupt;
mod link;
mod memory;
mod pages;
#[cfg(test)]
mod tests;

pub use connect::VfioUserError;
pub use function::VfioUser;
