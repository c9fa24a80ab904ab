use stellar_wire::pcie::AddressType;

use super::admission::Translation;
use super::*;
use crate::config::IommuMode;

const NIC: Bdf = Bdf::from_id(0x1700);
const OTHER: Bdf = Bdf::from_id(0x1800);
const WALK: Picoseconds = 500_000;

fn iommu(change: impl FnOnce(&mut IommuConfig)) -> (Iommu, DomainId) {
    let mut config = IommuConfig {
        mode: IommuMode::Translate,
        walk_latency_ps: WALK,
        ..IommuConfig::default()
    };
    change(&mut config);
    let mut iommu = Iommu::new(config);
    let domain = iommu.create_domain();
    iommu.attach(NIC, domain).unwrap();
    (iommu, domain)
}

fn write(iommu: &mut Iommu, now: Picoseconds, address: u64) -> Result<Translation, FaultReason> {
    iommu.admit(now, NIC, address, AddressType::Untranslated, Access::Write)
}

#[test]
fn a_miss_walks_and_a_hit_does_not() {
    let (mut iommu, domain) = iommu(|_| ());
    iommu
        .map(
            domain,
            0x20_0000,
            0x4000_0000,
            PageSize::Size2MiB,
            Permission::READ_WRITE,
        )
        .unwrap();
    let miss = write(&mut iommu, 1000, 0x2a_bcd0).unwrap();
    assert_eq!(
        miss,
        Translation {
            address: 0x400a_bcd0,
            known_at: 1000 + WALK
        }
    );
    let hit = write(&mut iommu, 2_000_000, 0x3f_fffc).unwrap();
    assert_eq!(
        hit,
        Translation {
            address: 0x401f_fffc,
            known_at: 2_000_000
        }
    );
    let counters = iommu.counters();
    assert_eq!((counters.iotlb_hits, counters.iotlb_misses), (1, 1));
}

#[test]
fn walks_queue_for_the_walkers() {
    let (mut iommu, domain) = iommu(|config| config.walkers = 2);
    iommu
        .map_range(domain, 0, 0, 3 * 4096, Permission::READ_WRITE)
        .unwrap();
    let ends: Vec<_> = (0..3)
        .map(|page| write(&mut iommu, 0, page * 4096).unwrap().known_at)
        .collect();
    assert_eq!(ends, [WALK, WALK, 2 * WALK]);
}

#[test]
fn permissions_hold_on_a_hit_too() {
    let (mut iommu, domain) = iommu(|_| ());
    iommu
        .map(
            domain,
            0x1000,
            0x9000,
            PageSize::Size4KiB,
            Permission::READ_ONLY,
        )
        .unwrap();
    iommu
        .map(
            domain,
            0x2000,
            0xa000,
            PageSize::Size4KiB,
            Permission::WRITE_ONLY,
        )
        .unwrap();
    for _ in 0..2 {
        assert_eq!(
            write(&mut iommu, 0, 0x1000),
            Err(FaultReason::WriteNotPermitted)
        );
        let read = iommu.admit(0, NIC, 0x2000, AddressType::Untranslated, Access::Read);
        assert_eq!(read, Err(FaultReason::ReadNotPermitted));
    }
}

#[test]
fn an_unmapped_page_stays_reachable_until_invalidated() {
    for what in [
        |_| Invalidation::All,
        Invalidation::Domain,
        |domain| Invalidation::Range {
            domain,
            iova: 0x1fff,
            len: 1,
        },
    ] {
        let (mut iommu, domain) = iommu(|_| ());
        iommu
            .map(
                domain,
                0x1000,
                0x9000,
                PageSize::Size4KiB,
                Permission::READ_WRITE,
            )
            .unwrap();
        write(&mut iommu, 0, 0x1000).unwrap();
        iommu.unmap(domain, 0x1000, PageSize::Size4KiB).unwrap();
        assert!(write(&mut iommu, 0, 0x1000).is_ok(), "stale IOTLB entry");
        iommu.invalidate(Invalidation::Range {
            domain,
            iova: 0x2000,
            len: 0x1000,
        });
        assert!(write(&mut iommu, 0, 0x1000).is_ok(), "another page");
        iommu.invalidate(what(domain));
        assert_eq!(write(&mut iommu, 0, 0x1000), Err(FaultReason::NotPresent));
    }
}

#[test]
fn faults_name_function_address_reason_and_address_type() {
    let (mut iommu, _) = iommu(|config| config.fault_queue = 2);
    assert!(write(&mut iommu, 7, 0x5000).is_err());
    let translated = iommu.admit(8, OTHER, 0x6000, AddressType::Translated, Access::Read);
    assert_eq!(translated, Err(FaultReason::TranslatedNotAllowed));
    assert!(write(&mut iommu, 9, 0x7000).is_err(), "queue is full");
    assert_eq!(iommu.counters().faults, 3);
    assert_eq!(iommu.counters().faults_lost, 1);
    let fault = |time, function, address, at, access, reason| Fault {
        time,
        function,
        address,
        at,
        access,
        reason,
    };
    assert_eq!(
        iommu.take_faults(),
        [
            fault(
                7,
                NIC,
                0x5000,
                AddressType::Untranslated,
                Access::Write,
                FaultReason::NotPresent
            ),
            fault(
                8,
                OTHER,
                0x6000,
                AddressType::Translated,
                Access::Read,
                FaultReason::TranslatedNotAllowed
            ),
        ]
    );
    assert!(write(&mut iommu, 10, 0x7000).is_err());
    assert_eq!(iommu.take_faults().len(), 1, "room again");
}

#[test]
fn bypass_detach_and_ats_are_per_function() {
    let (mut iommu, domain) = iommu(|_| ());
    let untranslated = |iommu: &mut Iommu, bdf| {
        iommu.admit(
            0,
            bdf,
            0x1234_5000,
            AddressType::Untranslated,
            Access::Write,
        )
    };
    assert_eq!(untranslated(&mut iommu, OTHER), Err(FaultReason::NoDomain));
    iommu.attach_bypass(OTHER);
    assert_eq!(
        untranslated(&mut iommu, OTHER).unwrap().address,
        0x1234_5000
    );
    assert_eq!(untranslated(&mut iommu, NIC), Err(FaultReason::NotPresent));
    iommu.detach(NIC);
    assert_eq!(untranslated(&mut iommu, NIC), Err(FaultReason::NoDomain));
    iommu.set_ats(NIC, true);
    let translated = iommu.admit(0, NIC, 0x42, AddressType::Translated, Access::Write);
    assert_eq!(translated.unwrap().address, 0x42);
    iommu.attach(NIC, domain).unwrap();
    assert_eq!(
        iommu.attach(NIC, DomainId(9)),
        Err(MapError::UnknownDomain(9))
    );
}

#[test]
fn a_bypassed_iommu_still_guards_translated_requests() {
    let (mut iommu, _) = iommu(|config| config.mode = IommuMode::Bypass);
    assert_eq!(write(&mut iommu, 0, 0x77000).unwrap().address, 0x77000);
    let translated = iommu.admit(0, NIC, 0, AddressType::Translated, Access::Write);
    assert_eq!(translated, Err(FaultReason::TranslatedNotAllowed));
}

#[test]
fn map_range_uses_the_largest_pages_that_fit() {
    let (mut iommu, domain) = iommu(|_| ());
    let (iova, address, len) = (0x3fdf_f000, 0x1_3fdf_f000, 0x4040_2000);
    iommu
        .map_range(domain, iova, address, len, Permission::READ_WRITE)
        .unwrap();
    for (probe, size) in [
        (0x3fdf_f000, PageSize::Size4KiB),
        (0x3fe0_0000, PageSize::Size2MiB),
        (0x4000_0000, PageSize::Size1GiB),
        (0x8000_0000, PageSize::Size2MiB),
        (0x8020_0000, PageSize::Size4KiB),
    ] {
        assert_eq!(
            write(&mut iommu, 0, probe).unwrap().address,
            probe + 0x1_0000_0000
        );
        iommu.unmap(domain, probe, size).unwrap();
    }
    assert!(matches!(
        iommu.map_range(domain, 0, 0, 0x800, Permission::READ_WRITE),
        Err(MapError::Misaligned { .. })
    ));
}

#[test]
fn map_range_in_uses_no_larger_pages() {
    let (mut iommu, domain) = iommu(|_| ());
    let (huge, small) = (1 << 21, PageSize::Size4KiB);
    let both = Permission::READ_WRITE;
    iommu
        .map_range_in(domain, huge, huge, huge, both, small)
        .unwrap();
    for page in 0..huge / small.bytes() {
        iommu
            .unmap(domain, huge + page * small.bytes(), small)
            .unwrap();
    }
}

#[test]
fn a_range_is_unmapped_with_the_sizes_it_was_mapped_with() {
    let (mut iommu, domain) = iommu(|_| {});
    let (huge, small) = (1 << 21, 0x1000);
    iommu
        .map_range(domain, huge, huge, huge + 3 * small, Permission::READ_WRITE)
        .unwrap();
    iommu.unmap_range(domain, huge, huge + 2 * small).unwrap();
    let left = 2 * huge + 2 * small;
    assert_eq!(write(&mut iommu, 0, huge), Err(FaultReason::NotPresent));
    assert_eq!(
        write(&mut iommu, 0, left - small),
        Err(FaultReason::NotPresent)
    );
    assert!(write(&mut iommu, 0, left).is_ok());
    let hole = iommu.unmap_range(domain, left, 2 * small);
    assert_eq!(hole, Err(MapError::NotMapped(left + small)));
}
