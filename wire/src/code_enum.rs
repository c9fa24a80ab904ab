//! Enums whose variants are code points of a standard.

/// Declares a field-less enum with its code points: `ALL`, `code()`, `from_code()` and `name()` come from one list.
macro_rules! code_enum {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$vmeta:meta])* $variant:ident = $code:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum $name { $($(#[$vmeta])* $variant = $code),+ }

        impl $name {
            /// Every defined code point, in the order of the declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Code point on the wire.
            pub const fn code(self) -> u8 {
                self as u8
            }

            /// The variant with this code point, if it is defined.
            pub const fn from_code(code: u8) -> Option<Self> {
                match code {
                    $($code => Some(Self::$variant),)+
                    _ => None,
                }
            }

            /// Variant name, for messages and tables.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => stringify!($variant)),+
                }
            }
        }
    };
}

pub(crate) use code_enum;
