//! Programs that would use memory which the card or the program no longer owns. The types forbid them.
//! The programs are compile-fail tests. They run as documentation tests, because those use the driver as it is already built. Only nightly Rust
//! checks the number of the expected error. So the first program does everything correctly that the others do wrong. If the others failed for another
//! reason, it would fail too.
//!
//! ```
//! use stellar_driver::{
//!     AccessFlags, DmaBuffer, Pages, ProtectionDomain, QueuePair, RemoteRegion, Source, WorkRequest,
//! };
//!
//! fn done_right(
//!     pd: &ProtectionDomain,
//!     memory: DmaBuffer,
//!     qp: &QueuePair,
//!     to: RemoteRegion,
//!     pages: Pages,
//! ) {
//!     let region = pd.register(memory.clone(), AccessFlags::default()).unwrap();
//!     let bytes = [1, 2, 3];
//!     let source = region.slice(0, 64).unwrap();
//!     let request = WorkRequest::write(1, source, to.address, to.rkey);
//!     qp.post_send(&request).unwrap();
//!     let request = WorkRequest::write(2, Source::Inline(&bytes), to.address, to.rkey);
//!     qp.post_send(&request).unwrap();
//!     println!("{}", region.rkey());
//!     region.deregister().unwrap();
//!     let mut copy = [0; 16];
//!     memory.read(0, &mut copy).unwrap();
//!     // SAFETY: nobody calls this.
//!     let _ = unsafe { pd.register_translated(pages, AccessFlags::default()) };
//! }
//! ```
//!
//! A deregistered region cannot be used.
//! ```compile_fail,E0382
//! use stellar_driver::{AccessFlags, DmaBuffer, ProtectionDomain};
//!
//! fn too_late(pd: &ProtectionDomain, memory: DmaBuffer) {
//!     let region = pd.register(memory, AccessFlags::default()).unwrap();
//!     region.deregister().unwrap();
//!     println!("{}", region.rkey());
//! }
//! ```
//!
//! A region that a work request names cannot be dropped before the request is posted. After that, the request holds the region.
//! ```compile_fail,E0505
//! use stellar_driver::{MemoryRegion, QueuePair, RemoteRegion, WorkRequest};
//!
//! fn too_early(qp: &QueuePair, region: MemoryRegion, to: RemoteRegion) {
//!     let source = region.slice(0, 64).unwrap();
//!     let request = WorkRequest::write(1, source, to.address, to.rkey);
//!     drop(region);
//!     qp.post_send(&request).unwrap();
//! }
//! ```
//!
//! Inline bytes are copied when the request is posted, and must exist until then.
//! ```compile_fail,E0597
//! use stellar_driver::{QueuePair, RemoteRegion, Source, WorkRequest};
//!
//! fn dangling(qp: &QueuePair, to: RemoteRegion) {
//!     let request = {
//!         let bytes = [1, 2, 3];
//!         WorkRequest::write(1, Source::Inline(&bytes), to.address, to.rkey)
//!     };
//!     qp.post_send(&request).unwrap();
//! }
//! ```
//!
//! The card may write memory at any time, so a program cannot get a reference to its bytes.
//! ```compile_fail,E0608
//! use stellar_driver::DmaBuffer;
//!
//! fn borrow(memory: &DmaBuffer) -> &[u8] {
//!     &memory[..]
//! }
//! ```
//!
//! The IOMMU does not check final addresses, so the function that registers them is `unsafe`.
//! ```compile_fail,E0133
//! use stellar_driver::{AccessFlags, Pages, ProtectionDomain};
//!
//! fn register(pd: &ProtectionDomain, pages: Pages) {
//!     let _ = pd.register_translated(pages, AccessFlags::default());
//! }
//! ```
