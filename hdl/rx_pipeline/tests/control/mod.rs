//! Tests the control path of a lane: acknowledgements and probes among data are accepted from the configured peers only.

mod bench;
mod equivalence;
mod overflow;
mod packets;
mod reference;
