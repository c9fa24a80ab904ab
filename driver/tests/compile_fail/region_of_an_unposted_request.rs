//! A region that a work request names cannot go before the request is posted; from then on the request holds it.

use stellar_driver::{MemoryRegion, QueuePair, RemoteRegion, WorkRequest};

fn too_early(qp: &QueuePair, region: MemoryRegion, to: RemoteRegion) {
    let source = region.slice(0, 64).unwrap();
    let request = WorkRequest::write(1, source, to.address, to.rkey);
    drop(region);
    qp.post_send(&request).unwrap();
}

fn main() {}
