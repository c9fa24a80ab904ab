//! Bus/device/function numbers, the PCIe requester and completer identity.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A PCIe function's identity: bus (8 bits), device (5 bits), function (3 bits).
///
/// Written and parsed as `bb:dd.f` in hexadecimal, as `lspci` does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Bdf(u16);

/// A string that is not of the form `bb:dd.f`, or a field out of its range.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is not a PCIe function; write bus:device.function in hex, as in `17:00.0` (device up to 1f, function up to 7)")]
pub struct BdfError(String);

impl Bdf {
    /// The function `bus:device.function`; fails when `device` > 31 or `function` > 7.
    pub fn new(bus: u8, device: u8, function: u8) -> Result<Self, BdfError> {
        if device > 0x1f || function > 7 {
            return Err(BdfError(format!("{bus:02x}:{device:02x}.{function:x}")));
        }
        Ok(Self(
            u16::from(bus) << 8 | u16::from(device) << 3 | u16::from(function),
        ))
    }

    /// The function with this 16-bit requester ID, as a TLP header contains it.
    pub const fn from_id(id: u16) -> Self {
        Self(id)
    }

    /// The bus number.
    pub const fn bus(self) -> u8 {
        (self.0 >> 8) as u8
    }

    /// The 16-bit requester or completer ID.
    pub const fn id(self) -> u16 {
        self.0
    }
}

impl fmt::Display for Bdf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:02x}:{:02x}.{:x}",
            self.0 >> 8,
            self.0 >> 3 & 0x1f,
            self.0 & 7
        )
    }
}

impl FromStr for Bdf {
    type Err = BdfError;

    fn from_str(text: &str) -> Result<Self, BdfError> {
        let bad = || BdfError(text.to_owned());
        let (bus, rest) = text.split_once(':').ok_or_else(bad)?;
        let (device, function) = rest.split_once('.').ok_or_else(bad)?;
        let hex = |digits: &str| u8::from_str_radix(digits, 16).map_err(|_| bad());
        Self::new(hex(bus)?, hex(device)?, hex(function)?)
    }
}

impl TryFrom<String> for Bdf {
    type Error = BdfError;

    fn try_from(text: String) -> Result<Self, BdfError> {
        text.parse()
    }
}

impl From<Bdf> for String {
    fn from(bdf: Bdf) -> Self {
        bdf.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn text_and_id_round_trip(id: u16) {
            let bdf = Bdf::from_id(id);
            prop_assert_eq!(bdf.to_string().parse::<Bdf>().unwrap(), bdf);
            prop_assert_eq!(bdf.id(), id);
        }
    }

    #[test]
    fn rejects_what_is_not_a_function() {
        for text in [
            "", "17", "17:00", "17:20.0", "17:00.8", "zz:00.0", "117:00.0",
        ] {
            assert!(text.parse::<Bdf>().is_err(), "{text}");
        }
    }
}
