//! AMD's requester streams: requests of the card, and the completions that they get. TLPs share beats (straddle), in the dword-aligned mode.
//!
//! ```text
//! write TLPs ────┐
//! read requests ─┼─► request_slots ─► slot_packer ─► requester requests (RQ)
//! messages ──────┘
//! └───────────── request_stream ─────────────────────────────────────────┘
//! completions ◄─ completion_stream ◄─ requester completions (RC)
//! ```
//! | block | does | cycles |
//! |---|---|---|
//! | [`request_slots`] | inserts the descriptor, cuts TLPs into slots of 32 bytes | 1 |
//! | [`slot_packer`] | fills beats with slots ([`request_signals`]: `tuser`) | 1 |
//! | [`request_stream`] | both together | 2 |
//! | [`link_guard`] | in front of both: drops writes and refuses reads while the link is down | 0 |
//! | [`message_gate`] | beside both: takes back messages of masked vectors | 0 |
//! | [`completion_stream`] | takes completions out of beats, wherever they begin | 2 |
//!
//! A TLP of `n` double words of payload occupies ceil((4 + n) / 8) slots, of which a beat of 1,024 bits has 4. So 256 bytes take 9 slots, and a lane
//! carries 227 Gb/s of payload at a maximum payload size of 256 bytes, and 205 Gb/s at 128. A read takes one slot. `./stellar bench pcie` measures it.

pub mod completion_stream;
pub mod link_guard;
pub mod message_gate;
pub mod request_signals;
pub mod request_slots;
pub mod request_stream;
pub mod slot_packer;

pub use completion_stream::{CompletionStream, CompletionStream1024, CompletionStream512};
pub use link_guard::LinkGuard;
pub use message_gate::MessageGate;
pub use request_stream::{RequestStream, RequestStream1024, RequestStream512};
