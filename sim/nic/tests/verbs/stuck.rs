//! Nothing that is stuck freezes the rest of a card: reads that nobody completes, and ports that do not send.

use std::time::Duration;

use sim_nic::{CardPair, Link, PcieSettings, CLOCK_PS};
use sim_pcie::{FaultKind, FaultRule, RequestKind, Window};
use stellar_wire::host::config_space::Bar;
use stellar_wire::host::registers::READ_TIMEOUT;

use super::fence::beside;
use super::hosts::*;
use stellar_driver::*;

const GPU: u64 = 0x70_0000_0000;
const GPU_BYTES: u64 = 1 << 16;
/// Cycles until a read has failed: 400 us, far more than any message here takes.
const READ_CYCLES: u64 = 100_000;

/// A card whose GPU answers no reads any more, and another card.
fn with_a_dead_gpu() -> (CardPair, [Device; 2]) {
    let settings = PcieSettings {
        completion_timeout: Some(READ_CYCLES * CLOCK_PS),
        ..PcieSettings::default()
    };
    let pair = CardPair::with_pcie(&settings).unwrap();
    let devices = bring_up(&pair);
    let timeout = u64::from(READ_TIMEOUT.offset);
    let function = pair.function(0);
    function
        .write64(Bar::Registers, timeout, READ_CYCLES)
        .unwrap();
    pair.add_gpu_memory(0, GPU, GPU_BYTES);
    let window = Window {
        base: GPU,
        size: GPU_BYTES,
    };
    let lost = FaultRule {
        window: Some(window),
        only: Some(RequestKind::Read),
        ..FaultRule::new(FaultKind::LostCompletion)
    };
    pair.add_pcie_fault(0, lost).unwrap();
    (pair, devices)
}

fn post(qp: &QueuePair, wr_id: u64, source: Source<'_>, to: &MemoryRegion) {
    let to = to.remote();
    let write = WorkRequest::write(wr_id, source, to.address, to.rkey);
    qp.post_send(&write).unwrap();
}

fn count(device: &Device, wanted: PortCounter) -> u64 {
    let counters = device.probe().port_counters().unwrap();
    let of_kind = counters.iter().filter(|count| count.counter == wanted);
    of_kind.map(|count| count.value).sum()
}

/// All reads of a GPU's memory are lost. While they wait for their timeout, the card answers its peer, receives at full speed and reads work requests. Then
/// the queue pair that wanted them fails, and everybody else goes on; the tags come back without a reset.
#[test]
fn a_gpu_that_answers_no_reads_fails_its_own_queue_pair() {
    let (pair, devices) = with_a_dead_gpu();
    let [a, b] = open(&devices, false);
    let dead = [a.qp(), b.qp()];
    let live = [a.qp(), b.qp()];
    connect([&dead[0], &dead[1]], 5);
    connect([&live[0], &live[1]], 6);
    let gpu = a.gpu_page(GPU, false);
    let target = b.region(1 << 16, true);
    post(
        &dead[0],
        1,
        gpu.slice(0, GPU_BYTES as u32).unwrap(),
        &target,
    );
    pair.run(2_000);
    let began = pair.clocks();

    // The other direction, for which this card sends acknowledgements only.
    let home = a.region(1 << 16, true);
    let source = b.region(1 << 16, false);
    let sent = pattern(1 << 16, 3);
    source.memory().unwrap().write(0, &sent).unwrap();
    for wr_id in 0..4 {
        post(&live[1], wr_id, source.slice(0, 1 << 16).unwrap(), &home);
        assert_eq!(b.completions(1)[0].status, WcStatus::Success);
    }
    assert!(bytes(&home) == sent, "other bytes arrived");
    // Work requests without payload are read and done.
    for wr_id in 10..30 {
        live[0].post_send(&WorkRequest::nop(wr_id)).unwrap();
        assert_eq!(ends(&a.completions(1)), [(wr_id, WcStatus::Success)]);
    }
    let took = pair.clocks() - began;
    assert!(took < READ_CYCLES / 2, "{took} cycles: something waited");

    // The timeout.
    let failed = a.completions(1);
    assert_eq!(ends(&failed), [(1, WcStatus::LocProtErr)]);
    assert!(count(&devices[0], PortCounter::PayloadReadTimeouts) > 0);
    assert!(count(&devices[0], PortCounter::FramesLeftOut) > 0);
    assert_eq!(count(&devices[0], PortCounter::EntryReadTimeouts), 0);
    // The other queue pair sends from host memory, then from a GPU that answers again.
    let source = a.region(1 << 14, false);
    source.memory().unwrap().write(0, &sent[..1 << 14]).unwrap();
    post(&live[0], 40, source.slice(0, 1 << 14).unwrap(), &target);
    assert_eq!(ends(&a.completions(1)), [(40, WcStatus::Success)]);
    assert!(bytes(&target)[..1 << 14] == sent[..1 << 14]);
    pair.clear_pcie_faults(0);
    pair.store_gpu_memory(0, GPU, &sent);
    post(
        &live[0],
        41,
        gpu.slice(0, GPU_BYTES as u32).unwrap(),
        &target,
    );
    assert_eq!(ends(&a.completions(1)), [(41, WcStatus::Success)]);
    assert!(bytes(&target) == sent, "other bytes arrived");
}

/// Port 0 stops, with and without the loss of its link. The card receives, acknowledges and sends by port 1, and port 0 sends again when it may.
#[test]
fn a_port_that_does_not_send_holds_up_nothing_else() {
    for link in [Link::Paused, Link::Down] {
        let pair = CardPair::new().unwrap();
        let devices = bring_up(&pair);
        let [a, b] = open(&devices, false);
        let qps = [a.qp(), b.qp()];
        connect([&qps[0], &qps[1]], 9);
        let regions = [a.region(1 << 16, true), b.region(1 << 16, true)];
        let sent = pattern(1 << 16, 4);
        for region in &regions {
            region.memory().unwrap().write(0, &sent).unwrap();
        }
        let exchange = |rounds: u64| {
            for wr_id in 0..rounds {
                post(
                    &qps[0],
                    wr_id,
                    regions[0].slice(0, 1 << 15).unwrap(),
                    &regions[1],
                );
                post(
                    &qps[1],
                    wr_id,
                    regions[1].slice(0, 1 << 15).unwrap(),
                    &regions[0],
                );
                assert_eq!(ends(&a.completions(1)), [(wr_id, WcStatus::Success)]);
                assert_eq!(ends(&b.completions(1)), [(wr_id, WcStatus::Success)]);
            }
        };
        exchange(2);
        // In the middle of messages.
        post(
            &qps[0],
            90,
            regions[0].slice(0, 1 << 16).unwrap(),
            &regions[1],
        );
        post(
            &qps[1],
            91,
            regions[1].slice(0, 1 << 16).unwrap(),
            &regions[0],
        );
        pair.run(400);
        for host in 0..2 {
            pair.set_link(host, 0, link);
        }
        assert_eq!(ends(&a.completions(1)), [(90, WcStatus::Success)]);
        assert_eq!(ends(&b.completions(1)), [(91, WcStatus::Success)]);
        exchange(3);
        let dropped = |counter| count(&devices[0], counter) + count(&devices[1], counter);
        match link {
            Link::Down => assert!(dropped(PortCounter::FramesDropped) > 0),
            _ => assert_eq!(dropped(PortCounter::FramesDropped), 0),
        }
        for host in 0..2 {
            pair.set_link(host, 0, Link::Up);
        }
        exchange(3);
        for (region, device) in regions.iter().zip(&devices) {
            assert!(bytes(region) == sent, "other bytes arrived");
            let counters = device.probe().counters().unwrap();
            let of = |reason| counters.iter().find(|c| c.reason == reason).unwrap().value;
            assert_eq!(of(DropReason::BufferFull), 0);
            // A frame that the fall of the link has cut has no iCRC.
            assert!(of(DropReason::BadLength) + of(DropReason::BadIcrc) <= 1);
        }
    }
}

/// A port that is paused for ever does not keep a region: after `READ_TIMEOUT` the fence has the packets before the port dropped. The driver would give up
/// after a second, and never free the memory.
#[test]
fn a_port_that_is_paused_for_ever_does_not_hold_up_a_fence() {
    const MICROSECOND: Duration = Duration::from_micros(1);
    const PATIENCE: Duration = Duration::from_micros(200);
    let pair = CardPair::new().unwrap();
    let devices = bring_up(&pair);
    let [a, b] = open(&devices, false);
    let function = pair.function(0);
    let patience = PATIENCE.as_nanos() as u64 / 4;
    let at = READ_TIMEOUT.offset.into();
    function.write64(Bar::Registers, at, patience).unwrap();
    let qps = [a.qp_over(Transport::Rc), b.qp_over(Transport::Rc)];
    connect_by(0, [&qps[0], &qps[1]], 3);
    let length = 1 << 18;
    let target = b.region(length, true);
    let region = a.region(length, false);
    pair.set_link(0, 0, Link::Paused);
    let source = region.slice(0, length as u32).unwrap();
    post(&qps[0], 1, source, &target);
    pair.run(5_000);
    let [qp, _peer] = qps;
    let remove = || {
        drop(qp);
        a.cq.poll(8).unwrap();
        region.deregister().unwrap();
    };
    let began = function.now();
    let limit = began + 2 * PATIENCE + 200 * MICROSECOND;
    let mut given_up = false;
    let (at, _) = beside(
        || function.now(),
        remove,
        || {
            pair.run(1_000);
            // The test ends also where the port holds the fence up.
            if !given_up && function.now() > 2 * limit {
                given_up = true;
                pair.set_link(0, 0, Link::Up);
            }
        },
    );
    assert!(at < limit && !given_up, "{:?}", at - began);
    // A second removal does not wait for the timeout again, and everything works when the port sends again.
    let spare = a.region(length, false);
    let again = function.now();
    spare.deregister().unwrap();
    assert!(function.now() < again + 20 * MICROSECOND);
    pair.set_link(0, 0, Link::Up);
    pair.run(20_000);
    assert_eq!(pair.bad_accesses(0), 0);
    let qps = [a.qp_over(Transport::Rc), b.qp_over(Transport::Rc)];
    connect_by(0, [&qps[0], &qps[1]], 4);
    let region = a.region(length, false);
    let sent = pattern(length, 9);
    region.memory().unwrap().write(0, &sent).unwrap();
    let source = region.slice(0, length as u32).unwrap();
    post(&qps[0], 2, source, &target);
    assert_eq!(ends(&a.completions(1)), [(2, WcStatus::Success)]);
    assert!(bytes(&target) == sent, "other bytes arrived");
}
