//! The reference transport.

mod access;
mod captures;
mod common;
mod congestion;
mod endpoint;
mod frame_reasons;
mod frame_transport;
mod hardware_records;
mod mrc_window;
mod placement;
mod rc_order;
mod spray;
mod table_writes;
