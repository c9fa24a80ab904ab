//! A region that was deregistered is gone.

use stellar_driver::{AccessFlags, DmaBuffer, ProtectionDomain};

fn too_late(pd: &ProtectionDomain, memory: DmaBuffer) {
    let region = pd.register(memory, AccessFlags::default()).unwrap();
    region.deregister().unwrap();
    println!("{}", region.rkey());
}

fn main() {}
