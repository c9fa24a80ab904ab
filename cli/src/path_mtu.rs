//! The path MTU on the command line.

use stellar_wire::mtu::{self, BadMtu};

/// A path MTU, given in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathMtu {
    /// log2 of its bytes.
    pub log2: u8,
}

impl PathMtu {
    /// Parses the argument for clap.
    ///
    /// # Errors
    /// The invalid text, and the permitted values.
    pub fn parse(text: &str) -> Result<Self, String> {
        let bytes = text.parse().map_err(|error| format!("{error}"))?;
        let log2 = mtu::log2(bytes).map_err(|error: BadMtu| error.to_string())?;
        Ok(Self { log2 })
    }

    /// The path MTU's value in bytes.
    pub const fn bytes(self) -> u32 {
        1 << self.log2
    }
}
