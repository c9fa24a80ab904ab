//! The content of a 1,024-bit stream in one cycle.

use crate::BEAT;

/// 32-bit words of a beat.
const WORDS: usize = BEAT / 4;

/// A beat of a frame, a completion or a write. It is stored in words, as ports are, so no copy is made byte by byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beat {
    /// The first byte is in the low bits of the first word. Bytes beyond `bytes` have no meaning.
    pub words: [u32; WORDS],
    /// Number of valid bytes, at most 128.
    pub bytes: usize,
    /// Whether it is the last of its frame, completion or write.
    pub last: bool,
}

impl Beat {
    /// A beat of `bytes`, at most 128 of them.
    pub fn new(bytes: &[u8], last: bool) -> Self {
        let mut padded = [0; BEAT];
        padded[..bytes.len()].copy_from_slice(bytes);
        let mut words = [0; WORDS];
        for (word, four) in words.iter_mut().zip(padded.chunks_exact(4)) {
            *word = u32::from_le_bytes(four.try_into().expect("chunks of four"));
        }
        let bytes = bytes.len();
        Self { words, bytes, last }
    }

    /// A beat from a port's words.
    pub fn from_port(port: &[u32], bytes: usize, last: bool) -> Self {
        let mut words = [0; WORDS];
        words.copy_from_slice(port);
        Self { words, bytes, last }
    }

    /// Appends its first `bytes` bytes to `to`.
    pub fn append_to(&self, to: &mut Vec<u8>) {
        let mut all = [0; BEAT];
        for (four, word) in all.chunks_exact_mut(4).zip(self.words) {
            four.copy_from_slice(&word.to_le_bytes());
        }
        to.extend_from_slice(&all[..self.bytes]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_whatever_their_number() {
        let bytes: Vec<u8> = (1..=BEAT as u8).collect();
        for count in 1..=BEAT {
            let beat = Beat::new(&bytes[..count], true);
            assert_eq!((beat.bytes, beat.last), (count, true));
            let mut out = vec![0xee];
            beat.append_to(&mut out);
            assert_eq!((out[0], &out[1..]), (0xee, &bytes[..count]));
        }
    }
}
