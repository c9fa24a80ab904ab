//! Every address type under every ACS setting to every target, compared with a table that was written independently of the code.

use sim_pcie::iommu::{FaultReason, PageSize, Permission};
use sim_pcie::*;
use Outcome::{Delivered, Refused};

const NIC: Bdf = Bdf::from_id(0x1700);
const GPU: Bdf = Bdf::from_id(0x1800);
const BAR: Window = Window {
    base: 0x20_0000_0000,
    size: 1 << 21,
};
const HOST_PAGE: u64 = 0x10_0000;
const NOWHERE: u64 = 0x50_0000_0000;
const PORT: PortId = PortId(0);

fn write(address: u64, at: AddressType, bytes: &[u8]) -> Tlp {
    Tlp::Write(MemWrite::of_bytes(NIC, address, at, bytes).unwrap())
}

/// Action of the switch. EC: 0 is off, a is on with the GPU allowed, d is on with the GPU denied. `-` is any value. Every combination must match
/// exactly one row.
const SWITCH_TABLE: &str = "
    AT    TB RR EC DT  target   hop
    00    -  -  -  -   host     up
    00    -  -  -  -   nowhere  up
    00    -  0  0  -   gpu      peer
    00    -  0  a  -   gpu      peer
    00    -  0  d  -   gpu      egress
    00    -  1  -  -   gpu      up
    01    1  -  -  -   -        blocked
    01    0  -  -  -   host     up
    01    0  -  -  -   nowhere  up
    01    0  0  0  -   gpu      peer
    01    0  0  a  -   gpu      peer
    01    0  0  d  -   gpu      egress
    01    0  1  -  -   gpu      up
    10    1  -  -  -   -        blocked
    10    0  -  -  -   host     up
    10    0  -  -  -   nowhere  up
    10    0  -  -  1   gpu      peer
    10    0  0  0  0   gpu      peer
    10    0  0  a  0   gpu      peer
    10    0  0  d  0   gpu      egress
    10    0  1  -  0   gpu      up
    11    1  -  -  -   -        blocked
    11    0  -  -  -   host     up
    11    0  -  -  -   nowhere  up
    11    0  0  0  -   gpu      peer
    11    0  0  a  -   gpu      peer
    11    0  0  d  -   gpu      egress
    11    0  1  -  -   gpu      up
";

/// Action of the root complex for requests that the switch sends up. Host and GPU pages are mapped one to one.
const ROOT_TABLE: &str = "
    AT    ATS target   outcome
    00    -   host     host
    00    -   gpu      hairpin
    00    -   nowhere  not-present
    01    -   -        translation-request
    10    1   host     host
    10    1   gpu      hairpin
    10    1   nowhere  unmapped
    10    0   -        no-ats
    11    -   -        reserved
";

#[derive(Clone, Copy, Debug, PartialEq)]
enum Outcome {
    Delivered(Route),
    Refused(Refusal, Location),
}

/// The last column of the only row with matching other columns.
fn look_up<'a>(table: &'a str, key: &[&str]) -> &'a str {
    let rows = table.lines().map(|line| line.split_whitespace().collect());
    let matching: Vec<Vec<&str>> = rows
        .filter(|row: &Vec<&str>| {
            row.len() == key.len() + 1 && row.iter().zip(key).all(|(r, k)| r == k || *r == "-")
        })
        .collect();
    assert_eq!(matching.len(), 1, "{key:?} must match exactly one row");
    matching[0][key.len()]
}

fn expected(key: &[&str; 6], ats: &str) -> Outcome {
    let [at, .., target] = *key;
    let refused_by_root = |reason| Refused(Refusal::Iommu(reason), Location::RootComplex);
    match look_up(SWITCH_TABLE, key) {
        "blocked" => Refused(Refusal::AcsTranslationBlocking, Location::Switch(0)),
        "egress" => Refused(Refusal::AcsEgressControl, Location::Switch(0)),
        "peer" if at == "01" || at == "11" => {
            Refused(Refusal::UnsupportedAddressType, Location::Device(GPU))
        }
        "peer" => Delivered(Route::PeerDirect),
        _ => match look_up(ROOT_TABLE, &[at, ats, target]) {
            "host" => Delivered(Route::Host),
            "hairpin" => Delivered(Route::Hairpin),
            "not-present" => refused_by_root(FaultReason::NotPresent),
            "translation-request" => refused_by_root(FaultReason::TranslationRequest),
            "no-ats" => refused_by_root(FaultReason::TranslatedNotAllowed),
            "reserved" => refused_by_root(FaultReason::ReservedAddressType),
            _ => Refused(Refusal::Unmapped, Location::RootComplex),
        },
    }
}

fn fabric(acs: AcsConfig, ats: bool) -> Fabric {
    let mut fabric = FabricBuilder::new()
        .switch(SwitchConfig::new(Bdf::from_id(0x1600)))
        .nic(NicConfig {
            acs,
            ats,
            ..NicConfig::new(NIC)
        })
        .gpu(GpuConfig::new(GPU, BAR))
        .host_memory(0, 1 << 30)
        .build()
        .unwrap();
    let iommu = fabric.iommu_mut();
    let domain = iommu.create_domain();
    iommu.attach(NIC, domain).unwrap();
    for page in [HOST_PAGE, BAR.base] {
        iommu
            .map(
                domain,
                page,
                page,
                PageSize::Size4KiB,
                Permission::READ_WRITE,
            )
            .unwrap();
    }
    fabric
}

/// Sends one request, and reads its outcome from counters, reports and memory.
fn observe(mut fabric: Fabric, tlp: Tlp) -> Outcome {
    let is_read = matches!(tlp, Tlp::Read(_));
    fabric.host_mut().store(HOST_PAGE, &[0xaa; 16]).unwrap();
    fabric.gpu_mut(0).store(0, &[0xbb; 16]).unwrap();
    fabric.submit(0, PORT, tlp).unwrap();
    fabric.run_until_idle();

    let answer = fabric.take_received(PORT).unwrap().map(|r| match r.tlp {
        Tlp::Completion(completion) => (completion.status, completion.data),
        other => panic!("a NIC got {other:?}"),
    });
    let counters = fabric.counters();
    let traffic = |route| {
        if is_read {
            counters.reads(route)
        } else {
            counters.writes(route)
        }
    };
    let routes = [Route::PeerDirect, Route::Host, Route::Hairpin];
    let taken: Vec<Route> = routes
        .into_iter()
        .filter(|r| traffic(*r).tlps == 1)
        .collect();
    let touched = (fabric.host().touched_bytes(), fabric.gpu(0).touched_bytes());
    let refusals: Vec<_> = fabric.counters().refusals().collect();
    let reports = fabric.take_reports();

    if let [route] = taken[..] {
        assert!(refusals.is_empty() && reports.is_empty());
        let at_host = route == Route::Host;
        if is_read {
            let data = vec![if at_host { 0xaa } else { 0xbb }; 16];
            assert_eq!(answer, Some((CompletionStatus::Successful, data)));
            assert_eq!(touched, (0, 0));
        } else {
            assert_eq!(answer, None);
            assert_eq!(touched, if at_host { (16, 0) } else { (0, 16) });
        }
        return Delivered(route);
    }
    assert_eq!(touched, (0, 0), "a refused request changes nothing");
    let unsupported = (CompletionStatus::UnsupportedRequest, Vec::new());
    assert_eq!(answer, is_read.then_some(unsupported));
    assert_eq!((refusals.len(), reports.len()), (1, 1));
    assert_eq!(
        refusals[0],
        (reports[0].refusal, Traffic { tlps: 1, bytes: 16 })
    );
    Refused(reports[0].refusal, reports[0].location)
}

#[test]
fn every_combination_goes_where_the_table_says() {
    let mut cases = 0;
    for bits in 0..64u32 {
        let bit = |n: u32| bits >> n & 1 == 1;
        let digit = |on: bool| if on { "1" } else { "0" };
        let denied = bit(4);
        let acs = AcsConfig {
            source_validation: false,
            translation_blocking: bit(0),
            request_redirect: bit(1),
            egress_control: bit(2),
            direct_translated: bit(3),
            egress_denied: if denied { vec![GPU] } else { vec![] },
        };
        let ec = match (acs.egress_control, denied) {
            (false, _) => "0",
            (true, false) => "a",
            (true, true) => "d",
        };
        let ats = bit(5);
        for at in AddressType::ALL {
            for (target, address) in [("host", HOST_PAGE), ("gpu", BAR.base), ("nowhere", NOWHERE)]
            {
                let key = [
                    ["00", "01", "10", "11"][usize::from(at.code())],
                    digit(acs.translation_blocking),
                    digit(acs.request_redirect),
                    ec,
                    digit(acs.direct_translated),
                    target,
                ];
                let expected = expected(&key, digit(ats));
                let read = MemRead::of_bytes(NIC, 3, address, *at, 16).unwrap();
                for tlp in [write(address, *at, &[0xcc; 16]), Tlp::Read(read)] {
                    let seen = observe(fabric(acs.clone(), ats), tlp.clone());
                    assert_eq!(seen, expected, "{key:?} ATS {ats} {tlp:?}");
                    cases += 1;
                }
            }
        }
    }
    assert_eq!(cases, 64 * 4 * 3 * 2);
}

#[test]
fn a_root_complex_without_peer_to_peer_refuses_the_hairpin() {
    let mut fabric = FabricBuilder::new()
        .switch(SwitchConfig::new(Bdf::from_id(0x1600)))
        .nic(NicConfig {
            acs: AcsConfig {
                request_redirect: true,
                ..AcsConfig::default()
            },
            ..NicConfig::new(NIC)
        })
        .gpu(GpuConfig::new(GPU, BAR))
        .root_complex(RootComplexConfig {
            peer_to_peer: false,
            ..RootComplexConfig::default()
        })
        .build()
        .unwrap();
    fabric.iommu_mut().attach_bypass(NIC);
    let tlp = write(BAR.base, AddressType::Untranslated, &[1; 4]);
    fabric.submit(0, PORT, tlp).unwrap();
    fabric.run_until_idle();
    let refused = fabric.counters().refused(Refusal::PeerToPeerUnsupported);
    assert_eq!(refused, Traffic { tlps: 1, bytes: 4 });
    assert_eq!(fabric.gpu(0).touched_bytes(), 0);
}
