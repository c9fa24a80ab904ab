//! A function-level reset at any moment of a transfer: nothing of the old owner happens afterwards.

use std::net::IpAddr;
use std::time::Duration;

use sim_nic::CardPair;
use stellar_driver::*;
use stellar_wire::host::config_space::{command, header, Bar};
use stellar_wire::host::registers::{status, TableCommand, TABLE_COMMAND, TABLE_DATA};
use stellar_wire::rows::{ConfigSelect, PortRow, Row};

use super::hosts::*;

const BYTES: usize = 1 << 19;
/// Longer than several timeouts of the sender, which sends again and again.
const AFTER: Duration = Duration::from_micros(600);

/// Runs the cards for `time`.
fn pass(pair: &CardPair, time: Duration) {
    let function = pair.function(0);
    let end = function.now() + time;
    while function.now() < end {
        function.relax();
    }
}

/// Gives the ports of a card their addresses, by registers.
fn write_ports(function: &dyn PciFunction, addresses: [PortAddress; 2]) {
    for (index, address) in (0..).zip(addresses) {
        let IpAddr::V4(ip) = address.ip else {
            panic!("{address:?}")
        };
        let mac = address.mac.iter();
        let row = PortRow {
            mac: mac.fold(0, |mac, byte| mac << 8 | u64::from(*byte)),
            ip: u32::from(ip).into(),
            hop_limit: 64,
            udp_port: 4791,
            ..PortRow::default()
        };
        let words = row.pack();
        for (offset, pair) in (TABLE_DATA.offset..).step_by(8).zip(words.chunks(2)) {
            let high = pair.get(1).copied().unwrap_or(0);
            let word = u64::from(high) << 32 | u64::from(pair[0]);
            function
                .write64(Bar::Registers, offset.into(), word)
                .unwrap();
        }
        let command = TableCommand {
            select: ConfigSelect::Port.index(),
            index,
        };
        let at = TABLE_COMMAND.offset.into();
        function
            .write64(Bar::Registers, at, command.to_word())
            .unwrap();
        while function.read64(Bar::Registers, at).unwrap() >> status::BUSY_BIT & 1 == 1 {}
    }
}

/// Resets a card. Its next owner makes it bus master and gives its ports the same addresses, and writes no other table.
pub fn change_owner(function: &dyn PciFunction, addresses: [PortAddress; 2]) {
    function.reset().unwrap();
    let on = command::MEMORY | command::BUS_MASTER;
    for each in Function::ALL {
        function.config_write16(each, header::COMMAND, on).unwrap();
    }
    write_ports(function, addresses);
}

/// Resets the card that receives, `after` into a transfer.
fn reset_receiver(after: Duration) {
    let pair = CardPair::new().unwrap();
    let devices = bring_up(&pair);
    let [sender, receiver] = open(&devices, false);
    let (from, to) = (sender.qp(), receiver.qp());
    connect([&from, &to], 1);
    let source = sender.region(BYTES, false);
    let target = receiver.region(BYTES, true);
    source.memory().unwrap().write(0, &[0x5a; BYTES]).unwrap();
    let remote = target.remote();
    let slice = source.slice(0, BYTES as u32).unwrap();
    from.post_send(&WorkRequest::write(1, slice, remote.address, remote.rkey))
        .unwrap();
    pass(&pair, after);
    change_owner(pair.function(1).as_ref(), ports(1));
    let before = bytes(&target);
    let placed = before.iter().filter(|byte| **byte == 0x5a).count();
    assert!(
        0 < placed && placed < BYTES,
        "{placed} bytes after {after:?}"
    );
    pass(&pair, AFTER);
    assert!(bytes(&target) == before, "{after:?}: bytes were placed");
    let completions = sender.cq.poll(8).unwrap();
    let succeeded = completions.iter().any(|wc| wc.status == WcStatus::Success);
    assert!(!succeeded, "{after:?}: the write was acknowledged");
    assert_eq!(pair.bad_accesses(1), 0);
}

#[test]
fn nothing_is_placed_or_acknowledged_after_a_reset() {
    for step in 0..8 {
        // Odd, so that the moments lie anywhere in packets and TLPs.
        reset_receiver(Duration::from_nanos(4_501 + 637 * step));
    }
}

/// Everything that belongs to a card that was reset is dropped without waiting for the card.
#[test]
fn objects_of_a_card_that_was_reset_go_at_once() {
    let pair = CardPair::new().unwrap();
    let devices = bring_up(&pair);
    let hosts = open(&devices, false);
    let pairs: Vec<_> = hosts.iter().map(Host::qp).collect();
    connect([&pairs[0], &pairs[1]], 1);
    let regions: Vec<_> = hosts.iter().map(|host| host.region(BYTES, true)).collect();
    let function = pair.function(1);
    function.reset().unwrap();
    let began = function.now();
    drop((pairs, regions, hosts, devices));
    let took = function.now() - began;
    assert!(took < Duration::from_micros(200), "{took:?}");
}
