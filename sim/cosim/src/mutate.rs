//! Damaged frames for the fuzzer.

use rand::Rng;
use stellar_wire::frame::reseal;

/// Mutates `frame` in one to three ways. About half of the mutants get a correct iCRC again, so that they pass its check.
pub fn mutate(frame: &mut Vec<u8>, rng: &mut impl Rng) {
    for _ in 0..rng.random_range(1..=3) {
        once(frame, rng);
    }
    if rng.random() {
        fix_ip_checksum(frame);
        // If the frame is too damaged for an iCRC, it stays as it is.
        let _ = reseal(frame);
    }
}

fn once(frame: &mut Vec<u8>, rng: &mut impl Rng) {
    let length = frame.len();
    match rng.random_range(0..10) {
        // Inverts any bit, most often in the headers.
        0..=3 => {
            let reach = if rng.random_range(0..4) == 0 {
                length
            } else {
                length.min(110)
            };
            let bit = rng.random_range(0..reach * 8);
            frame[bit / 8] ^= 1 << (bit % 8);
        }
        // Sets a byte of the headers to a corner value.
        4..=5 => {
            let at = rng.random_range(0..length.min(110));
            frame[at] = [0, 1, 0x7f, 0x80, 0xff][rng.random_range(0..5)];
        }
        // Cuts the frame.
        6 => frame.truncate(rng.random_range(1..=length)),
        // Makes the frame longer than its length fields.
        7 => frame.extend((0..rng.random_range(1..300)).map(|_| 0xa5)),
        // Overwrites a part with noise.
        8 => {
            let at = rng.random_range(0..length);
            let end = length.min(at + rng.random_range(1..24));
            frame[at..end].iter_mut().for_each(|b| *b = rng.random());
        }
        // Moves a part within the frame.
        _ => {
            let from = rng.random_range(0..length);
            let to = rng.random_range(0..length);
            let count = rng.random_range(1..16).min(length - from.max(to));
            frame.copy_within(from..from + count, to);
        }
    }
}

/// Corrects the checksum of an IPv4 header directly behind an untagged Ethernet header, if there is one.
fn fix_ip_checksum(frame: &mut [u8]) {
    if frame.len() < 34 || frame[12..14] != [0x08, 0x00] || frame[14] != 0x45 {
        return;
    }
    frame[24..26].fill(0);
    let mut sum: u32 = frame[14..34]
        .chunks(2)
        .map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1]))
        .sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    frame[24..26].copy_from_slice(&(!(sum as u16)).to_be_bytes());
}
