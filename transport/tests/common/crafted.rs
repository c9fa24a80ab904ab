//! Frames made good or wrong byte by byte.

use super::{only, BASE_VA};
use stellar_transport::rx::{classify_frame, DropReason, FrameOutcome, QpMode, RxConfig};
use stellar_wire::{icrc, Ip, Ipv6, RoceFrame};

pub const ETH: usize = 14;
pub const IPV4: usize = ETH;
pub const UDP: usize = IPV4 + 20;
pub const BTH: usize = UDP + 8;

pub fn classify(bytes: &[u8]) -> FrameOutcome {
    classify_frame(bytes, false, &RxConfig::default())
}

#[track_caller]
pub fn expect(bytes: &[u8], reason: DropReason) {
    let outcome = classify(bytes);
    assert_eq!(outcome.reason, reason);
    assert_eq!(outcome.headers.is_none(), reason != DropReason::None);
}

pub fn frame() -> RoceFrame {
    only(QpMode::Rc, 7, BASE_VA, 61)
}

pub fn bytes() -> Vec<u8> {
    frame().emit().expect("frame")
}

pub fn bytes_v6() -> Vec<u8> {
    let ip = Ip::V6(Ipv6::default());
    RoceFrame { ip, ..frame() }.emit().expect("frame")
}

/// Makes the IPv4 header checksum right after a field was changed.
pub fn fix_checksum(bytes: &mut [u8]) {
    let header: [u8; 20] = bytes[IPV4..UDP].try_into().expect("20 bytes");
    let checksum = stellar_wire::ipv4::header_checksum(&header);
    bytes[IPV4 + 10..IPV4 + 12].copy_from_slice(&checksum.to_be_bytes());
}

/// Changes a byte of a good IPv4 frame and makes checksum and iCRC right again.
pub fn with_byte(at: usize, value: u8) -> Vec<u8> {
    let mut bytes = bytes();
    bytes[at] = value;
    fix_checksum(&mut bytes);
    let packet = &mut bytes[IPV4..];
    if packet[0] == 0x45 && packet[9] == 17 {
        icrc::seal(packet).expect("still a UDP packet");
    }
    bytes
}

/// Sets both lengths to the actual ones, and seals the frame. This is for frames that were cut or extended.
pub fn with_true_lengths(mut bytes: Vec<u8>) -> Vec<u8> {
    let total = (bytes.len() - IPV4) as u16;
    bytes[IPV4 + 2..IPV4 + 4].copy_from_slice(&total.to_be_bytes());
    bytes[UDP + 4..UDP + 6].copy_from_slice(&(total - 20).to_be_bytes());
    fix_checksum(&mut bytes);
    // Too short for a BTH: there is nothing an iCRC could be computed over.
    let _ = icrc::seal(&mut bytes[IPV4..]);
    bytes
}
