//! Fences: when a call that removes something from a table returns, nothing is under way that used it, in either direction, at either endpoint.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use sim_nic::{CardPair, Link, PcieSettings, CLOCK_PS};
use sim_pcie::{DelayConfig, FaultKind, FaultRule, RequestKind, Window};
use stellar_wire::host::config_space::Bar;
use stellar_wire::host::registers::{status, TableCommand, FENCE, TABLE_COMMAND, TABLE_DATA};
use stellar_wire::rows::{ConfigSelect, RingRow, Row};

use super::hosts::*;
use stellar_driver::*;

/// How late a completion comes, or how long a port is paused: long enough for many messages, and below the read timeout of 50 ms. `STELLAR_LATE_US` sets it;
/// `./stellar test --long fence` has 40 ms.
fn late() -> Duration {
    let micros = std::env::var("STELLAR_LATE_US");
    let micros = micros.map_or(400, |text| {
        text.parse().expect("STELLAR_LATE_US is a number")
    });
    Duration::from_micros(micros)
}
/// A fence takes hardly longer than what it waits for: a few register accesses and a flush read.
const SOON: Duration = Duration::from_micros(20);
const BYTES: u32 = 4096;
/// What makes some writes late on their link.
const SPIKE_PS: u64 = 20_000_000;

/// The next read of a region by the card of host 0 is completed late.
fn delay_next_read(pair: &CardPair, region: &MemoryRegion) {
    let memory = region.memory().unwrap();
    let window = Window {
        base: memory.address(),
        size: memory.length() as u64,
    };
    let rule = FaultRule {
        window: Some(window),
        only: Some(RequestKind::Read),
        count: Some(1),
        ..FaultRule::new(FaultKind::LateCompletion(late().as_nanos() as u64 * 1000))
    };
    pair.add_pcie_fault(0, rule).unwrap();
}

fn write<'a>(wr_id: u64, source: Source<'a>, to: &MemoryRegion) -> WorkRequest<'a> {
    let to = to.remote();
    WorkRequest::write(wr_id, source, to.address, to.rkey)
}

/// Runs `call` in a thread of its own, and `meanwhile` again and again until it has returned. Returns when it did, by the cards' clock, and the rounds.
pub fn beside(
    now: impl Fn() -> Duration + Sync,
    call: impl FnOnce() + Send,
    mut meanwhile: impl FnMut(),
) -> (Duration, usize) {
    let returned = AtomicBool::new(false);
    let mut rounds = 0;
    let at = thread::scope(|scope| {
        let call = scope.spawn(|| {
            call();
            let at = now();
            returned.store(true, Ordering::Relaxed);
            at
        });
        while !returned.load(Ordering::Relaxed) && !call.is_finished() {
            meanwhile();
            rounds += 1;
        }
        call.join().unwrap()
    });
    (at, rounds)
}

/// A read of payload by endpoint 0 is completed late. Whatever removes something from the card waits for it, because the read may be one of its own. Port 1
/// sends meanwhile, and nothing waits longer than that.
#[test]
fn a_late_completion_holds_up_a_fence_and_nothing_else() {
    let (_turn, cards) = cards();
    let pair = &cards.pair;
    let [a, b] = open(&cards.devices, false);
    let bad = pair.bad_accesses(0);
    let function = pair.function(0);
    let rc = |host: &Host| host.qp_over(Transport::Rc);
    let live = [rc(&a), rc(&b)];
    connect_by(1, [&live[0], &live[1]], 6);
    let target = b.region(1 << 14, true);
    let payload = a.region(BYTES as usize, false);
    let mut wr_id = 100;
    let mut exchange = || {
        wr_id += 1;
        let source = payload.slice(0, BYTES).unwrap();
        live[0].post_send(&write(wr_id, source, &target)).unwrap();
        assert_eq!(ends(&a.completions(1)), [(wr_id, WcStatus::Success)]);
    };
    exchange();
    type Removal = fn(MemoryRegion, QueuePair);
    let removals: [(&str, Removal); 3] = [
        ("region", |region, _| region.deregister().unwrap()),
        ("queue pair", |_, qp| drop(qp)),
        ("state", |_, qp| qp.modify(Modify::Error).unwrap()),
    ];
    for (psn, (what, remove)) in removals.into_iter().enumerate() {
        let slow_cq = a.context.create_cq(64, false).unwrap();
        let config = QueuePairConfig {
            send_entries: 8,
            transport: Transport::Rc,
            ..QueuePairConfig::default()
        };
        let slow = a.pd.create_qp(&slow_cq, config).unwrap();
        let peer = rc(&b);
        connect_by(0, [&slow, &peer], psn as u32);
        let region = a.region(BYTES as usize, false);
        let spare = a.region(BYTES as usize, false);
        delay_next_read(pair, &region);
        let posted = function.now();
        let source = region.slice(0, BYTES).unwrap();
        slow.post_send(&write(1, source, &target)).unwrap();
        pair.run(2_000);
        let (at, rounds) = beside(|| function.now(), || remove(spare, slow), &mut exchange);
        let took = at - posted;
        assert!(
            took >= late(),
            "{what}: returned {took:?} after the read was posted"
        );
        assert!(took < late() + SOON, "{what}: {took:?}");
        assert!(rounds > 20, "{what}: {rounds} messages meanwhile");
        drop((slow_cq, region));
    }
    pair.clear_pcie_faults(0);
    pair.run(5_000);
    assert_eq!(pair.bad_accesses(0), bad);
}

/// A port that does not send holds packets whose payload has an address and is not read. Their queue pair is not gone before the port sends again.
#[test]
fn a_paused_port_reads_nothing_after_its_region_is_gone() {
    let (_turn, cards) = cards();
    let pair = &cards.pair;
    let [a, b] = open(&cards.devices, false);
    let bad = pair.bad_accesses(0);
    let function = pair.function(0);
    let qps = [a.qp_over(Transport::Rc), b.qp_over(Transport::Rc)];
    connect_by(0, [&qps[0], &qps[1]], 3);
    let length = 1 << 18;
    let target = b.region(length, true);
    let region = a.region(length, false);
    pair.set_link(0, 0, Link::Paused);
    let source = region.slice(0, length as u32).unwrap();
    qps[0].post_send(&write(1, source, &target)).unwrap();
    pair.run(5_000);
    let read = || pair.pcie_counters(0);
    let before = read();
    let [qp, _peer] = qps;
    let remove = || {
        drop(qp);
        a.cq.poll(8).unwrap();
        region.deregister().unwrap();
    };
    let began = function.now();
    let mut paused = true;
    let mut resumed = Duration::ZERO;
    let (at, _) = beside(
        || function.now(),
        remove,
        || {
            pair.run(1_000);
            if paused && function.now() > began + late() {
                paused = false;
                resumed = function.now();
                assert!(read() == before, "a read while the port does not send");
                pair.set_link(0, 0, Link::Up);
            }
        },
    );
    assert!(
        !paused && at > resumed,
        "gone {:?} early",
        began + late() - at
    );
    assert!(
        at < resumed + 10 * SOON,
        "{:?} after the port",
        at - resumed
    );
    pair.run(20_000);
    assert_eq!(pair.bad_accesses(0), bad);
}

/// The memory interface of endpoint 0 takes nothing while completions are on their way to a ring. Software removes the ring and waits for a fence: then the
/// entries are in memory, and none follows. Some writes are late on the link, so an entry behind the fence's read would come too late.
#[test]
fn no_completion_is_written_after_its_ring_is_gone() {
    let settings = PcieSettings {
        endpoint_delays: [
            DelayConfig {
                spike_per_million: 300_000,
                spike_ps: SPIKE_PS,
                ..DelayConfig::default()
            },
            DelayConfig::default(),
        ],
        ..PcieSettings::default()
    };
    let pair = CardPair::with_pcie(&settings).unwrap();
    let devices = bring_up(&pair);
    let [a, b] = open(&devices, false);
    let function = pair.function(0);
    let store = |offset: u16, word| {
        let offset = offset.into();
        function.write64(Bar::Registers, offset, word).unwrap();
    };
    let load = |offset: u16| function.read64(Bar::Registers, offset.into()).unwrap();
    let is_busy = |offset| load(offset) >> status::BUSY_BIT & 1 == 1;
    let mut written = 0;
    let config = QueuePairConfig {
        send_entries: 8,
        transport: Transport::Rc,
        ..QueuePairConfig::default()
    };
    // A few entries pass the arbiter, and more wait before it.
    for requests in 1..=8 {
        let qps = [
            a.pd.create_qp(&a.cq, config).unwrap(),
            b.pd.create_qp(&b.cq, config).unwrap(),
        ];
        connect_by(1, [&qps[0], &qps[1]], requests as u32);
        pair.set_blocked(0, 0, true);
        // Pushed entries need no read, if each doorbell is taken before the next one comes.
        for wr_id in 0..requests {
            let nop = WorkRequest::nop(wr_id).pushed();
            qps[0].post_send(&nop).unwrap();
            pair.run(50);
        }
        pair.run(1_000);
        let row = RingRow::default().pack();
        for (offset, pair) in (TABLE_DATA.offset..).step_by(8).zip(row.chunks(2)) {
            let high = pair.get(1).copied().unwrap_or(0);
            store(offset, u64::from(high) << 32 | u64::from(pair[0]));
        }
        let command = TableCommand {
            select: ConfigSelect::CompletionQueue.index(),
            index: qps[0].number(),
        };
        store(TABLE_COMMAND.offset, command.to_word());
        store(FENCE.offset, 1);
        pair.run(3_000);
        assert!(is_busy(FENCE.offset), "a fence overtakes what is blocked");
        pair.set_blocked(0, 0, false);
        let end = function.now() + TIMEOUT;
        while is_busy(TABLE_COMMAND.offset) || is_busy(FENCE.offset) {
            assert!(function.now() < end, "no end of the fence");
            function.relax();
        }
        let in_time = a.cq.poll(64).unwrap().len();
        pair.run(SPIKE_PS / CLOCK_PS * 5 / 4);
        let late = a.cq.poll(64).unwrap().len();
        assert_eq!(
            late, 0,
            "{requests} requests: {late} late, {in_time} in time"
        );
        written += in_time;
    }
    assert!(written > 20, "{written} completions");
    assert_eq!(pair.bad_accesses(0), 0);
}
