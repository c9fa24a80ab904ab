//! Records and bytes are two skins of one transport: whatever the network does, both send the same packets at the same times.

mod allocations;
mod channel;
mod policies;
mod random;
mod skin;
