//! Failures of PCIe, one test for each cause: counted, reported with address and queue pair, contained to that queue pair. `docs/pcie.md` has the table.

mod entry_reads;
mod flush_reads;
mod payload_reads;
mod posted_writes;
mod rig;
