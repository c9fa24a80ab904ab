//! Send queue entries, valid and invalid.

use hdl_testkit::equivalence::TestRng;
use rand::Rng;
use rust_hdl::prelude::*;
use stellar_wire::host::{Wqe, WqeOpcode};

/// An entry in host memory.
#[derive(Clone, Copy, Debug)]
pub struct Posted {
    pub bytes: [u8; Wqe::LEN],
    /// Reads of the entry succeed.
    pub readable: bool,
}

impl Posted {
    pub fn good(wqe: Wqe) -> Self {
        Self {
            bytes: wqe.to_bytes(),
            readable: true,
        }
    }

    pub fn packed(&self) -> Bits<512> {
        let mut packed = Bits::<512>::default();
        for (i, byte) in self.bytes.iter().enumerate() {
            for bit in 0..8 {
                packed = packed.replace_bit(8 * i + bit, byte >> bit & 1 != 0);
            }
        }
        packed
    }
}

/// Generates an entry for a slot. Few cannot be executed.
pub fn any_entry(rng: &mut TestRng, slot: u16) -> Posted {
    let opcodes = [
        WqeOpcode::Write,
        WqeOpcode::Write,
        WqeOpcode::WriteImm,
        WqeOpcode::Nop,
    ];
    let inline = rng.random_bool(0.3);
    let length = match rng.random_range(0..20) {
        0 => 0,
        1 => rng.random_range(1 << 30..=1 << 31),
        2..6 => 256 << rng.random_range(0..6),
        _ if inline => rng.random_range(0..=16),
        _ => rng.random_range(1..20_000),
    };
    let mut wqe = Wqe {
        opcode: opcodes[rng.random_range(0..opcodes.len())],
        signaled: rng.random(),
        inline: inline && length <= 16,
        fence: rng.random_bool(0.05),
        slot,
        length,
        remote_va: rng.random(),
        rkey: rng.random(),
        immediate: rng.random(),
        wr_id: rng.random(),
        local_va: rng.random(),
        lkey: rng.random(),
        inline_data: rng.random(),
    };
    let mut undefined = false;
    match rng.random_range(0..300) {
        0 => wqe.length = rng.random_range((1 << 31) + 1..=u32::MAX),
        1 => (wqe.inline, wqe.length) = (true, rng.random_range(17..40)),
        2 => wqe.slot ^= 1 << rng.random_range(0..16),
        3 => undefined = true,
        _ => {}
    }
    let mut bytes = wqe.to_bytes();
    if undefined {
        bytes[0] = rng.random_range(3..=255);
    }
    Posted {
        bytes,
        readable: !rng.random_bool(0.004),
    }
}
