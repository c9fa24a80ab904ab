//! The steps of a DCMAC's start-up as a table in hardware.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;

use crate::dcmac_registers::{After, Scope, PORT_SLOTS, SLOTS, STEPS};

/// A step as the hardware has it.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct StepRecord {
    pub address: Bits<12>,
    pub value: Bits<32>,
    pub other: Bits<32>,
    /// Slots without the one of a port: 0 is a register of the whole DCMAC.
    pub slots: Bits<3>,
    /// The slots are those of one port.
    pub of_port: Bit,
    pub pauses: Bit,
    pub receivers: Bit,
    pub watches: Bit,
}

/// Slots that a step writes, from slot 0 or from the first slot of its port.
fn slots(scope: Scope) -> u64 {
    let slots = match scope {
        Scope::Global => 0,
        Scope::All => SLOTS,
        Scope::Ports => PORT_SLOTS,
        Scope::Port => PORT_SLOTS / 2,
        Scope::First => 1,
    };
    slots as u64
}

/// [`STEPS`] as a table.
#[expect(clippy::needless_range_loop, reason = "hardware counts")]
#[hdl_fn]
pub fn step_of(number: Bits<5>) -> StepRecord {
    let mut address = bits::<12>(0);
    let mut value = bits::<32>(0);
    let mut other = bits::<32>(0);
    let mut count = bits::<3>(0);
    let mut flags = bits::<4>(0);
    for i in 0..STEPS.len() {
        let here = number == (i as u64);
        let mask = if here {
            bits::<32>(0xffff_ffff)
        } else {
            bits::<32>(0)
        };
        address = address | (mask.get_bits::<12>(0) & bits::<12>(STEPS[i].address));
        value = value | (mask & bits::<32>(STEPS[i].value));
        other = other | (mask & bits::<32>(STEPS[i].other));
        count = count | (mask.get_bits::<3>(0) & bits::<3>(slots(STEPS[i].scope)));
        flags = flags | (mask.get_bits::<4>(0) & bits::<4>(flags_of(i)));
    }
    StepRecord {
        address,
        value,
        other,
        slots: count,
        of_port: flags.get_bit(0),
        pauses: flags.get_bit(1),
        receivers: flags.get_bit(2),
        watches: flags.get_bit(3),
    }
}

/// The flags of a step, in the order of [`StepRecord`].
fn flags_of(number: usize) -> u64 {
    let step = STEPS[number];
    let of_port = matches!(step.scope, Scope::Port | Scope::First);
    let flags = [
        of_port,
        step.after == After::Pause,
        step.after == After::Receivers,
        step.after == After::Watch,
    ];
    flags
        .iter()
        .rev()
        .fold(0, |all, flag| 2 * all + u64::from(*flag))
}
