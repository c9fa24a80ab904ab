//! Producer and consumer: a NIC writes data, then a flag; a processor waits for the flag and reads the data. PCIe orders the two writes on one path
//! only, so what the processor may see depends on the paths.

use sim_pcie::*;

use crate::common::write;

const NICS: [Bdf; 2] = [Bdf::from_id(0x1700), Bdf::from_id(0x1800)];
const BAR: Window = Window {
    base: 0x20_0000_0000,
    size: 1 << 21,
};
const DATA: u64 = 0x4000;
const FLAG: u64 = 0x8000;
const BYTES: [u8; 200] = [0xda; 200];
const SEEDS: u64 = 60;
const CLOCK_PS: Picoseconds = 4000;

/// Delays of up to 20 us, so that most pairs of draws differ by microseconds.
const SLOW: DelayConfig = DelayConfig::between(0, 20_000_000);

/// Where writes are delayed.
#[derive(Clone, Copy, Debug)]
enum Slow {
    /// On the links of the endpoints.
    Links,
    /// In front of host memory, with each endpoint below a switch and a root port of its own.
    RootPorts,
    /// At the GPU.
    Gpu,
    /// Everywhere.
    All,
}

fn fabric(slow: Slow, seed: u64) -> Fabric {
    let delay = |here: bool| if here { SLOW } else { DelayConfig::default() };
    let on_links = delay(matches!(slow, Slow::Links | Slow::All));
    let at_host = delay(matches!(slow, Slow::RootPorts | Slow::All));
    let at_gpu = delay(matches!(slow, Slow::Gpu | Slow::All));
    let completer = |posted_delay| CompleterConfig {
        posted_delay,
        read_delay: DelayConfig::between(0, 1_000_000),
        ..CompleterConfig::default()
    };
    let separate = matches!(slow, Slow::RootPorts);
    let nic = |index: usize| NicConfig {
        switch: if separate { index } else { 0 },
        ats: true,
        posted_delay: on_links,
        ..NicConfig::new(NICS[index])
    };
    let mut config = FabricConfig {
        switches: vec![
            SwitchConfig::new(Bdf::from_id(0x1500)),
            SwitchConfig::new(Bdf::from_id(0x1600)),
        ],
        nics: vec![nic(0), nic(1)],
        gpus: vec![GpuConfig::new(Bdf::from_id(0x1900), BAR)],
        host_memory: vec![Window {
            base: 0,
            size: 1 << 20,
        }],
        seed,
        ..FabricConfig::default()
    };
    config.root_complex.completer = completer(at_host);
    config.gpus[0].completer = completer(at_gpu);
    let mut fabric = Fabric::new(config).unwrap();
    for nic in NICS {
        fabric.iommu_mut().attach_bypass(nic);
    }
    fabric
}

/// Memory for data and flag.
#[derive(Clone, Copy, Debug)]
enum Place {
    Host,
    Gpu,
}

impl Place {
    fn write(self, nic: usize, offset: u64, bytes: &[u8]) -> Tlp {
        let (address, at) = self.address(offset);
        write(NICS[nic], address, at, bytes)
    }

    fn address(self, offset: u64) -> (u64, AddressType) {
        match self {
            Self::Host => (offset, AddressType::Untranslated),
            Self::Gpu => (BAR.base + offset, AddressType::Translated),
        }
    }

    fn load(self, fabric: &Fabric, offset: u64, len: usize) -> Vec<u8> {
        let memory = match self {
            Self::Host => fabric.host(),
            Self::Gpu => fabric.gpu(0),
        };
        memory.read(offset, len).unwrap()
    }
}

/// A read without bytes, whose completion shows that earlier writes on its path are done.
#[derive(Clone, Copy, Debug)]
struct Flush {
    nic: usize,
    place: Place,
}

/// How data and flag are written.
#[derive(Clone, Copy, Debug)]
struct Producer {
    data: (usize, Place),
    flush: Option<Flush>,
    flag: (usize, Place),
}

/// Picoseconds from the flag to the data as the processor sees them: 0 if the data is there with the flag.
fn staleness(producer: Producer, slow: Slow, seed: u64) -> Picoseconds {
    let mut fabric = fabric(slow, seed);
    let mut now = 0;
    let (nic, place) = producer.data;
    let data = place.write(nic, DATA, &BYTES);
    fabric.submit(now, PortId(nic), data).unwrap();
    if let Some(flush) = producer.flush {
        let (address, at) = flush.place.address(DATA);
        let read = MemRead::of_bytes(NICS[flush.nic], 0, address, at, 0).unwrap();
        let port = PortId(flush.nic);
        fabric.submit(now, port, Tlp::Read(read)).unwrap();
        while fabric.take_received(port).unwrap().is_none() {
            now += CLOCK_PS;
            fabric.advance(now).unwrap();
        }
    }
    let (nic, place_of_flag) = producer.flag;
    let flag = place_of_flag.write(nic, FLAG, &[1]);
    fabric.submit(now, PortId(nic), flag).unwrap();
    let mut wait = |fabric: &mut Fabric, place: Place, offset, bytes: &[u8]| {
        while place.load(fabric, offset, bytes.len()) != bytes {
            now += CLOCK_PS;
            fabric.advance(now).unwrap();
        }
        now
    };
    let flag = wait(&mut fabric, place_of_flag, FLAG, &[1]);
    let data = wait(&mut fabric, place, DATA, &BYTES);
    data - flag
}

fn over_seeds(producer: Producer, slow: Slow) -> Vec<Picoseconds> {
    (0..SEEDS)
        .map(|seed| staleness(producer, slow, seed))
        .collect()
}

fn never_stale(producer: Producer, slow: Slow) {
    let seen = over_seeds(producer, slow);
    assert!(
        seen.iter().all(|&ps| ps == 0),
        "{producer:?} {slow:?}: {seen:?}"
    );
}

/// Stale data is seen with many seeds, but not with all, and for microseconds.
fn often_stale(producer: Producer, slow: Slow) {
    let seen = over_seeds(producer, slow);
    let stale = seen.iter().filter(|&&ps| ps > 0).count() as u64;
    let (least, most) = (SEEDS / 4, SEEDS * 9 / 10);
    assert!(
        (least..=most).contains(&stale),
        "{producer:?} {slow:?}: {stale} of {SEEDS}"
    );
    let longest = seen.iter().max().unwrap();
    assert!(*longest > 5_000_000, "{producer:?} {slow:?}: {longest} ps");
}

#[test]
fn a_flag_by_the_other_endpoint_can_overtake_data() {
    let producer = Producer {
        data: (1, Place::Host),
        flush: None,
        flag: (0, Place::Host),
    };
    often_stale(producer, Slow::Links);
    often_stale(producer, Slow::RootPorts);
}

#[test]
fn a_flag_behind_the_data_never_overtakes_it() {
    for slow in [Slow::Links, Slow::RootPorts, Slow::Gpu, Slow::All] {
        for nic in [0, 1] {
            for place in [Place::Host, Place::Gpu] {
                let producer = Producer {
                    data: (nic, place),
                    flush: None,
                    flag: (nic, place),
                };
                never_stale(producer, slow);
            }
        }
    }
}

#[test]
fn a_flag_in_host_memory_can_overtake_data_to_a_gpu_by_the_same_endpoint() {
    let producer = Producer {
        data: (0, Place::Gpu),
        flush: None,
        flag: (0, Place::Host),
    };
    let seen = over_seeds(producer, Slow::Gpu);
    assert!(seen.iter().filter(|&&ps| ps > 1_000_000).count() as u64 > SEEDS / 2);
}

#[test]
fn a_flush_read_on_the_path_of_the_data_makes_any_flag_safe() {
    for slow in [Slow::Links, Slow::RootPorts, Slow::Gpu, Slow::All] {
        for place in [Place::Host, Place::Gpu] {
            for flag in [(0, Place::Host), (1, Place::Host), (0, Place::Gpu)] {
                let producer = Producer {
                    data: (1, place),
                    flush: Some(Flush { nic: 1, place }),
                    flag,
                };
                never_stale(producer, slow);
            }
        }
    }
}

#[test]
fn a_flush_read_on_another_path_does_not_help() {
    let other_endpoint = Producer {
        data: (1, Place::Host),
        flush: Some(Flush {
            nic: 0,
            place: Place::Host,
        }),
        flag: (0, Place::Host),
    };
    let other_memory = Producer {
        data: (1, Place::Gpu),
        flush: Some(Flush {
            nic: 1,
            place: Place::Host,
        }),
        flag: (1, Place::Host),
    };
    for (producer, slow) in [(other_endpoint, Slow::Links), (other_memory, Slow::Gpu)] {
        let seen = over_seeds(producer, slow);
        assert!(seen.iter().any(|&ps| ps > 1_000_000), "{producer:?}");
    }
}

#[test]
fn writes_of_both_endpoints_to_the_same_bytes_can_land_in_either_order() {
    let mut last = [0; 2];
    for seed in 0..SEEDS {
        let mut fabric = fabric(Slow::Links, seed);
        for nic in [0, 1] {
            let tlp = Place::Host.write(nic, DATA, &[nic as u8; 64]);
            fabric.submit(0, PortId(nic), tlp).unwrap();
        }
        fabric.run_until_idle();
        let bytes = fabric.host().read(DATA, 64).unwrap();
        assert!(bytes.iter().all(|byte| *byte == bytes[0]));
        last[usize::from(bytes[0])] += 1;
    }
    assert!(last.iter().all(|&count| count > SEEDS / 4), "{last:?}");
}

#[test]
fn without_delays_both_orders_are_the_order_of_the_writes() {
    for data in [0, 1] {
        let mut fabric = FabricBuilder::new()
            .switch(SwitchConfig::new(Bdf::from_id(0x1600)))
            .nic(NicConfig::new(NICS[0]))
            .nic(NicConfig::new(NICS[1]))
            .host_memory(0, 1 << 20)
            .log_writes()
            .build()
            .unwrap();
        for nic in NICS {
            fabric.iommu_mut().attach_bypass(nic);
        }
        for (nic, offset, bytes) in [(data, DATA, &BYTES[..]), (1 - data, FLAG, &[1])] {
            let tlp = Place::Host.write(nic, offset, bytes);
            fabric.submit(1_000_000 * offset, PortId(nic), tlp).unwrap();
        }
        fabric.run_until_idle();
        let order: Vec<u64> = fabric.writes_log().iter().map(|w| w.address).collect();
        assert_eq!(order, [DATA, FLAG]);
    }
}
