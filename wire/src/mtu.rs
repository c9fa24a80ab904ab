//! Path MTUs: the payload that packets of one queue pair carry at most (IBTA volume 1, 9.4: a message is cut into packets of the path MTU).
//!
//! IBTA codes 256 to 4,096 bytes as 1 to 5. 8,192, its own next step, is code 6: RoCEv2 over jumbo frames and MRC carry it, the
//! InfiniBand link does not. Tables of the card hold the logarithm.

/// log2 of the smallest path MTU, 256 bytes.
pub const MIN_LOG2: u8 = 8;
/// log2 of the largest path MTU, 8,192 bytes.
pub const MAX_LOG2: u8 = 13;
/// Largest payload of a packet in bytes: the largest path MTU.
pub const MAX_PAYLOAD: usize = 1 << MAX_LOG2;
/// Bits of a payload length, 0 to [`MAX_PAYLOAD`].
pub const LENGTH_BITS: usize = MAX_LOG2 as usize + 1;

// Fields of the records in `hw` need the plain number: rustc fails on closures that capture a field whose width is a named constant.
const _: () = assert!(LENGTH_BITS == 14);

/// Returns the log2 of a path MTU, given its size in bytes.
///
/// # Errors
/// [`BadMtu`] if the size is not a path MTU.
pub fn log2(bytes: u32) -> Result<u8, BadMtu> {
    (MIN_LOG2..=MAX_LOG2)
        .find(|&log2| bytes == 1 << log2)
        .ok_or(BadMtu(bytes))
}

/// The code of the path MTU of 2^`log2` bytes, as `ibv_devinfo` shows it: 1 for 256 bytes.
pub const fn code(log2: u8) -> u8 {
    log2 - MIN_LOG2 + 1
}

/// No path MTU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no path MTU of {0} bytes: use 256, 512, 1024, 2048, 4096 or 8192")]
pub struct BadMtu(pub u32);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_the_powers_of_two_from_256_to_8192() {
        let sizes = [256, 512, 1024, 2048, 4096, 8192].map(log2);
        assert_eq!(sizes, [8, 9, 10, 11, 12, 13].map(Ok));
        for bytes in [0, 1, 128, 255, 4095, 4097, 8191, 16_384, u32::MAX] {
            assert_eq!(log2(bytes), Err(BadMtu(bytes)));
        }
        assert_eq!(
            BadMtu(16_384).to_string(),
            "no path MTU of 16384 bytes: use 256, 512, 1024, 2048, 4096 or 8192"
        );
    }

    #[test]
    fn codes_begin_at_1() {
        assert_eq!([8, 12, 13].map(code), [1, 5, 6]);
    }
}
