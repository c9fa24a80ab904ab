//! Completion after data: when software sees that a message has arrived, all of its bytes are in memory, whichever way they took.

use sim_nic::PcieSettings;
use sim_pcie::DelayConfig;

use super::hosts::*;
use sim_nic::CardPair;
use stellar_driver::*;

const BYTES: usize = 16 << 10;
const MESSAGES: usize = 6;
const PAGE: u64 = 1 << 16;
const GPU: u64 = 0x70_0000_0000;
/// Far longer than a completion takes.
const LATE: DelayConfig = DelayConfig::constant(20_000_000);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Target {
    Host,
    Gpu,
}

/// Posted writes of one path are late.
fn slow(change: impl FnOnce(&mut PcieSettings)) -> PcieSettings {
    let mut settings = PcieSettings::default();
    change(&mut settings);
    settings
}

/// Messages to the target, each with an immediate. Returns how many had not arrived as a whole when the receiver saw their completion, and how many
/// when the sender saw its own.
fn early(settings: &PcieSettings, transport: Transport, target: Target) -> [usize; 2] {
    let pair = CardPair::with_pcie(settings).unwrap();
    let devices = bring_up(&pair);
    let [a, b] = open(&devices, false);
    let (qa, qb) = (a.qp_over(transport), b.qp_over(transport));
    connect([&qa, &qb], 7);
    let source = a.region(BYTES, false);
    let region = match target {
        Target::Host => b.region(BYTES, true),
        Target::Gpu => {
            pair.add_gpu_memory(1, GPU, PAGE);
            b.gpu_page(GPU, true)
        }
    };
    let stored = || match target {
        Target::Host => bytes(&region),
        Target::Gpu => {
            let mut stored = vec![0; BYTES];
            pair.load_gpu_memory(1, GPU, &mut stored);
            stored
        }
    };
    let to = region.remote();
    let mut early = [0; 2];
    for message in 0..MESSAGES {
        let sent = pattern(BYTES, message as u8 + 1);
        source.memory().unwrap().write(0, &sent).unwrap();
        let slice = source.slice(0, BYTES as u32).unwrap();
        let write = WorkRequest::write(1, slice, to.address, to.rkey).with_immediate(1);
        qa.post_send(&write).unwrap();
        // Whichever completion comes first is looked at in its moment.
        let hosts = [&b, &a];
        let mut seen = [false; 2];
        let function = devices[0].probe().function();
        let end = function.now() + TIMEOUT;
        while seen != [true; 2] {
            assert!(function.now() < end, "no completion");
            for (host, (seen, early)) in hosts.iter().zip(seen.iter_mut().zip(&mut early)) {
                for completion in host.cq.poll(1).unwrap() {
                    assert_eq!(completion.status, WcStatus::Success);
                    *seen = true;
                    *early += usize::from(stored() != sent);
                }
            }
            function.relax();
        }
        // The next message has other bytes, so it must find these.
        pair.run(10_000);
        assert!(stored() == sent, "{target:?}: other bytes arrived");
    }
    assert_eq!(pair.bad_accesses(1), 0);
    early
}

/// Each late path, with the queue pairs and the target that use it.
fn cases() -> Vec<(PcieSettings, Transport, Target)> {
    let endpoint = |p: usize| slow(|settings| settings.endpoint_delays[p] = LATE);
    let gpu = slow(|settings| settings.gpu_delay = LATE);
    vec![
        (endpoint(1), Transport::Mrc, Target::Host),
        (endpoint(1), Transport::Mrc, Target::Gpu),
        (gpu, Transport::Mrc, Target::Gpu),
        (gpu, Transport::Rc, Target::Gpu),
    ]
}

#[test]
fn completions_come_after_the_bytes_by_every_path() {
    for (settings, transport, target) in cases() {
        let early = early(&settings, transport, target);
        assert_eq!(early, [0, 0], "{transport:?} to {target:?}: {settings:?}");
    }
    let endpoint = slow(|settings| settings.endpoint_delays[0] = LATE);
    let host = slow(|settings| settings.host_delay = LATE);
    for settings in [endpoint, host] {
        for transport in [Transport::Mrc, Transport::Rc] {
            assert_eq!(early(&settings, transport, Target::Host), [0, 0]);
        }
    }
}

/// Without the wait, the same runs see completions too early: the delays are real, and the test notices.
#[test]
fn flush_reads_that_push_nothing_are_noticed() {
    for (settings, transport, target) in cases() {
        let settings = PcieSettings {
            answer_flushes_at_once: true,
            ..settings
        };
        let [receiver, sender] = early(&settings, transport, target);
        assert!(receiver > 0, "{transport:?} to {target:?}: {settings:?}");
        assert!(sender > 0, "{transport:?} to {target:?}: {settings:?}");
    }
}
