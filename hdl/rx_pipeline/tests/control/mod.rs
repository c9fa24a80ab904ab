//! The control path of a lane: acknowledgements and probes among data, taken from peers and from nobody else.

mod bench;
mod equivalence;
mod overflow;
mod packets;
mod reference;
