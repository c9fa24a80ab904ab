//! Transmit pipeline: from decided packets to frames for the MAC, `docs/tx_lane.md`.
//!
//! ```text
//! TxAnswer, TxRequest ─► tx_packet_builder ─► TxPacket ─► header_build ─► FIFO ─► frame_assembler ─► icrc_insert ─► FIFO ─► MAC
//!                 source │   └─► reads     payload ─► payload_buffer ──────────────┘
//!                        └───► payload_mux ───┘
//!               DMA ─► payload ─┘
//! ```
//! | block | does | cycles |
//! |---|---|---|
//! | [`tx_packet_builder`] | all fields of a frame ([`mod@frame_record`]), from the tables of its queue pair and port | 2 |
//! | [`payload_mux`] | payload in the order of its frames | 0 |
//! | [`extension_headers`] | extension headers of the opcode, without holes | 2 |
//! | [`frame_layout`] | lengths, and where the parts of the frame lie in beats | 5 |
//! | [`ip_checksum`] | IPv4 header checksum | 5 |
//! | [`header_build`] | all headers, from the destination MAC address on | 8 |
//! | [`payload_buffer`] | payload until it is complete | 2 |
//! | [`frame_assembler`] | headers and payload to beats | 4 |
//! | [`icrc_insert`] | iCRC over the masked frame, behind the pad | 9 |
//! | [`tx_frame_builder`] | from record and payload to frame | 23 |
//! | [`tx_lane`] | all of it | 25 |
//! | [`answer_queue`] | in front of a lane: acknowledgements, of which a port that does not send drops the oldest | 3 |
//! | [`link_filter`] | behind a lane: frames, which are dropped while the link is down | 1 |
#![forbid(unsafe_code)]

pub mod answer_queue;
pub mod departures;
pub mod extension_bytes;
pub mod extension_headers;
pub mod frame_assembler;
pub mod frame_layout;
pub mod frame_record;
pub mod header_build;
pub mod header_bytes;
pub mod icrc_insert;
pub mod ip_checksum;
pub mod link_filter;
pub mod opcode;
pub mod payload_buffer;
pub mod payload_mux;
pub mod records;
pub mod tx_frame_builder;
pub mod tx_lane;
pub mod tx_packet_builder;
pub mod wire_order;

pub use answer_queue::AnswerQueue;
pub use extension_headers::ExtensionHeaders;
pub use frame_assembler::FrameAssembler;
pub use frame_layout::FrameLayouts;
pub use header_build::HeaderBuild;
pub use icrc_insert::IcrcInsert;
pub use ip_checksum::IpChecksum;
pub use link_filter::LinkFilter;
pub use payload_buffer::PayloadBuffer;
pub use payload_mux::PayloadMux;
pub use tx_frame_builder::{TxFrameBuilder, TxFrameBuilder1024, TxFrameBuilder512};
pub use tx_lane::{TxLane, TxLane1024, TxLane512};
pub use tx_packet_builder::{TxPacketBuilder, TxPacketBuilder1024, TxPacketBuilder512};
