//! Fields of a message, one behind the other.

use thiserror::Error;

/// Why bytes are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Malformed {
    /// The bytes end too early.
    #[error("the message has {have} bytes; its fields need {need}")]
    Short {
        /// Bytes there are.
        have: usize,
        /// Bytes up to the end of the field that was cut.
        need: usize,
    },
    /// A value no field may have.
    #[error("{field}: value {value:#x} is not defined")]
    Field {
        /// The name of the field.
        field: &'static str,
        /// The value of the field.
        value: u64,
    },
    /// The opcode is not defined.
    #[error("opcode {0:#06x} is not defined")]
    Opcode(u16),
}

/// Takes fields off the front of a message.
pub(super) struct Take<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Take<'a> {
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub fn bytes<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let need = self.at + N;
        let field = self.bytes.get(self.at..need).ok_or(Malformed::Short {
            have: self.bytes.len(),
            need,
        })?;
        self.at = need;
        let mut out = [0; N];
        out.copy_from_slice(field);
        Ok(out)
    }

    pub fn u8(&mut self) -> Result<u8, Malformed> {
        Ok(self.bytes::<1>()?[0])
    }

    pub fn u16(&mut self) -> Result<u16, Malformed> {
        Ok(u16::from_le_bytes(self.bytes()?))
    }

    pub fn u32(&mut self) -> Result<u32, Malformed> {
        Ok(u32::from_le_bytes(self.bytes()?))
    }

    pub fn u64(&mut self) -> Result<u64, Malformed> {
        Ok(u64::from_le_bytes(self.bytes()?))
    }

    pub fn flag(&mut self, field: &'static str) -> Result<bool, Malformed> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            value => Err(Malformed::Field {
                field,
                value: value.into(),
            }),
        }
    }

    /// A code of an enumeration.
    pub fn code<T>(
        &mut self,
        field: &'static str,
        known: impl Fn(u8) -> Option<T>,
    ) -> Result<T, Malformed> {
        let value = self.u8()?;
        known(value).ok_or(Malformed::Field {
            field,
            value: value.into(),
        })
    }
}

/// Puts fields behind one another.
#[derive(Default)]
pub(super) struct Put(pub Vec<u8>);

impl Put {
    pub fn bytes(&mut self, field: &[u8]) -> &mut Self {
        self.0.extend_from_slice(field);
        self
    }

    pub fn u8(&mut self, field: u8) -> &mut Self {
        self.bytes(&[field])
    }

    pub fn flag(&mut self, field: bool) -> &mut Self {
        self.u8(field.into())
    }

    pub fn u16(&mut self, field: u16) -> &mut Self {
        self.bytes(&field.to_le_bytes())
    }

    pub fn u32(&mut self, field: u32) -> &mut Self {
        self.bytes(&field.to_le_bytes())
    }

    pub fn u64(&mut self, field: u64) -> &mut Self {
        self.bytes(&field.to_le_bytes())
    }
}
