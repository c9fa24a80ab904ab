//! The purpose of STELLAR's eMTT: it decides whether a write to GPU memory passes the root complex.
//!
//! The NIC and the GPU are below one switch. Its port above the NIC redirects peer requests (Request Redirect), except translated ones (Direct
//! Translated P2P), as on STELLAR's test platform.

use sim_pcie::iommu::{Fault, FaultReason, PageSize, Permission};
use sim_pcie::*;

const NIC: Bdf = Bdf::from_id(0x1700);
const GPU: Bdf = Bdf::from_id(0x1800);
const BAR: Window = Window {
    base: 0x20_0000_0000,
    size: 1 << 30,
};
/// IO virtual address of the GPU page in the NIC's IOMMU domain.
const IOVA: u64 = 0x7000_0000;
/// IO virtual address of a page of the host.
const HOST_IOVA: u64 = 0x7100_0000;
/// Offset of the page in the BAR.
const PAGE: u64 = 0x4_0000;
const PORT: PortId = PortId(0);

fn fabric(acs: AcsConfig) -> Fabric {
    fabric_with(acs, |_| {})
}

fn fabric_with(acs: AcsConfig, change: impl FnOnce(&mut FabricConfig)) -> Fabric {
    let mut config = FabricConfig {
        switches: vec![SwitchConfig::new(Bdf::from_id(0x1600))],
        nics: vec![NicConfig {
            acs,
            ats: true,
            ..NicConfig::new(NIC)
        }],
        gpus: vec![GpuConfig::new(GPU, BAR)],
        host_memory: vec![Window {
            base: 0,
            size: 1 << 32,
        }],
        log_writes: true,
        ..FabricConfig::default()
    };
    change(&mut config);
    let mut fabric = Fabric::new(config).unwrap();
    let iommu = fabric.iommu_mut();
    let domain = iommu.create_domain();
    iommu.attach(NIC, domain).unwrap();
    for (iova, address) in [(IOVA, BAR.base + PAGE), (HOST_IOVA, 0)] {
        let both = Permission::READ_WRITE;
        iommu
            .map(domain, iova, address, PageSize::Size4KiB, both)
            .unwrap();
    }
    fabric
}

fn redirecting() -> AcsConfig {
    AcsConfig {
        request_redirect: true,
        direct_translated: true,
        ..AcsConfig::default()
    }
}

/// One 1,024-byte message to byte 0x101 of the page, in TLPs of at most 256 bytes.
fn send_message(fabric: &mut Fabric, page_address: u64, at: AddressType) -> Vec<u8> {
    let message: Vec<u8> = (0..1024u32).map(|i| (i * 7 + 3) as u8).collect();
    let (mut sent, mut now) = (0, fabric.now());
    while sent < message.len() {
        let address = page_address + 0x101 + sent as u64;
        let room = 256 - address as usize % 256;
        let piece = &message[sent..message.len().min(sent + room)];
        while !fabric.ready(now, PORT, FlowClass::Posted).unwrap() {
            now += 4000;
        }
        let write = MemWrite::of_bytes(NIC, address, at, piece).unwrap();
        fabric.submit(now, PORT, Tlp::Write(write)).unwrap();
        sent += piece.len();
    }
    fabric.run_until_idle();
    message
}

fn assert_only_the_message_landed(fabric: &Fabric, message: &[u8]) {
    assert_eq!(
        fabric
            .gpu(0)
            .read_written(PAGE + 0x101, message.len())
            .unwrap(),
        message
    );
    let placed = PAGE + 0x101..PAGE + 0x101 + message.len() as u64;
    assert_eq!(fabric.gpu(0).touched_ranges(), [placed]);
    assert_eq!(fabric.host().touched_bytes(), 0);
}

#[test]
fn a_gpu_owned_page_is_written_without_the_root_complex() {
    let mut fabric = fabric(redirecting());
    let message = send_message(&mut fabric, BAR.base + PAGE, AddressType::Translated);
    assert_only_the_message_landed(&fabric, &message);
    assert_eq!(fabric.counters().writes(Route::PeerDirect).bytes, 1024);
    assert_eq!(fabric.counters().writes(Route::Hairpin), Traffic::default());
    let uplink = fabric.link_traffic(LinkOf::Switch(0)).unwrap();
    assert_eq!(
        uplink,
        LinkTraffic::default(),
        "nothing went above the switch"
    );
    assert_eq!(fabric.iommu().counters(), Default::default());
    assert!(fabric
        .writes_log()
        .iter()
        .all(|w| w.route == Route::PeerDirect));
}

#[test]
fn with_the_owner_flipped_to_host_it_goes_through_the_iommu() {
    let mut fabric = fabric(redirecting());
    let message = send_message(&mut fabric, IOVA, AddressType::Untranslated);
    assert_only_the_message_landed(&fabric, &message);
    assert_eq!(fabric.counters().writes(Route::Hairpin).bytes, 1024);
    assert_eq!(
        fabric.counters().writes(Route::PeerDirect),
        Traffic::default()
    );
    let uplink = fabric.link_traffic(LinkOf::Switch(0)).unwrap();
    assert_eq!(
        (uplink.up.tlps, uplink.down.tlps),
        (5, 5),
        "up and down again"
    );
    let iommu = fabric.iommu().counters();
    assert_eq!((iommu.iotlb_misses, iommu.iotlb_hits), (1, 4));
}

#[test]
fn with_translation_blocking_it_is_refused_and_reported() {
    let mut fabric = fabric(AcsConfig {
        translation_blocking: true,
        ..redirecting()
    });
    send_message(&mut fabric, BAR.base + PAGE, AddressType::Translated);
    assert_eq!(
        fabric.gpu(0).touched_bytes() + fabric.host().touched_bytes(),
        0
    );
    let refused = fabric.counters().refused(Refusal::AcsTranslationBlocking);
    assert_eq!((refused.tlps, refused.bytes), (5, 1024));
    let reports = fabric.take_reports();
    assert_eq!(reports.len(), 5);
    let first = reports[0];
    assert_eq!(first.location, Location::Switch(0));
    assert_eq!(first.requester, NIC);
    assert_eq!(first.address, Some(BAR.base + PAGE + 0x100));
    assert_eq!(first.at, Some(AddressType::Translated));
    assert_eq!(first.refusal, Refusal::AcsTranslationBlocking);
}

#[test]
fn without_direct_translated_a_translated_write_needs_ats_at_the_root_complex() {
    let only_redirect = AcsConfig {
        request_redirect: true,
        ..AcsConfig::default()
    };
    let mut fabric = fabric(only_redirect);
    let message = send_message(&mut fabric, BAR.base + PAGE, AddressType::Translated);
    assert_only_the_message_landed(&fabric, &message);
    assert_eq!(fabric.counters().writes(Route::Hairpin).bytes, 1024);
    assert_eq!(fabric.iommu().counters().iotlb_misses, 0, "no translation");

    fabric.gpu_mut(0).clear_touched();
    fabric.iommu_mut().set_ats(NIC, false);
    send_message(&mut fabric, BAR.base + PAGE, AddressType::Translated);
    assert_eq!(fabric.gpu(0).touched_bytes(), 0);
    let reason = FaultReason::TranslatedNotAllowed;
    assert_eq!(fabric.counters().refused(Refusal::Iommu(reason)).tlps, 5);
    let faults: Vec<Fault> = fabric.iommu_mut().take_faults();
    assert!(faults
        .iter()
        .all(|f| f.function == NIC && f.reason == reason));
    assert_eq!(faults.len(), 5);
}

#[test]
fn a_root_complex_with_few_places_slows_writes_between_devices_and_no_others() {
    let time = |at: AddressType, address: u64| {
        let mut fabric = fabric_with(redirecting(), |config| {
            config.root_complex.peer_writes = Some(PeerWrites {
                in_flight: 2.try_into().unwrap(),
                latency_ps: 500_000,
            });
        });
        let mut now = 0;
        for _ in 0..64 {
            let write = MemWrite::of_bytes(NIC, address, at, &[1; 256]).unwrap();
            while !fabric.ready(now, PORT, FlowClass::Posted).unwrap() {
                now += 1000;
            }
            fabric.submit(now, PORT, Tlp::Write(write)).unwrap();
        }
        fabric.run_until_idle()
    };
    // 64 writes by 2 places take 32 times 500 ns.
    let through_root = time(AddressType::Untranslated, IOVA);
    assert!(
        (16_000_000..18_000_000).contains(&through_root),
        "{through_root}"
    );
    let direct = time(AddressType::Translated, BAR.base + PAGE);
    assert!(direct < 2_000_000, "{direct}");
    let host = time(AddressType::Untranslated, HOST_IOVA);
    assert!(host < 3_000_000, "{host}");
}
