//! The card writes memory at any time, so nobody gets a reference to its bytes.

use stellar_driver::DmaBuffer;

fn borrow(memory: &DmaBuffer) -> &[u8] {
    &memory[..]
}

fn main() {}
