//! Random traffic is placed byte-exact, in order and reproducibly; reads return the written bytes.

use proptest::prelude::*;
use sim_pcie::iommu::Permission;
use sim_pcie::*;

use crate::common::{submit_when_ready, write, PORT};

pub const NICS: [Bdf; 2] = [Bdf::from_id(0x1700), Bdf::from_id(0x3700)];
const BARS: [Window; 2] = [
    Window {
        base: 0x20_0000_0000,
        size: 1 << 24,
    },
    Window {
        base: 0x30_0000_0000,
        size: 1 << 24,
    },
];
/// IO virtual address at which host memory, GPU 0 and GPU 1 are mapped, 16 MiB each.
pub const IOVA: u64 = 0x4000_0000;
const HOST: u64 = 0x10_0000;

/// Two switches, each with a NIC and a GPU; the switch redirects untranslated peer requests. Queues and buffers hold `buffers` TLPs.
pub fn config(buffers: usize) -> FabricConfig {
    let small = |lanes| LinkConfig {
        send_queue: buffers,
        credits: CreditConfig::for_tlps(buffers as u32, 256),
        lanes,
        ..LinkConfig::default()
    };
    let bus = |index: usize| 0x2000 * index as u16;
    let switch = |index| SwitchConfig {
        uplink: small(16),
        ..SwitchConfig::new(Bdf::from_id(0x1600 + bus(index)))
    };
    let nic = |index: usize| NicConfig {
        switch: index,
        ats: true,
        link: small(8),
        acs: AcsConfig {
            request_redirect: true,
            direct_translated: true,
            ..AcsConfig::default()
        },
        ..NicConfig::new(NICS[index])
    };
    let gpu = |index: usize| GpuConfig {
        switch: index,
        link: small(16),
        ..GpuConfig::new(Bdf::from_id(0x1800 + bus(index)), BARS[index])
    };
    FabricConfig {
        switches: [0, 1].map(switch).into(),
        nics: [0, 1].map(nic).into(),
        gpus: [0, 1].map(gpu).into(),
        host_memory: vec![Window {
            base: 0,
            size: 1 << 30,
        }],
        log_writes: true,
        ..FabricConfig::default()
    }
}

/// Maps host memory and both GPUs for both NICs.
pub fn map_memories(mut fabric: Fabric) -> Fabric {
    let iommu = fabric.iommu_mut();
    let domain = iommu.create_domain();
    for nic in NICS {
        iommu.attach(nic, domain).unwrap();
    }
    for (index, physical) in [HOST, BARS[0].base, BARS[1].base].into_iter().enumerate() {
        let iova = IOVA + (index as u64) * (1 << 24);
        iommu
            .map_range(domain, iova, physical, 1 << 24, Permission::READ_WRITE)
            .unwrap();
    }
    fabric
}

fn fabric(buffers: usize) -> Fabric {
    map_memories(Fabric::new(config(buffers)).unwrap())
}

#[derive(Clone, Debug)]
struct Piece {
    nic: usize,
    /// 0 is host memory, 1 and 2 the GPUs.
    target: usize,
    translated: bool,
    page: u64,
    offset: usize,
    bytes: Vec<u8>,
}

impl Piece {
    /// Offset in the target. NICs and address types have separate pages, because writes of different requesters or over different routes have no
    /// order.
    fn place(&self) -> u64 {
        let own = self.page * 4 + self.nic as u64 * 2 + u64::from(self.translated);
        own * 4096 + self.offset as u64
    }

    fn tlp(&self) -> Tlp {
        let (base, at) = if self.translated {
            let base = [HOST, BARS[0].base, BARS[1].base][self.target];
            (base, AddressType::Translated)
        } else {
            let base = IOVA + (self.target as u64) * (1 << 24);
            (base, AddressType::Untranslated)
        };
        write(NICS[self.nic], base + self.place(), at, &self.bytes)
    }

    fn route(&self) -> Route {
        match (self.target, self.translated) {
            (0, _) => Route::Host,
            (gpu, true) if gpu - 1 == self.nic => Route::PeerDirect,
            _ => Route::Hairpin,
        }
    }
}

fn piece() -> impl Strategy<Value = Piece> {
    let bytes = proptest::collection::vec(any::<u8>(), 1..250);
    (
        0usize..2,
        0usize..3,
        any::<bool>(),
        0u64..3,
        0usize..4096,
        bytes,
    )
        .prop_map(|(nic, target, translated, page, offset, mut bytes)| {
            bytes.truncate(4096 - offset);
            Piece {
                nic,
                target,
                translated,
                page,
                offset,
                bytes,
            }
        })
}

fn run(pieces: &[Piece], buffers: usize) -> Fabric {
    let mut fabric = fabric(buffers);
    let mut now = 0;
    for piece in pieces {
        now = submit_when_ready(&mut fabric, now, PortId(piece.nic), piece.tlp());
    }
    fabric.run_until_idle();
    fabric
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn random_writes_land_byte_exact_and_nothing_else_changes(
        pieces in proptest::collection::vec(piece(), 1..80), buffers in 1usize..20,
    ) {
        let fabric = run(&pieces, buffers);
        let mut expected = vec![vec![None; 16 * 4096]; 3];
        for piece in &pieces {
            let from = piece.place() as usize;
            for (at, byte) in piece.bytes.iter().enumerate() {
                expected[piece.target][from + at] = Some(*byte);
            }
        }
        for (target, expected) in expected.iter().enumerate() {
            let (memory, base) = if target == 0 { (fabric.host(), HOST) } else { (fabric.gpu(target - 1), 0) };
            let bytes: Vec<u8> = expected.iter().map(|byte| byte.unwrap_or(0)).collect();
            prop_assert_eq!(memory.read(base, bytes.len()).unwrap(), bytes);
            let count = expected.iter().flatten().count() as u64;
            prop_assert_eq!(memory.touched_bytes(), count, "touched bytes");
        }
        for route in [Route::Host, Route::PeerDirect, Route::Hairpin] {
            let taken: Vec<&Piece> = pieces.iter().filter(|piece| piece.route() == route).collect();
            let bytes = taken.iter().map(|piece| piece.bytes.len() as u64).sum();
            let expected = Traffic { tlps: taken.len() as u64, bytes };
            prop_assert_eq!(fabric.counters().writes(route), expected);
        }
        prop_assert_eq!(fabric.counters().refusals().count(), 0);
    }

    #[test]
    fn the_same_calls_give_the_same_run(pieces in proptest::collection::vec(piece(), 1..60), buffers in 1usize..4) {
        let (one, two) = (run(&pieces, buffers), run(&pieces, buffers));
        prop_assert_eq!(one.writes_log(), two.writes_log());
        prop_assert_eq!(one.now(), two.now());
        prop_assert_eq!(one.iommu().counters(), two.iommu().counters());
    }

    #[test]
    fn bytes_survive_the_wire_format_on_the_way(piece in piece()) {
        let tlp = piece.tlp();
        prop_assert_eq!(Tlp::from_bytes(&tlp.to_bytes().unwrap()).unwrap(), tlp);
    }
}

fn completions(fabric: &mut Fabric, port: PortId) -> Vec<(Picoseconds, Completion)> {
    let mut all = Vec::new();
    while let Some(received) = fabric.take_received(port).unwrap() {
        match received.tlp {
            Tlp::Completion(completion) => all.push((received.time, completion)),
            other => panic!("a NIC got {other:?}"),
        }
    }
    all
}

#[test]
fn reads_return_host_and_gpu_memory_on_every_route() {
    let mut fabric = fabric(16);
    let pattern: Vec<u8> = (0..512u32).map(|i| (i * 13 + 1) as u8).collect();
    fabric.host_mut().store(HOST, &pattern).unwrap();
    fabric.gpu_mut(0).store(0, &pattern).unwrap();
    fabric.gpu_mut(1).store(0, &pattern).unwrap();
    let direct = (BARS[0].base, AddressType::Translated);
    let untranslated = |target: u64| (IOVA + target * (1 << 24), AddressType::Untranslated);
    let asked = [untranslated(0), direct, untranslated(1), untranslated(2)];
    for (tag, (address, at)) in asked.into_iter().enumerate() {
        let read = MemRead::of_bytes(NICS[0], tag as u16, address, at, 512).unwrap();
        let now = fabric.now();
        fabric.submit(now, PORT, Tlp::Read(read)).unwrap();
    }
    fabric.run_until_idle();
    let completions = completions(&mut fabric, PORT);
    for tag in 0..4 {
        let of_tag = completions.iter().filter(|(_, c)| c.tag == tag);
        let data: Vec<u8> = of_tag.flat_map(|(_, c)| c.data.clone()).collect();
        assert_eq!(data, pattern, "tag {tag}");
    }
    let counters = fabric.counters();
    let reads = [Route::Host, Route::PeerDirect, Route::Hairpin].map(|r| counters.reads(r).tlps);
    assert_eq!(reads, [1, 1, 2]);
}

#[test]
fn a_flush_read_completes_after_the_writes_before_it() {
    let mut fabric = fabric(16);
    let at = AddressType::Untranslated;
    let mut now = 0;
    for n in 0..50 {
        let tlp = write(NICS[0], IOVA + n * 64, at, &[n as u8; 64]);
        now = submit_when_ready(&mut fabric, now, PORT, tlp);
    }
    let flush = MemRead::of_bytes(NICS[0], 9, IOVA, at, 0).unwrap();
    submit_when_ready(&mut fabric, now, PORT, Tlp::Read(flush));
    fabric.run_until_idle();
    let completed = completions(&mut fabric, PORT);
    assert_eq!(completed.len(), 1);
    assert_eq!(fabric.writes_log().len(), 50);
    assert!(fabric.writes_log().iter().all(|w| w.time < completed[0].0));
}

#[test]
fn crossing_reads_with_one_buffer_everywhere_do_not_deadlock() {
    let mut fabric = fabric(1);
    let mut now = 0;
    for n in 0..100u64 {
        for (port, nic) in NICS.into_iter().enumerate() {
            // Each NIC reads and writes the GPU below the other switch, so completions cross as well.
            let address = IOVA + (2 - port as u64) * (1 << 24) + n * 4096;
            let at = AddressType::Untranslated;
            let read = Tlp::Read(MemRead::of_bytes(nic, n as u16, address, at, 4096).unwrap());
            now = submit_when_ready(&mut fabric, now, PortId(port), read);
            let tlp = write(nic, address, at, &[n as u8; 256]);
            now = submit_when_ready(&mut fabric, now, PortId(port), tlp);
        }
    }
    fabric.run_until_idle();
    for port in [PortId(0), PortId(1)] {
        let bytes: usize = completions(&mut fabric, port)
            .iter()
            .map(|(_, c)| c.data.len())
            .sum();
        assert_eq!(bytes, 100 * 4096);
    }
    assert_eq!(fabric.counters().writes(Route::Hairpin).tlps, 200);
}
