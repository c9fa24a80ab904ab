//! The content of a stream in one cycle.

use crate::BEAT;

/// 32-bit words of the widest beat.
pub(crate) const WORDS: usize = BEAT / 4;

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
    /// A beat without bytes.
    pub const EMPTY: Self = Self {
        words: [0; WORDS],
        bytes: 0,
        last: false,
    };

    /// Makes it a beat from the words of a port, in place: a beat is large to be moved. Words beyond those of the port stay.
    ///
    /// # Panics
    /// If the port is wider than a beat.
    #[inline]
    pub fn set(&mut self, port: &[u32], bytes: usize, last: bool) {
        self.words[..port.len()].copy_from_slice(port);
        self.bytes = bytes;
        self.last = last;
    }

    /// A beat of `bytes`.
    ///
    /// # Panics
    /// If there are more than [`BEAT`] of them.
    pub fn new(bytes: &[u8], last: bool) -> Self {
        assert!(bytes.len() <= BEAT, "a beat of {} bytes", bytes.len());
        let mut words = [0; WORDS];
        let whole = put_words(bytes, &mut words);
        let rest = &bytes[4 * whole..];
        if !rest.is_empty() {
            let mut four = [0; 4];
            four[..rest.len()].copy_from_slice(rest);
            words[whole] = u32::from_le_bytes(four);
        }
        let bytes = bytes.len();
        Self { words, bytes, last }
    }

    /// A beat from the words of a port.
    ///
    /// # Panics
    /// If the port is wider than a beat.
    #[inline]
    pub fn from_port(port: &[u32], bytes: usize, last: bool) -> Self {
        let mut beat = Self::EMPTY;
        beat.set(port, bytes, last);
        beat
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
        append_bytes(&self.words, count, to);
    }
}

/// Copies the whole words of `bytes` to the start of `to`, and returns their number.
pub(crate) fn put_words(bytes: &[u8], to: &mut [u32]) -> usize {
    let fours = bytes.chunks_exact(4);
    let count = fours.len();
    for (word, four) in to.iter_mut().zip(fours) {
        *word = u32::from_le_bytes([four[0], four[1], four[2], four[3]]);
    }
    count
}

/// Appends the first `count` bytes of `words`, which are at most those of a beat, to `to`.
pub(crate) fn append_bytes(words: &[u32], count: usize, to: &mut Vec<u8>) {
    // A whole beat needs no zeros first.
    if let Ok(words) = <[u32; WORDS]>::try_from(words) {
        let all = words.map(u32::to_le_bytes);
        to.extend_from_slice(&all.as_flattened()[..count]);
        return;
    }
    let mut all = [[0; 4]; WORDS];
    for (four, word) in all.iter_mut().zip(words) {
        *four = word.to_le_bytes();
    }
    to.extend_from_slice(&all.as_flattened()[..count]);
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
