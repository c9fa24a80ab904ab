//! A beat of a frame as a word of a FIFO.

use hdl_macros::{hdl_fn, FromBits};
use hdl_macros_support::FromBits;
use rust_hdl::prelude::*;

/// What stands beside the data of a beat.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct, FromBits)]
pub struct BeatFlags {
    /// Valid bytes: all unless `last`, and at least 1.
    pub bytes: Bits<8>,
    pub last: Bit,
    /// With `last`: the frame is damaged, or cut.
    pub error: Bit,
}

/// Bits of [`BeatFlags`]. A word is the data above the flags.
pub const FLAG_BITS: usize = BeatFlags::BITS;

/// The word of a beat. `P` is `W` + [`FLAG_BITS`].
#[hdl_fn]
pub fn word_of<const W: usize, const P: usize>(data: Bits<W>, flags: BeatFlags) -> Bits<P> {
    (bit_cast::<P, W>(data) << (FLAG_BITS as u64)) | bit_cast::<P, 10>(flags.into())
}

/// The flags of a word.
#[hdl_fn]
pub fn flags_of<const P: usize>(word: Bits<P>) -> BeatFlags {
    BeatFlags::from_bits(word)
}

/// The data of a word.
#[hdl_fn]
pub fn data_of<const W: usize, const P: usize>(word: Bits<P>) -> Bits<W> {
    word.get_bits::<W>(FLAG_BITS)
}

/// Checks that words of `word` bits are for beats of `data` bits in the block `name`.
///
/// # Panics
/// If they are not.
pub fn check_word(name: &str, data: usize, word: usize) {
    assert!(
        word == data + FLAG_BITS,
        "{name} with W = {data} and P = {word}: a word needs P = W + {FLAG_BITS} = {}",
        data + FLAG_BITS
    );
}
