//! Contexts of one card: what one does must not stop, starve or mislead another.

use std::time::Duration;

use sim_nic::CardPair;
use stellar_driver::*;
use stellar_wire::host::Doorbell;

use crate::verbs::hosts::*;

/// A context on each host, with a connected queue pair whose completion queues have `entries` places.
struct Tenant {
    hosts: [Host; 2],
    qps: [QueuePair; 2],
    source: MemoryRegion,
    target: MemoryRegion,
}

const BYTES: u32 = 32 << 10;

impl Tenant {
    fn new(devices: &[Device; 2], entries: u32) -> Self {
        let hosts = [0, 1].map(|host| {
            let context = devices[host].open().unwrap();
            Host {
                pd: context.alloc_pd().unwrap(),
                cq: context.create_cq(entries, false).unwrap(),
                context,
            }
        });
        let qps = [hosts[0].qp(), hosts[1].qp()];
        connect([&qps[0], &qps[1]], 0x80_0000);
        Self {
            source: hosts[0].region(BYTES as usize, false),
            target: hosts[1].region(BYTES as usize, true),
            hosts,
            qps,
        }
    }

    fn post(&self, wr_id: u64, bytes: u32) -> Result<(), PostError> {
        let to = self.target.remote();
        let slice = self.source.slice(0, bytes).unwrap();
        self.qps[0].post_send(&WorkRequest::write(wr_id, slice, to.address, to.rkey))
    }

    /// The next event of host 0, within a microsecond after everything is quiet.
    fn event(&self, pair: &CardPair) -> Option<AsyncEvent> {
        pair.run(2_000);
        self.hosts[0].context.poll_event().unwrap()
    }

    /// Loses completions by a queue of one entry that nobody polls.
    fn overrun(&self, pair: &CardPair) {
        for wr_id in 0..3 {
            self.post(wr_id, 64).unwrap();
        }
        pair.run(4_000);
    }
}

#[test]
fn an_overrun_completion_queue_fails_its_queue_pair_and_never_silently() {
    let (_turn, cards) = cards();
    let tenant = Tenant::new(&cards.devices, 4);
    let (qp, cq) = (&tenant.qps[0], &tenant.hosts[0].cq);
    for wr_id in 0..6 {
        tenant.post(wr_id, 64).unwrap();
    }
    cards.pair.run(5_000);
    // What came before the loss is there. Nothing comes after it, although there is room again.
    let good = [0, 1, 2, 3].map(|wr_id| (wr_id, WcStatus::Success));
    assert_eq!(ends(&cq.poll(8).unwrap()), good);
    for _ in 0..2 {
        cards.pair.run(2_000);
        let lost = cq.poll(8).unwrap_err();
        assert!(matches!(lost, Error::Overrun(number) if number == qp.number()));
    }
    let number = qp.number();
    let status = Some(WcStatus::WrFlushErr);
    let mut events = Vec::new();
    while let Some(event) = tenant.event(&cards.pair) {
        events.push(event);
    }
    let fatal = AsyncEvent::QueuePairFatal { qp: number, status };
    assert_eq!(events.len(), 2, "{events:?}");
    assert!(events.contains(&AsyncEvent::CompletionLost {
        qp: number,
        wr_id: 4
    }));
    assert!(events.contains(&fatal));
    assert_eq!(qp.state(), QpState::Error);
    assert!(tenant.post(6, 64).is_err(), "the queue pair has failed");

    // The driver completes what the card lost, and the queue pair can be used again.
    qp.modify(Modify::Error).unwrap();
    let flushed = [4, 5].map(|wr_id| (wr_id, WcStatus::WrFlushErr));
    assert_eq!(ends(&cq.poll(8).unwrap()), flushed);
    for qp in &tenant.qps {
        qp.modify(Modify::Reset).unwrap();
    }
    connect([&tenant.qps[0], &tenant.qps[1]], 5);
    tenant.post(7, 64).unwrap();
    assert_eq!(
        ends(&tenant.hosts[0].completions(1)),
        [(7, WcStatus::Success)]
    );
    assert_eq!(cards.pair.bad_accesses(0), 0);
}

/// A reader that sleeps is woken, although the entry that it waits for is lost.
#[test]
fn an_overrun_wakes_a_reader_that_waits() {
    let (_turn, cards) = cards();
    let [a, b] = open(&cards.devices, false);
    let cq = a.context.create_cq(2, true).unwrap();
    let config = QueuePairConfig {
        send_entries: 8,
        transport: Transport::Mrc,
        ..QueuePairConfig::default()
    };
    let (qa, qb) = (a.pd.create_qp(&cq, config).unwrap(), b.qp());
    connect([&qa, &qb], 7);
    let target = b.region(4096, true);
    for wr_id in 0..4 {
        let source = Source::Inline(b"tenant");
        let to = target.remote();
        qa.post_send(&WorkRequest::write(wr_id, source, to.address, to.rkey))
            .unwrap();
    }
    cards.pair.run(5_000);
    assert_eq!(cq.wait(2, TIMEOUT).unwrap().len(), 2);
    let began = cards.pair.clocks();
    assert!(matches!(cq.wait(2, TIMEOUT), Err(Error::Overrun(_))));
    assert!(cards.pair.clocks() - began < 5_000);
}

/// Event queues of four entries. A tenant fills its own with losses, and the card's with foreign doorbells; the events of another tenant still arrive.
#[test]
fn floods_of_events_do_not_displace_those_of_another_tenant() {
    let pair = CardPair::new().unwrap();
    let devices = [0, 1].map(|host| {
        let config = DeviceConfig {
            event_entries: 4,
            ..DeviceConfig::new(ports(host), host.into())
        };
        let probe = Probe::new(pair.function(host.into())).unwrap();
        probe.bring_up(config).unwrap()
    });
    let victim = Tenant::new(&devices, 1);
    let attacker = Tenant::new(&devices, 1);
    let foreign = Doorbell {
        qp: victim.qps[0].number(),
        producer: 1,
    };
    let word = u64::from_le_bytes(foreign.to_bytes());
    let page = attacker.hosts[0].context.doorbells();
    for _ in 0..100 {
        page.store(Doorbell::OFFSET.into(), word).unwrap();
    }
    // Four rounds of two events each, which nobody reads.
    for _ in 0..4 {
        attacker.overrun(&pair);
        for qp in &attacker.qps {
            qp.modify(Modify::Error).unwrap();
            qp.modify(Modify::Reset).unwrap();
        }
        connect([&attacker.qps[0], &attacker.qps[1]], 9);
    }
    attacker.overrun(&pair);
    victim.overrun(&pair);
    let mut seen = Vec::new();
    while let Some(event) = victim.event(&pair) {
        seen.push(event);
    }
    let qp = victim.qps[0].number();
    let status = Some(WcStatus::WrFlushErr);
    assert_eq!(seen.len(), 2, "{seen:?}");
    assert!(seen.contains(&AsyncEvent::CompletionLost { qp, wr_id: 1 }));
    assert!(seen.contains(&AsyncEvent::QueuePairFatal { qp, status }));
    let refused = attacker.event(&pair);
    assert!(refused.is_some());
}

/// A context that waits for events has the interrupt of its own event queue, and hears of the card's events as well.
#[test]
fn a_context_waits_for_its_own_events_and_those_of_the_card() {
    let (_turn, cards) = cards();
    let tenants = [(); 2].map(|()| Tenant::new(&cards.devices, 1));
    let short = Duration::from_micros(50);
    for tenant in &tenants {
        assert_eq!(tenant.hosts[0].context.wait_event(short).unwrap(), None);
    }
    tenants[1].overrun(&cards.pair);
    let began = cards.pair.clocks();
    assert!(tenants[1].hosts[0]
        .context
        .wait_event(TIMEOUT)
        .unwrap()
        .is_some());
    assert!(cards.pair.clocks() - began < 1_000, "no time-out");
    assert_eq!(tenants[0].hosts[0].context.wait_event(short).unwrap(), None);
    let foreign = Doorbell {
        qp: tenants[1].qps[0].number(),
        producer: 1,
    };
    let page = tenants[0].hosts[0].context.doorbells();
    let word = u64::from_le_bytes(foreign.to_bytes());
    page.store(Doorbell::OFFSET.into(), word).unwrap();
    let refused = AsyncEvent::DoorbellRefused {
        page: tenants[0].hosts[0].context.page().into(),
        qp: tenants[1].qps[0].number(),
    };
    let heard = tenants[0].hosts[0].context.wait_event(TIMEOUT).unwrap();
    assert_eq!(heard, Some(refused));
}

/// The most cycles from posting 2 bytes until their completion is polled, in some rounds. `meanwhile` runs between two polls.
fn slowest_round(pair: &CardPair, victim: &Tenant, mut meanwhile: impl FnMut()) -> u64 {
    let rounds = (0..12).map(|wr_id| {
        let began = pair.clocks();
        victim.post(wr_id, 2).unwrap();
        loop {
            meanwhile();
            let took = pair.clocks() - began;
            let found = ends(&victim.hosts[0].cq.poll(1).unwrap());
            if !found.is_empty() {
                assert_eq!(found, [(wr_id, WcStatus::Success)]);
                return took;
            }
            assert!(took < 20_000, "round {wr_id} does not end");
        }
    });
    rounds.max().unwrap()
}

/// Its doorbells move nothing, but each makes its queue pair one that may transmit, in the requester engine that both share. `./stellar bench tenants` measures
/// more.
#[test]
fn a_tenant_that_rings_all_the_time_does_not_slow_another_one_down_by_half() {
    let (_turn, cards) = cards();
    let victim = Tenant::new(&cards.devices, 16);
    let engine = |tenant: &Tenant| tenant.qps[0].number() % 2;
    let first = Tenant::new(&cards.devices, 16);
    let neighbour = if engine(&first) == engine(&victim) {
        first
    } else {
        Tenant::new(&cards.devices, 16)
    };
    assert_eq!(engine(&neighbour), engine(&victim));
    let alone = slowest_round(&cards.pair, &victim, || cards.pair.run(8));
    let page = neighbour.hosts[0].context.doorbells();
    let doorbell = Doorbell {
        qp: neighbour.qps[0].number(),
        producer: 0,
    };
    let word = u64::from_le_bytes(doorbell.to_bytes());
    let mut rung = 0;
    let beside = slowest_round(&cards.pair, &victim, || {
        page.store(Doorbell::OFFSET.into(), word).unwrap();
        rung += 1;
    });
    assert!(rung > 100, "{rung}");
    assert!(
        beside <= alone + alone / 2,
        "{beside} cycles beside {rung} doorbells, {alone} alone"
    );
}
