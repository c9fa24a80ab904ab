//! What a card's requests reach.

use sim_pcie::{MemWrite, Memories, Target};
use stellar_transport::endpoint::Memory;
use stellar_transport::rx::WriteTlp;

/// Physical address of the byte that the IOMMU shows at bus address 0. It lies above the GPU's BAR, so no host address is one of the GPU.
pub const HOST_BASE: u64 = 1 << 46;
/// Bytes of bus addresses of a host: its memory and its messages are below.
pub const HOST_BYTES: u64 = 1 << 40;
/// Address of interrupt messages. A vector's message is a write of its number to this address (x86's range of interrupt addresses).
pub const MESSAGES: u64 = 0xfee0_0000;
/// Bytes of that range.
pub const MESSAGES_LENGTH: u64 = 1 << 20;

/// Memory of the host and of its GPU, and the receiver of interrupt messages.
pub struct Bus<M> {
    pub host: M,
    /// Vectors whose messages have arrived.
    pub messages: Vec<u8>,
}

impl<M> Bus<M> {
    /// Around a host's memory.
    pub const fn new(host: M) -> Self {
        Self {
            host,
            messages: Vec::new(),
        }
    }
}

/// Bus address in the memory of a target, and whether it is a final address.
const fn place(target: Target, address: u64) -> (u64, bool) {
    match target {
        Target::Host => (address - HOST_BASE, false),
        Target::Gpu(_) => (address, true),
    }
}

impl<M: Memory> Memories for Bus<M> {
    fn contains(&self, target: Target, address: u64, _len: usize) -> bool {
        // Below the base there is nothing of the host; above it the memory refuses the access itself.
        target != Target::Host || address >= HOST_BASE
    }

    fn read(&mut self, target: Target, address: u64, into: &mut [u8]) -> bool {
        let (address, translated) = place(target, address);
        self.host.read(address, translated, into).is_ok()
    }

    fn write(&mut self, target: Target, write: &mut MemWrite) -> bool {
        let (address, translated) = place(target, write.address);
        if !translated && (MESSAGES..MESSAGES + MESSAGES_LENGTH).contains(&address) {
            self.messages.push(write.data[0]);
            return true;
        }
        let tlp = WriteTlp {
            address,
            at: if translated { 0b10 } else { 0 },
            length_dw: write.data.len() / 4,
            first_be: write.first_be,
            last_be: write.last_be,
            data: std::mem::take(&mut write.data),
        };
        self.host.write(&tlp);
        write.data = tlp.data;
        true
    }
}
