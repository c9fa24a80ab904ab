//! Software's accesses to the card's BARs, in order.

use std::collections::VecDeque;

use stellar_wire::host::registers::{
    status, TableCommand, EVENT_CONSUMER, FENCE, MAX_PAYLOAD, MAX_READ, QP_COUNTER_SELECT,
    QP_COUNTER_VALUE, TABLE_COMMAND, TABLE_DATA,
};
use stellar_wire::host::{ConsumerIndex, Doorbell, QpCounterSelect, Wqe};
use stellar_wire::rows::{ConfigSelect, Row};

use crate::mmio::{Mmio, MmioAccess, Progress};
use crate::model::{NicInputs, NicOutputs};
use crate::pcie::RequestSizes;

/// Bytes of a table data register.
const WORD: u16 = 8;

/// One access.
#[derive(Clone, Copy, Debug)]
enum Access {
    Write(MmioAccess),
    /// Reads of this command register, until its command is done.
    Done(u16),
    /// Read of this register, for [`Bar::take_answer`].
    Read(u16),
}

/// Register accesses and doorbells of the software that have not reached the card yet, in order.
#[derive(Default)]
pub struct Bar {
    accesses: VecDeque<Access>,
    answer: Option<u64>,
    mmio: Mmio,
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
            self.write(MmioAccess::register(offset, word));
        }
        let command = TableCommand {
            select: select.index(),
            index,
        };
        self.command(TABLE_COMMAND.offset, command.to_word());
    }

    /// Waits until the card has finished everything that uses a table entry as it was before.
    pub fn fence(&mut self) {
        self.command(FENCE.offset, 0);
    }

    /// Writes the largest payload and read of PCIe.
    pub fn write_sizes(&mut self, sizes: RequestSizes) {
        self.write(MmioAccess::register(
            MAX_PAYLOAD.offset,
            sizes.payload.into(),
        ));
        self.write(MmioAccess::register(MAX_READ.offset, sizes.read.into()));
    }

    /// Rings a doorbell page.
    pub fn ring(&mut self, page: u16, doorbell: Doorbell) {
        let word = u64::from_le_bytes(doorbell.to_bytes());
        self.write(MmioAccess::doorbell(page, Doorbell::OFFSET, word));
    }

    /// Rings a doorbell page, and brings the last of the new entries along.
    pub fn push(&mut self, page: u16, entry: &[u8; Wqe::LEN], doorbell: Doorbell) {
        for (offset, word) in doorbell.pushing(entry) {
            self.write(MmioAccess::doorbell(page, offset, word));
        }
    }

    /// Tells how far the event queue has been read.
    pub fn consume_events(&mut self, index: ConsumerIndex) {
        let word = u64::from_le_bytes(index.to_bytes());
        self.write(MmioAccess::register(EVENT_CONSUMER.offset, word));
    }

    /// Tells how far a completion queue has been read.
    pub fn consume(&mut self, page: u16, index: ConsumerIndex) {
        let word = u64::from_le_bytes(index.to_bytes());
        self.write(MmioAccess::doorbell(page, ConsumerIndex::OFFSET, word));
    }

    /// Reads a counter of a queue pair.
    pub fn read_counter(&mut self, select: QpCounterSelect) {
        self.command(QP_COUNTER_SELECT.offset, select.to_word());
        let value = Access::Read(QP_COUNTER_VALUE.offset);
        self.accesses.push_back(value);
    }

    /// Takes the value of the last register that was read.
    pub fn take_answer(&mut self) -> Option<u64> {
        self.answer.take()
    }

    fn write(&mut self, access: MmioAccess) {
        self.accesses.push_back(Access::Write(access));
    }

    /// Writes a command register, and waits until the command is done.
    fn command(&mut self, offset: u16, word: u64) {
        self.write(MmioAccess::register(offset, word));
        self.accesses.push_back(Access::Done(offset));
    }

    /// Whether nothing is left to be done.
    pub fn is_idle(&self) -> bool {
        self.accesses.is_empty()
    }

    /// What is offered to the card: nothing while a read is outstanding.
    fn offered(&self) -> Option<MmioAccess> {
        match *self.accesses.front()? {
            Access::Write(access) => Some(access),
            Access::Done(register) | Access::Read(register) => {
                (!self.mmio.is_reading()).then(|| MmioAccess::read(register))
            }
        }
    }

    /// Drives the first access to the pins for one cycle.
    pub fn drive(&self, inputs: &mut NicInputs) {
        self.mmio.drive(self.offered().as_ref(), inputs);
    }

    /// Reads from the pins whether the card has finished the first access. Returns a write that it has accepted.
    ///
    /// # Panics
    /// If the card breaks a rule of PCIe.
    pub fn look(&mut self, outputs: &NicOutputs) -> Option<MmioAccess> {
        let offered = self.offered();
        match self.mmio.look(offered.as_ref(), outputs) {
            Progress::Waits => None,
            Progress::Taken => {
                let write = offered.filter(|access| access.data.is_some())?;
                self.accesses.pop_front();
                Some(write)
            }
            Progress::Answer(word) => {
                if let Some(Access::Read(_)) = self.accesses.front() {
                    self.answer = Some(word);
                    self.accesses.pop_front();
                } else if word >> status::BUSY_BIT & 1 == 0 {
                    self.accesses.pop_front();
                }
                None
            }
            Progress::Unsupported(request) => panic!("registers can be read: {request}"),
        }
    }
}
