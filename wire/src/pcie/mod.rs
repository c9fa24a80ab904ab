//! PCI Express: TLP headers, and the descriptors that AMD's integrated blocks use in their place.
//!
//! IDs of requesters and completers are 16 bits: bus 15:8, device 7:3, function 2:0.

mod address_type;
mod byte_enables;
mod completion;
pub mod descriptor;
mod mem_request;
pub mod sideband;
mod tlp;

pub use address_type::AddressType;
pub use byte_enables::DwSpan;
pub use completion::{Completion, CompletionStatus};
pub use mem_request::MemRequest;
pub use tlp::{Attributes, MemOp, TlpType, MAX_LENGTH_DW};
