//! Refused calls and their messages.

use stellar_transfer::*;

use crate::engine::cluster::{Cluster, Setup};
use crate::engine::network::{NetNic, Network};

fn pages(stride: u64, indices: &[u32]) -> Pages {
    Pages {
        offset: 0,
        stride,
        indices: indices.to_vec(),
    }
}

/// The call is refused, and the message contains all of `parts`.
#[track_caller]
fn refused(cluster: &mut Cluster, transfer: &Transfer<'_, NetNic>, parts: &[&str]) {
    let error = cluster.engines[0].submit(transfer).unwrap_err().to_string();
    for part in parts {
        assert!(error.contains(part), "no '{part}' in: {error}");
    }
    assert!(cluster.engines[0].is_idle(), "something has begun");
}

#[test]
fn a_transfer_that_cannot_be_is_refused_whole() {
    let mut cluster = Cluster::new(Setup {
        engines: 3,
        rails: 2,
        ..Setup::default()
    });
    let source = cluster.region(0, 1000, Access::Local);
    let foreign = cluster.region(2, 1000, Access::Local);
    let target = cluster.region(1, 1000, Access::RemoteWrite);
    let to = target.descriptor();
    let write = |offset, length, at| Transfer::write(source.slice(offset, length), to.at(at));
    let paged = |from: Pages, into: Pages, bytes| Transfer::pages(&source, from, to, into, bytes);
    for (transfer, parts) in [
        (
            write(990, 11, 0),
            &["0x3de to 0x3e9", "source", "0x3e8"][..],
        ),
        (write(u64::MAX, 2, 0), &["source"]),
        (write(0, 500, 501), &["target", "0x3e8"]),
        (write(0, 5, u64::MAX), &["target"]),
        (write(0, 0, 0), &["neither bytes nor an immediate"]),
        (write(0, 5, 0).sharded(Sharding::Rail(2)), &["NIC 2 of 2"]),
        (
            Transfer::write(foreign.slice(0, 5), to.at(0)),
            &["engine 2"],
        ),
        (Transfer::scatter([]), &["neither"]),
        (
            paged(pages(10, &[0, 1]), pages(10, &[0]), 10),
            &["2 pages", "to 1"],
        ),
        (
            paged(pages(10, &[0]), pages(10, &[0]), 0),
            &["at least one byte"],
        ),
        (
            paged(pages(10, &[0, 1]), pages(9, &[0, 1]), 10),
            &["overlap"],
        ),
        (
            paged(pages(10, &[0, 1, 2]), pages(10, &[5, 6, 5]), 10),
            &["page 5 is written twice"],
        ),
        (paged(pages(10, &[100]), pages(10, &[0]), 10), &["source"]),
        (
            paged(pages(10, &[1]), pages(u64::MAX, &[u32::MAX]), 10),
            &["target"],
        ),
        (paged(pages(1, &[]), pages(1, &[]), 1), &["neither"]),
    ] {
        refused(&mut cluster, &transfer, parts);
    }
}

#[test]
fn a_target_of_nobody_or_with_fewer_nics_is_refused() {
    let mut one = Cluster::new(Setup::default());
    let mut two = Cluster::new(Setup {
        rails: 2,
        ..Setup::default()
    });
    let source = two.region(0, 10, Access::Local);
    let target = one.region(1, 10, Access::RemoteWrite);
    let narrow = Transfer::write(source.slice(0, 10), target.descriptor().at(0));
    refused(
        &mut two,
        &narrow.sharded(Sharding::Rail(1)),
        &["NIC 1 of 1"],
    );
    one.engines.clear();
    let peer = two.peer(0, 1);
    two.engines[0].disconnect(peer);
    two.settle();
    let target = two.region(1, 10, Access::RemoteWrite);
    let gone = Transfer::write(source.slice(0, 10), target.descriptor().at(0));
    refused(&mut two, &gone, &["peer 0 is lost: it was disconnected"]);
    // After the application was notified, the engine frees the link.
    while two.engines[0].next_event().is_some() {}
    two.settle();
    refused(&mut two, &gone, &["engine 1 is not connected"]);
    let unknown = two.engines[0].send(peer, &[]).unwrap_err();
    assert!(matches!(unknown, SubmitError::UnknownPeer(p) if p == peer));
}

#[test]
fn waiting_messages_and_barriers_are_checked() {
    let mut cluster = Cluster::new(Setup::default());
    let peer = cluster.peer(0, 1);
    let engine = &mut cluster.engines[0];
    assert!(matches!(
        engine.expect(4, 0, Senders::Anyone),
        Err(SubmitError::NoCount(4))
    ));
    engine.expect(4, 1, Senders::Anyone).unwrap();
    assert!(matches!(
        engine.expect(4, 2, Senders::Anyone),
        Err(SubmitError::Expected(4))
    ));
    assert!(matches!(
        engine.barrier(4, &[peer]),
        Err(SubmitError::Expected(4))
    ));
    assert!(engine.cancel(4) && !engine.cancel(4));
    assert!(matches!(engine.barrier(4, &[]), Err(SubmitError::Barrier)));
    assert!(matches!(
        engine.barrier(4, &[peer, peer]),
        Err(SubmitError::Barrier)
    ));
    let long = engine.send(peer, &[0; 101]).unwrap_err().to_string();
    assert_eq!(long, "a message of 101 bytes; the slots of peer 0 have 100");
}

#[test]
fn only_so_much_is_under_way() {
    let network = Network::new(1);
    let config = EngineConfig {
        transfers: 3,
        ..EngineConfig::new(EngineId(0))
    };
    let engines = vec![
        Engine::new(config, vec![network.nic()]).unwrap(),
        Engine::new(EngineConfig::new(EngineId(1)), vec![network.nic()]).unwrap(),
    ];
    let mut cluster = Cluster { network, engines };
    cluster.connect(0, 1);
    let peer = cluster.peer(0, 1);
    for _ in 0..3 {
        cluster.engines[0].send(peer, &[]).unwrap();
    }
    let busy = cluster.engines[0].send(peer, &[]);
    assert!(matches!(busy, Err(SubmitError::Busy(3))));
    cluster.settle();
    cluster.engines[0].send(peer, &[]).unwrap();
}

#[test]
fn settings_and_regions_are_checked() {
    let network = Network::new(1);
    let new = |change: fn(&mut EngineConfig)| {
        let mut config = EngineConfig::new(EngineId(0));
        change(&mut config);
        let engine = Engine::new(config, vec![network.nic()]);
        engine.err().map(|error| error.to_string())
    };
    assert_eq!(new(|_| ()), None);
    let error = new(|config| config.slots = 1025);
    assert_eq!(error.unwrap(), "slots is 1025; it can be 1 to 1024");
    assert!(new(|config| config.depth = 0)
        .unwrap()
        .contains("depth is 0"));
    assert!(new(|config| config.immediates = 0).is_some());
    assert!(new(|config| config.transfers = 0).is_some());
    let none: Result<Engine<NetNic>, _> = Engine::new(EngineConfig::new(EngineId(0)), vec![]);
    assert!(none
        .err()
        .unwrap()
        .to_string()
        .contains("number of NICs is 0"));

    let cluster = Cluster::new(Setup {
        rails: 2,
        ..Setup::default()
    });
    let engine = &cluster.engines[0];
    let register = |rail: usize, bytes| {
        let memory = engine.nics()[rail].allocate(bytes).unwrap();
        engine.nics()[rail]
            .register(&memory, Access::Local)
            .unwrap()
    };
    let adopt = |regions| engine.adopt(regions).err().map(|error| error.to_string());
    let error = adopt(vec![register(0, 8)]).unwrap();
    assert!(error.contains("1 regions for 2 NICs"), "{error}");
    let error = adopt(vec![register(0, 8), register(1, 16)]).unwrap();
    assert!(error.contains("0x8 and 0x10"), "{error}");
    assert_eq!(adopt(vec![register(0, 8), register(1, 8)]), None);
}

#[test]
fn an_offer_that_does_not_fit_is_refused() {
    let mut one = Cluster::new(Setup::default());
    let two = Cluster::new(Setup {
        rails: 2,
        ..Setup::default()
    });
    let connect = |cluster: &mut Cluster, offer: &LinkOffer<(usize, u32)>| {
        let offered = cluster.engines[0].offer().unwrap();
        let error = cluster.engines[0].connect(offered, offer).unwrap_err();
        error.to_string()
    };
    let theirs = two.engines[1].offer().unwrap();
    let mut one_more = Cluster::new(Setup {
        engines: 1,
        ..Setup::default()
    });
    let error = connect(&mut one_more, theirs.offer());
    assert!(error.contains("3 queue pairs, this one 2"), "{error}");
    let connected = one.engines[1].offer().unwrap();
    let error = connect(&mut one, connected.offer());
    assert!(error.contains("engine 1 is connected already"), "{error}");
    let own = one.engines[0].offer().unwrap();
    assert!(connect(&mut one, own.offer()).contains("itself"));
    // An offer that no engine would send.
    let offer = one.engines[1].offer().unwrap().offer().clone();
    for (field, value, says) in [
        ("slots", 0, "0 slots of 100 bytes"),
        ("slots", 2000, "2000 slots"),
        ("slots", 9, "bytes of memory"),
        ("immediates", 0, "no immediates"),
    ] {
        let mut text = serde_json::to_value(&offer).unwrap();
        text[field] = value.into();
        let offer: LinkOffer<(usize, u32)> = serde_json::from_value(text).unwrap();
        let error = connect(&mut one_more, &offer);
        assert!(error.contains(says), "no '{says}' in: {error}");
    }
}
