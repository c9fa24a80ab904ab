//! Completer request: an access to one of the card's BARs.

use super::{get, get_dword_count, put, put_address, put_dword_count, RequestType};
use crate::header::split;
use crate::pcie::{AddressType, Attributes};
use crate::{Header, WireError};

/// CQ descriptor, 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompleterRequest {
    pub address_type: AddressType,
    /// Multiple of 4.
    pub address: u64,
    /// 0 to 1024.
    pub dword_count: u16,
    pub request_type: RequestType,
    pub requester: u16,
    /// Tag bits 7:0.
    pub tag: u8,
    /// Function whose BAR was hit.
    pub target_function: u8,
    /// Which BAR, 3 bits.
    pub bar_id: u8,
    /// log2 of the BAR's size in bytes, 6 bits.
    pub bar_aperture: u8,
    /// 3 bits.
    pub traffic_class: u8,
    pub attributes: Attributes,
}

impl Header for CompleterRequest {
    const LEN: usize = 16;
    const NAME: &'static str = "CQ descriptor";

    /// Besides truncation: [`WireError::BadField`] for message types and for more than 1024 double words.
    fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (d, rest) = split::<{ Self::LEN }>(Self::NAME, bytes)?;
        let descriptor = Self {
            address_type: AddressType::from_bits(get(d, 1, 0) as u8),
            address: get(d, 63, 2) << 2,
            dword_count: get_dword_count(d, 74, 64)?,
            request_type: RequestType::from_field(get(d, 78, 75))?,
            requester: get(d, 95, 80) as u16,
            tag: get(d, 103, 96) as u8,
            target_function: get(d, 111, 104) as u8,
            bar_id: get(d, 114, 112) as u8,
            bar_aperture: get(d, 120, 115) as u8,
            traffic_class: get(d, 123, 121) as u8,
            attributes: Attributes::from_bits(get(d, 126, 124) as u8),
        };
        Ok((descriptor, rest))
    }

    fn emit(&self, out: &mut Vec<u8>) {
        let mut d = [0; Self::LEN];
        put_address(&mut d, self.address, self.address_type);
        put_dword_count(&mut d, 74, 64, self.dword_count);
        put(&mut d, "CQ request_type", 78, 75, self.request_type.code());
        put(&mut d, "CQ requester", 95, 80, self.requester);
        put(&mut d, "CQ tag", 103, 96, self.tag);
        put(&mut d, "CQ target_function", 111, 104, self.target_function);
        put(&mut d, "CQ bar_id", 114, 112, self.bar_id);
        put(&mut d, "CQ bar_aperture", 120, 115, self.bar_aperture);
        put(&mut d, "CQ traffic_class", 123, 121, self.traffic_class);
        put(&mut d, "CQ attributes", 126, 124, self.attributes.bits());
        out.extend_from_slice(&d);
    }
}
