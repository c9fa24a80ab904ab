//! Accesses the storage of a port inside a model.

use std::ffi::c_void;
use std::ops::Deref;
use std::ptr::NonNull;

/// The address of a port in the model, and its width.
pub(crate) struct Slot {
    pub address: NonNull<c_void>,
    pub width: usize,
    pub writable: bool,
    /// What the model is told if the value has changed ([`Loaded::groups`](crate::library::Loaded::groups)).
    pub group: u64,
}

impl Slot {
    #[inline]
    pub fn words(&self) -> usize {
        self.width.div_ceil(32)
    }

    /// Returns a mask with ones for the bits of the top word that belong to the port.
    fn top_mask(&self) -> u32 {
        u32::MAX >> (self.words() * 32 - self.width)
    }

    /// Returns the value of a port of at most 64 bits.
    #[inline]
    pub fn narrow(&self) -> u64 {
        // SAFETY: `address` is a live port of the width checked against the model's header; Verilator keeps ports of up to 8, 16, 32 and
        // 64 bits in integers of that size (CData, SData, IData, QData in verilated.h).
        unsafe {
            match self.width {
                0..=8 => u64::from(self.address.cast::<u8>().read()),
                9..=16 => u64::from(self.address.cast::<u16>().read()),
                17..=32 => u64::from(self.address.cast::<u32>().read()),
                _ => self.address.cast::<u64>().read(),
            }
        }
    }

    /// Returns the lowest bit of a port.
    #[inline]
    pub fn lowest_bit(&self) -> bool {
        // SAFETY: as in `narrow` and `wide`, in memory with the lowest byte first: the first byte of a port of any width has its lowest bits.
        let byte = unsafe { self.address.cast::<u8>().read() };
        byte & 1 != 0
    }

    /// Sets a port of at most 64 bits. Higher bits of `value` are dropped. Returns its group if its value has changed, and no group otherwise.
    #[inline]
    pub fn set_narrow(&self, value: u64) -> u64 {
        let value = value & (u64::MAX >> (64 - self.width));
        if value == self.narrow() {
            return 0;
        }
        // SAFETY: as in `narrow`; the casts cannot lose bits after the mask.
        unsafe {
            match self.width {
                0..=8 => self.address.cast::<u8>().write(value as u8),
                9..=16 => self.address.cast::<u16>().write(value as u16),
                17..=32 => self.address.cast::<u32>().write(value as u32),
                _ => self.address.cast::<u64>().write(value),
            }
        }
        self.group
    }

    /// Returns the words of a port of more than 64 bits.
    #[inline]
    pub fn wide(&self) -> &[u32] {
        // SAFETY: Verilator keeps wider ports in an array of 32-bit words, lowest first (VlWide in verilated_types.h).
        unsafe { std::slice::from_raw_parts(self.address.cast::<u32>().as_ptr(), self.words()) }
    }

    /// Sets a port of more than 64 bits. Missing words count as zero, and bits beyond its width are dropped. Returns its group if its value has changed, and no group otherwise.
    pub fn set_wide(&self, words: &[u32]) -> u64 {
        // SAFETY: as in `wide`. The caller has exclusive access (`&mut Model`), so these words are not borrowed.
        let target = unsafe {
            std::slice::from_raw_parts_mut(self.address.cast::<u32>().as_ptr(), self.words())
        };
        let last = target.len() - 1;
        let given = words.len().min(last);
        let top = words.get(last).copied().unwrap_or(0) & self.top_mask();
        let between = given..last;
        let same = target[..given] == words[..given]
            && target[between.clone()].iter().all(|word| *word == 0)
            && target[last] == top;
        if same {
            return 0;
        }
        target[..given].copy_from_slice(&words[..given]);
        target[between].fill(0);
        target[last] = top;
        self.group
    }
}

/// The value of a port as 32-bit words, lowest first. It is borrowed from the model if the model stores words, and copied otherwise.
#[derive(Clone, Copy, Debug)]
pub enum Words<'a> {
    /// A port of more than 64 bits.
    Wide(&'a [u32]),
    /// A port of one or two words. The second field is the number of words.
    Narrow([u32; 2], usize),
}

impl Deref for Words<'_> {
    type Target = [u32];

    #[inline]
    fn deref(&self) -> &[u32] {
        match self {
            Words::Wide(words) => words,
            Words::Narrow(words, count) => &words[..*count],
        }
    }
}
