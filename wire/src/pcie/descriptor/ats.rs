//! Messages of Address Translation Services: invalidations, as AMD's blocks pass them on.

use super::{get, put};
use crate::header::split;
use crate::{Header, WireError};

/// Request type of ATS messages in CQ and RQ descriptors.
const ATS_MESSAGE: u8 = 0b1110;
/// `routing` of a message that is routed by ID (PCIe base specification, section 2.2.8).
const BY_ID: u8 = 0b010;
/// Message codes of Invalidate Request and Invalidate Completion.
const INVALIDATE_REQUEST: u8 = 0x01;
const INVALIDATE_COMPLETION: u8 = 0x02;

/// Unit of ranges: 4,096 bytes.
const PAGE: u64 = 4096;
/// S, bit 11 of the body: the range is larger than a page.
const LARGE: u64 = 1 << 11;
/// A range is 2^63 bytes at most.
const LARGEST_SHIFT: u32 = 50;
/// Double words of the body.
const BODY_DWORDS: u16 = 2;
/// The largest Completion Count, which the field of 3 bits holds as 0.
const MOST_COPIES: u8 = 8;

/// Invalidate Request at CQ: descriptor of 16 bytes, and body (PCIe base specification, section 10.3.1). The host takes translations back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidateRequest {
    /// ID of the translation agent, which gets the completion.
    pub requester: u16,
    /// ID of the function whose translations become invalid.
    pub device: u16,
    /// ITag, 0 to 31.
    pub tag: u8,
    /// First untranslated address, a multiple of `len`.
    pub address: u64,
    /// Bytes: a power of two from 4,096 on.
    pub len: u64,
}

/// Descriptor of Invalidate Completion at RQ, 16 bytes; there is no body (PCIe base specification, section 10.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidateCompletion {
    /// ID of the translation agent.
    pub target: u16,
    /// Bit n: the request with ITag n is complete.
    pub tags: u32,
    /// Completion Count: copies of this message that are sent for the request, one for each traffic class in use, 1 to 8.
    pub count: u8,
}

/// Whether the descriptor is one of ATS messages.
pub fn is_ats_message(descriptor: &[u8; 16]) -> bool {
    get(descriptor, 78, 75) == u64::from(ATS_MESSAGE)
}

/// Address and size in one word: of a range larger than a page, S is set, and the lowest address bit that is 0 says how large it is.
fn body(address: u64, len: u64) -> u64 {
    assert!(
        len.is_power_of_two() && len >= PAGE && address.is_multiple_of(len),
        "invalidation of {len:#x} bytes at {address:#x}: use a power of two from {PAGE} on, and a multiple of it"
    );
    match len {
        PAGE => address,
        _ => address | LARGE | (len / 2 - PAGE),
    }
}

fn range(body: u64) -> (u64, u64) {
    let len = match body & LARGE {
        0 => PAGE,
        _ => (2 * PAGE) << (body / PAGE).trailing_ones().min(LARGEST_SHIFT),
    };
    (body & !(len - 1), len)
}

/// Checks the bits by which a descriptor is one of message `code`.
fn check(d: &[u8], code: u8, dwords: u16) -> Result<(), WireError> {
    for (field, value, expected) in [
        (
            "descriptor request type",
            get(d, 78, 75),
            u64::from(ATS_MESSAGE),
        ),
        ("message code", get(d, 111, 104), u64::from(code)),
        ("message routing", get(d, 114, 112), u64::from(BY_ID)),
        ("message dword_count", get(d, 74, 64), u64::from(dwords)),
    ] {
        if value != expected {
            return Err(WireError::BadField { field, value });
        }
    }
    Ok(())
}

fn put_kind(d: &mut [u8], code: u8, dwords: u16) {
    put(d, "message dword_count", 74, 64, dwords);
    put(d, "descriptor request type", 78, 75, ATS_MESSAGE);
    put(d, "message code", 111, 104, code);
    put(d, "message routing", 114, 112, BY_ID);
}

impl Header for InvalidateRequest {
    const LEN: usize = 24;
    const NAME: &'static str = "ATS Invalidate Request";

    /// Besides truncation: [`WireError::BadField`] for another message, and for a tag above 31.
    fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (d, rest) = split::<{ Self::LEN }>(Self::NAME, bytes)?;
        check(d, INVALIDATE_REQUEST, BODY_DWORDS)?;
        let tag = get(d, 103, 96);
        if tag > 31 {
            let field = "ITag";
            return Err(WireError::BadField { field, value: tag });
        }
        let mut word = [0; 8];
        word.copy_from_slice(&d[16..]);
        let (address, len) = range(u64::from_be_bytes(word));
        let request = Self {
            requester: get(d, 95, 80) as u16,
            device: u16::from_be_bytes([d[0], d[1]]),
            tag: tag as u8,
            address,
            len,
        };
        Ok((request, rest))
    }

    fn emit(&self, out: &mut Vec<u8>) {
        let mut d = [0; 16];
        d[..2].copy_from_slice(&self.device.to_be_bytes());
        put_kind(&mut d, INVALIDATE_REQUEST, BODY_DWORDS);
        put(&mut d, "message requester", 95, 80, self.requester);
        put(&mut d, "ITag", 100, 96, self.tag);
        out.extend_from_slice(&d);
        out.extend_from_slice(&body(self.address, self.len).to_be_bytes());
    }
}

impl Header for InvalidateCompletion {
    const LEN: usize = 16;
    const NAME: &'static str = "ATS Invalidate Completion";

    /// Besides truncation: [`WireError::BadField`] for another message.
    fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (d, rest) = split::<{ Self::LEN }>(Self::NAME, bytes)?;
        check(d, INVALIDATE_COMPLETION, 0)?;
        let completion = Self {
            target: u16::from_be_bytes([d[0], d[1]]),
            tags: u32::from_be_bytes([d[4], d[5], d[6], d[7]]),
            count: match get(d, 26, 24) {
                0 => MOST_COPIES,
                count => count as u8,
            },
        };
        Ok((completion, rest))
    }

    fn emit(&self, out: &mut Vec<u8>) {
        let mut d = [0; Self::LEN];
        d[..2].copy_from_slice(&self.target.to_be_bytes());
        d[4..8].copy_from_slice(&self.tags.to_be_bytes());
        assert!(
            (1..=MOST_COPIES).contains(&self.count),
            "Completion Count {}: 1 to {MOST_COPIES}",
            self.count
        );
        put(&mut d, "Completion Count", 26, 24, self.count % MOST_COPIES);
        put_kind(&mut d, INVALIDATE_COMPLETION, 0);
        out.extend_from_slice(&d);
    }
}
