//! The vfio-user back end: a simulated card in another process, served over a UNIX socket by `stellar serve`.
//!
//! Register accesses are messages and their replies. Memory for the card is shared with the server by file descriptor, interrupts are
//! eventfds. Doorbells and consumer indices of queue pairs that have a slot in their doorbell page are stores into pages that the server shares and looks at between two clocks
//! ([`stellar_wire::host::simulation`]); all else that is written to doorbell pages is a message.
//!
//! **Time** is that of the simulated cards, read from a page that the server keeps up to date
//! ([`stellar_wire::host::simulation`]). The simulation runs on by itself as long as anything moves. When nothing does, it
//! stands still, so whoever waits here says until when it has to run.

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
