//! Masks of interrupts: no message follows a mask that was written before the message left, and none is lost.

use std::time::Duration;

use stellar_wire::host::config_space::{command, header, msi_x, Bar, Function, MSI_X_ID};
use stellar_wire::host::vector_table::{PENDING_OFFSET, VECTORS};
use stellar_wire::host::VectorEntry;

use super::hosts::*;
use stellar_driver::*;

/// Offset of the double word of a vector that has its mask.
const CONTROL: u64 = 12;
/// Cycles in which everything that waits has left and arrived.
const LONG: u64 = 3_000;

/// What keeps a vector from sending.
#[derive(Clone, Copy, Debug)]
enum Mask {
    Entry,
    Function,
    MsiXOff,
    BusMasterOff,
}

fn is_masked(function: &dyn PciFunction, vector: u16) -> bool {
    let at = VectorEntry::offset(vector) + CONTROL;
    function.read32(Bar::Vectors, at).unwrap() & 1 == 1
}

/// Offset of the control register of MSI-X.
fn control(function: &dyn PciFunction) -> u16 {
    let read = |at| function.config_read16(Function::Control, at).unwrap();
    let mut at = read(header::CAPABILITIES) & 0xff;
    while read(at) & 0xff != u16::from(MSI_X_ID) {
        at = read(at) >> 8;
    }
    at + msi_x::CONTROL
}

fn set(function: &dyn PciFunction, vector: u16, mask: Mask, on: bool) {
    let change = |offset: u16, bit: u16, value: bool| {
        let old = function.config_read16(Function::Control, offset).unwrap();
        let new = if value { old | bit } else { old & !bit };
        let stored = function.config_write16(Function::Control, offset, new);
        stored.unwrap();
    };
    match mask {
        Mask::Entry => {
            let at = VectorEntry::offset(vector) + CONTROL;
            function.write32(Bar::Vectors, at, on.into()).unwrap();
        }
        Mask::Function => change(control(function), msi_x::FUNCTION_MASK, on),
        Mask::MsiXOff => change(control(function), msi_x::ENABLE, !on),
        Mask::BusMasterOff => change(header::COMMAND, command::BUS_MASTER, !on),
    }
}

/// PCIe takes nothing while a message waits behind completions. The mask is set, and a read of the table says so. When PCIe goes on, the completions arrive,
/// and the message does not, but is pending. Without the mask it comes.
#[test]
fn no_message_follows_a_mask_that_was_read_back() {
    let (_turn, cards) = cards();
    let pair = &cards.pair;
    let [a, b] = open(&cards.devices, false);
    let function = pair.function(0);
    let function = function.as_ref();
    let before: Vec<u16> = (0..VECTORS).filter(|v| is_masked(function, *v)).collect();
    let loud_cq = a.context.create_cq(64, true).unwrap();
    let vector = before.into_iter().find(|v| !is_masked(function, *v));
    let vector = vector.expect("the completion queue has a vector");
    let interrupt = pair.function(0).interrupt(vector).unwrap();
    let config = QueuePairConfig {
        send_entries: 8,
        transport: Transport::Rc,
        ..QueuePairConfig::default()
    };
    let quiet = [a.qp_over(Transport::Rc), b.qp_over(Transport::Rc)];
    let loud = [
        a.pd.create_qp(&loud_cq, config).unwrap(),
        b.qp_over(Transport::Rc),
    ];
    connect_by(1, [&quiet[0], &quiet[1]], 1);
    connect_by(1, [&loud[0], &loud[1]], 2);
    let rounds = [2, 3, 5, 8].map(|ahead| (Mask::Entry, ahead));
    let others = [Mask::Function, Mask::MsiXOff, Mask::BusMasterOff].map(|mask| (mask, 4));
    for (mask, ahead) in rounds.into_iter().chain(others) {
        let what = format!("{mask:?}, behind {ahead} completions");
        // Armed: the next completion raises the vector.
        assert!(loud_cq.wait(8, Duration::ZERO).unwrap().is_empty());
        pair.set_blocked(0, 0, true);
        // Pushed entries need no read, if each doorbell is taken before the next one comes.
        let qps = std::iter::repeat_n(&quiet[0], ahead).chain([&loud[0]]);
        for (wr_id, qp) in qps.enumerate() {
            qp.post_send(&WorkRequest::nop(wr_id as u64).pushed())
                .unwrap();
            pair.run(50);
        }
        pair.run(500);
        set(function, vector, mask, true);
        if let Mask::Entry = mask {
            assert!(is_masked(function, vector), "{what}");
        }
        pair.set_blocked(0, 0, false);
        pair.run(LONG);
        assert!(!interrupt.wait(Duration::ZERO).unwrap(), "{what}");
        let pending = function.read64(Bar::Vectors, PENDING_OFFSET).unwrap();
        assert_eq!(pending >> vector & 1, 1, "{what}: pending");
        set(function, vector, mask, false);
        assert!(interrupt.wait(TIMEOUT).unwrap(), "{what}: after the mask");
        a.completions(ahead);
        assert_eq!(loud_cq.poll(8).unwrap().len(), 1, "{what}");
    }
}
