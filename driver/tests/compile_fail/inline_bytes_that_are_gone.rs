//! Inline bytes are copied when the request is posted, and have to be there until then.

use stellar_driver::{QueuePair, RemoteRegion, Source, WorkRequest};

fn dangling(qp: &QueuePair, to: RemoteRegion) {
    let request = {
        let bytes = [1, 2, 3];
        WorkRequest::write(1, Source::Inline(&bytes), to.address, to.rkey)
    };
    qp.post_send(&request).unwrap();
}

fn main() {}
