//! The machine below a guest, as PVDMA sees it.

use std::sync::Arc;

use sim_nic::CardPair;
use sim_world::Backing;
use stellar_virt::pvdma::{GuestId, IoMap, Piece, Pinning, PlatformError, BLOCK};
use vm_memory::{Bytes, GuestAddress, GuestMemoryMmap};

/// A block of guest memory, as the card reaches it.
struct Block {
    memory: Arc<GuestMemoryMmap>,
    address: u64,
}

impl Backing for Block {
    fn read(&self, offset: u64, into: &mut [u8]) {
        let at = GuestAddress(self.address + offset);
        self.memory.read_slice(into, at).expect("a block is memory");
    }

    fn write(&self, offset: u64, bytes: &[u8]) {
        let at = GuestAddress(self.address + offset);
        self.memory
            .write_slice(bytes, at)
            .expect("a block is memory");
    }
}

/// Hypervisor and IOMMU of a host with one guest. The host physical address of a byte is its guest address.
#[derive(Clone)]
pub struct Machine {
    pub pair: CardPair,
    pub host: usize,
    pub memory: Arc<GuestMemoryMmap>,
}

impl Pinning for Machine {
    fn pin(&mut self, _guest: GuestId, address: u64) -> Result<Vec<Piece>, PlatformError> {
        Ok(vec![Piece {
            offset: 0,
            length: BLOCK,
            host: address,
        }])
    }

    fn unpin(&mut self, _guest: GuestId, _address: u64) {}
}

impl IoMap for Machine {
    fn map(&mut self, iova: u64, pieces: &[Piece]) -> Result<(), PlatformError> {
        for piece in pieces {
            let block = Block {
                memory: Arc::clone(&self.memory),
                address: piece.host,
            };
            let at = iova + piece.offset;
            self.pair
                .map_backed(self.host, at, piece.length, Arc::new(block));
        }
        Ok(())
    }

    fn unmap(&mut self, iova: u64, pieces: &[Piece]) -> Result<(), PlatformError> {
        for piece in pieces {
            self.pair.unmap_backed(self.host, iova + piece.offset);
        }
        Ok(())
    }
}
