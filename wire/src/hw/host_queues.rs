//! Rings in host memory that the card writes, and the interrupts that announce their entries.

use rust_hdl::prelude::*;

pub use crate::rows::rings::{RingConfig, EVENT_QUEUE_BITS};

/// Completion queue entry, 256 bits: the hardware's [`crate::host::Cqe`], byte 0 in bits 7:0.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct CompletionEntry {
    /// Code of a [`crate::host::WcStatus`].
    pub status: Bits<8>,
    /// Code of a [`crate::host::CqeOpcode`].
    pub opcode: Bits<8>,
    pub phase: Bit,
    pub reserved_flags: Bits<15>,
    pub qp: Bits<24>,
    pub reserved_qp: Bits<8>,
    pub wr_id: Bits<64>,
    pub byte_len: Bits<32>,
    pub immediate: Bits<32>,
    pub msn: Bits<24>,
    pub reserved_msn: Bits<8>,
    pub sq_head: Bits<16>,
    pub reserved_end: Bits<16>,
}

/// Event queue entry, 128 bits: the hardware's [`crate::host::Eqe`], byte 0 in bits 7:0.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct EventEntry {
    /// Code of a [`crate::host::EventKind`].
    pub kind: Bits<8>,
    pub phase: Bit,
    pub reserved_flags: Bits<23>,
    pub source: Bits<24>,
    pub reserved_source: Bits<8>,
    pub data: Bits<64>,
}

/// What the MSI-X table stores for a vector beside its mask: [`crate::host::VectorEntry`].
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct VectorMessage {
    /// Message address.
    pub address: Bits<64>,
    /// Message data.
    pub data: Bits<32>,
}

/// The ring of a completion queue, entries of 32 bytes.
pub type CompletionQueueConfig = RingConfig;

/// The ring of an event queue, entries of 16 bytes.
pub type EventQueueConfig = RingConfig;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::{Cqe, CqeOpcode, Eqe, EventKind, WcStatus};
    use crate::hw::pack::to_words;
    use proptest::prelude::*;

    fn bytes<T: Synth>(record: T) -> Vec<u8> {
        let words = to_words(record).into_iter();
        words.flat_map(u32::to_le_bytes).collect()
    }

    fn bits<const N: usize>(value: impl Into<u64>) -> Bits<N> {
        value.into().to_bits()
    }

    proptest! {
        #[test]
        fn a_completion_entry_has_the_bytes_of_a_cqe(
            (status, opcode, phase) in (prop::sample::select(WcStatus::ALL), prop::sample::select(CqeOpcode::ALL), any::<bool>()),
            (qp, wr_id, byte_len, immediate) in (0u32..1 << 24, any::<u64>(), any::<u32>(), any::<u32>()),
            (msn, sq_head) in (0u32..1 << 24, any::<u16>()),
        ) {
            let cqe = Cqe { status, opcode, phase, qp, wr_id, byte_len, immediate, msn, sq_head };
            let entry = CompletionEntry {
                status: bits(status.code()),
                opcode: bits(opcode.code()),
                phase,
                qp: bits(qp),
                wr_id: bits(wr_id),
                byte_len: bits(byte_len),
                immediate: bits(immediate),
                msn: bits(msn),
                sq_head: bits(sq_head),
                ..Default::default()
            };
            prop_assert_eq!(bytes(entry), cqe.to_bytes());
        }

        #[test]
        fn an_event_entry_has_the_bytes_of_an_eqe(
            kind in prop::sample::select(EventKind::ALL), phase: bool, source in 0u32..1 << 24, data: u64,
        ) {
            let eqe = Eqe { kind, phase, source, data };
            let entry = EventEntry {
                kind: bits(kind.code()),
                phase,
                source: bits(source),
                data: bits(data),
                ..Default::default()
            };
            prop_assert_eq!(bytes(entry), eqe.to_bytes());
        }
    }
}
