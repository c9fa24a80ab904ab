//! The extension headers of each opcode, from the tables of `stellar_wire`.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::tx::opcodes_with;
use stellar_wire::{ExtKind, Opcode};

/// Extension headers of a packet. For an opcode that the lane cannot send, none is set.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct ExtensionSet {
    pub meth: Bit,
    /// TSETH may follow METH.
    pub may_have_tseth: Bit,
    pub reth: Bit,
    pub aeth: Bit,
    pub immediate: Bit,
    /// The packet has a SETH with CC_STATE.
    pub seth: Bit,
    pub neth: Bit,
    pub peth: Bit,
    /// Length in words of four bytes, without TSETH.
    pub words: Bits<4>,
}

/// Whether `opcode` has the extension header `ExtKind::ALL[kind]`.
#[hdl_fn]
pub fn has(opcode: Bits<8>, kind: usize) -> Bit {
    let mut found = bits::<1>(0);
    for code in opcodes_with(ExtKind::ALL[kind]) {
        let this = opcode == u64::from(code);
        found = found | bit_cast::<1, 1>(this.into());
    }
    found.any()
}

/// Opcodes that the lane can send and that have extension headers, with their length in words, without TSETH.
fn lengths() -> impl Iterator<Item = (u8, u64)> {
    let sends = |opcode: &Opcode| stellar_wire::hw::tx::can_send(*opcode);
    Opcode::ALL.iter().copied().filter(sends).map(|opcode| {
        let bytes: usize = opcode.ext_kinds().iter().map(|kind| kind.wire_len()).sum();
        (opcode.code(), (bytes / 4) as u64)
    })
}

/// Decodes an opcode. Every output is a function of 8 bits: 2 LUT levels.
#[hdl_fn]
pub fn extension_set(opcode: Bits<8>) -> ExtensionSet {
    let mut words = bits::<4>(0);
    for (code, length) in lengths() {
        let these = if opcode == u64::from(code) {
            bits::<4>(length)
        } else {
            bits::<4>(0)
        };
        words = words | these;
    }
    ExtensionSet {
        meth: has(opcode, ExtKind::Meth as usize),
        may_have_tseth: has(opcode, ExtKind::Tseth as usize),
        reth: has(opcode, ExtKind::Reth as usize),
        aeth: has(opcode, ExtKind::Aeth as usize),
        immediate: has(opcode, ExtKind::ImmDt as usize),
        seth: has(opcode, ExtKind::Seth as usize),
        neth: has(opcode, ExtKind::Neth as usize),
        peth: has(opcode, ExtKind::Peth as usize),
        words,
    }
}
