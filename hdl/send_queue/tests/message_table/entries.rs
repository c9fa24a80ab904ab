//! Send queue entries, valid and invalid.

use hdl_testkit::equivalence::TestRng;
use rand::Rng;
use rust_hdl::prelude::*;
use stellar_wire::host::{Wqe, WqeOpcode, WqeSize};

/// An entry in host memory.
#[derive(Clone, Copy, Debug)]
pub struct Posted {
    /// Those of an entry of 128 bytes. One of 64 bytes has the first of them.
    pub bytes: [u8; Wqe::LONG_LEN],
    /// Reads of the entry succeed.
    pub readable: bool,
}

impl Posted {
    pub fn good(wqe: Wqe) -> Self {
        Self {
            bytes: wqe.to_long_bytes(),
            readable: true,
        }
    }

    /// Returns a line of 64 bytes.
    pub fn line(&self, line: usize) -> Bits<512> {
        let mut packed = Bits::<512>::default();
        for (i, byte) in self.bytes[64 * line..][..64].iter().enumerate() {
            for bit in 0..8 {
                packed = packed.replace_bit(8 * i + bit, byte >> bit & 1 != 0);
            }
        }
        packed
    }
}

/// Generates an entry of `size` for a slot. Few cannot be executed.
pub fn any_entry(rng: &mut TestRng, slot: u16, size: WqeSize) -> Posted {
    let most = size.inline() as u32;
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
        _ if inline => rng.random_range(0..=most),
        _ => rng.random_range(1..20_000),
    };
    let mut wqe = Wqe {
        opcode: opcodes[rng.random_range(0..opcodes.len())],
        signaled: rng.random(),
        inline: inline && length <= most,
        fence: rng.random_bool(0.05),
        slot,
        length,
        remote_va: rng.random(),
        rkey: rng.random(),
        immediate: rng.random(),
        wr_id: rng.random(),
        local_va: rng.random(),
        lkey: rng.random(),
        inline_data: std::array::from_fn(|_| rng.random()),
    };
    let mut undefined = false;
    match rng.random_range(0..300) {
        0 => wqe.length = rng.random_range((1 << 31) + 1..=u32::MAX),
        1 => (wqe.inline, wqe.length) = (true, rng.random_range(most + 1..2 * most)),
        2 => wqe.slot ^= 1 << rng.random_range(0..16),
        3 => undefined = true,
        _ => {}
    }
    let mut bytes = wqe.to_long_bytes();
    if undefined {
        bytes[0] = rng.random_range(3..=255);
    }
    Posted {
        bytes,
        readable: !rng.random_bool(0.004),
    }
}
