//! What software and the platform do to a function: bus mastering, function-level reset, links that go down, and ACS source validation.

use sim_pcie::*;

use crate::common::{submit_when_ready, write, PORT};

const NICS: [Bdf; 2] = [Bdf::from_id(0x1700), Bdf::from_id(0x1800)];
const GPU: Bdf = Bdf::from_id(0x1900);
const BAR: Window = Window {
    base: 0x20_0000_0000,
    size: 1 << 21,
};
const AT: AddressType = AddressType::Untranslated;
const OTHER: PortId = PortId(1);

fn fabric() -> Fabric {
    let nic = |bdf| NicConfig {
        completion_timeout_ps: 20_000_000,
        acs: AcsConfig {
            source_validation: true,
            ..AcsConfig::default()
        },
        ..NicConfig::new(bdf)
    };
    let mut fabric = FabricBuilder::new()
        .switch(SwitchConfig::new(Bdf::from_id(0x1600)))
        .nic(nic(NICS[0]))
        .nic(nic(NICS[1]))
        .gpu(GpuConfig::new(GPU, BAR))
        .host_memory(0, 1 << 20)
        .build()
        .unwrap();
    for nic in NICS {
        fabric.iommu_mut().attach_bypass(nic);
    }
    fabric
}

fn read(port: usize, tag: u16, address: u64) -> Tlp {
    Tlp::Read(MemRead::of_bytes(NICS[port], tag, address, AT, 64).unwrap())
}

fn received(fabric: &mut Fabric, port: PortId) -> usize {
    std::iter::from_fn(|| fabric.take_received(port).unwrap()).count()
}

#[test]
fn without_bus_mastering_no_request_leaves() {
    let mut fabric = fabric();
    fabric
        .submit(0, PORT, write(NICS[0], 0x1000, AT, &[1; 64]))
        .unwrap();
    fabric.set_bus_master(PORT, false).unwrap();
    for class in [FlowClass::Posted, FlowClass::NonPosted] {
        assert_eq!(fabric.ready(0, PORT, class), Ok(false));
        assert_eq!(fabric.ready(0, OTHER, class), Ok(true));
    }
    assert_eq!(fabric.ready(0, PORT, FlowClass::Completion), Ok(true));
    let refused = Err(FabricError::NotMaster(0));
    let tlp = write(NICS[0], 0x2000, AT, &[1; 64]);
    assert_eq!(fabric.submit(0, PORT, tlp.clone()), refused);
    assert_eq!(fabric.submit(0, PORT, read(0, 0, 0x1000)), refused);
    let now = fabric.run_until_idle();
    assert_eq!(
        fabric.host().touched_bytes(),
        64,
        "the write before goes on"
    );
    fabric.set_bus_master(PORT, true).unwrap();
    fabric.submit(now, PORT, tlp).unwrap();
    fabric.run_until_idle();
    assert_eq!(fabric.host().touched_bytes(), 128);
}

#[test]
fn a_reset_discards_what_has_not_left_the_function() {
    let mut fabric = fabric();
    // The first write is on the link when the reset comes, the others wait in the function.
    for n in 0..10 {
        let tlp = write(NICS[0], 0x1000 + 0x100 * n, AT, &[1; 256]);
        fabric.submit(0, PORT, tlp).unwrap();
    }
    fabric.reset_function(0, PORT).unwrap();
    let reports = fabric.take_reports();
    let expected: Vec<_> = (1..10).map(|n| Some(0x1000 + 0x100 * n)).collect();
    let discarded: Vec<_> = reports.iter().map(|report| report.address).collect();
    assert_eq!(discarded, expected);
    assert!(reports
        .iter()
        .all(|report| { (report.requester, report.refusal) == (NICS[0], Refusal::FunctionReset) }));
    let now = fabric.run_until_idle();
    let first = 0x1000..0x1100;
    assert_eq!(fabric.host().touched_ranges(), [first]);
    let tlp = write(NICS[0], 0x8000, AT, &[1; 4]);
    let refused = Err(FabricError::NotMaster(0));
    assert_eq!(fabric.submit(now, PORT, tlp.clone()), refused);
    fabric.set_bus_master(PORT, true).unwrap();
    fabric.submit(now, PORT, tlp).unwrap();
    fabric.run_until_idle();
    assert_eq!(fabric.host().touched_bytes(), 260);
}

#[test]
fn completions_after_a_reset_are_unexpected() {
    let mut fabric = fabric();
    for tag in 0..4 {
        fabric.submit(0, PORT, read(0, tag, 0x1000)).unwrap();
        fabric.submit(0, OTHER, read(1, tag, 0x1000)).unwrap();
    }
    fabric.advance(400_000).unwrap();
    fabric.reset_function(400_000, PORT).unwrap();
    fabric.run_until_idle();
    assert_eq!(received(&mut fabric, PORT), 0);
    assert_eq!(
        received(&mut fabric, OTHER),
        4,
        "the other function's reads are answered"
    );
    let reports = fabric.take_reports();
    assert_eq!(reports.len(), 4);
    assert!(reports.iter().all(|report| {
        (report.refusal, report.location)
            == (Refusal::UnexpectedCompletion, Location::Device(NICS[0]))
    }));
    assert!(
        fabric.now() < 20_000_000,
        "a forgotten read does not time out"
    );
}

#[test]
fn a_link_that_goes_down_loses_what_is_on_it() {
    let mut fabric = fabric();
    fabric.submit(0, PORT, read(0, 0, 0x1000)).unwrap();
    let now = fabric.run_until_idle();
    assert_eq!(received(&mut fabric, PORT), 1);

    let mut at = now;
    for n in 0..40 {
        let tlp = write(NICS[0], 0x1000 + 0x100 * n, AT, &[1; 256]);
        at = submit_when_ready(&mut fabric, at, PORT, tlp);
        let tlp = write(NICS[1], 0x8000 + 0x100 * n, AT, &[2; 256]);
        at = submit_when_ready(&mut fabric, at, OTHER, tlp);
    }
    at = submit_when_ready(&mut fabric, at, PORT, read(0, 1, 0x1000));
    fabric.set_link(at, LinkOf::Nic(PORT), false).unwrap();
    let lost = fabric.counters().refused(Refusal::LinkDown);
    assert!((2..41).contains(&lost.tlps), "{lost:?}");
    assert_eq!(fabric.ready(at, PORT, FlowClass::Posted), Ok(false));
    let down = FabricError::LinkDown(0);
    assert_eq!(fabric.submit(at, PORT, read(0, 2, 0)), Err(down));
    let end = fabric.run_until_idle();
    let timeout = fabric.counters().refused(Refusal::CompletionTimeout);
    assert_eq!(timeout.tlps, 1);
    assert_eq!(end, at + 20_000_000, "the lost read times out last");
    let expected = 2 * 40 * 256 - (lost.bytes - 64);
    assert_eq!(fabric.host().touched_bytes(), expected);

    fabric.set_link(end, LinkOf::Nic(PORT), true).unwrap();
    let mut at = end;
    for n in 0..300 {
        // More TLPs than credits: none was lost with the link.
        let tlp = write(NICS[0], 0x4_0000 + 0x100 * n, AT, &[3; 256]);
        at = submit_when_ready(&mut fabric, at, PORT, tlp);
    }
    submit_when_ready(&mut fabric, at, PORT, read(0, 1, 0x4_0000));
    fabric.run_until_idle();
    assert_eq!(received(&mut fabric, PORT), 1);
    assert_eq!(
        fabric.host().read(0x4_0000, 300 * 256).unwrap(),
        [3; 300 * 256]
    );
    assert_eq!(fabric.counters().refused(Refusal::LinkDown), lost);
}

#[test]
fn what_has_reached_a_switch_is_lost_with_the_link_no_more() {
    let link = LinkConfig::default();
    let tlp = write(NICS[0], 0x1000, AT, &[1; 64]);
    let arrives_at = link.occupancy(tlp.wire_len()) + link.latency_ps;
    for (down_at, written) in [(arrives_at - 1, 0), (arrives_at, 64)] {
        let mut fabric = fabric();
        fabric.submit(0, PORT, tlp.clone()).unwrap();
        fabric.set_link(down_at, LinkOf::Nic(PORT), false).unwrap();
        fabric.run_until_idle();
        assert_eq!(fabric.host().touched_bytes(), written, "{down_at}");
    }
}

#[test]
fn a_switch_finds_a_malformed_write_when_it_arrives() {
    let mut fabric = fabric();
    let Tlp::Write(mut bad) = write(NICS[0], 0x1000, AT, &[1; 64]) else {
        unreachable!("it is a write");
    };
    bad.address += 2;
    let tlps = [read(0, 0, 0x1000), Tlp::Write(bad)];
    let link = LinkConfig::default();
    let occupancies = tlps.each_ref().map(|tlp| link.occupancy(tlp.wire_len()));
    for tlp in tlps {
        fabric.submit(0, PORT, tlp).unwrap();
    }
    fabric.run_until_idle();
    let reports = fabric.take_reports();
    let times: Vec<_> = reports.iter().map(|report| report.time).collect();
    // It passes the read, which has not left the switch.
    assert_eq!(times, [occupancies.iter().sum::<u64>() + link.latency_ps]);
    assert_eq!(received(&mut fabric, PORT), 1);
}

#[test]
fn completions_to_a_link_that_is_down_are_discarded() {
    let mut fabric = fabric();
    fabric.submit(0, PORT, read(0, 7, 0x1000)).unwrap();
    fabric.advance(450_000).unwrap();
    fabric.set_link(450_000, LinkOf::Nic(PORT), false).unwrap();
    fabric.set_link(460_000, LinkOf::Nic(PORT), true).unwrap();
    fabric.set_link(470_000, LinkOf::Nic(PORT), false).unwrap();
    fabric.run_until_idle();
    assert_eq!(received(&mut fabric, PORT), 0);
    let refusals: Vec<_> = fabric.take_reports().iter().map(|r| r.refusal).collect();
    assert_eq!(refusals, [Refusal::LinkDown, Refusal::CompletionTimeout]);
}

#[test]
fn requests_to_a_gpu_that_fell_off_the_bus_are_refused() {
    let mut fabric = fabric();
    fabric.set_link(0, LinkOf::Gpu(0), false).unwrap();
    fabric
        .submit(0, PORT, write(NICS[0], BAR.base, AT, &[1; 64]))
        .unwrap();
    fabric.submit(0, PORT, read(0, 5, BAR.base + 64)).unwrap();
    let now = fabric.run_until_idle();
    let answer = fabric.take_received(PORT).unwrap().unwrap();
    let Tlp::Completion(answer) = answer.tlp else {
        panic!("a NIC got {answer:?}");
    };
    let status = CompletionStatus::UnsupportedRequest;
    assert_eq!((answer.status, answer.tag), (status, 5));
    let reports = fabric.take_reports();
    let seen: Vec<_> = reports.iter().map(|r| (r.refusal, r.address)).collect();
    let down = |address| (Refusal::LinkDown, Some(address));
    assert_eq!(seen, [down(BAR.base), down(BAR.base + 64)]);

    fabric.set_link(now, LinkOf::Gpu(0), true).unwrap();
    fabric
        .submit(now, PORT, write(NICS[0], BAR.base, AT, &[1; 64]))
        .unwrap();
    fabric.run_until_idle();
    assert_eq!(fabric.gpu(0).touched_bytes(), 64);
    let switch = fabric.set_link(fabric.now(), LinkOf::Switch(0), false);
    assert_eq!(switch, Err(FabricError::NotADevice));
}

#[test]
fn source_validation_refuses_another_functions_requester_id() {
    let mut fabric = fabric();
    for (requester, refused) in [(NICS[1], true), (Bdf::from_id(0x1701), false)] {
        fabric.iommu_mut().attach_bypass(requester);
        let now = fabric.now();
        let tlp = write(requester, 0x1000, AT, &[1; 4]);
        fabric.submit(now, PORT, tlp).unwrap();
        fabric.run_until_idle();
        let reports = fabric.take_reports();
        assert_eq!(reports.len(), usize::from(refused), "{requester}");
        for report in reports {
            assert_eq!(report.refusal, Refusal::AcsSourceValidation);
            assert_eq!(
                (report.requester, report.address),
                (requester, Some(0x1000))
            );
        }
    }
}
