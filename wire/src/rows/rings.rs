//! Rings in host memory that the card writes, and the interrupts that announce their entries.

#[cfg(feature = "hdl")]
use rust_hdl::prelude::*;

row! {
    /// Registers of a ring in host memory, checked by software.
    pub struct RingRow => RingConfig {
        /// There is a ring. Without one, every entry is lost.
        valid: bool => Bit,
        /// The reader wants interrupts when it arms the ring.
        interrupts: bool => Bit,
        /// Interrupt vector.
        vector: u16 => Bits<6>,
        /// log2 of the entries, 0 to 20.
        log2_entries: u8 => Bits<5>,
        /// Bus address of entry 0, a multiple of an entry's length.
        base: u64 => Bits<64>,
    }
}

row! {
    /// One vector of the MSI-X table (PCIe base specification, section 6.1.4.2 and 7.7.2).
    pub struct InterruptRow => InterruptEntry {
        /// The vector is masked, so its messages are held back (vector control, mask bit).
        masked: bool => Bit,
        /// Message data.
        data: u32 => Bits<32>,
        /// Message address, a multiple of 4.
        address: u64 => Bits<64>,
    }
}
