//! The one declaration of a row's layout.

use std::ops::Range;

use bitvec::field::BitField;
use bitvec::order::Lsb0;
use bitvec::slice::BitSlice;

use crate::{Psn, WireError};

/// The bits of a field or of a row, least significant first.
pub type FieldBits = BitSlice<u32, Lsb0>;

/// A value that a field of a row holds.
pub trait Field: Copy {
    /// Bits of the whole type; a row may give a number fewer.
    const BITS: usize;

    /// Stores the value.
    ///
    /// # Panics
    /// If it does not fit, naming `field`.
    fn put(self, field: &'static str, bits: &mut FieldBits);

    /// Loads the value.
    ///
    /// # Errors
    /// [`WireError::BadField`] if the bits are no value of the type.
    fn get(field: &'static str, bits: &FieldBits) -> Result<Self, WireError>;
}

/// A row of a table.
pub trait Row: Field {
    /// The row as little-endian 32-bit words: the first field is at bit 0 of the first word.
    ///
    /// # Panics
    /// If a value does not fit its field.
    fn pack(&self) -> Vec<u32> {
        let mut words = vec![0; Self::BITS.div_ceil(u32::BITS as usize)];
        self.put(
            "row",
            &mut FieldBits::from_slice_mut(&mut words)[..Self::BITS],
        );
        words
    }

    /// The row that these words hold. Bits behind it are ignored.
    ///
    /// # Errors
    /// [`WireError::BadField`] if an enumeration's field has an undefined value.
    ///
    /// # Panics
    /// If there are fewer words than the row takes.
    fn unpack(words: &[u32]) -> Result<Self, WireError> {
        Self::get("row", &FieldBits::from_slice(words)[..Self::BITS])
    }
}

/// First bit of the next field of a row.
#[derive(Default)]
pub struct Offset(usize);

impl Offset {
    /// The next `width` bits.
    pub fn take(&mut self, width: usize) -> Range<usize> {
        let first = self.0;
        self.0 += width;
        first..self.0
    }
}

macro_rules! number_fields {
    ($($number:ident),+) => {$(
        impl Field for $number {
            const BITS: usize = $number::BITS as usize;

            fn put(self, field: &'static str, bits: &mut FieldBits) {
                let width = bits.len();
                assert!(
                    width >= <Self as Field>::BITS || self >> width == 0,
                    "{field}: value {self:#x} does not fit {width} bits"
                );
                bits.store_le(self);
            }

            fn get(_: &'static str, bits: &FieldBits) -> Result<Self, WireError> {
                Ok(bits.load_le())
            }
        }
    )+};
}

number_fields!(u8, u16, u32, u64, u128);

impl Field for bool {
    const BITS: usize = 1;

    fn put(self, _: &'static str, bits: &mut FieldBits) {
        bits.set(0, self);
    }

    fn get(_: &'static str, bits: &FieldBits) -> Result<Self, WireError> {
        Ok(bits[0])
    }
}

impl Field for Psn {
    const BITS: usize = 24;

    fn put(self, field: &'static str, bits: &mut FieldBits) {
        self.value().put(field, bits);
    }

    fn get(field: &'static str, bits: &FieldBits) -> Result<Self, WireError> {
        u32::get(field, bits).map(Self::new)
    }
}

/// Conversion to the type that the hardware's record has for a field.
#[cfg(feature = "hdl")]
pub trait ToRecord<R> {
    fn to_record(self) -> R;
}

#[cfg(feature = "hdl")]
mod records {
    use super::ToRecord;
    use crate::Psn;
    use rust_hdl::prelude::*;

    macro_rules! number_records {
        ($($number:ident),+) => {$(
            impl<const N: usize> ToRecord<Bits<N>> for $number {
                fn to_record(self) -> Bits<N> {
                    u64::from(self).to_bits()
                }
            }
        )+};
    }

    number_records!(u8, u16, u32, u64);

    impl<const N: usize> ToRecord<Bits<N>> for u128 {
        fn to_record(self) -> Bits<N> {
            (0..N.min(128)).fold(Bits::default(), |bits, i| {
                bits.replace_bit(i, self >> i & 1 == 1)
            })
        }
    }

    impl<const N: usize> ToRecord<Bits<N>> for Psn {
        fn to_record(self) -> Bits<N> {
            self.value().to_record()
        }
    }

    impl ToRecord<Bit> for bool {
        fn to_record(self) -> Bit {
            self
        }
    }
}

/// Declares a row and, with the feature `hdl`, the hardware's record of the same layout:
///
/// ```ignore
/// row! {
///     /// Documentation of both.
///     pub struct MrRow => MrEntry {
///         valid: bool => Bit,
///         pd: u32 => Bits<20>,
///         page_size: PageSize => PageSize,
///     }
/// }
/// ```
///
/// A field has its plain type first and the hardware's behind the arrow. The fields follow each other from bit 0 on; a field without a width takes
/// [`Field::BITS`] of its plain type.
macro_rules! row {
    (
        $(#[$meta:meta])*
        pub struct $plain:ident => $record:ident {
            $($(#[$fmeta:meta])* $field:ident: $type:ty => $hardware:ident $(<$bits:tt>)?),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $plain {
            $($(#[$fmeta])* pub $field: $type),+
        }

        impl $crate::rows::Field for $plain {
            const BITS: usize = 0 $(+ row!(@width $type $(, $bits)?))+;

            fn put(self, _: &'static str, bits: &mut $crate::rows::FieldBits) {
                let mut offset = $crate::rows::Offset::default();
                $(
                    let field = &mut bits[offset.take(row!(@width $type $(, $bits)?))];
                    $crate::rows::Field::put(self.$field, stringify!($field), field);
                )+
            }

            fn get(_: &'static str, bits: &$crate::rows::FieldBits) -> Result<Self, $crate::WireError> {
                let mut offset = $crate::rows::Offset::default();
                $(
                    let $field = &bits[offset.take(row!(@width $type $(, $bits)?))];
                    let $field = $crate::rows::Field::get(stringify!($field), $field)?;
                )+
                Ok(Self { $($field),+ })
            }
        }

        impl $crate::rows::Row for $plain {}

        $(#[$meta])*
        #[cfg(feature = "hdl")]
        #[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct, hdl_macros::FromBits)]
        pub struct $record {
            $($(#[$fmeta])* pub $field: $hardware $(<$bits>)?),+
        }

        #[cfg(feature = "hdl")]
        impl $plain {
            /// The hardware's record.
            pub fn to_hw(&self) -> $record {
                $record { $($field: $crate::rows::ToRecord::to_record(self.$field)),+ }
            }
        }

        #[cfg(feature = "hdl")]
        impl $crate::rows::ToRecord<$record> for $plain {
            fn to_record(self) -> $record {
                self.to_hw()
            }
        }
    };
    (@width $type:ty, $bits:tt) => { $bits };
    (@width $type:ty) => { <$type as $crate::rows::Field>::BITS };
}
