//! The expected contents of a region.

use anyhow::bail;
use rand::RngCore;
use rand_chacha::ChaCha8Rng;

/// Bytes of each region: room for all messages of a case and the gaps between them.
pub const REGION: usize = 5 << 19;

/// The expected contents of a region.
pub struct Image {
    name: &'static str,
    bytes: Vec<u8>,
    /// Messages that may be incomplete: offset and bytes.
    parts: Vec<(usize, Vec<u8>)>,
}

impl Image {
    /// Random bytes.
    pub fn random(name: &'static str, random: &mut ChaCha8Rng) -> Self {
        let mut bytes = vec![0; REGION];
        random.fill_bytes(&mut bytes);
        Self {
            name,
            bytes,
            parts: Vec::new(),
        }
    }

    /// Returns all bytes of the memory.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Expects `length` bytes of `source`, from offset `from` on, at offset `at`.
    pub fn expect(&mut self, at: u64, source: &Self, from: u64, length: u32) {
        let (at, from, length) = (at as usize, from as usize, length as usize);
        self.bytes[at..at + length].copy_from_slice(&source.bytes[from..from + length]);
    }

    /// Does what [`Self::expect`] does for a message that may be incomplete: any number of its bytes, from the first on.
    pub fn expect_part(&mut self, at: u64, source: &Self, from: u64, length: u32) {
        let (from, length) = (from as usize, length as usize);
        let message = source.bytes[from..from + length].to_vec();
        self.parts.push((at as usize, message));
    }

    /// The expected bytes, with as much of each incomplete message as `found` contains.
    fn expected(&self, found: &[u8]) -> Vec<u8> {
        let mut expected = self.bytes.clone();
        for (at, message) in &self.parts {
            let there = found.iter().skip(*at).zip(message);
            let come = there.take_while(|(a, b)| a == b).count();
            expected[*at..at + come].copy_from_slice(&message[..come]);
        }
        expected
    }

    /// Compares every byte.
    ///
    /// # Errors
    /// Names the first difference and the number of differences.
    pub fn compare(&self, found: &[u8]) -> anyhow::Result<()> {
        let expected = self.expected(found);
        let differs = |&at: &usize| found.get(at) != expected.get(at);
        let length = expected.len().max(found.len());
        let Some(first) = (0..length).find(differs) else {
            return Ok(());
        };
        let count = (first..length).filter(differs).count();
        let shown = |bytes: &[u8]| {
            let end = bytes.len().min(first + 8);
            bytes.get(first..end).map_or_else(String::new, hex)
        };
        bail!(
            "{}: {count} bytes are wrong, the first at offset {first:#x}: {} instead of {}",
            self.name,
            shown(found),
            shown(&expected)
        );
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn a_wrong_byte_is_found_wherever_it_is() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let source = Image::random("source", &mut random);
        let mut target = Image::random("target", &mut random);
        target.expect(101, &source, 7, 1000);
        let mut found = target.bytes().to_vec();
        assert_eq!(found[101..1101], source.bytes()[7..1007]);
        target.compare(&found).unwrap();
        for at in [0, 100, 101, REGION - 1] {
            found[at] ^= 1;
            let error = target.compare(&found).unwrap_err().to_string();
            let place = format!("1 bytes are wrong, the first at offset {at:#x}");
            assert!(error.contains(&place), "{error}");
            found[at] ^= 1;
        }
        found.pop();
        assert!(target.compare(&found).is_err());
    }

    #[test]
    fn a_message_in_part_is_there_from_its_first_byte_on() {
        let mut random = ChaCha8Rng::seed_from_u64(2);
        let source = Image::random("source", &mut random);
        let mut target = Image::random("target", &mut random);
        let mut found = target.bytes().to_vec();
        target.expect_part(50, &source, 9, 100);
        for come in [0, 1, 60, 100] {
            found[50..50 + come].copy_from_slice(&source.bytes()[9..9 + come]);
            target.compare(&found).unwrap();
        }
        found[60] ^= 1;
        assert!(target.compare(&found).is_err(), "a hole in the message");
    }
}
