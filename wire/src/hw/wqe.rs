//! The first 64 bytes of a send queue entry as a record of 512 bits, with byte 0 in bits 7:0 (layout: [`crate::host::Wqe`]).

use hdl_macros::{hdl_fn, FromBits};
use rust_hdl::prelude::*;

/// Work queue entry.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct, FromBits)]
pub struct Wqe {
    /// Code of a [`crate::host::WqeOpcode`].
    pub opcode: Bits<8>,
    pub signaled: Bit,
    pub inline: Bit,
    pub fence: Bit,
    pub reserved_flags: Bits<5>,
    pub slot: Bits<16>,
    /// Bytes of the message.
    pub length: Bits<32>,
    pub remote_va: Bits<64>,
    pub rkey: Bits<32>,
    pub immediate: Bits<32>,
    pub wr_id: Bits<64>,
    /// The first 32 bytes of inline data, or where the payload is ([`local_va`], [`lkey`]).
    pub source: Bits<256>,
}

/// Bits of an entry behind the record, of 128 bytes with more than 32 bytes of inline data.
pub const REST_BITS: usize =
    8 * (crate::host::WqeSize::Bytes128.inline() - crate::host::WqeSize::Bytes64.inline());

/// Returns the local address of an entry without inline data.
#[hdl_fn]
pub fn local_va(source: Bits<512>) -> Bits<64> {
    source.get_bits::<64>(0)
}

/// Returns the L_Key of an entry without inline data.
#[hdl_fn]
pub fn lkey(source: Bits<512>) -> Bits<32> {
    source.get_bits::<32>(64)
}

impl From<&crate::host::Wqe> for Wqe {
    fn from(wqe: &crate::host::Wqe) -> Self {
        let bytes = wqe.to_bytes();
        let half = |at: usize| {
            let half = u128::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
            bit_cast::<256, 128>(half.to_bits())
        };
        let begin = crate::host::Wqe::SOURCE;
        Self {
            opcode: wqe.opcode.code().to_bits(),
            signaled: wqe.signaled,
            inline: wqe.inline,
            fence: wqe.fence,
            slot: wqe.slot.to_bits(),
            length: u64::from(wqe.length).to_bits(),
            remote_va: wqe.remote_va.to_bits(),
            rkey: u64::from(wqe.rkey).to_bits(),
            immediate: u64::from(wqe.immediate).to_bits(),
            wr_id: wqe.wr_id.to_bits(),
            source: half(begin) | (half(begin + 16) << 128),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host;
    use crate::hw::pack::to_words;
    use proptest::prelude::*;

    fn any_wqe() -> impl Strategy<Value = host::Wqe> {
        let opcode = prop::sample::select(vec![
            host::WqeOpcode::Nop,
            host::WqeOpcode::Write,
            host::WqeOpcode::WriteImm,
        ]);
        let words = (any::<u32>(), any::<u32>(), any::<u32>(), any::<u32>());
        let wide = (any::<u64>(), any::<u64>(), any::<u64>());
        let flags = any::<[bool; 3]>();
        (opcode, flags, any::<u16>(), words, wide, any::<[u8; 32]>()).prop_map(
            |(opcode, flags, slot, words, wide, data)| host::Wqe {
                opcode,
                signaled: flags[0],
                inline: flags[1],
                fence: flags[2],
                slot,
                length: words.0,
                remote_va: wide.0,
                rkey: words.1,
                immediate: words.2,
                wr_id: wide.1,
                local_va: wide.2,
                lkey: words.3,
                inline_data: std::array::from_fn(|i| data[i % 32]),
            },
        )
    }

    proptest! {
        #[test]
        fn the_bits_of_the_record_are_the_bytes_of_the_entry(wqe in any_wqe()) {
            let packed = to_words(Wqe::from(&wqe));
            let bytes: Vec<u8> = packed.iter().flat_map(|word| word.to_le_bytes()).collect();
            prop_assert_eq!(&bytes[..], &wqe.to_bytes()[..]);
        }
    }
}
