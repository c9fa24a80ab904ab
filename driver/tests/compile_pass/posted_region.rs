//! What the other programs do wrong, done right: this must compile, or they would prove nothing.

use stellar_driver::{
    AccessFlags, DmaBuffer, Pages, ProtectionDomain, QueuePair, RemoteRegion, Source, WorkRequest,
};

#[allow(dead_code)]
fn in_order(pd: &ProtectionDomain, memory: DmaBuffer, qp: &QueuePair, to: RemoteRegion, pages: Pages) {
    let region = pd.register(memory.clone(), AccessFlags::default()).unwrap();
    let bytes = [1, 2, 3];
    let source = region.slice(0, 64).unwrap();
    let request = WorkRequest::write(1, source, to.address, to.rkey);
    qp.post_send(&request).unwrap();
    let request = WorkRequest::write(2, Source::Inline(&bytes), to.address, to.rkey);
    qp.post_send(&request).unwrap();
    println!("{}", region.rkey());
    region.deregister().unwrap();
    let mut copy = [0; 16];
    memory.read(0, &mut copy).unwrap();
    // SAFETY: never called.
    let _ = unsafe { pd.register_translated(pages, AccessFlags::default()) };
}

fn main() {}
