//! Regions while they are used, and shared by NICs.

use stellar_transfer::*;

use crate::engine::cluster::{Cluster, Setup};

#[test]
fn nics_share_the_writes_of_a_transfer() {
    let setup = Setup {
        rails: 3,
        ..Setup::default()
    };
    let mut cluster = Cluster::new(setup);
    let source = cluster.region(0, 20_000, Access::Local);
    let target = cluster.region(1, 20_000, Access::RemoteWrite);
    let at = target.descriptor().at(0);
    for (bytes, immediates) in [(20_000, 3), (1, 3), (0, 3)] {
        let transfer = Transfer::write(source.slice(0, bytes), at)
            .with_immediate(9)
            .sharded(Sharding::Bytes);
        cluster.engines[0].submit(&transfer).unwrap();
        cluster.settle();
        assert_eq!(cluster.engines[1].arrivals(9), immediates);
        cluster.engines[1].expect(9, 3, Senders::Anyone).unwrap();
        assert_eq!(cluster.engines[1].arrivals(9), 0);
    }
    assert_eq!(Sharding::Bytes.immediates(3), 3);
}

#[test]
fn a_region_in_use_stays_registered() {
    let mut cluster = Cluster::new(Setup::default());
    let source = cluster.region(0, 5000, Access::Local);
    let target = cluster.region(1, 5000, Access::RemoteWrite);
    let transfer = Transfer::write(source.slice(0, 5000), target.descriptor().at(0));
    cluster.engines[0].submit(&transfer).unwrap();
    let refused = source.deregister().unwrap_err();
    assert_eq!(refused.users, 1);
    assert!(refused.to_string().contains("1 writes under way"));
    cluster.settle();
    refused.region.deregister().unwrap();
}
