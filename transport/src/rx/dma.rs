//! Memory write TLPs (hardware block `dma_write`).

use super::{MaxPayload, Piece};

/// Bytes of a PCIe double word.
const DW: usize = 4;

/// One posted memory write (PCI Express Base Specification, memory request rules).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteTlp {
    /// Address of the first double word, a multiple of 4.
    pub address: u64,
    /// Address type: 0 untranslated, 2 translated.
    pub at: u8,
    /// Double words, 1 to 256.
    pub length_dw: usize,
    /// Bytes enabled in the first double word, 4 bits.
    pub first_be: u8,
    /// Bytes enabled in the last double word, 4 bits; zero if there is only one.
    pub last_be: u8,
    /// The double words, `4 * length_dw` bytes. Bytes not enabled are zero here and undefined in hardware.
    pub data: Vec<u8>,
}

impl WriteTlp {
    /// The write of `bytes`, which is not empty, at any alignment.
    fn new(address: u64, translated: bool, bytes: &[u8]) -> Self {
        let lead = (address % DW as u64) as usize;
        let length_dw = (lead + bytes.len()).div_ceil(DW);
        let mut data = vec![0; length_dw * DW];
        data[lead..lead + bytes.len()].copy_from_slice(bytes);
        // Byte enables of one double word: a bit for each of its four lanes that the write covers.
        let enables = |dw: usize| {
            (0..DW)
                .filter(|lane| (lead..lead + bytes.len()).contains(&(dw * DW + lane)))
                .fold(0, |be, lane| be | 1 << lane)
        };
        Self {
            address: address - lead as u64,
            at: if translated { 0b10 } else { 0b00 },
            length_dw,
            first_be: enables(0),
            last_be: if length_dw == 1 {
                0
            } else {
                enables(length_dw - 1)
            },
            data,
        }
    }

    /// Every byte written, with its address.
    pub fn written(&self) -> impl Iterator<Item = (u64, u8)> + '_ {
        let enabled = |at: usize| match (at / DW, at % DW) {
            (0, lane) => self.first_be >> lane & 1 == 1,
            (dw, lane) if dw == self.length_dw - 1 => self.last_be >> lane & 1 == 1,
            _ => true,
        };
        self.data
            .iter()
            .enumerate()
            .filter(move |(at, _)| enabled(*at))
            .map(|(at, &byte)| (self.address + at as u64, byte))
    }
}

/// Returns the writes that place `payload` into `pieces`, in address order. Each piece is cut at multiples of the maximum payload size, so no write
/// crosses a 4 KiB boundary.
///
/// # Panics
/// If the total length of the pieces is not that of the payload.
pub fn write_tlps(pieces: &[Piece], payload: &[u8], max_payload: MaxPayload) -> Vec<WriteTlp> {
    let mut tlps = Vec::new();
    let mut rest = payload;
    for piece in pieces {
        let (mut bytes, after) = rest.split_at(piece.length);
        let mut address = piece.address;
        while !bytes.is_empty() {
            let to_boundary = max_payload.bytes() - address as usize % max_payload.bytes();
            let (chunk, left) = bytes.split_at(to_boundary.min(bytes.len()));
            tlps.push(WriteTlp::new(address, piece.translated, chunk));
            address = address.wrapping_add(chunk.len() as u64);
            bytes = left;
        }
        rest = after;
    }
    assert!(
        rest.is_empty(),
        "{} payload bytes have no piece to go to",
        rest.len()
    );
    tlps
}
