//! Both blocks: rust-hdl simulation and Verilog agree, and the Verilog is clean.

use hdl_primitives::{AddressFlowSnk, QpRowFlowSnk};
use hdl_rx_pipeline::layout::TRANSPORT_BITS;
use hdl_rx_pipeline::parse_ip::IpFields;
use hdl_rx_pipeline::{ControlCheck, RxControl};
use hdl_testkit::equivalence::{check, TestRng};
use hdl_testkit::tools;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use rand::Rng;
use rust_hdl::prelude::*;
use stellar_wire::hw::control::QpPeer;
use stellar_wire::{Header, Ip, Udp};

use crate::control::packets::{control, peer, vector_of, QPS};

/// Fields, source and transport headers of a control packet, as the IP parser gives them.
fn parsed(runner: &mut TestRunner) -> (IpFields, Bits<128>, Bits<TRANSPORT_BITS>) {
    let frame = control().new_tree(runner).expect("a value").current();
    let bytes = frame.emit().expect("a frame");
    let transport_length = usize::from(frame.with_derived_fields().expect("fields").udp.length);
    let mut transport = bytes[bytes.len() - transport_length..].to_vec();
    let frame_ip = stellar_wire::RoceFrame::parse(&bytes).map(|frame| frame.ip);
    let datagram = transport.len();
    transport.resize(TRANSPORT_BITS / 8, 0x77);
    let mut lane = Bits::<TRANSPORT_BITS>::default();
    for byte in transport.iter().rev() {
        lane = (lane << 8) | u64::from(*byte).to_bits::<TRANSPORT_BITS>();
    }
    let source = match frame_ip {
        Ok(Ip::V4(ip)) => (false, u128::from(u32::from(ip.src))),
        Ok(Ip::V6(ip)) => (true, u128::from(ip.src)),
        Err(_) => (false, 0),
    };
    let high: Bits<128> = ((source.1 >> 64) as u64).to_bits();
    let fields = IpFields {
        ipv6: source.0,
        datagram: (datagram as u64).to_bits(),
        ..IpFields::default()
    };
    assert!(datagram >= Udp::LEN);
    (
        fields,
        (high << 64) | (source.1 as u64).to_bits::<128>(),
        lane,
    )
}

/// Changes a peer, or the addresses of its host, in some cycles.
fn write_peers(
    peers: &mut QpRowFlowSnk<QpPeer>,
    ports: &mut [AddressFlowSnk; 2],
    rng: &mut TestRng,
) {
    let mut any = || QPS[rng.random_range(0..QPS.len())];
    let (qp, host, addressed) = (any(), any(), any());
    peers.valid.next = rng.random_bool(0.2);
    peers.qp.next = u64::from(qp).to_bits();
    peers.record.next = peer(qp).to_hw(vector_of(host));
    peers.record.next.valid = rng.random_bool(0.9);
    for (port, record) in ports.iter_mut().zip(peer(addressed).addresses_to_hw()) {
        port.valid.next = rng.random_bool(0.2);
        port.vector.next = u64::from(vector_of(addressed)).to_bits();
        port.record.next = record;
    }
}

#[test]
fn control_check_is_its_verilog() {
    let mut runner = TestRunner::deterministic();
    check(
        <ControlCheck>::default,
        Some(|u| &mut u.clock),
        |u, rng| {
            let (fields, source, transport) = parsed(&mut runner);
            (u.in_fields.next, u.in_source.next, u.in_transport.next) = (fields, source, transport);
            u.port.next = rng.random();
            write_peers(&mut u.peer, &mut u.address, rng);
        },
        400,
        31,
    )
    .unwrap();
}

#[test]
fn rx_control_is_its_verilog() {
    let mut runner = TestRunner::deterministic();
    let mut held = 0_i32;
    check(
        <RxControl>::default,
        Some(|u| &mut u.clock),
        |u, rng| {
            let (fields, source, transport) = parsed(&mut runner);
            (u.in_fields.next, u.in_source.next, u.in_transport.next) = (fields, source, transport);
            write_peers(&mut u.peer, &mut u.address, rng);
            u.reset.next = rng.random_bool(0.01);
            u.taken.next = held < 300 && rng.random_bool(0.6);
            held += i32::from(u.taken.next);
            u.control.ready.next = rng.random();
        },
        400,
        32,
    )
    .unwrap();
}

#[test]
fn rx_port_is_clean() {
    tools::assert_clean::<hdl_rx_pipeline::RxPort<512>>();
}
