//! Wire formats and table layouts: the one definition of every header, descriptor and entry.
pub mod hw;
