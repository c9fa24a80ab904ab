//! The vfio-user back end: a simulated card in another process, served over a UNIX socket by `stellar serve`.
//!
//! Register accesses are messages and their replies. Memory for the card is shared with the server by file descriptor, interrupts are
//! eventfds. Doorbells are messages too: pages that server polls could lose one of two that come quickly, as all queue pairs of a page
//! ring at the same word.
//!
//! **Time** is that of the simulated cards, read from a page that the server keeps up to date
//! ([`stellar_wire::host::simulation`]). The simulation runs on by itself as long as anything moves. When nothing does, it
//! stands still, so whoever waits here says until when it has to run.

mod connect;
mod function;
mod interrupt;
mod link;
mod memory;
#[cfg(test)]
mod tests;

pub use connect::VfioUserError;
pub use function::VfioUser;
