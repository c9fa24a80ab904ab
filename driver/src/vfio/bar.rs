//! Registers that are mapped here.

use std::sync::atomic::{fence, Ordering};

use vm_memory::{Bytes, VolatileSlice};

use crate::device::{Access, Width};

const INSIDE: &str = "an access lies inside its BAR and is aligned, and the whole BAR is mapped";

/// Reads a register of a BAR in one load of its width: relaxed atomic loads and stores are the plain ones of the processor, and unlike
/// volatile ones are never split.
pub fn load(bar: &VolatileSlice<'_>, access: Access) -> u64 {
    let (at, order) = (access.offset() as usize, Ordering::Relaxed);
    let word = match access.width() {
        Width::Four => bar
            .load::<u32>(at, order)
            .map(|word| u32::from_le(word).into()),
        Width::Eight => bar.load::<u64>(at, order).map(u64::from_le),
    };
    word.expect(INSIDE)
}

/// Writes a register or doorbell. An access of four bytes writes the low half of `value`. The card sees all earlier stores to memory before this write.
pub fn store(bar: &VolatileSlice<'_>, access: Access, value: u64) {
    let (at, order) = (access.offset() as usize, Ordering::Relaxed);
    fence(Ordering::SeqCst);
    let stored = match access.width() {
        Width::Four => bar.store((value as u32).to_le(), at, order),
        Width::Eight => bar.store(value.to_le(), at, order),
    };
    stored.expect(INSIDE);
}

#[cfg(test)]
mod tests {
    use super::*;
    use stellar_wire::host::config_space::Bar;
    use vm_memory::VolatileMemory;

    #[test]
    fn the_last_registers_of_a_bar_are_reached() {
        let length = Bar::Registers.length();
        let mut memory = vec![0; length as usize];
        let bar = VolatileSlice::from(memory.as_mut_slice());
        let access = |offset, width| Access::new(Bar::Registers, offset, width).unwrap();
        let last = access(length - 8, Width::Eight);
        store(&bar, last, 0x1122_3344_5566_7788);
        store(&bar, access(length - 4, Width::Four), 0xffff_ffff_aabb_ccdd);
        assert_eq!(load(&bar, last), 0xaabb_ccdd_5566_7788);
        assert_eq!(load(&bar, access(length - 4, Width::Four)), 0xaabb_ccdd);
        assert_eq!(memory[length as usize - 16..][..8], [0; 8]);
    }

    #[test]
    #[should_panic(expected = "the whole BAR is mapped")]
    fn a_mapping_that_is_too_short_is_found_out() {
        let region = vm_memory::MmapRegion::<()>::new(4096).unwrap();
        let access = Access::new(Bar::Registers, 4096, Width::Eight).unwrap();
        load(&region.as_volatile_slice(), access);
    }
}
