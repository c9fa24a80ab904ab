//! The card as a PCI function: the part that every back end provides, without queue pairs and other objects of verbs.
//!
//! [`PciFunction`] is what a back end implements. The driver calls the methods of `dyn PciFunction` below it. They check offsets first, so that a
//! back end need not do so.

use std::sync::Arc;
use std::time::Duration;

use stellar_wire::host::config_space::{Bar, Function, LENGTH};
use thiserror::Error;

/// An access to the card, its memory or its interrupts that cannot be, or failed.
#[derive(Debug, Error)]
pub enum DeviceError {
    /// The offset is not a multiple of the width, so the access would be several transactions.
    #[error("{bar:?} offset {offset:#x} is no multiple of {width} bytes; an access is one transaction, so align it")]
    Misaligned {
        /// The BAR of the access.
        bar: Bar,
        /// Bytes from its start.
        offset: u64,
        /// Bytes of the access.
        width: u8,
    },
    /// Beyond the BAR.
    #[error("{bar:?} offset {offset:#x} lies outside the BAR, which has {length:#x} bytes")]
    OutsideBar {
        /// The BAR of the access.
        bar: Bar,
        /// Bytes from its start.
        offset: u64,
        /// Bytes it has.
        length: u64,
    },
    /// Beyond the configuration space, or not aligned.
    #[error("configuration offset {offset:#x} of {width} bytes; use multiples of the width below {LENGTH:#x}")]
    ConfigOffset {
        /// Bytes from its start.
        offset: u16,
        /// Bytes of the access.
        width: u8,
    },
    /// Beyond a buffer.
    #[error("bytes {offset:#x} to {end:#x} of a buffer of {length:#x} bytes; stay inside")]
    OutsideBuffer {
        /// First byte.
        offset: usize,
        /// The byte after the last one.
        end: usize,
        /// Bytes it has.
        length: usize,
    },
    /// No memory for the card.
    #[error("no DMA memory of {bytes} bytes: {reason}")]
    NoMemory {
        /// Asked for.
        bytes: usize,
        /// The reason.
        reason: String,
    },
    /// The card does not have this interrupt vector.
    #[error("interrupt vector {vector}; the card has {vectors}, numbered from 0")]
    NoVector {
        /// Asked for.
        vector: u16,
        /// How many there are.
        vectors: u16,
    },
    /// The card did not complete an action in time.
    #[error("the card did not {what} in {waited:?}; reset it")]
    NoAnswer {
        /// The action.
        what: &'static str,
        /// For how long it was waited, on its own clock.
        waited: Duration,
    },
    /// A register that is never all ones reads as all ones: nothing responds.
    #[error("cannot {what}: the card reads as all ones; it was reset, its memory space is off, or its link is down: open it again")]
    Gone {
        /// The action.
        what: &'static str,
    },
    /// The card stopped at a command.
    #[error("the card's admin queue stopped: {reason}")]
    Admin {
        /// The reason.
        reason: String,
    },
    /// The back end's own trouble.
    #[error("{what} failed: {reason}")]
    Backend {
        /// What was tried.
        what: &'static str,
        /// Why it failed.
        reason: String,
    },
}

/// Bytes of a register access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// 4 bytes: a double word.
    Four,
    /// 8 bytes: a register.
    Eight,
}

impl Width {
    /// Number of bytes in one access of this width.
    pub const fn bytes(self) -> u8 {
        match self {
            Self::Four => 4,
            Self::Eight => 8,
        }
    }

    /// The result of a read of this width to which nothing responds: all ones.
    pub const fn ones(self) -> u64 {
        u64::MAX >> (64 - 8 * self.bytes() as u32)
    }
}

/// A register access inside its BAR and aligned. Only this crate makes one, by checking it, so a back end need not check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    bar: Bar,
    offset: u64,
    width: Width,
}

impl Access {
    pub(crate) fn new(bar: Bar, offset: u64, width: Width) -> Result<Self, DeviceError> {
        let (length, bytes) = (bar.length(), u64::from(width.bytes()));
        if !offset.is_multiple_of(bytes) {
            let width = width.bytes();
            return Err(DeviceError::Misaligned { bar, offset, width });
        }
        if offset >= length {
            return Err(DeviceError::OutsideBar {
                bar,
                offset,
                length,
            });
        }
        Ok(Self { bar, offset, width })
    }

    /// The BAR.
    pub const fn bar(self) -> Bar {
        self.bar
    }

    /// Bytes from its start.
    pub const fn offset(self) -> u64 {
        self.offset
    }

    /// Bytes of the access.
    pub const fn width(self) -> Width {
        self.width
    }
}

/// Memory that the card reaches, mapped for it as long as the object lives. The card writes it at any time, so its bytes are
/// copied in and out and never borrowed.
pub trait DmaMemory: Send + Sync {
    /// Bus address of the first byte, a multiple of 4,096.
    fn address(&self) -> u64;
    /// Length in bytes.
    fn length(&self) -> usize;
    /// Copies out. The caller has checked the bounds.
    fn load(&self, offset: usize, into: &mut [u8]);
    /// Copies in. The caller has checked the bounds. What is stored is visible to the card before a later register write.
    fn store(&self, offset: usize, bytes: &[u8]);
    /// Loads eight bytes at a multiple of 8, in one piece. Later loads return what the card wrote before it wrote these bytes (acquire).
    fn load_word(&self, offset: usize) -> u64;
}

/// An interrupt vector of the card.
pub trait Interrupt: Send + Sync {
    /// Waits until the vector has been raised after the last wait that returned `true`. Returns `false` if `timeout` passed first.
    ///
    /// # Errors
    /// [`DeviceError::Backend`].
    fn wait(&self, timeout: Duration) -> Result<bool, DeviceError>;
}

/// A card by PCI: a simulated one, or a real one. It has two functions, of which [`Function::Control`] has all BARs and interrupts. Both access memory.
///
/// Register accesses are single transactions, in order, and a read returns after everything written before it has arrived.
pub trait PciFunction: Send + Sync {
    /// Reads a double word of a function's configuration space; `offset` is a multiple of 4 below [`LENGTH`].
    ///
    /// # Errors
    /// [`DeviceError::Backend`].
    fn config_load(&self, function: Function, offset: u16) -> Result<u32, DeviceError>;

    /// Writes two bytes of a function's configuration space; `offset` is a multiple of 2 below [`LENGTH`].
    ///
    /// # Errors
    /// [`DeviceError::Backend`].
    fn config_store(&self, function: Function, offset: u16, value: u16) -> Result<(), DeviceError>;

    /// Reads a register. As in PCIe, a card that does not respond gives all ones.
    ///
    /// # Errors
    /// [`DeviceError::NoAnswer`], [`DeviceError::Backend`].
    fn load(&self, access: Access) -> Result<u64, DeviceError>;

    /// Writes a register. A write of four bytes uses the low bytes of `value`.
    ///
    /// # Errors
    /// The same as [`Self::load`].
    fn store(&self, access: Access, value: u64) -> Result<(), DeviceError>;

    /// Allocates at least `bytes` bytes of zeroed host memory, contiguous and mapped at one bus address for both functions.
    ///
    /// # Errors
    /// [`DeviceError::NoMemory`].
    fn allocate_memory(&self, bytes: usize) -> Result<Arc<dyn DmaMemory>, DeviceError>;

    /// Enables MSI-X and connects `vector` to an event. It must not be called while a table row is being written, because a back end that writes the
    /// vector table itself uses the card's registers.
    ///
    /// # Errors
    /// [`DeviceError::NoVector`], [`DeviceError::Backend`].
    fn interrupt(&self, vector: u16) -> Result<Arc<dyn Interrupt>, DeviceError>;

    /// Function-level reset of both functions. Returns when they may be used again; memory stays mapped, interrupts are gone.
    ///
    /// # Errors
    /// [`DeviceError::NoAnswer`], [`DeviceError::Backend`].
    fn reset(&self) -> Result<(), DeviceError>;

    /// Time on the function's clock: simulated time of a simulated card.
    fn now(&self) -> Duration;

    /// Must be called between two polls of a value that only the card changes. The clock of a simulated card runs only here, in register accesses and
    /// in [`Interrupt::wait`]. For a real card this is a hint to the processor.
    fn relax(&self);
}

impl dyn PciFunction + '_ {
    /// Four bytes of the configuration space.
    ///
    /// # Errors
    /// [`DeviceError::ConfigOffset`], and the back end's.
    pub fn config_read32(&self, function: Function, offset: u16) -> Result<u32, DeviceError> {
        check_config(offset, 4)?;
        self.config_load(function, offset)
    }

    /// Two bytes of the configuration space.
    ///
    /// # Errors
    /// The same as `config_read32`.
    pub fn config_read16(&self, function: Function, offset: u16) -> Result<u16, DeviceError> {
        check_config(offset, 2)?;
        let word = self.config_load(function, offset & !3)?;
        Ok((word >> (8 * (offset & 3))) as u16)
    }

    /// Writes two bytes of the configuration space.
    ///
    /// # Errors
    /// The same as `config_read32`.
    pub fn config_write16(
        &self,
        function: Function,
        offset: u16,
        value: u16,
    ) -> Result<(), DeviceError> {
        check_config(offset, 2)?;
        self.config_store(function, offset, value)
    }

    /// Reads 32 bits in one transaction.
    ///
    /// # Errors
    /// [`DeviceError::Misaligned`], [`DeviceError::OutsideBar`], and the back end's.
    pub fn read32(&self, bar: Bar, offset: u64) -> Result<u32, DeviceError> {
        Ok(self.load(Access::new(bar, offset, Width::Four)?)? as u32)
    }

    /// Reads 64 bits in one transaction.
    ///
    /// # Errors
    /// The same as `read32`.
    pub fn read64(&self, bar: Bar, offset: u64) -> Result<u64, DeviceError> {
        self.load(Access::new(bar, offset, Width::Eight)?)
    }

    /// Writes 32 bits in one transaction.
    ///
    /// # Errors
    /// The same as `read32`.
    pub fn write32(&self, bar: Bar, offset: u64, value: u32) -> Result<(), DeviceError> {
        self.store(Access::new(bar, offset, Width::Four)?, value.into())
    }

    /// Writes 64 bits in one transaction.
    ///
    /// # Errors
    /// The same as `read32`.
    pub fn write64(&self, bar: Bar, offset: u64, value: u64) -> Result<(), DeviceError> {
        self.store(Access::new(bar, offset, Width::Eight)?, value)
    }
}

fn check_config(offset: u16, width: u8) -> Result<(), DeviceError> {
    if offset < LENGTH && offset.is_multiple_of(u16::from(width)) {
        Ok(())
    } else {
        Err(DeviceError::ConfigOffset { offset, width })
    }
}

/// Shared memory of host and card, with its bounds checked. Clones are the same memory, which stays mapped until the last is gone.
#[derive(Clone)]
pub struct DmaBuffer {
    memory: Arc<dyn DmaMemory>,
    /// The function it is mapped for. Held, so that no other one can be in its place.
    function: Arc<dyn PciFunction>,
}

impl DmaBuffer {
    /// Zeroed memory of `bytes` bytes, mapped for a function.
    ///
    /// # Errors
    /// [`DeviceError::NoMemory`].
    pub fn new(function: &Arc<dyn PciFunction>, bytes: usize) -> Result<Self, DeviceError> {
        if bytes == 0 {
            let reason = "it would be empty; ask for at least one byte".to_owned();
            return Err(DeviceError::NoMemory { bytes, reason });
        }
        Ok(Self {
            memory: function.allocate_memory(bytes)?,
            function: Arc::clone(function),
        })
    }

    /// Whether it is mapped for this function: another card does not reach it, or reaches other memory at its address.
    pub fn is_mapped_for(&self, function: &Arc<dyn PciFunction>) -> bool {
        Arc::ptr_eq(&self.function, function)
    }

    /// Bus address of the first byte.
    pub fn address(&self) -> u64 {
        self.memory.address()
    }

    /// Length in bytes.
    pub fn length(&self) -> usize {
        self.memory.length()
    }

    fn check(&self, offset: usize, bytes: usize) -> Result<(), DeviceError> {
        let length = self.length();
        match offset.checked_add(bytes) {
            Some(end) if end <= length => Ok(()),
            end => Err(DeviceError::OutsideBuffer {
                offset,
                end: end.unwrap_or(usize::MAX),
                length,
            }),
        }
    }

    /// Copies bytes out.
    ///
    /// # Errors
    /// [`DeviceError::OutsideBuffer`].
    pub fn read(&self, offset: usize, into: &mut [u8]) -> Result<(), DeviceError> {
        self.check(offset, into.len())?;
        self.memory.load(offset, into);
        Ok(())
    }

    /// Copies bytes in.
    ///
    /// # Errors
    /// [`DeviceError::OutsideBuffer`].
    pub fn write(&self, offset: usize, bytes: &[u8]) -> Result<(), DeviceError> {
        self.check(offset, bytes.len())?;
        self.memory.store(offset, bytes);
        Ok(())
    }

    /// Eight bytes in one piece, before everything that is read later. `offset` is rounded down to a multiple of 8.
    ///
    /// # Errors
    /// [`DeviceError::OutsideBuffer`].
    pub fn read_word(&self, offset: usize) -> Result<u64, DeviceError> {
        let offset = offset & !7;
        self.check(offset, 8)?;
        Ok(self.memory.load_word(offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_access_is_aligned_and_inside() {
        let end = Bar::Registers.length();
        assert!(Access::new(Bar::Registers, end - 8, Width::Eight).is_ok());
        assert!(Access::new(Bar::Registers, end - 4, Width::Four).is_ok());
        let outside = Access::new(Bar::Registers, end, Width::Four);
        assert!(matches!(outside, Err(DeviceError::OutsideBar { .. })));
        for (offset, width) in [(4, Width::Eight), (end - 4, Width::Eight), (2, Width::Four)] {
            let split = Access::new(Bar::Registers, offset, width);
            assert!(matches!(split, Err(DeviceError::Misaligned { .. })));
        }
    }
}
