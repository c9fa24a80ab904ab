//! Packing of hardware records to and from bit strings, for test benches and models.

use std::any::TypeId;
use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::{LazyLock, Mutex};

use rust_hdl::core::ast::VerilogLiteral;
use rust_hdl::core::type_descriptor::{TypeDescriptor, TypeKind};
use rust_hdl::prelude::*;

/// Packs a record into little-endian 32-bit words, as a simulator port wants it.
///
/// rust-hdl shows the bits of a value of any type only as a Verilog literal. Software that writes rows has [`crate::rows::Row::pack`].
pub fn to_words<T: Synth>(value: T) -> Vec<u32> {
    words_of(&value.verilog(), T::BITS)
}

/// The words of a literal of this many bits.
fn words_of(literal: &VerilogLiteral, bits: usize) -> Vec<u32> {
    let literal = format!("{literal:x}");
    let (_, digits) = literal.split_once("'h").expect("a literal has a base");
    let word = |digits| {
        let digits = std::str::from_utf8(digits).expect("digits are ASCII");
        u32::from_str_radix(digits, 16).expect("the base is 16")
    };
    let mut words: Vec<u32> = digits.as_bytes().rchunks(8).map(word).collect();
    words.resize(bits.div_ceil(32), 0);
    words
}

/// A packed record read by field name, with nested fields joined by dots: `record.u64("headers.psn")`.
pub struct Record<'a, T: Synth> {
    words: &'a [u32],
    layout: &'static Layout,
    record: PhantomData<T>,
}

impl<'a, T: Synth + 'static> Record<'a, T> {
    /// Views little-endian words as a `T`.
    pub fn new(words: &'a [u32]) -> Self {
        let layout = layout(TypeId::of::<T>(), T::descriptor);
        assert!(
            words.len() * 32 >= T::BITS,
            "{} bits do not hold the {} bits of {}",
            words.len() * 32,
            T::BITS,
            layout.name
        );
        Self {
            words,
            layout,
            record: PhantomData,
        }
    }

    /// A field of at most 64 bits. Panics, naming the record, if there is no such field or it is wider.
    pub fn u64(&self, path: &str) -> u64 {
        let place = self.layout.place(path);
        assert!(
            place.width <= 64,
            "{path} has {} bits: use `words`",
            place.width
        );
        place.words(self.words).fold(0, |value, (index, word)| {
            value | u64::from(word) << (32 * index)
        })
    }

    /// A one-bit field.
    pub fn bool(&self, path: &str) -> bool {
        self.u64(path) != 0
    }

    /// A field of any width as little-endian words.
    pub fn words(&self, path: &str) -> Vec<u32> {
        let words = self.layout.place(path).words(self.words);
        words.map(|(_, word)| word).collect()
    }

    /// The name of an enumeration field's value, such as `DropReason::BadIcrc`.
    pub fn variant(&self, path: &str) -> String {
        match &self.layout.place(path).kind {
            TypeKind::Enum(names) => names
                .get(self.u64(path) as usize)
                .cloned()
                .unwrap_or_else(|| format!("undefined value {}", self.u64(path))),
            _ => panic!("{path} is not an enumeration"),
        }
    }
}

/// Where each field of a record is, by its path.
struct Layout {
    name: String,
    places: HashMap<String, Place>,
}

/// Bits of a record.
struct Place {
    offset: usize,
    width: usize,
    kind: TypeKind,
}

/// Returns the layout of a record. rust-hdl builds the description of a type anew in each call, so it is asked once per type: benches read fields in
/// every cycle.
fn layout(record: TypeId, descriptor: fn() -> TypeDescriptor) -> &'static Layout {
    static LAYOUTS: LazyLock<Mutex<HashMap<TypeId, &'static Layout>>> =
        LazyLock::new(Mutex::default);
    let mut layouts = LAYOUTS.lock().expect("nothing panics under the lock");
    layouts.entry(record).or_insert_with(|| {
        let descriptor = descriptor();
        let mut places = HashMap::new();
        list_fields(&descriptor, "", 0, &mut places);
        let name = descriptor.name;
        Box::leak(Box::new(Layout { name, places }))
    })
}

/// Adds the fields of a record that begins at bit `offset`, and theirs. `prefix` is in front of their names.
fn list_fields(
    descriptor: &TypeDescriptor,
    prefix: &str,
    mut offset: usize,
    places: &mut HashMap<String, Place>,
) {
    let TypeKind::Composite(fields) = &descriptor.kind else {
        return;
    };
    for field in fields {
        let path = format!("{prefix}{}", field.fieldname);
        list_fields(&field.kind, &format!("{path}."), offset, places);
        let width = width(&field.kind);
        let kind = field.kind.kind.clone();
        let place = Place {
            offset,
            width,
            kind,
        };
        places.insert(path, place);
        offset += width;
    }
}

impl Layout {
    fn place(&self, path: &str) -> &Place {
        let place = self.places.get(path);
        place.unwrap_or_else(|| panic!("{} has no field {path}", self.name))
    }
}

impl Place {
    /// The field's words in the packed `record`, lowest first, with their numbers.
    fn words<'a>(&'a self, record: &'a [u32]) -> impl Iterator<Item = (usize, u32)> + 'a {
        let (first, shift) = (self.offset / 32, self.offset % 32);
        (0..self.width.div_ceil(32)).map(move |index| {
            let word = |at: usize| record.get(at).map_or(0, |&word| u64::from(word));
            let both = word(first + index) | word(first + index + 1) << 32;
            let bits = (self.width - 32 * index).min(32);
            (index, (both >> shift & ((1 << bits) - 1)) as u32)
        })
    }
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
    fn fields_of_any_width_and_place_are_read() {
        let random = |i: u32| (i + 1).wrapping_mul(0x9E37_79B9);
        let words: Vec<u32> = (0..CoreToken::BITS.div_ceil(32) as u32)
            .map(random)
            .collect();
        let bit = |i: usize| words[i / 32] >> (i % 32) & 1;
        let record = Record::<CoreToken>::new(&words);
        assert!(record.layout.places.len() > 20);
        for (path, place) in &record.layout.places {
            let mut expected = vec![0; place.width.div_ceil(32)];
            for i in 0..place.width {
                expected[i / 32] |= bit(place.offset + i) << (i % 32);
            }
            assert_eq!(record.words(path), expected, "{path}");
            if place.width <= 64 {
                let high = expected.get(1).map_or(0, |&word| u64::from(word) << 32);
                let low = expected.first().map_or(0, |&word| u64::from(word));
                assert_eq!(record.u64(path), high | low, "{path}");
            }
        }
    }

    #[test]
    #[should_panic(expected = "AckRequest has no field nonsense")]
    fn an_unknown_field_is_named() {
        Record::<AckRequest>::new(&to_words(AckRequest::default())).u64("nonsense");
    }
}
