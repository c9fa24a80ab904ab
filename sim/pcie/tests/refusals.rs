//! Malformed TLPs, and completions without a request: they are refused, counted and reported, and no credit is lost.

use sim_pcie::*;

use crate::common::{submit_when_ready, write, PORT};

const NIC: Bdf = Bdf::from_id(0x1700);
const GPU: Bdf = Bdf::from_id(0x1800);
const BAR: Window = Window {
    base: 0x20_0000_0000,
    size: 1 << 24,
};
const AT: AddressType = AddressType::Untranslated;

fn fabric(nic_max_payload: usize) -> Fabric {
    let link = LinkConfig {
        max_payload: nic_max_payload,
        credits: CreditConfig::for_tlps(4, 256),
        ..LinkConfig::default()
    };
    let mut fabric = FabricBuilder::new()
        .switch(SwitchConfig::new(Bdf::from_id(0x1600)))
        .nic(NicConfig {
            link,
            ..NicConfig::new(NIC)
        })
        .gpu(GpuConfig::new(GPU, BAR))
        .host_memory(0, 1 << 30)
        .build()
        .unwrap();
    fabric.iommu_mut().attach_bypass(NIC);
    fabric
}

fn raw(address: u64, dwords: usize, first_be: u8, last_be: u8) -> Tlp {
    Tlp::Write(MemWrite {
        requester: NIC,
        tag: 0,
        address,
        at: AT,
        first_be,
        last_be,
        data: vec![0xee; dwords * 4],
    })
}

#[test]
fn malformed_writes_are_refused_at_the_first_receiver() {
    for (tlp, why) in [
        (raw(0x1000, 65, 0xf, 0xf), Malformed::PayloadTooLarge),
        (raw(0x1fc0, 32, 0xf, 0xf), Malformed::Crosses4KiB),
        (raw(0x1000, 8, 0b0101, 0xf), Malformed::ByteEnables),
        (raw(0x1000, 1, 0xf, 0xf), Malformed::ByteEnables),
        (raw(0x1002, 4, 0xf, 0xf), Malformed::Alignment),
        (raw(0x1000, 0, 0xf, 0xf), Malformed::Length),
    ] {
        let mut fabric = fabric(256);
        let mut now = 0;
        // There are more malformed TLPs than the receiver has buffers, so one lost credit per TLP would stop the last write.
        for _ in 0..10 {
            now = submit_when_ready(&mut fabric, now, PORT, tlp.clone());
        }
        submit_when_ready(&mut fabric, now, PORT, write(NIC, 0x8000, AT, &[1; 64]));
        fabric.run_until_idle();
        let placed = 0x8000..0x8040;
        assert_eq!(fabric.host().touched_ranges(), [placed], "{why}");
        let refusal = Refusal::Malformed(why);
        assert_eq!(fabric.counters().refused(refusal).tlps, 10);
        let reports = fabric.take_reports();
        assert_eq!(reports.len(), 10);
        assert!(reports
            .iter()
            .all(|r| r.refusal == refusal && r.location == Location::Switch(0)));
    }
}

#[test]
fn a_payload_too_large_for_a_link_further_on_is_refused_there() {
    let mut fabric = fabric(512);
    fabric
        .submit(0, PORT, write(NIC, BAR.base, AT, &[1; 512]))
        .unwrap();
    fabric.run_until_idle();
    let reports = fabric.take_reports();
    assert_eq!(reports.len(), 1);
    assert_eq!(
        reports[0].refusal,
        Refusal::Malformed(Malformed::PayloadTooLarge)
    );
    assert_eq!(reports[0].location, Location::Device(GPU));
    assert_eq!(fabric.gpu(0).touched_bytes(), 0);
}

#[test]
fn a_malformed_read_gets_no_completion() {
    let mut fabric = fabric(256);
    let mut read = MemRead::of_bytes(NIC, 1, 0x1000, AT, 64).unwrap();
    read.address = 0x1ff0;
    fabric.submit(0, PORT, Tlp::Read(read)).unwrap();
    fabric.run_until_idle();
    assert_eq!(fabric.take_received(PORT), Ok(None));
    let refusal = Refusal::Malformed(Malformed::Crosses4KiB);
    assert_eq!(fabric.counters().refused(refusal).tlps, 1);
}

#[test]
fn completions_nobody_asked_for_are_reported() {
    let mut fabric = fabric(256);
    let mut now = 0;
    for (requester, location) in [
        (GPU, Location::Device(GPU)),
        (Bdf::from_id(0x9900), Location::RootComplex),
    ] {
        let completion = Tlp::Completion(Completion {
            completer: NIC,
            requester,
            tag: 0,
            status: CompletionStatus::Successful,
            byte_count: 4,
            lower_address: 0,
            data: vec![0; 4],
            poisoned: false,
            damaged: false,
        });
        fabric.submit(now, PORT, completion).unwrap();
        now = fabric.run_until_idle();
        let reports = fabric.take_reports();
        assert_eq!(reports.len(), 1);
        assert_eq!(reports[0].refusal, Refusal::UnexpectedCompletion);
        assert_eq!(reports[0].location, location);
        assert_eq!(
            (reports[0].address, reports[0].requester),
            (None, requester)
        );
    }
}

#[test]
fn a_full_report_queue_keeps_counting() {
    let mut fabric = Fabric::new(FabricConfig {
        switches: vec![SwitchConfig::new(Bdf::from_id(0x1600))],
        nics: vec![NicConfig::new(NIC)],
        report_queue: 2,
        ..FabricConfig::default()
    })
    .unwrap();
    for _ in 0..5 {
        let now = fabric.run_until_idle();
        fabric
            .submit(now, PORT, write(NIC, 0x1000, AT, &[0; 4]))
            .unwrap();
    }
    fabric.run_until_idle();
    assert_eq!((fabric.take_reports().len(), fabric.reports_lost()), (2, 3));
    let refusal = Refusal::Iommu(iommu::FaultReason::NoDomain);
    assert_eq!(
        fabric.counters().refused(refusal),
        Traffic { tlps: 5, bytes: 20 }
    );
}
