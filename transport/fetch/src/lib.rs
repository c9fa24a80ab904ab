//! Asks the processor for memory that is needed soon.
//!
//! A simulation of thousands of cards does not fit into the processor's caches. An event alone waits for one line of memory after another, while
//! lines that are asked for in advance come together, and nobody waits for them. Asking changes no value: a program gives the same results without it.

#![warn(missing_docs)]

/// Bytes of a line of the cache.
const LINE: usize = 64;

/// Asks for the lines of a value. On processors other than x86-64 it does nothing.
#[inline(always)]
pub fn fetch<T>(value: &T) {
    let start = std::ptr::from_ref(value).cast::<u8>();
    // Whatever its alignment, a value ends in the line of its last byte.
    for offset in (0..size_of::<T>()).step_by(LINE) {
        fetch_line(start.wrapping_add(offset));
    }
    if size_of::<T>() % LINE != 1 {
        fetch_line(start.wrapping_add(size_of::<T>().saturating_sub(1)));
    }
}

/// Asks for the line of the first element of a slice from `index` on, if it has one.
#[inline(always)]
pub fn fetch_at<T>(values: &[T], index: usize) {
    if let Some(value) = values.get(index) {
        fetch(value);
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn fetch_line(address: *const u8) {
    use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
    // SAFETY: the instruction reads nothing that the program sees, and does not fault at any address (Intel SDM, PREFETCHh).
    unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn fetch_line(_: *const u8) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_any_size_and_place_can_be_asked_for() {
        let bytes: Vec<u8> = (0..=255).collect();
        for index in 0..300 {
            fetch_at(&bytes, index);
        }
        fetch(&());
        fetch(&[7u8; 65]);
        fetch(&[7u64; 1000]);
        assert_eq!(
            bytes.iter().map(|&byte| u32::from(byte)).sum::<u32>(),
            32_640
        );
    }
}
