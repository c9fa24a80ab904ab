//! Requests of the host to the card's BARs, and their completions: AMD's completer request and completer completion streams.
//!
//! ```text
//! completer requests ─► request_words ─► skid ─► request_executor ─► accesses to BARs
//!                                                 │          ▲ words read
//! completer completions ◄─ answer_beats ◄─────────┘          └── BARs
//! └────────────────────────── completer ─────────────────────────┘
//! ```
//! | block | does | cycles |
//! |---|---|---|
//! | [`request_words`] | a write as 64-bit words, one per cycle; every other request whole | 1 |
//! | [`request_executor`] | accesses in order, completions of reads | 0 for a write; 3 and the BAR's time for each word of a read |
//! | [`answer_beats`] | a completion as beats | 1 |
//! | [`completer`] | the three together | 2 for a write |
//!
//! Which BAR holds what is not known here: [`hdl_primitives::BarAccessSrc`] carries the BAR's number.

pub mod answer_beats;
pub mod completer;
pub mod request_executor;
pub mod request_words;

pub use completer::{Completer, Completer1024, Completer512};
