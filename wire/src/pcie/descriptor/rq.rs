//! Requester request: what user logic sends to start a DMA.

use super::{get, get_dword_count, put, put_address, put_dword_count, RequestType};
use crate::header::split;
use crate::pcie::{AddressType, Attributes};
use crate::{Header, WireError};

/// RQ descriptor, 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequesterRequest {
    /// AT, bits 1:0, which the eMTT decides for each page.
    pub address_type: AddressType,
    /// Multiple of 4.
    pub address: u64,
    /// 0 to 1024; 0 only for zero-length reads and writes.
    pub dword_count: u16,
    pub request_type: RequestType,
    /// Payload is known to be wrong.
    pub poisoned: bool,
    pub requester: u16,
    /// Tag bits 7:0; unused where the block manages tags.
    pub tag: u8,
    /// Routes ID-routed requests; 0 for memory requests.
    pub completer: u16,
    /// Use `requester` instead of the function's own ID.
    pub requester_id_enable: bool,
    /// 3 bits.
    pub traffic_class: u8,
    pub attributes: Attributes,
    /// Append an ECRC.
    pub force_ecrc: bool,
}

impl Header for RequesterRequest {
    const LEN: usize = 16;
    const NAME: &'static str = "RQ descriptor";

    /// Besides truncation: [`WireError::BadField`] for message types and for more than 1024 double words.
    fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (d, rest) = split::<{ Self::LEN }>(Self::NAME, bytes)?;
        let descriptor = Self {
            address_type: AddressType::from_bits(get(d, 1, 0) as u8),
            address: get(d, 63, 2) << 2,
            dword_count: get_dword_count(d, 74, 64)?,
            request_type: RequestType::from_field(get(d, 78, 75))?,
            poisoned: get(d, 79, 79) != 0,
            requester: get(d, 95, 80) as u16,
            tag: get(d, 103, 96) as u8,
            completer: get(d, 119, 104) as u16,
            requester_id_enable: get(d, 120, 120) != 0,
            traffic_class: get(d, 123, 121) as u8,
            attributes: Attributes::from_bits(get(d, 126, 124) as u8),
            force_ecrc: get(d, 127, 127) != 0,
        };
        Ok((descriptor, rest))
    }

    fn emit(&self, out: &mut Vec<u8>) {
        let mut d = [0; Self::LEN];
        put_address(&mut d, self.address, self.address_type);
        put_dword_count(&mut d, 74, 64, self.dword_count);
        put(&mut d, "RQ request_type", 78, 75, self.request_type.code());
        put(&mut d, "RQ poisoned", 79, 79, self.poisoned);
        put(&mut d, "RQ requester", 95, 80, self.requester);
        put(&mut d, "RQ tag", 103, 96, self.tag);
        put(&mut d, "RQ completer", 119, 104, self.completer);
        put(
            &mut d,
            "RQ requester_id_enable",
            120,
            120,
            self.requester_id_enable,
        );
        put(&mut d, "RQ traffic_class", 123, 121, self.traffic_class);
        put(&mut d, "RQ attributes", 126, 124, self.attributes.bits());
        put(&mut d, "RQ force_ecrc", 127, 127, self.force_ecrc);
        out.extend_from_slice(&d);
    }
}
