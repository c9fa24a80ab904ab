//! Passes the host's accesses to the BAR that they are for.

use hdl_macros::hdl;
use hdl_primitives::{BarAccessSnk, BarAccessSrc, BarDataSnk, BarDataSrc};
use rust_hdl::prelude::*;
use stellar_wire::host::config_space::Bar;

use crate::bundles::{DoorbellWriteSrc, RegisterReadSrc, RegisterWriteSrc};

const REGISTERS: u64 = Bar::Registers.index() as u64;
const DOORBELLS: u64 = Bar::Doorbells.index() as u64;
const VECTORS: u64 = Bar::Vectors.index() as u64;

/// Passes each access to the BAR that it is for, in order, and the word that a read returns back.
///
/// Doorbell pages cannot be read: such a read is unsupported. So is one of a BAR that the card does not have; a write to it is dropped. Levels: 2.
#[derive(LogicBlock, Default)]
pub struct BarDecoder {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    // From the completer, and back to it.
    pub access: BarAccessSnk,
    pub word: BarDataSrc,

    // BAR0.
    pub register_write: RegisterWriteSrc,
    pub register_read: RegisterReadSrc,
    // BAR2.
    pub doorbell_write: DoorbellWriteSrc,
    // BAR4.
    pub vector_access: BarAccessSrc,
    pub vector_word: BarDataSnk,

    /// A read of what cannot be read came in the cycle before.
    unreadable: DFF<Bit>,
}

impl Logic for BarDecoder {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, unreadable);
        let valid = self.access.valid.val();
        let access = self.access.record.val();
        let to_registers = access.bar == REGISTERS;
        let to_doorbells = access.bar == DOORBELLS;
        let to_vectors = access.bar == VECTORS;
        let writes = valid & access.write;
        let reads = valid & !access.write;

        // pass_on
        self.register_write.valid.next = writes & to_registers;
        self.register_write.address.next = access.address.get_bits::<16>(0);
        self.register_write.data.next = access.data;
        self.register_write.enable.next = access.enable;
        self.register_read.valid.next = reads & to_registers;
        self.register_read.address.next = access.address.get_bits::<16>(0);
        self.doorbell_write.valid.next = writes & to_doorbells;
        self.doorbell_write.page.next = access.address.get_bits::<16>(12);
        self.doorbell_write.offset.next = access.address.get_bits::<12>(0);
        self.doorbell_write.data.next = access.data;
        self.doorbell_write.enable.next = access.enable;
        self.vector_access.valid.next = valid & to_vectors;
        self.vector_access.record.next = access;
        self.access.ready.next = if to_vectors {
            self.vector_access.ready.val()
        } else if to_doorbells & access.write {
            self.doorbell_write.ready.val()
        } else {
            true
        };

        // return_word
        self.unreadable.d.next = reads & !to_registers & !to_vectors & !self.reset.val();
        let unreadable = self.unreadable.q.val();
        let done = self.register_read.done.val();
        self.word.valid.next = done | self.vector_word.valid.val() | unreadable;
        self.word.data.next = if done {
            self.register_read.data.val()
        } else {
            self.vector_word.data.val()
        };
        self.word.unsupported.next =
            unreadable | (self.vector_word.valid.val() & self.vector_word.unsupported.val());
    }
}
