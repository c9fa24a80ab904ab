//! Expected requests and data of a command, computed independently of the engine.

use std::collections::VecDeque;

use rust_hdl::prelude::*;
use stellar_wire::hw::core::DmaSegments;
use stellar_wire::hw::read::{ReadCommand, ReadTlpHeader};
use stellar_wire::pcie::{AddressType, DwSpan};

/// A page of memory, or a part of one.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    pub address: u64,
    pub length: usize,
    pub translated: bool,
}

/// One memory read request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request {
    pub span: DwSpan,
    pub address_type: AddressType,
}

/// Memory in which every byte of both address spaces has a value that depends on its address.
pub fn byte(address: u64, address_type: AddressType) -> u8 {
    let mixed = (address ^ u64::from(address_type == AddressType::Translated) << 63)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 29)
        .wrapping_mul(0xbf58_476d_1ce4_e5b9)
        .to_be_bytes()[0]
}

impl Segment {
    pub fn address_type(&self) -> AddressType {
        if self.translated {
            AddressType::Translated
        } else {
            AddressType::Untranslated
        }
    }
}

/// The requests for `segments`: cut at multiples of `mrrs`, which divide 4 KiB.
pub fn requests(segments: &[Segment], mrrs: usize) -> VecDeque<Request> {
    let mut requests = VecDeque::new();
    for segment in segments {
        let mut done = 0;
        while done < segment.length {
            let address = segment.address + done as u64;
            let length = (segment.length - done).min(mrrs - address as usize % mrrs);
            requests.push_back(Request {
                span: DwSpan::new(address, length).expect("a cut at multiples of a power of two"),
                address_type: segment.address_type(),
            });
            done += length;
        }
    }
    requests
}

/// The bytes of `segments`.
pub fn payload(segments: &[Segment]) -> Vec<u8> {
    let bytes = |p: &Segment| {
        let (address, at) = (p.address, p.address_type());
        (0..p.length as u64).map(move |i| byte(address + i, at))
    };
    segments.iter().flat_map(bytes).collect()
}

/// The command for one to three `segments`.
pub fn command(segments: &[Segment], user: u32) -> ReadCommand {
    let (second, third) = (segments.get(1), segments.get(2));
    // For a single segment, a first length beyond the command's length counts as the command's.
    let beyond = if second.is_none() {
        u64::from(user % 3)
    } else {
        0
    };
    ReadCommand {
        length: (segments.iter().map(|p| p.length as u64).sum::<u64>()).to_bits(),
        segments: DmaSegments {
            first_length: (segments[0].length as u64 + beyond).to_bits(),
            first_address: segments[0].address.to_bits(),
            first_translated: segments[0].translated,
            second_address: second.map_or(0, |p| p.address).to_bits(),
            second_translated: second.is_some_and(|p| p.translated),
            has_third: third.is_some(),
            third_address: third.map_or(0, |p| p.address).to_bits(),
            third_translated: third.is_some_and(|p| p.translated),
        },
        user: u64::from(user).to_bits(),
    }
}

/// The record of `request`, without its tag.
pub fn header(request: &Request, tag: u8) -> ReadTlpHeader {
    ReadTlpHeader {
        address_dw: (request.span.address >> 2).to_bits(),
        at: u64::from(request.address_type.code()).to_bits(),
        length_dw: u64::from(request.span.length_dw).to_bits(),
        first_be: u64::from(request.span.first_be).to_bits(),
        last_be: u64::from(request.span.last_be).to_bits(),
        tag: u64::from(tag).to_bits(),
    }
}
