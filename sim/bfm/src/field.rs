//! Fields of packed records. Each field is looked up by name once.

use std::marker::PhantomData;

use rust_hdl::core::type_descriptor::TypeKind;
use rust_hdl::prelude::Synth;
use stellar_wire::hw::pack::width;

use crate::bits::{field, set_field};

/// A field of a record of type `T`, of at most 64 bits. It is looked up by name once; reading and writing it are fast.
#[derive(Clone, Copy, Debug)]
pub struct Field<T> {
    offset: usize,
    width: usize,
    layout: PhantomData<T>,
}

impl<T: Synth> Field<T> {
    /// The field called `name`, not nested. Panics, naming the record, if there is none or it is wider than 64 bits.
    pub fn new(name: &str) -> Self {
        let (offset, width) = place::<T>(name);
        assert!(width <= 64, "{name} has {width} bits");
        Self {
            offset,
            width,
            layout: PhantomData,
        }
    }

    /// The field's value in a packed record.
    pub fn get(&self, words: &[u32]) -> u64 {
        field(words, self.offset, self.width)
    }

    /// Puts a value into a packed record; bits beyond the field's width are dropped.
    pub fn set(&self, words: &mut [u32], value: u64) {
        set_field(words, self.offset, self.width, value);
    }
}

/// Offset and width in bits of a field.
fn place<T: Synth>(name: &str) -> (usize, usize) {
    let record = T::descriptor();
    let mut offset = 0;
    if let TypeKind::Composite(fields) = &record.kind {
        for field in fields {
            let width = width(&field.kind);
            if field.fieldname == name {
                return (offset, width);
            }
            offset += width;
        }
    }
    panic!("{} has no field {name}", record.name)
}

#[cfg(test)]
mod tests {
    use rust_hdl::prelude::*;
    use stellar_wire::hw::dma::WriteTlpHeader;
    use stellar_wire::hw::pack::{to_words, Record};

    use super::*;

    #[test]
    fn a_field_reads_and_writes_what_the_record_has() {
        for value in [0u64, 1, 0x1234_5678_9abc_def0, u64::MAX >> 2] {
            let around = WriteTlpHeader {
                length_dw: 0x7ffu64.to_bits(),
                first_be: 0xfu64.to_bits(),
                ..Default::default()
            };
            let mut words = to_words(around);
            let address = Field::<WriteTlpHeader>::new("address_dw");
            address.set(&mut words, value);
            let record = Record::<WriteTlpHeader>::new(&words);
            assert_eq!(address.get(&words), record.u64("address_dw"));
            let address_dw = value.to_bits();
            assert_eq!(
                words,
                to_words(WriteTlpHeader {
                    address_dw,
                    ..around
                })
            );
        }
    }

    #[test]
    #[should_panic(expected = "WriteTlpHeader has no field nonsense")]
    fn an_unknown_field_is_named() {
        Field::<WriteTlpHeader>::new("nonsense");
    }
}
