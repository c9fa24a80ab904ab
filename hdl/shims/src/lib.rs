//! Between the card and the hard blocks of FPGAs (`docs/shims.md`).
//!
//! | block | what | clock |
//! |---|---|---|
//! | [`CmacShim`] | a port of the card and AMD's CMAC, all of the following | both |
//! | [`CmacStart`] | the start-up sequence, and whether the link is up | MAC |
//! | [`RxAdmit`] | admits received frames to a FIFO, or drops them whole | MAC |
//! | [`RxDeliver`] | received frames from the FIFO to the card | card |
//! | [`TxStore`] | frames of the card to a FIFO, and how many are complete | card |
//! | [`DcmacReceive`] | frames of AMD's DCMAC to beats of 1,024 bits | MAC |
//! | [`DcmacSend`] | beats of 1,024 bits to frames of AMD's DCMAC | MAC |
//! | [`FunctionReset`] | the card's reset, from those of the PCIe block | card |
//! | [`TxLaunch`] | complete frames from the FIFO to the MAC, without a gap | MAC |
#![forbid(unsafe_code)]

pub mod bundles;
pub mod cmac_shim;
pub mod cmac_start;
pub mod dcmac_receive;
pub mod dcmac_send;
pub mod frame_beat;
pub mod function_reset;
pub mod rx_admit;
pub mod rx_deliver;
pub mod segment_cycle;
pub mod tx_launch;
pub mod tx_store;

pub use cmac_shim::CmacShim;
pub use cmac_start::CmacStart;
pub use dcmac_receive::DcmacReceive;
pub use dcmac_send::DcmacSend;
pub use frame_beat::FrameBeat;
pub use function_reset::FunctionReset;
pub use rx_admit::RxAdmit;
pub use rx_deliver::RxDeliver;
pub use tx_launch::TxLaunch;
pub use tx_store::TxStore;
