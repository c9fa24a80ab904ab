//! Enums that software and hardware share: one definition, whose order is the encoding.

/// Declares a field-less enum whose variants are numbered from 0. With the feature `hdl` it is a type of hardware signals too.
///
/// The first variant is the default, as an all-zero register reads.
macro_rules! record_enum {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$vmeta:meta])* $variant:ident),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[cfg_attr(feature = "hdl", derive(rust_hdl::prelude::LogicState, hdl_macros::FromBits))]
        #[repr(u8)]
        pub enum $name { $($(#[$vmeta])* $variant),+ }

        impl $name {
            /// Number of variants.
            pub const COUNT: usize = [$(Self::$variant),+].len();

            /// Every variant, at its index.
            pub const ALL: [Self; Self::COUNT] = [$(Self::$variant),+];

            /// The encoding, counted from 0 in the order of declaration.
            #[inline]
            pub const fn index(self) -> u8 {
                self as u8
            }
        }

        // `LogicState` brings the same default.
        #[cfg(not(feature = "hdl"))]
        impl Default for $name {
            fn default() -> Self {
                Self::ALL[0]
            }
        }

        impl $crate::rows::Field for $name {
            const BITS: usize = usize::BITS as usize - (Self::COUNT - 1).leading_zeros() as usize;

            fn put(self, field: &'static str, bits: &mut $crate::rows::FieldBits) {
                self.index().put(field, bits);
            }

            fn get(field: &'static str, bits: &$crate::rows::FieldBits) -> Result<Self, $crate::WireError> {
                let index = u8::get(field, bits)?;
                let found = Self::ALL.get(usize::from(index)).copied();
                found.ok_or($crate::WireError::BadField { field, value: index.into() })
            }
        }

        #[cfg(feature = "hdl")]
        impl $crate::rows::ToRecord<Self> for $name {
            fn to_record(self) -> Self {
                self
            }
        }
    };
}

pub(crate) use record_enum;
