//! Requester completion: the completion of a DMA read.

use super::{get, get_dword_count, put, put_dword_count};
use crate::header::split;
use crate::pcie::{Attributes, CompletionStatus};
use crate::{Header, WireError};

/// RC descriptor, 12 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequesterCompletion {
    /// Low 12 bits of the address of the first byte.
    pub lower_address: u16,
    /// The block's verdict on the request, 4 bits; 0 = completed normally.
    pub error_code: u8,
    /// Bytes the request still waits for, these included, 13 bits.
    pub byte_count: u16,
    /// Answer to a locked read.
    pub locked: bool,
    /// Last completion of the request.
    pub request_completed: bool,
    /// Double words of payload, 0 to 1024.
    pub dword_count: u16,
    pub status: CompletionStatus,
    pub poisoned: bool,
    pub requester: u16,
    /// Tag bits 7:0.
    pub tag: u8,
    pub completer: u16,
    /// 3 bits.
    pub traffic_class: u8,
    pub attributes: Attributes,
}

impl Header for RequesterCompletion {
    const LEN: usize = 12;
    const NAME: &'static str = "RC descriptor";

    /// Besides truncation: [`WireError::BadField`] for an undefined status and for more than 1024 double words.
    fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (d, rest) = split::<{ Self::LEN }>(Self::NAME, bytes)?;
        let descriptor = Self {
            lower_address: get(d, 11, 0) as u16,
            error_code: get(d, 15, 12) as u8,
            byte_count: get(d, 28, 16) as u16,
            locked: get(d, 29, 29) != 0,
            request_completed: get(d, 30, 30) != 0,
            dword_count: get_dword_count(d, 42, 32)?,
            status: CompletionStatus::from_field(get(d, 45, 43) as u8)?,
            poisoned: get(d, 46, 46) != 0,
            requester: get(d, 63, 48) as u16,
            tag: get(d, 71, 64) as u8,
            completer: get(d, 87, 72) as u16,
            traffic_class: get(d, 91, 89) as u8,
            attributes: Attributes::from_bits(get(d, 94, 92) as u8),
        };
        Ok((descriptor, rest))
    }

    fn emit(&self, out: &mut Vec<u8>) {
        let mut d = [0; Self::LEN];
        put(&mut d, "RC lower_address", 11, 0, self.lower_address);
        put(&mut d, "RC error_code", 15, 12, self.error_code);
        put(&mut d, "RC byte_count", 28, 16, self.byte_count);
        put(&mut d, "RC locked", 29, 29, self.locked);
        put(
            &mut d,
            "RC request_completed",
            30,
            30,
            self.request_completed,
        );
        put_dword_count(&mut d, 42, 32, self.dword_count);
        put(&mut d, "RC status", 45, 43, self.status.code());
        put(&mut d, "RC poisoned", 46, 46, self.poisoned);
        put(&mut d, "RC requester", 63, 48, self.requester);
        put(&mut d, "RC tag", 71, 64, self.tag);
        put(&mut d, "RC completer", 87, 72, self.completer);
        put(&mut d, "RC traffic_class", 91, 89, self.traffic_class);
        put(&mut d, "RC attributes", 94, 92, self.attributes.bits());
        out.extend_from_slice(&d);
    }
}
