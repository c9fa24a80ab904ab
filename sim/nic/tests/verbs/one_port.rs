//! The card with one port and one endpoint, under its driver. These tests build its model, so they are a campaign: `./stellar test --long profiles`, which
//! runs the other tests of this crate in this shape too.

use sim_nic::{CardPair, PcieSettings, Shape};
use stellar_driver::*;
use stellar_wire::host::config_space::{header, Bar};
use stellar_wire::host::registers::{TableCommand, REFUSED, TABLE_COMMAND};
use stellar_wire::rows::ConfigSelect;

use crate::verbs::hosts::*;

fn pair() -> CardPair {
    CardPair::of(Shape::OnePort512, &PcieSettings::default()).unwrap()
}

#[test]
#[ignore = "builds the model of another card"]
fn its_registers_and_functions_say_what_it_has() {
    let pair = pair();
    assert_eq!(pair.shape(), Shape::OnePort512);
    let function = pair.function(0);
    let nobody = function.config_load(Function::Data, header::VENDOR_ID);
    assert_eq!(nobody.unwrap(), u32::MAX);
    let [device, _] = bring_up(&pair);
    let probe = device.probe();
    assert_eq!(probe.functions(), [Function::Control]);
    assert_eq!((probe.features.ports, probe.ports_up), (1, 1));
    assert_eq!((probe.data_path.endpoints, probe.data_path.width), (1, 512));
    let ports = probe.port_counters().unwrap();
    assert!(ports.iter().all(|count| count.port == 0));

    let refused = || {
        let offset = REFUSED.offset.into();
        function.read64(Bar::Registers, offset).unwrap()
    };
    let before = refused();
    for (select, index) in [
        (ConfigSelect::Port, 0),
        (ConfigSelect::Port, 1),
        (ConfigSelect::Address0, 3),
        (ConfigSelect::Address1, 3),
    ] {
        let select = select.index();
        let word = TableCommand { select, index }.to_word();
        let offset = TABLE_COMMAND.offset.into();
        function.write64(Bar::Registers, offset, word).unwrap();
        pair.run(100);
    }
    assert_eq!(refused(), before + 2, "those of the second port");
}

#[test]
#[ignore = "builds the model of another card"]
fn a_reliable_connection_has_one_port_to_send_by() {
    let pair = pair();
    let devices = bring_up(&pair);
    let [a, b] = open(&devices, false);
    let (qa, qb) = (a.qp_over(Transport::Rc), b.qp_over(Transport::Rc));
    qa.modify(Modify::Init(InitAttributes::default())).unwrap();
    let by_port1 = RcRtrAttributes {
        port: 1,
        ..RcRtrAttributes::new(qb.connection(5))
    };
    let error = qa.modify(Modify::RcRtr(by_port1)).unwrap_err().to_string();
    assert!(error.contains("port") && error.contains('0'), "{error}");
    let (qc, qd) = (a.qp_over(Transport::Rc), b.qp_over(Transport::Rc));
    connect_by(0, [&qc, &qd], 5);
}

/// The requester and the admin queue read by the same endpoint: send queue entries are fetched while lists of translations are.
#[test]
#[ignore = "builds the model of another card"]
fn entries_and_lists_are_read_through_one_endpoint() {
    let pair = pair();
    let devices = bring_up(&pair);
    let [a, b] = open(&devices, false);
    for (round, transport) in [Transport::Mrc, Transport::Rc, Transport::Mrc]
        .into_iter()
        .enumerate()
    {
        let (qa, qb) = (a.qp_over(transport), b.qp_over(transport));
        connect([&qa, &qb], 0xff_fff0);
        let source = a.region(200_000, false);
        let target = b.region(200_000, true);
        let sent = pattern(200_000, round as u8);
        source.memory().unwrap().write(0, &sent).unwrap();
        let to = target.remote();
        // More entries than one fetch brings; none is pushed.
        let requests: Vec<_> = (0..8u64)
            .map(|n| {
                let at = n * 25_000;
                let slice = source.slice(at, 25_000).unwrap();
                WorkRequest::write(n, slice, to.address + at, to.rkey)
            })
            .collect();
        for request in &requests {
            qa.post_send(request).unwrap();
        }
        // Registration of 1,024 pages is two lists of the admin queue, on its way with the entries.
        let other = a.region(4 << 20, false);
        let done = a.completions(requests.len());
        assert!(
            done.iter().all(|wc| wc.status == WcStatus::Success),
            "{done:?}"
        );
        assert!(bytes(&target) == sent, "{transport:?}: other bytes arrived");
        drop(other);
    }
    for device in &devices {
        device.fence().unwrap();
        assert!(device.probe().take_pcie_errors().unwrap()[0]
            .errors
            .is_empty());
    }
    assert_eq!((pair.bad_accesses(0), pair.bad_accesses(1)), (0, 0));
}
