//! Software's accesses to the card's BARs, in order.

use std::collections::VecDeque;

use stellar_wire::host::registers::{
    status, TableCommand, EVENT_CONSUMER, FENCE, MAX_PAYLOAD, MAX_READ, TABLE_COMMAND, TABLE_DATA,
};
use stellar_wire::host::{ConsumerIndex, Doorbell, Wqe};
use stellar_wire::rows::{ConfigSelect, Row};

use crate::model::{NicInputs, NicOutputs};

/// Bytes of a table data register.
const WORD: u16 = 8;

/// One access.
#[derive(Clone, Copy, Debug)]
enum Access {
    Register(u16, u64),
    /// Until the command in this register is done.
    Done(u16),
    Doorbell(u16, u16, u64),
}

/// Register accesses and doorbells of the software that have not reached the card yet, in order.
#[derive(Default)]
pub struct Bar {
    accesses: VecDeque<Access>,
    /// A read of a command register is outstanding.
    asked: bool,
}

impl Bar {
    /// Writes a row of a table.
    pub fn write_table(&mut self, select: ConfigSelect, index: u32, row: &impl Row) {
        for (offset, pair) in (TABLE_DATA.offset..)
            .step_by(WORD.into())
            .zip(row.pack().chunks(2))
        {
            let high = pair.get(1).copied().unwrap_or(0);
            let word = u64::from(high) << 32 | u64::from(pair[0]);
            self.accesses.push_back(Access::Register(offset, word));
        }
        let command = TableCommand {
            select: select.index(),
            index,
        };
        let command = Access::Register(TABLE_COMMAND.offset, command.to_word());
        self.accesses
            .extend([command, Access::Done(TABLE_COMMAND.offset)]);
    }

    /// Waits until the card has finished everything that uses a table entry as it was before.
    pub fn fence(&mut self) {
        self.accesses.extend([
            Access::Register(FENCE.offset, 0),
            Access::Done(FENCE.offset),
        ]);
    }

    /// Writes the maximum payload and read size of PCIe: 128 bytes shifted left by the codes.
    pub fn write_sizes(&mut self, payload_code: u64, read_code: u64) {
        self.accesses.extend([
            Access::Register(MAX_PAYLOAD.offset, payload_code),
            Access::Register(MAX_READ.offset, read_code),
        ]);
    }

    /// Rings a doorbell page.
    pub fn ring(&mut self, page: u16, doorbell: Doorbell) {
        let word = u64::from_le_bytes(doorbell.to_bytes());
        self.accesses.push_back(Access::Doorbell(page, 0, word));
    }

    /// Rings a doorbell page, and brings the last of the new entries along.
    pub fn push(&mut self, page: u16, entry: &[u8; Wqe::LEN], doorbell: Doorbell) {
        let writes = doorbell.pushing(entry);
        self.accesses
            .extend(writes.map(|(offset, word)| Access::Doorbell(page, offset, word)));
    }

    /// Tells how far the event queue has been read.
    pub fn consume_events(&mut self, index: ConsumerIndex) {
        let word = u64::from_le_bytes(index.to_bytes());
        self.accesses
            .push_back(Access::Register(EVENT_CONSUMER.offset, word));
    }

    /// Tells how far a completion queue has been read.
    pub fn consume(&mut self, page: u16, index: ConsumerIndex) {
        let word = u64::from_le_bytes(index.to_bytes());
        self.accesses
            .push_back(Access::Doorbell(page, ConsumerIndex::OFFSET, word));
    }

    /// Whether nothing is left to be done.
    pub fn is_idle(&self) -> bool {
        self.accesses.is_empty()
    }

    /// Drives the first access to the pins for one cycle.
    pub fn drive(&mut self, inputs: &mut NicInputs) {
        match self.accesses.front() {
            Some(&Access::Register(offset, word)) => {
                inputs.bar0_write = Some((offset, word));
                self.accesses.pop_front();
            }
            Some(&Access::Done(command)) if !self.asked => {
                inputs.bar0_read = Some(command);
                self.asked = true;
            }
            Some(&Access::Doorbell(page, offset, word)) => {
                inputs.bar2_write = Some((page, offset, word));
            }
            Some(Access::Done(_)) | None => {}
        }
    }

    /// Reads from the pins whether the card has finished the first access.
    pub fn look(&mut self, outputs: &NicOutputs) {
        if let Some(word) = outputs.bar0_read {
            self.asked = false;
            let busy = word >> status::BUSY_BIT & 1 == 1;
            if !busy && matches!(self.accesses.front(), Some(Access::Done(_))) {
                self.accesses.pop_front();
            }
        }
        if outputs.bar2_taken {
            self.accesses.pop_front();
        }
    }
}
