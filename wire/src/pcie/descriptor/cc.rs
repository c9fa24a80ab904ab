//! Completer completion: the card's answer to an access to one of its BARs.

use super::{get, get_dword_count, put, put_dword_count};
use crate::header::split;
use crate::pcie::{AddressType, Attributes, CompletionStatus};
use crate::{Header, WireError};

/// CC descriptor, 12 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompleterCompletion {
    /// Low 7 bits of the address of the first byte.
    pub lower_address: u8,
    /// Bits 9:8, copied from the request.
    pub address_type: AddressType,
    /// Bytes the request still waits for, these included, 13 bits.
    pub byte_count: u16,
    /// Answer to a locked read.
    pub locked: bool,
    /// Double words of payload, 0 to 1024.
    pub dword_count: u16,
    pub status: CompletionStatus,
    pub poisoned: bool,
    pub requester: u16,
    /// Tag bits 7:0.
    pub tag: u8,
    pub completer: u16,
    /// Use `completer` instead of the function's own ID.
    pub completer_id_enable: bool,
    /// 3 bits.
    pub traffic_class: u8,
    pub attributes: Attributes,
    /// Append an ECRC.
    pub force_ecrc: bool,
}

impl Header for CompleterCompletion {
    const LEN: usize = 12;
    const NAME: &'static str = "CC descriptor";

    /// Besides truncation: [`WireError::BadField`] for an undefined status and for more than 1024 double words.
    fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (d, rest) = split::<{ Self::LEN }>(Self::NAME, bytes)?;
        let descriptor = Self {
            lower_address: get(d, 6, 0) as u8,
            address_type: AddressType::from_bits(get(d, 9, 8) as u8),
            byte_count: get(d, 28, 16) as u16,
            locked: get(d, 29, 29) != 0,
            dword_count: get_dword_count(d, 42, 32)?,
            status: CompletionStatus::from_field(get(d, 45, 43) as u8)?,
            poisoned: get(d, 46, 46) != 0,
            requester: get(d, 63, 48) as u16,
            tag: get(d, 71, 64) as u8,
            completer: get(d, 87, 72) as u16,
            completer_id_enable: get(d, 88, 88) != 0,
            traffic_class: get(d, 91, 89) as u8,
            attributes: Attributes::from_bits(get(d, 94, 92) as u8),
            force_ecrc: get(d, 95, 95) != 0,
        };
        Ok((descriptor, rest))
    }

    fn emit(&self, out: &mut Vec<u8>) {
        let mut d = [0; Self::LEN];
        put(&mut d, "CC lower_address", 6, 0, self.lower_address);
        put(&mut d, "CC address_type", 9, 8, self.address_type.code());
        put(&mut d, "CC byte_count", 28, 16, self.byte_count);
        put(&mut d, "CC locked", 29, 29, self.locked);
        put_dword_count(&mut d, 42, 32, self.dword_count);
        put(&mut d, "CC status", 45, 43, self.status.code());
        put(&mut d, "CC poisoned", 46, 46, self.poisoned);
        put(&mut d, "CC requester", 63, 48, self.requester);
        put(&mut d, "CC tag", 71, 64, self.tag);
        put(&mut d, "CC completer", 87, 72, self.completer);
        put(
            &mut d,
            "CC completer_id_enable",
            88,
            88,
            self.completer_id_enable,
        );
        put(&mut d, "CC traffic_class", 91, 89, self.traffic_class);
        put(&mut d, "CC attributes", 94, 92, self.attributes.bits());
        put(&mut d, "CC force_ecrc", 95, 95, self.force_ecrc);
        out.extend_from_slice(&d);
    }
}
