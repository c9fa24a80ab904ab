//! ATS: translation requests, the cache of a device, invalidations, and the NIC that depends on them.

use sim_pcie::ats::*;
use sim_pcie::iommu::{DomainId, FaultReason, Invalidation, PageSize, Permission};
use sim_pcie::*;

const NIC: Bdf = Bdf::from_id(0x1700);
const GPU: Bdf = Bdf::from_id(0x1800);
const BAR: Window = Window {
    base: 0x20_0000_0000,
    size: 1 << 21,
};
const PORT: PortId = PortId(0);
const SMALL: PageSize = PageSize::Size4KiB;
const US: Picoseconds = 1_000_000;

/// A fabric in which the NIC has ATS, and an empty domain.
struct Platform {
    fabric: Fabric,
    domain: DomainId,
    nic: WriteNic,
}

impl Platform {
    fn with(atc: AtcConfig, change: impl FnOnce(&mut FabricConfig)) -> Self {
        let mut config = FabricConfig {
            switches: vec![SwitchConfig::new(Bdf::from_id(0x1600))],
            nics: vec![NicConfig {
                ats: true,
                acs: AcsConfig {
                    request_redirect: true,
                    direct_translated: true,
                    ..AcsConfig::default()
                },
                ..NicConfig::new(NIC)
            }],
            gpus: vec![GpuConfig::new(GPU, BAR)],
            host_memory: vec![Window {
                base: 0,
                size: 1 << 24,
            }],
            log_writes: true,
            ..FabricConfig::default()
        };
        change(&mut config);
        let mut fabric = Fabric::new(config).unwrap();
        let domain = fabric.iommu_mut().create_domain();
        fabric.iommu_mut().attach(NIC, domain).unwrap();
        let line = LineConfig {
            gbps: 200,
            overhead: 102,
        };
        let config = WriteNicConfig {
            port: PORT,
            function: NIC,
            line,
            buffer: 8,
            max_payload: 256,
        };
        let nic = WriteNic::new(config, Translator::Ats(Atc::new(atc)));
        Self {
            fabric,
            domain,
            nic,
        }
    }

    fn new() -> Self {
        Self::with(cache(4, 4), |_| {})
    }

    fn map(&mut self, iova: u64, address: u64, permission: Permission) {
        let iommu = self.fabric.iommu_mut();
        iommu
            .map(self.domain, iova, address, SMALL, permission)
            .unwrap();
    }

    /// Takes a page out of the tables and out of the IOTLB, but not out of the device.
    fn unmap(&mut self, iova: u64) {
        let domain = self.domain;
        let iommu = self.fabric.iommu_mut();
        iommu.unmap(domain, iova, SMALL).unwrap();
        let len = SMALL.bytes();
        iommu.invalidate(Invalidation::Range { domain, iova, len });
    }

    /// Writes packets one behind the other, for so long.
    fn run(&mut self, packets: &[(u64, &[u8])], time: Picoseconds) {
        let packet = |&(iova, data): &(u64, &[u8])| WritePacket {
            iova,
            data: data.to_vec(),
        };
        let mut packets = packets.iter().map(packet);
        let until = self.fabric.now().saturating_add(time);
        self.nic.run(&mut self.fabric, &mut packets, until).unwrap();
    }

    /// Writes packets, and waits until all is quiet.
    fn write(&mut self, packets: &[(u64, &[u8])]) {
        self.run(packets, Picoseconds::MAX);
    }

    fn atc(&self) -> AtcCounters {
        self.nic.translator().atc().unwrap().counters()
    }
}

fn cache(sets: usize, ways: usize) -> AtcConfig {
    AtcConfig {
        sets,
        ways,
        outstanding: 4,
    }
}

#[test]
fn a_page_is_requested_once_and_written_where_it_lies() {
    let mut platform = Platform::new();
    platform.map(0x5000, BAR.base + 0x3000, Permission::READ_WRITE);
    let data: Vec<u8> = (0..1000).map(|i| i as u8).collect();
    platform.write(&[(0x5003, &data), (0x5800, &data)]);
    assert_eq!(platform.fabric.gpu(0).read(0x3003, 1000).unwrap(), data);
    assert_eq!(platform.fabric.gpu(0).read(0x3800, 1000).unwrap(), data);
    let atc = platform.atc();
    // Pieces end at multiples of 256 bytes: 4 of each packet.
    assert_eq!((atc.requests, atc.hits), (1, 8));
    let direct = platform.fabric.counters().writes(Route::PeerDirect);
    assert_eq!((direct.tlps, direct.bytes), (8, 2000));
    let iommu = platform.fabric.iommu().counters();
    assert_eq!((iommu.translation_requests, iommu.faults), (1, 0));
}

#[test]
fn a_large_page_of_the_iommu_is_one_entry() {
    let mut platform = Platform::new();
    let domain = platform.domain;
    let iommu = platform.fabric.iommu_mut();
    let both = Permission::READ_WRITE;
    iommu
        .map(domain, 2 << 21, BAR.base, PageSize::Size2MiB, both)
        .unwrap();
    platform.write(&[((2 << 21) + 0x12_3456, b"far")]);
    platform.write(&[((2 << 21) + 0x1f_fffd, b"end")]);
    assert_eq!(platform.fabric.gpu(0).read(0x12_3456, 3).unwrap(), b"far");
    assert_eq!(platform.fabric.gpu(0).read(0x1f_fffd, 3).unwrap(), b"end");
    assert_eq!(platform.atc().requests, 1);
}

#[test]
fn the_least_recently_used_entry_leaves() {
    let mut platform = Platform::with(cache(1, 2), |_| {});
    let [a, b, c] = [0x1000, 0x2000, 0x3000];
    for page in [a, b, c] {
        platform.map(page, BAR.base + page, Permission::READ_WRITE);
    }
    let mut requests = vec![];
    for page in [a, b, a, c, a, b] {
        let before = platform.atc().requests;
        platform.write(&[(page, b"x")]);
        requests.push(platform.atc().requests - before);
    }
    assert_eq!(requests, [1, 1, 0, 1, 0, 1], "C displaces B, and not A");
    assert_eq!(platform.atc().evictions, 2);
}

#[test]
fn a_late_answer_of_an_invalidated_range_is_not_used() {
    let mut platform = Platform::with(cache(4, 4), |config| {
        config.iommu.walk_latency_ps = 20 * US;
    });
    let (old, new) = (BAR.base + 0x1000, BAR.base + 0x2000);
    platform.map(0x5000, old, Permission::READ_WRITE);
    platform.run(&[(0x5000, b"stellar")], 5 * US);
    assert_eq!(platform.atc().requests, 1, "the walk is under way");
    platform.unmap(0x5000);
    platform.map(0x5000, new, Permission::READ_WRITE);
    let now = platform.fabric.now();
    let fabric = &mut platform.fabric;
    let tag = fabric.invalidate_device(now, NIC, 0x5000, 0x1000).unwrap();
    platform.run(&[], 5 * US);
    let done = platform.fabric.take_invalidations_done();
    assert_eq!(done.len(), 1, "nothing of the old page is used");
    assert_eq!((done[0].function, done[0].tag), (NIC, tag));
    platform.write(&[]);
    let atc = platform.atc();
    assert_eq!((atc.requests, atc.discarded), (2, 1));
    assert_eq!(platform.fabric.gpu(0).read(0x2000, 7).unwrap(), b"stellar");
    assert_eq!(platform.fabric.gpu(0).read(0x1000, 7).unwrap(), [0; 7]);
}

#[test]
fn an_invalidated_entry_is_requested_again() {
    let mut platform = Platform::new();
    platform.map(0x5000, BAR.base, Permission::READ_WRITE);
    platform.map(0x6000, BAR.base + 0x1000, Permission::READ_WRITE);
    platform.write(&[(0x5000, b"old"), (0x6000, b"beside")]);
    platform.unmap(0x5000);
    platform.map(0x5000, BAR.base + 0x4000, Permission::READ_WRITE);
    let now = platform.fabric.now();
    let fabric = &mut platform.fabric;
    fabric.invalidate_device(now, NIC, 0x5000, 0x1000).unwrap();
    platform.write(&[]);
    platform.write(&[(0x5000, b"new"), (0x6003, b"page")]);
    assert_eq!(platform.atc().requests, 3);
    assert_eq!(platform.fabric.gpu(0).read(0, 3).unwrap(), b"old");
    assert_eq!(platform.fabric.gpu(0).read(0x4000, 3).unwrap(), b"new");
    assert_eq!(platform.fabric.gpu(0).read(0x1003, 4).unwrap(), b"page");
}

#[test]
fn an_invalidation_is_complete_behind_the_writes_that_used_the_old_page() {
    let mut platform = Platform::with(cache(4, 4), |config| {
        config.nics[0].posted_delay = DelayConfig {
            min_ps: 5 * US,
            max_ps: 5 * US,
            ..DelayConfig::default()
        };
    });
    platform.map(0x5000, 0x1000, Permission::READ_WRITE);
    platform.write(&[(0x5000, b"first")]);
    platform.run(&[(0x5000, &[7; 2048])], US / 2);
    platform.unmap(0x5000);
    let now = platform.fabric.now();
    let fabric = &mut platform.fabric;
    fabric.invalidate_device(now, NIC, 0x5000, 0x1000).unwrap();
    platform.write(&[]);
    let done = platform.fabric.take_invalidations_done()[0].time;
    let writes = platform.fabric.writes_log();
    assert!(writes.last().unwrap().time > now, "some were under way");
    assert!(writes.iter().all(|write| write.time <= done));
}

#[test]
fn a_page_that_may_not_be_written_fails_its_packets_and_no_others() {
    let mut platform = Platform::new();
    platform.map(0x5000, BAR.base, Permission::READ_ONLY);
    platform.map(0x7000, BAR.base + 0x2000, Permission::READ_WRITE);
    platform.write(&[(0x5000, b"no"), (0x6000, b"no"), (0x7000, b"yes")]);
    let failed = platform.nic.take_failed();
    let addresses: Vec<u64> = failed.iter().map(|failed| failed.iova).collect();
    assert_eq!(addresses, [0x5000, 0x6000]);
    assert_eq!(platform.atc().denied, 2);
    assert_eq!(platform.fabric.iommu().counters().faults, 0);
    assert_eq!(platform.fabric.gpu(0).read(0x2000, 3).unwrap(), b"yes");
    // What may not be written is not cached, so a mapping that comes later needs no invalidation.
    platform.map(0x6000, BAR.base + 0x1000, Permission::READ_WRITE);
    platform.write(&[(0x6000, b"now")]);
    assert_eq!(platform.fabric.gpu(0).read(0x1000, 3).unwrap(), b"now");
    assert!(platform.nic.take_failed().is_empty());
}

#[test]
fn a_function_without_ats_gets_no_translation() {
    let mut platform = Platform::with(cache(4, 4), |config| config.nics[0].ats = false);
    platform.map(0x5000, BAR.base, Permission::READ_WRITE);
    platform.write(&[(0x5000, b"no")]);
    assert_eq!(platform.nic.take_failed().len(), 1);
    let reason = FaultReason::TranslationRequest;
    let faults = platform.fabric.iommu_mut().take_faults();
    assert_eq!(faults[0].reason, reason);
    let refused = platform.fabric.counters().refused(Refusal::Iommu(reason));
    assert_eq!(refused.tlps, 1);
}

#[test]
fn translated_requests_of_a_function_that_lost_ats_are_refused() {
    let mut platform = Platform::new();
    platform.map(0x5000, 0x1000, Permission::READ_WRITE);
    platform.write(&[(0x5000, b"yes")]);
    platform.fabric.iommu_mut().set_ats(NIC, false);
    platform.write(&[(0x5000, b"no")]);
    assert_eq!(platform.fabric.host().read(0x1000, 3).unwrap(), b"yes");
    let refusal = Refusal::Iommu(FaultReason::TranslatedNotAllowed);
    assert_eq!(platform.fabric.counters().refused(refusal).tlps, 1);
}

#[test]
fn invalidations_are_checked_and_have_32_tags() {
    let mut platform = Platform::new();
    let fabric = &mut platform.fabric;
    let refused = |fabric: &mut Fabric, function, iova, len| {
        fabric
            .invalidate_device(0, function, iova, len)
            .unwrap_err()
    };
    assert_eq!(
        refused(fabric, GPU, 0, 0x1000),
        FabricError::UnknownFunction(GPU)
    );
    for (iova, len) in [(0x1000, 0x2000), (0, 0x3000), (0, 0x800)] {
        let expected = FabricError::InvalidationRange { iova, len };
        assert_eq!(refused(fabric, NIC, iova, len), expected);
    }
    for tag in 0..32 {
        let now = fabric.now() + US;
        assert_eq!(fabric.invalidate_device(now, NIC, 0, 0x1000), Ok(tag));
    }
    let now = fabric.now() + US;
    let full = fabric.invalidate_device(now, NIC, 0, 0x1000);
    assert_eq!(full, Err(FabricError::InvalidationsFull(NIC)));
    // The device completes some of them at once, and one of them twice. It need not be a bus master.
    fabric.set_bus_master(PORT, false).unwrap();
    assert_eq!(fabric.ready(now, PORT, FlowClass::Posted), Ok(false));
    assert_eq!(fabric.ready_for_message(now, PORT), Ok(true));
    fabric.complete_invalidations(now, PORT, 0b1001).unwrap();
    fabric.complete_invalidations(now, PORT, 0b0001).unwrap();
    fabric.run_until_idle();
    let done = fabric.take_invalidations_done();
    let tags: Vec<u8> = done.iter().map(|done| done.tag).collect();
    assert_eq!(tags, [0, 3]);
    let now = fabric.now();
    assert_eq!(fabric.invalidate_device(now, NIC, 0, 0x1000), Ok(0));
    fabric.iommu_mut().set_ats(NIC, false);
    let without = fabric.invalidate_device(now, NIC, 0, 0x1000);
    assert_eq!(without, Err(FabricError::NoAts(NIC)));
}

#[test]
fn a_table_sends_gpu_pages_directly_and_host_pages_through_the_iommu() {
    let mut platform = Platform::new();
    platform.map(0x9000, 0x3000, Permission::READ_WRITE);
    let mut emtt = Emtt::new();
    emtt.register(0x1000, BAR.base + 0x2000, Owner::Gpu);
    emtt.register(0x2000, 0x9000, Owner::Host);
    let config = WriteNicConfig {
        port: PORT,
        function: NIC,
        line: LineConfig {
            gbps: 200,
            overhead: 102,
        },
        buffer: 1,
        max_payload: 128,
    };
    platform.nic = WriteNic::new(config, Translator::Emtt(emtt));
    platform.write(&[(0x1fff, b"ab"), (0x3000, b"nowhere")]);
    assert_eq!(platform.fabric.gpu(0).read(0x2fff, 1).unwrap(), b"a");
    assert_eq!(platform.fabric.host().read(0x3000, 1).unwrap(), b"b");
    assert_eq!(platform.nic.take_failed()[0].iova, 0x3000);
    assert_eq!(platform.fabric.iommu().counters().translation_requests, 0);
}
