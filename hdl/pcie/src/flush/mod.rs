//! Flush reads: the card learns when its posted writes have reached memory.
//!
//! A posted write has no answer. PCIe keeps the writes of one function to one target in order, but not those of both endpoints, nor writes to a GPU behind
//! the switch with those to host memory (PCIe base specification, section 2.4.1). A read of no bytes follows the writes on their way, pushes them, and
//! its completion says that they have arrived. One flush covers all writes before it, so its cost does not grow with the number of packets.
//!
//! ```text
//! writes ─► write_flush ─► PCIe          read requests ─► write_flush ─► PCIe
//!               │ flushed batches                          ▲  │ flush reads
//!               ▼                                          └──┘
//!        who waits for the payload       read engine ◄─ write_flush ◄─ completions
//! ```
//! | block | does | cycles |
//! |---|---|---|
//! | [`flush_batches`] | batches whose flush reads are on their way, in order, with deadlines | 1 |
//! | [`flush_retry`] | which commands of a failed batch have failed, by a flush read for each | 0, or a read for each command |
//! | [`flush_faults`] | addresses of flush reads that failed, for the event queue | 1 |
//! | [`write_flush`] | sees writes leave, closes batches, and sends their flush reads | 0 for writes and completions, 1 for reads |

pub mod flush_batches;
pub mod flush_faults;
pub mod flush_retry;
pub mod records;
pub mod write_flush;

pub use flush_faults::FlushFaults;
pub use flush_retry::FlushRetry;
pub use write_flush::{WriteFlush, WriteFlush1024, WriteFlush512};
