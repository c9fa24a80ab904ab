//! Packing of hardware records to and from bit strings, for test benches and models.

use std::marker::PhantomData;

use rust_hdl::core::type_descriptor::{TypeDescriptor, TypeKind};
use rust_hdl::prelude::*;

/// Packs a record into little-endian 32-bit words, as a simulator port wants it.
///
/// rust-hdl shows the bits of a value of any type only as a Verilog literal. Software that writes rows has [`crate::rows::Row::pack`].
pub fn to_words<T: Synth>(value: T) -> Vec<u32> {
    let literal = format!("{:x}", value.verilog());
    let (_, digits) = literal.split_once("'h").expect("a literal has a base");
    let word = |digits| {
        let digits = std::str::from_utf8(digits).expect("digits are ASCII");
        u32::from_str_radix(digits, 16).expect("the base is 16")
    };
    let mut words: Vec<u32> = digits.as_bytes().rchunks(8).map(word).collect();
    words.resize(T::BITS.div_ceil(32), 0);
    words
}

/// A packed record read by field name, with nested fields joined by dots: `record.u64("headers.psn")`.
pub struct Record<'a, T: Synth> {
    words: &'a [u32],
    layout: PhantomData<T>,
}

impl<'a, T: Synth> Record<'a, T> {
    /// Views little-endian words as a `T`.
    pub fn new(words: &'a [u32]) -> Self {
        assert!(
            words.len() * 32 >= T::BITS,
            "{} bits do not hold the {} bits of {}",
            words.len() * 32,
            T::BITS,
            T::descriptor().name
        );
        Self {
            words,
            layout: PhantomData,
        }
    }

    /// A field of at most 64 bits. Panics, naming the record, if there is no such field or it is wider.
    pub fn u64(&self, path: &str) -> u64 {
        let (offset, width) = self.place(path);
        assert!(width <= 64, "{path} has {width} bits: use `words`");
        (0..width).fold(0, |acc, i| acc | self.bit(offset + i) << i)
    }

    /// A one-bit field.
    pub fn bool(&self, path: &str) -> bool {
        self.u64(path) != 0
    }

    /// A field of any width as little-endian words.
    pub fn words(&self, path: &str) -> Vec<u32> {
        let (offset, width) = self.place(path);
        let mut out = vec![0; width.div_ceil(32)];
        for i in 0..width {
            out[i / 32] |= (self.bit(offset + i) as u32) << (i % 32);
        }
        out
    }

    /// The name of an enumeration field's value, such as `DropReason::BadIcrc`.
    pub fn variant(&self, path: &str) -> String {
        let (_, _, kind) = find(&T::descriptor(), path)
            .unwrap_or_else(|| panic!("{} has no field {path}", T::descriptor().name));
        match kind {
            TypeKind::Enum(names) => names
                .get(self.u64(path) as usize)
                .cloned()
                .unwrap_or_else(|| format!("undefined value {}", self.u64(path))),
            _ => panic!("{path} is not an enumeration"),
        }
    }

    fn place(&self, path: &str) -> (usize, usize) {
        let (offset, width, _) = find(&T::descriptor(), path)
            .unwrap_or_else(|| panic!("{} has no field {path}", T::descriptor().name));
        (offset, width)
    }

    fn bit(&self, index: usize) -> u64 {
        u64::from(self.words[index / 32] >> (index % 32) & 1)
    }
}

fn find(descriptor: &TypeDescriptor, path: &str) -> Option<(usize, usize, TypeKind)> {
    let TypeKind::Composite(fields) = &descriptor.kind else {
        return None;
    };
    let (head, rest) = match path.split_once('.') {
        Some((head, rest)) => (head, Some(rest)),
        None => (path, None),
    };
    let mut offset = 0;
    for field in fields {
        if field.fieldname == head {
            return match rest {
                None => Some((offset, width(&field.kind), field.kind.kind.clone())),
                Some(rest) => find(&field.kind, rest).map(|(o, w, k)| (offset + o, w, k)),
            };
        }
        offset += width(&field.kind);
    }
    None
}

/// Width in bits of a described type.
pub fn width(descriptor: &TypeDescriptor) -> usize {
    match &descriptor.kind {
        TypeKind::Bits(n) | TypeKind::Signed(n) => *n,
        TypeKind::Enum(names) => clog2(names.len()),
        TypeKind::Composite(fields) => fields.iter().map(|f| width(&f.kind)).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hw::ack::{AckKind, AckRequest};
    use crate::hw::core::CoreToken;

    #[test]
    fn a_packed_record_reads_back_by_name() {
        let ack = AckRequest {
            kind: AckKind::Sack,
            psn: 0xABCDEF_u64.to_bits(),
            bitmap: 0x8000_0000_0000_0001_u64.to_bits(),
            ecn_ce: true,
            timestamp: 0xBEEF_u64.to_bits(),
            ..Default::default()
        };
        let words = to_words(ack);
        let record = Record::<AckRequest>::new(&words);
        assert_eq!(record.u64("psn"), 0xABCDEF);
        assert_eq!(record.u64("bitmap"), 0x8000_0000_0000_0001);
        assert_eq!(record.u64("timestamp"), 0xBEEF);
        assert!(record.bool("ecn_ce"));
        assert_eq!(record.variant("kind"), "AckKind::Sack");
    }

    #[test]
    fn nested_fields_are_found_and_widths_agree_with_synth() {
        let mut token = CoreToken::default();
        token.headers.psn = 0x123456_u64.to_bits();
        token.table.index = 0x2_5555_u64.to_bits();
        let words = to_words(token);
        let record = Record::<CoreToken>::new(&words);
        assert_eq!(record.u64("headers.psn"), 0x123456);
        assert_eq!(record.u64("table.index"), 0x2_5555);
        assert_eq!(width(&CoreToken::descriptor()), CoreToken::BITS);
    }

    #[test]
    #[should_panic(expected = "AckRequest has no field nonsense")]
    fn an_unknown_field_is_named() {
        Record::<AckRequest>::new(&to_words(AckRequest::default())).u64("nonsense");
    }
}
