//! Between the card and the hard blocks of FPGAs (`docs/shims.md`).
//!
//! | block | what | clock |
//! |---|---|---|
//! | [`CmacShim`] | a port of the card and AMD's CMAC | both |
//! | [`DcmacShim`] | a port of the card and a 200G port of AMD's DCMAC | both |
//! | [`PortCrossing`] | what both have in common, of the next four | both |
//! | [`RxAdmit`] | admits received frames to a FIFO, or drops them whole | MAC |
//! | [`RxDeliver`] | received frames from the FIFO to the card | card |
//! | [`TxStore`] | frames of the card to a FIFO, and how many are complete | card |
//! | [`TxLaunch`] | complete frames from the FIFO to the MAC, without a gap | MAC |
//! | [`CmacStart`] | the start-up sequence of a CMAC, and whether the link is up | MAC |
//! | [`CmacReceive`], [`CmacSend`] | `tkeep` of a CMAC | MAC |
//! | [`DcmacReceive`], [`DcmacSend`] | frames in segments of a DCMAC | MAC |
//! | [`DcmacStart`] | starts a DCMAC and both of its ports | registers and MAC |
//! | [`DcmacSequence`] | the sequence of accesses, by the list of [`dcmac_registers`] | registers |
//! | [`AxiLiteAccess`] | single accesses over AXI4-Lite | registers |
//! | [`EndpointCrossing`] | endpoint 1 of the card on the clock of its PCIe block | both |
//! | [`RequestLaunch`] | requests from its FIFO, without a gap inside | PCIe |
//! | [`FunctionReset`] | the card's reset, from those of the PCIe block | card |
#![forbid(unsafe_code)]

pub mod axi_lite_access;
pub mod bundles;
pub mod cmac_keep;
pub mod cmac_receive;
pub mod cmac_send;
pub mod cmac_shim;
pub mod cmac_start;
pub mod dcmac_receive;
pub mod dcmac_registers;
pub mod dcmac_send;
pub mod dcmac_sequence;
pub mod dcmac_shim;
pub mod dcmac_start;
pub mod dcmac_steps;
pub mod endpoint_crossing;
pub mod frame_word;
pub mod function_reset;
pub mod port_crossing;
pub mod request_launch;
pub mod rx_admit;
pub mod rx_deliver;
pub mod segment_cycle;
pub mod tx_launch;
pub mod tx_store;

pub use axi_lite_access::AxiLiteAccess;
pub use cmac_receive::CmacReceive;
pub use cmac_send::CmacSend;
pub use cmac_shim::CmacShim;
pub use cmac_start::CmacStart;
pub use dcmac_receive::DcmacReceive;
pub use dcmac_send::DcmacSend;
pub use dcmac_sequence::DcmacSequence;
pub use dcmac_shim::DcmacShim;
pub use dcmac_start::{DcmacStart, DcmacStart100};
pub use endpoint_crossing::EndpointCrossing;
pub use function_reset::FunctionReset;
pub use port_crossing::PortCrossing;
pub use request_launch::RequestLaunch;
pub use rx_admit::RxAdmit;
pub use rx_deliver::RxDeliver;
pub use tx_launch::TxLaunch;
pub use tx_store::TxStore;
