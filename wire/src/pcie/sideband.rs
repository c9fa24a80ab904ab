//! Sideband signals (`tuser`) of the streams of AMD's PCIe blocks with straddle: where TLPs begin and end in a beat.
//!
//! A beat has 512 or 1,024 bits, `width`. The n-th TLP that begins in it has the n-th place of each field of starts, and the n-th that ends has the
//! n-th place of each field of ends. The positions of 512 bits are those of PG213 and PG343. Those of 1,024 bits (PG346) follow from the same order
//! of fields, with four starts instead of two and double words of 5 bits; the widths of the streams CC (165) and RC (337) agree with it exactly.

/// Bits of the number of a double word in a beat.
pub const fn dword_bits(width: usize) -> usize {
    (width / 32).ilog2() as usize
}

/// Completer requests (CQ). The streams of the card have no straddle: a TLP begins in the first double word of a beat.
pub mod completer_request {
    use super::{dword_bits, request};

    /// 1 bit: the block found an error in the TLP. Below are, for each place, byte enables, starts and ends, and the byte enables of the beat.
    pub const fn discontinue(width: usize) -> usize {
        (12 + dword_bits(width)) * request::places(width) + width / 8
    }
}

/// Requester requests (RQ). A TLP begins at a multiple of 32 bytes.
pub mod request {
    use super::dword_bits;

    /// Most TLPs that begin in a beat.
    pub const fn places(width: usize) -> usize {
        width / 256
    }

    /// 4 bits: byte enables of the first double word.
    pub const fn first_be(n: usize) -> usize {
        4 * n
    }

    /// 4 bits: byte enables of the last double word.
    pub const fn last_be(width: usize, n: usize) -> usize {
        4 * places(width) + 4 * n
    }

    /// 1 bit: a TLP begins.
    pub const fn starts(width: usize, n: usize) -> usize {
        10 * places(width) + n
    }

    /// 2 bits: where it begins, in units of [`start_bytes`].
    pub const fn start(width: usize, n: usize) -> usize {
        11 * places(width) + 2 * n
    }

    /// Unit of [`start`]: 16 bytes in a beat of 512 bits, 32 bytes in one of 1,024.
    pub const fn start_bytes(width: usize) -> usize {
        width / 8 / 4
    }

    /// 1 bit: a TLP ends.
    pub const fn ends(width: usize, n: usize) -> usize {
        13 * places(width) + n
    }

    /// [`dword_bits`]: its last double word.
    pub const fn end(width: usize, n: usize) -> usize {
        14 * places(width) + dword_bits(width) * n
    }

    /// 1 bit: the TLP that ends in this beat is to be dropped.
    pub const fn discontinue(width: usize) -> usize {
        end(width, places(width))
    }
}

/// Requester completions (RC). A TLP begins at a multiple of 16 bytes.
pub mod completion {
    use super::dword_bits;

    /// Most TLPs that begin in a beat.
    pub const fn places(width: usize) -> usize {
        width / 128
    }

    /// Bits of the number of a place.
    pub const fn start_bits(width: usize) -> usize {
        dword_bits(width) - 2
    }

    /// 1 bit: a TLP begins. Below are the byte enables of the beat.
    pub const fn starts(width: usize, n: usize) -> usize {
        width / 8 + n
    }

    /// [`start_bits`]: where it begins, in units of 16 bytes.
    pub const fn start(width: usize, n: usize) -> usize {
        starts(width, places(width)) + start_bits(width) * n
    }

    /// 1 bit: a TLP ends.
    pub const fn ends(width: usize, n: usize) -> usize {
        start(width, places(width)) + n
    }

    /// [`dword_bits`]: its last double word.
    pub const fn end(width: usize, n: usize) -> usize {
        ends(width, places(width)) + dword_bits(width) * n
    }

    /// 1 bit: the block could not read what ends in this beat.
    pub const fn discontinue(width: usize) -> usize {
        end(width, places(width))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tables of PG213 for 512 bits.
    #[test]
    fn fields_of_512_bits_stand_where_the_guide_has_them() {
        assert_eq!((request::last_be(512, 0), request::starts(512, 0)), (8, 20));
        assert_eq!([0, 1].map(|n| request::start(512, n)), [22, 24]);
        assert_eq!((request::ends(512, 0), request::end(512, 0)), (26, 28));
        assert_eq!((request::end(512, 1), request::start_bytes(512)), (32, 16));
        assert_eq!(request::discontinue(512), 36);
        assert_eq!(
            (completion::starts(512, 0), completion::start(512, 0)),
            (64, 68)
        );
        assert_eq!(
            (completion::ends(512, 0), completion::end(512, 0)),
            (76, 80)
        );
        assert_eq!(completion::discontinue(512), 96);
    }

    /// `tuser` of RC ends with `discontinue` and a parity bit per byte.
    #[test]
    fn fields_of_1024_bits_fill_the_width_of_the_stream() {
        assert_eq!(completion::discontinue(1024) + 1 + 128, 337);
        assert_eq!(request::discontinue(1024), 76);
    }
}
