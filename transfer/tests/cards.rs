//! Two engines on two Verilated cards. Each has two NICs, which are two contexts of its card, so that sharding crosses the driver too.

use std::time::Duration;

use sim_nic::CardPair;
use stellar_driver::{
    AccessFlags, Device, DeviceConfig, MemoryRegion, PageSize, PortAddress, Probe,
};
use stellar_transfer::*;

/// Longest wait on the cards' clock.
const TIMEOUT: Duration = Duration::from_millis(2);
const PAGE: usize = 6000;
const PAGES: u32 = 12;
const COUNTED: u32 = 0x0cac_4e00;
const GPU: u64 = 0x70_0001_0000;

type CardEngine = Engine<DriverNic>;

fn bring_up(pair: &CardPair, host: u8) -> Device {
    let ports = [0, 1].map(|plane| PortAddress {
        mac: [2, 0, 0, plane, 0, host + 1],
        ip: [10, plane, 0, host + 1].into(),
    });
    let probe = Probe::new(pair.function(host.into())).unwrap();
    let config = DeviceConfig::new(ports, host.into());
    probe.bring_up(config).unwrap()
}

fn engine(device: &Device, host: u8) -> CardEngine {
    let config = DriverNicConfig {
        completions: 64,
        psn: Some(0x0012_3456),
        ..DriverNicConfig::default()
    };
    let nic = || DriverNic::new(device.open().unwrap(), config).unwrap();
    let config = EngineConfig {
        depth: 12,
        immediates: 16,
        slots: 2,
        slot_bytes: 128,
        ..EngineConfig::new(EngineId(host.into()))
    };
    Engine::new(config, vec![nic(), nic()]).unwrap()
}

fn connect(engines: &mut [CardEngine; 2]) -> [PeerId; 2] {
    let [a, b] = [0, 1].map(|host| engines[host].offer().unwrap());
    let (told_a, told_b) = (a.offer().clone(), b.offer().clone());
    [
        engines[0].connect(a, &told_b).unwrap(),
        engines[1].connect(b, &told_a).unwrap(),
    ]
}

/// Lets both engines make progress until each has this number of events, and returns the events.
fn events(pair: &CardPair, engines: &mut [CardEngine; 2], counts: [usize; 2]) -> [Vec<Event>; 2] {
    let function = pair.function(0);
    let end = function.now() + TIMEOUT;
    let mut found = [Vec::new(), Vec::new()];
    while [0, 1].iter().any(|&host| found[host].len() < counts[host]) {
        assert!(function.now() < end, "only {found:?} of {counts:?}");
        let busy = engines.each_mut().map(Engine::progress);
        if busy == [false, false] {
            engines[0].relax();
        }
        for (host, engine) in engines.iter_mut().enumerate() {
            found[host].extend(std::iter::from_fn(|| engine.next_event()));
        }
    }
    found
}

fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|i| (i * 89 + i / 253) as u8).collect()
}

fn pages(indices: impl Iterator<Item = u32>) -> Pages {
    Pages {
        offset: 0,
        stride: PAGE as u64,
        indices: indices.collect(),
    }
}

/// GPU memory of a host, registered with one of its NICs.
fn gpu_region(nic: &DriverNic) -> MemoryRegion {
    let pages = stellar_driver::Pages {
        size: PageSize::Size64K,
        addresses: vec![GPU],
        base: 0x4000_0000,
        device: 1,
    };
    let access = AccessFlags {
        remote_write: true,
        ..AccessFlags::default()
    };
    // SAFETY: the simulated GPU's memory belongs to this test alone.
    unsafe { nic.domain().register_translated(pages, access) }.unwrap()
}

#[test]
fn pages_calls_gpu_memory_barriers_and_a_lost_peer() {
    let pair = CardPair::new().unwrap();
    let devices = [0, 1].map(|host| bring_up(&pair, host));
    let mut engines = [engine(&devices[0], 0), engine(&devices[1], 1)];
    let peers = connect(&mut engines);
    let bytes = PAGE * PAGES as usize;
    let region = |engine: &CardEngine, access| {
        let memory = engine.allocate(bytes as u64).unwrap();
        engine.register(memory, access).unwrap()
    };
    let source = region(&engines[0], Access::Local);
    let target = region(&engines[1], Access::RemoteWrite);
    let sent = pattern(bytes);
    source.memory().unwrap().write(0, &sent).unwrap();

    // The driver's NICs refuse invalid settings.
    let memory = engines[0].allocate(64).unwrap();
    let foreign = engines[1].register(memory, Access::Local);
    let error = foreign.err().unwrap().to_string();
    assert!(error.contains("mapped for another card"), "{error}");
    let depth = QueueDepth {
        writes: 60,
        immediates: 5,
    };
    let error = engines[0].nics()[0].create(depth).err().unwrap();
    let error = error.to_string();
    assert!(
        error.contains("65 completions, and there is room for 64"),
        "{error}"
    );

    // Pages in reverse order, shared by both NICs. The receiver only counts them.
    let count = PAGES.into();
    engines[1]
        .expect(COUNTED, count, Senders::These(vec![peers[1]]))
        .unwrap();
    let to = target.descriptor();
    let transfer = Transfer::pages(
        &source,
        pages(0..PAGES),
        to,
        pages((0..PAGES).rev()),
        PAGE as u32,
    );
    engines[0]
        .submit(&transfer.with_immediate(COUNTED))
        .unwrap();
    let ends = events(&pair, &mut engines, [1, 1]);
    assert!(matches!(ends[0][0], Event::Done { result: Ok(()), .. }));
    assert!(matches!(
        ends[1][0],
        Event::Reached {
            immediate: COUNTED,
            result: Ok(())
        }
    ));
    let mut arrived = vec![0; bytes];
    target.memory().unwrap().read(0, &mut arrived).unwrap();
    for (page, found) in arrived.chunks(PAGE).rev().enumerate() {
        assert!(
            found == &sent[page * PAGE..][..PAGE],
            "page {page}: other bytes"
        );
    }
    assert_eq!(engines[1].arrivals(COUNTED), 0);

    // Calls in both directions, more of them than there are slots.
    for host in [0, 1] {
        for number in 0..3u8 {
            engines[host].call(peers[host], &[number; 100]).unwrap();
        }
    }
    let requests = events(&pair, &mut engines, [3, 3]);
    for (host, requests) in requests.into_iter().enumerate() {
        for event in requests {
            let Event::Request { request, mut bytes } = event else {
                panic!("{event:?}");
            };
            bytes.push(host as u8);
            engines[host].reply(request, &bytes).unwrap();
        }
    }
    let mut answered = [0; 2];
    // A response, and the end of this side's own reply.
    for (host, ends) in events(&pair, &mut engines, [6, 6]).into_iter().enumerate() {
        for event in ends {
            if let Event::Response { result, .. } = event {
                let answer = result.unwrap();
                assert!(answer.len() == 101 && answer[100] == 1 - host as u8);
                answered[host] += 1;
            }
        }
    }
    assert_eq!(answered, [3, 3]);

    // GPU memory, with every write cut in two; then a barrier, after which the bytes are there.
    pair.add_gpu_memory(1, GPU, 1 << 16);
    let regions = engines[1].nics().iter().map(gpu_region).collect();
    let gpu = engines[1].adopt(regions).unwrap();
    assert!(gpu.memory().is_none());
    let transfer = Transfer::write(source.slice(5, 20_000), gpu.descriptor().at(1001));
    let transfer = transfer.sharded(Sharding::Bytes);
    engines[0].submit(&transfer).unwrap();
    engines[0].barrier(1, &peers[..1]).unwrap();
    engines[1].barrier(1, &peers[1..]).unwrap();
    events(&pair, &mut engines, [2, 1]);
    let mut arrived = vec![0; 20_000];
    pair.load_gpu_memory(1, GPU + 1001, &mut arrived);
    assert!(arrived == sent[5..20_005], "other bytes in GPU memory");

    // A deregistered region fails the queue pair. Both sides are notified, and no access goes to a wrong address.
    let stale = target.descriptor().clone();
    target.deregister().unwrap();
    engines[1].expect(2, 1, Senders::Anyone).unwrap();
    let transfer = Transfer::write(source.slice(0, 64), stale.at(0));
    engines[0].submit(&transfer.with_immediate(2)).unwrap();
    let ends = events(&pair, &mut engines, [2, 2]);
    let lost = |event: &Event| match event {
        Event::Done {
            result: Err(lost), ..
        }
        | Event::Reached {
            result: Err(lost), ..
        } => Some(lost.reason.to_string()),
        _ => None,
    };
    let reasons = ends.map(|events| events.iter().find_map(lost).unwrap());
    assert!(reasons[0].contains("RemOpErr"), "{}", reasons[0]);
    // The queue pair at that end has refused the packet, and is in the error state too.
    assert!(reasons[1].contains("queue pair 0"), "{}", reasons[1]);
    assert_eq!((pair.bad_accesses(0), pair.bad_accesses(1)), (0, 0));
}
