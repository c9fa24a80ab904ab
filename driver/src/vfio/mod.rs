//! The VFIO back end: a real card, or the card of a virtual machine, through Linux's `vfio-pci` (crate `pci-driver`).
//!
//! Time is wall time. The IOMMU is of type 1: memory that the card reaches is pinned and mapped page by page by the kernel.

pub(crate) mod bar;
mod find;
mod function;
mod interrupt;
mod memory;

pub use find::VfioError;
pub use function::Vfio;
