//! Headers, records and captures.

mod byte_enables;
mod captures;
mod descriptors;
mod frame_refusals;
mod frames;
mod header_round_trips;
mod host_records;
mod icrc_vectors;
mod pcie_support;
mod peers;
mod support;
mod tlp_headers;
mod tx_records;
