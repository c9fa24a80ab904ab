//! Tests of configurations, doorbells and posts that the card refuses.

use stellar_transport::endpoint::{
    ConfigError, DoorbellError, Endpoint, EndpointConfig, PostError, QpConfig, TableWriteError,
    TransportConfig,
};
use stellar_transport::requester::{RcConfig, RequesterConfigError, SqRing};
use stellar_transport::rx::{QpRow, TableError, TableWrite};
use stellar_transport::spray::{Policy, SprayError};
use stellar_transport::time::Ticks;
use stellar_wire::host::{Doorbell, EventKind, WqeSize};

use crate::endpoint::pair::{
    card, endpoint_config, mrc, perfect, qp, ring, spray, write, Pair, TestMemory,
};

const QP: u32 = 5;

/// The error of creating a queue pair that `change` has spoilt.
fn creation_error(change: impl Fn(&mut QpConfig)) -> ConfigError {
    let mut config = qp(0, QP, 10, TransportConfig::Mrc(mrc(10)));
    change(&mut config);
    let mut card = card(0);
    let error = card
        .create_qp(config, Ticks(0))
        .expect_err("must be refused");
    assert_eq!(card.qp_counters(QP), None, "nothing is created");
    assert!(!error.to_string().is_empty());
    error
}

#[test]
fn configurations_of_queue_pairs() {
    let mrc_with = |change: fn(&mut stellar_transport::requester::MrcConfig)| {
        creation_error(move |qp| {
            let mut config = mrc(10);
            change(&mut config);
            qp.transport = TransportConfig::Mrc(config);
        })
    };
    let rc_with = |change: fn(&mut RcConfig)| {
        creation_error(move |qp| {
            let mut config = RcConfig::default();
            change(&mut config);
            qp.transport = TransportConfig::Rc(config);
        })
    };
    let requester = |error| ConfigError::Requester(error);
    use RequesterConfigError as R;
    assert_eq!(mrc_with(|c| c.mpr = 0), requester(R::Mpr(0)));
    assert_eq!(mrc_with(|c| c.mpr = 4097), requester(R::Mpr(4097)));
    assert_eq!(
        mrc_with(|c| c.early_loss = 1024),
        requester(R::EarlyLoss(1024))
    );
    assert_eq!(
        mrc_with(|c| c.coalesce_from = 1 << 24),
        requester(R::CoalesceFrom(1 << 24))
    );
    assert_eq!(mrc_with(|c| c.rto = Ticks(0)), requester(R::Timeout(0)));
    assert_eq!(
        rc_with(|c| c.rto = Ticks(1 << 21)),
        requester(R::Timeout(1 << 21))
    );
    assert_eq!(rc_with(|c| c.window = 0), requester(R::RcWindow(0)));
    assert_eq!(rc_with(|c| c.ack_every = 0), requester(R::AckEvery(0)));
    assert_eq!(rc_with(|c| c.plane = 2), requester(R::Plane(2)));
    let spray_error = mrc_with(|c| c.spray = spray(Policy::Obs, 127, 1));
    assert!(matches!(
        spray_error,
        ConfigError::Spray(SprayError::Paths { paths: 127, .. })
    ));

    assert_eq!(
        creation_error(|qp| qp.page = 65_536),
        ConfigError::Page(65_536)
    );
    for mtu_log2 in [0, 7, 14, 15] {
        let error = creation_error(|qp| qp.mtu_log2 = mtu_log2);
        assert_eq!(error, ConfigError::Mtu(mtu_log2));
        let text = format!("path MTU of 2^{mtu_log2} bytes; use 8 (256 B) to 13 (8192 B)");
        assert!(error.to_string().starts_with(&text), "{error}");
    }
    assert_eq!(
        creation_error(|qp| qp.imm.max_wimm = 0),
        ConfigError::MaxWimm(0)
    );
    assert_eq!(
        creation_error(|qp| qp.imm.max_wimm = 1025),
        ConfigError::MaxWimm(1025)
    );
    for every in [0, 64] {
        assert_eq!(
            creation_error(|qp| qp.sack_every = every),
            ConfigError::SackEvery(every)
        );
    }
    let size = |entries| ConfigError::QueueSize {
        queue: "completion",
        entries,
    };
    assert_eq!(creation_error(|qp| qp.cq_entries = 0), size(0));
    assert_eq!(creation_error(|qp| qp.cq_entries = 48), size(48));
    let wide = creation_error(|qp| qp.peer.qp = 1 << 24);
    assert!(matches!(
        wide,
        ConfigError::Width {
            field: "peer.qp",
            ..
        }
    ));
    let mixed = creation_error(|qp| qp.peer.planes[1].ip = std::net::Ipv6Addr::LOCALHOST.into());
    assert!(matches!(mixed, ConfigError::IpVersions(..)));
    let queue = creation_error(|qp| {
        qp.sq = Some(SqRing {
            base: 0,
            log2_entries: 16,
            entry: WqeSize::Bytes64,
        })
    });
    assert_eq!(queue, requester(R::QueueSize(16)));
    let number = creation_error(|qp| qp.number = 1);
    assert_eq!(number, ConfigError::Table(TableError::ReservedQp(1)));
    let number = creation_error(|qp| qp.number = 1024);
    assert!(matches!(
        number,
        ConfigError::Table(TableError::Index { .. })
    ));

    let mut card = card(0);
    let config = || qp(0, QP, 10, TransportConfig::Mrc(mrc(10)));
    card.create_qp(config(), Ticks(0)).expect("the first");
    assert_eq!(
        card.create_qp(config(), Ticks(0)),
        Err(ConfigError::QpExists(QP))
    );
}

#[test]
fn entropy_values_that_ipv4_cannot_carry() {
    use stellar_transport::spray::{EntropyProfile, GeneratedEntropy, HeaderFields, SprayConfig};
    let values = GeneratedEntropy {
        base: 0xffff,
        stride_log2: 0,
        active: 2,
        backups: 0,
    };
    let profile = EntropyProfile::generated(values, HeaderFields::SourcePortAndFlowLabel);
    let profile = std::sync::Arc::new(profile.expect("an IPv6 profile"));
    let error = creation_error(|qp| {
        let mut config = mrc(10);
        config.spray = SprayConfig {
            profile: profile.clone(),
            ..spray(Policy::Obs, 2, 1)
        };
        qp.transport = TransportConfig::Mrc(config);
    });
    assert_eq!(error, ConfigError::EntropyWidth(0x1_0000));
}

#[test]
fn srv6_around_ipv4() {
    use stellar_transport::spray::{EntropyField, Srv6Template};
    let path = stellar_wire::UsidContainer::new(1, &[1, 2]).expect("path");
    let template = Srv6Template::new(path, 16, 0, EntropyField { low: 0, bits: 2 });
    let template = template.expect("template");
    let error = creation_error(|qp| qp.srv6 = Some(template));
    assert_eq!(error, ConfigError::Srv6OverIpv4);
}

#[test]
fn configurations_of_cards() {
    let refused = |change: fn(&mut EndpointConfig)| {
        let mut config = endpoint_config(0);
        change(&mut config);
        Endpoint::new(config, TestMemory::default())
            .map(|_| ())
            .expect_err("must be refused")
    };
    let dscp = refused(|c| c.data_dscp = 64);
    assert!(matches!(
        dscp,
        ConfigError::Width {
            field: "data_dscp",
            ..
        }
    ));
    let dscp = refused(|c| c.control_dscp = 64);
    assert!(matches!(
        dscp,
        ConfigError::Width {
            field: "control_dscp",
            ..
        }
    ));
    assert!(matches!(
        refused(|c| c.event_entries = 3),
        ConfigError::QueueSize { queue: "event", .. }
    ));
    let mixed = refused(|c| c.planes[1].ip = std::net::Ipv6Addr::LOCALHOST.into());
    assert!(matches!(mixed, ConfigError::IpVersions(..)));
}

#[test]
fn queue_pair_contexts_through_the_table_port() {
    let write = TableWrite::Qp {
        index: 9,
        context: QpRow::default(),
    };
    assert_eq!(
        card(0).write_table(&write),
        Err(TableWriteError::QueuePair(9))
    );
}

#[test]
fn doorbell_of_another_device() {
    let mut pair = Pair::new(perfect);
    pair.connect(|card| {
        let mut qp = qp(card, QP, 10, TransportConfig::Mrc(mrc(10)));
        qp.sq = ring(0x9000_0000);
        qp
    });
    let doorbell = Doorbell {
        qp: QP,
        producer: 3,
    };
    let card = &mut pair.cards[0];
    let page = 100 + QP;
    let foreign = DoorbellError::NotOwner {
        page: page + 1,
        qp: QP,
    };
    assert_eq!(card.ring_doorbell(page + 1, doorbell), Err(foreign));
    let nobodys = Doorbell {
        qp: 77,
        producer: 3,
    };
    assert_eq!(
        card.ring_doorbell(page, nobodys),
        Err(DoorbellError::NotOwner { page, qp: 77 })
    );
    assert_eq!(card.counters().doorbells_refused, 2);
    let event = card.poll_event().expect("an event");
    assert_eq!(
        (event.kind, event.source, event.data),
        (EventKind::DoorbellRefused, page + 1, QP.into())
    );
    assert_eq!(card.poll_transmit(0, Ticks(0)), None, "nothing was started");
    assert_eq!(card.poll_cq(QP), None);
    // The owner's goes through; one beyond the ring, or backwards, does not.
    for producer in [17, 0xfff0] {
        let doorbell = Doorbell { qp: QP, producer };
        assert!(matches!(
            card.ring_doorbell(page, doorbell),
            Err(DoorbellError::Producer(_))
        ));
    }
    assert_eq!(card.counters().doorbells_bad, 2);
    assert_eq!(card.ring_doorbell(page, doorbell), Ok(()));
    let back = Doorbell {
        qp: QP,
        producer: 2,
    };
    assert!(matches!(
        card.ring_doorbell(page, back),
        Err(DoorbellError::Producer(_))
    ));
}

#[test]
fn posting_where_it_cannot_be() {
    let mut pair = Pair::new(perfect);
    pair.connect(|card| {
        let mut qp = qp(card, QP, 10, TransportConfig::Mrc(mrc(10)));
        qp.sq = ring(0x9000_0000);
        qp
    });
    pair.connect(|card| qp(card, 6, 10, TransportConfig::Mrc(mrc(10))));
    let card = &mut pair.cards[0];
    let wqe = write(0, 0, 1, 0);
    assert_eq!(card.post(99, wqe), Err(PostError::UnknownQp(99)));
    assert_eq!(card.post(QP, wqe), Err(PostError::HasRing(QP)));
    let doorbell = Doorbell { qp: 6, producer: 1 };
    assert_eq!(
        card.ring_doorbell(106, doorbell),
        Err(DoorbellError::NoRing(6))
    );
    for _ in 0..32_768 {
        card.post(6, wqe).expect("room");
    }
    assert!(matches!(card.post(6, wqe), Err(PostError::Full(_))));
}
