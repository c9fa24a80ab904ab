//! Packet sequence numbers: 24 bits, compared modulo 2^24.

/// A packet sequence number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Psn(u32);

impl Psn {
    /// Numbers before they repeat.
    pub const MODULUS: u32 = 1 << 24;

    /// The number congruent to `value` modulo 2^24.
    #[inline]
    pub const fn new(value: u32) -> Self {
        Self(value % Self::MODULUS)
    }

    /// The number, 0 to 2^24 - 1.
    #[inline]
    pub const fn value(self) -> u32 {
        self.0
    }

    /// The number `count` after this one.
    #[inline]
    pub const fn plus(self, count: u32) -> Self {
        // The modulus divides 2^32, so what wraps there does not change the result.
        Self::new(self.0.wrapping_add(count))
    }

    /// The number before this one.
    #[inline]
    pub const fn previous(self) -> Self {
        self.plus(Self::MODULUS - 1)
    }

    /// Steps forward from `origin` to this number, 0 to 2^24 - 1.
    #[inline]
    pub const fn distance_from(self, origin: Self) -> u32 {
        self.0.wrapping_sub(origin.0) % Self::MODULUS
    }

    /// Whether the shorter way from `origin` to this number leads backwards. Half way round counts as behind
    /// (InfiniBand architecture volume 1, section 9.7.2: the duplicate region is the 2^23 numbers before the expected).
    #[inline]
    pub const fn is_behind(self, origin: Self) -> bool {
        self.distance_from(origin) >= Self::MODULUS / 2
    }
}
