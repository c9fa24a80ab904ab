//! Frames, and the time that they take on a wire of 100 Gb/s.
use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// Bytes of a beat.
pub const BEAT: usize = 64;
/// Frame check sequence, preamble and gap between frames.
pub const AROUND: usize = 4 + 8 + 12;
/// Femtoseconds for a byte at 100 Gb/s.
pub const BYTE_FS: u64 = 80_000;

/// Femtoseconds of a frame without check sequence.
pub fn time_of(bytes: usize) -> u64 {
    (bytes + AROUND) as u64 * BYTE_FS
}

/// A frame, by its number and length without check sequence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame {
    pub number: u32,
    pub bytes: usize,
    pub error: bool,
}

impl Frame {
    pub fn beats(self) -> usize {
        self.bytes.div_ceil(BEAT)
    }

    pub fn bytes_of(self, beat: usize) -> usize {
        (self.bytes - beat * BEAT).min(BEAT)
    }

    pub fn is_last(self, beat: usize) -> bool {
        beat + 1 == self.beats()
    }

    /// The words of a beat, those without a valid byte zero. Every word says of which frame it is, and where.
    pub fn words(self, beat: usize) -> [u32; BEAT / 4] {
        let bytes = self.bytes_of(beat);
        std::array::from_fn(|word| {
            let valid = bytes.saturating_sub(4 * word).min(4);
            let place = (beat * BEAT / 4 + word) as u32;
            let value = self.number.wrapping_mul(0x9e37_79b1) ^ place.wrapping_mul(0x85eb_ca77);
            value
                & (u64::MAX >> (64 - 8 * valid.max(1))) as u32
                & if valid == 0 { 0 } else { u32::MAX }
        })
    }
}

/// Lengths without check sequence: minimum frames, around the borders of beats, and up to 9,216 bytes.
pub fn random_bytes(rng: &mut ChaCha8Rng) -> usize {
    match rng.random_range(0..8) {
        0..3 => rng.random_range(60..=132),
        3..6 => rng.random_range(60..=700),
        6 => (rng.random_range(1..=144) * BEAT + rng.random_range(0..3)).max(60) - 1,
        _ => rng.random_range(60..=9_216),
    }
}
