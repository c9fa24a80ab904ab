//! The content of a stream in one cycle.

use crate::BEAT;

/// 32-bit words of the widest beat.
const WORDS: usize = BEAT / 4;

/// A beat of a frame, a completion or a write, of a stream of up to 1,024 bits. It is stored in words, as ports are, so no copy is made byte by byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beat {
    /// The first byte is in the low bits of the first word. Bytes beyond `bytes` have no meaning.
    pub words: [u32; WORDS],
    /// Number of valid bytes, at most [`BEAT`].
    pub bytes: usize,
    /// Whether it is the last of its frame, completion or write.
    pub last: bool,
}

impl Beat {
    /// A beat of `bytes`.
    ///
    /// # Panics
    /// If there are more than [`BEAT`] of them.
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

    /// A beat from the words of a port.
    ///
    /// # Panics
    /// If the port is wider than a beat.
    pub fn from_port(port: &[u32], bytes: usize, last: bool) -> Self {
        let mut words = [0; WORDS];
        words[..port.len()].copy_from_slice(port);
        Self { words, bytes, last }
    }

    /// The beat's words for a port of `width` bytes.
    pub fn for_port(&self, width: usize) -> &[u32] {
        &self.words[..width / 4]
    }

    /// Appends its first `count` bytes to `to`.
    ///
    /// # Panics
    /// If `count` is larger than [`BEAT`].
    pub fn append_to(&self, count: usize, to: &mut Vec<u8>) {
        let mut all = [[0; 4]; WORDS];
        for (four, word) in all.iter_mut().zip(&self.words) {
            *four = word.to_le_bytes();
        }
        to.extend_from_slice(&all.as_flattened()[..count]);
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
            beat.append_to(count, &mut out);
            assert_eq!((out[0], &out[1..]), (0xee, &bytes[..count]));
        }
    }

    #[test]
    fn a_narrow_port_has_the_low_words() {
        let beat = Beat::new(&[1, 2, 3, 4, 5], true);
        assert_eq!(beat.for_port(8), [0x0403_0201, 5]);
        assert_eq!(Beat::from_port(beat.for_port(8), 5, true), beat);
    }
}
