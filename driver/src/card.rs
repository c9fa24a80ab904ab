//! Accesses to the card's registers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use stellar_wire::host::config_space::{Bar, PAGE_BYTES};
use stellar_wire::host::registers::{
    status, ImmediateArm, Register, TableCommand, COUNTER_SELECT, COUNTER_VALUE, EVENT_CONSUMER,
    FENCE, IMMEDIATE_ARM, QP_COUNTER_SELECT, QP_COUNTER_VALUE, TABLE_COMMAND, TABLE_DATA,
};
use stellar_wire::host::{
    ConsumerIndex, Doorbell, PathCount, PathCountSelect, QpCounter, QpCounterSelect, QpCounters,
    Wqe,
};
use stellar_wire::rows::{ConfigSelect, Row};

use crate::device::{DeviceError, Interrupt, PciFunction, Width};

/// Longest time for one command of the card, on its own clock.
const PATIENCE: Duration = Duration::from_millis(10);
/// Longest time for a fence, on the card's clock. It waits for reads that are under way. A read that nobody completes ends after the read timeout, 50 ms by
/// default; the packets of a port that wait behind it follow in rounds of what its read engine holds, at most five.
const FENCE_PATIENCE: Duration = Duration::from_secs(1);

/// Locks a mutex, also after a thread panicked with it locked: every guarded value of this crate is consistent between two statements.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The card by its registers.
pub struct Card {
    function: Arc<dyn PciFunction>,
    /// Guards the table registers while a row is written, because they form one set.
    table: Mutex<()>,
    /// Guards the fence register while a fence is in progress. Table rows may be written meanwhile.
    fence: Mutex<()>,
    /// Guards the counter registers while a counter is read.
    counter: Mutex<()>,
    /// Guards the space for pushed entries in a page until the doorbell behind it is written.
    push: Mutex<()>,
}

impl Card {
    /// Represents the card behind a function whose BARs respond.
    pub fn new(function: Arc<dyn PciFunction>) -> Self {
        Self {
            function,
            table: Mutex::new(()),
            fence: Mutex::new(()),
            counter: Mutex::new(()),
            push: Mutex::new(()),
        }
    }

    /// The function.
    pub fn function(&self) -> &Arc<dyn PciFunction> {
        &self.function
    }

    /// Reads a register.
    pub fn read(&self, register: Register) -> Result<u64, DeviceError> {
        self.function.read64(Bar::Registers, register.offset.into())
    }

    /// Writes a register.
    pub fn write(&self, register: Register, value: u64) -> Result<(), DeviceError> {
        let offset = register.offset.into();
        self.function.write64(Bar::Registers, offset, value)
    }

    /// Reads a register of which not all bits exist, for an action. All ones then mean that the card does not respond, and waiting is in vain.
    pub fn read_state(&self, register: Register, what: &'static str) -> Result<u64, DeviceError> {
        let word = self.read(register)?;
        if word == Width::Eight.ones() {
            return Err(DeviceError::Gone { what });
        }
        Ok(word)
    }

    /// Waits until a command register is not busy.
    fn finish(&self, register: Register, what: &'static str) -> Result<(), DeviceError> {
        self.finish_within(PATIENCE, register, what)
    }

    fn finish_within(
        &self,
        patience: Duration,
        register: Register,
        what: &'static str,
    ) -> Result<(), DeviceError> {
        let began = self.function.now();
        loop {
            let word = self.read_state(register, what)?;
            if word >> status::BUSY_BIT & 1 == 0 {
                return Ok(());
            }
            let waited = self.function.now() - began;
            if waited > patience {
                return Err(DeviceError::NoAnswer { what, waited });
            }
            self.function.relax();
        }
    }

    fn commit(&self, select: ConfigSelect, index: u32) -> Result<(), DeviceError> {
        let command = TableCommand {
            select: select.index(),
            index,
        };
        self.write(TABLE_COMMAND, command.to_word())?;
        self.finish(TABLE_COMMAND, "write a table row")
    }

    fn put_entry(&self, words: &[u32]) -> Result<(), DeviceError> {
        let bytes = usize::from(Register::BYTES);
        for (offset, pair) in (TABLE_DATA.offset..).step_by(bytes).zip(words.chunks(2)) {
            let high = pair.get(1).copied().unwrap_or(0);
            let word = u64::from(high) << 32 | u64::from(pair[0]);
            self.function.write64(Bar::Registers, offset.into(), word)?;
        }
        Ok(())
    }

    /// Writes a row of a table.
    pub fn write_row(
        &self,
        select: ConfigSelect,
        index: u32,
        row: &impl Row,
    ) -> Result<(), DeviceError> {
        let _table = lock(&self.table);
        self.put_entry(&row.pack())?;
        self.commit(select, index)
    }

    /// Writes the same row at every index below `count`.
    pub fn fill_table(
        &self,
        select: ConfigSelect,
        count: u32,
        row: &impl Row,
    ) -> Result<(), DeviceError> {
        let _table = lock(&self.table);
        self.put_entry(&row.pack())?;
        (0..count).try_for_each(|index| self.commit(select, index))
    }

    /// Points an interrupt vector to an event.
    pub fn interrupt(&self, vector: u16) -> Result<Arc<dyn Interrupt>, DeviceError> {
        let _table = lock(&self.table);
        self.function.interrupt(vector)
    }

    /// Returns when nothing is under way that used a table row from before a write that the card has accepted: the memory writes of packets, completions and
    /// events have reached memory, the memory reads of payload and of send queue entries are complete, and the packets that waited for a port are with it.
    ///
    /// # Errors
    /// [`DeviceError::NoAnswer`] if that takes too long. Then the memory must not be used for anything else.
    pub fn fence(&self) -> Result<(), DeviceError> {
        let _fence = lock(&self.fence);
        self.finish_within(FENCE_PATIENCE, FENCE, "finish an earlier fence")?;
        self.write(FENCE, 1)?;
        self.finish_within(FENCE_PATIENCE, FENCE, "finish a fence")
    }

    /// Reads a drop counter.
    pub fn counter(&self, index: u8) -> Result<u64, DeviceError> {
        let _counter = lock(&self.counter);
        self.write(COUNTER_SELECT, index.into())?;
        // The value follows its selection after a few cycles: another access bridges them.
        self.read(COUNTER_SELECT)?;
        self.read(COUNTER_VALUE)
    }

    /// Reads a counter of a queue pair.
    pub fn qp_counter(&self, select: QpCounterSelect) -> Result<u64, DeviceError> {
        self.counter_of_qp(select.to_word())
    }

    /// Reads what was counted on a path of a queue pair, and clears it. `None`: it was counted for another queue pair; from now on it is for this one.
    pub fn take_path_count(
        &self,
        select: PathCountSelect,
    ) -> Result<Option<PathCount>, DeviceError> {
        let word = self.counter_of_qp(select.to_word())?;
        Ok((!PathCount::is_of_another(word)).then(|| PathCount::from_word(word)))
    }

    fn counter_of_qp(&self, select: u64) -> Result<u64, DeviceError> {
        const WHAT: &str = "read a counter of a queue pair";
        let _counter = lock(&self.counter);
        self.finish(QP_COUNTER_SELECT, WHAT)?;
        self.write(QP_COUNTER_SELECT, select)?;
        self.finish(QP_COUNTER_SELECT, WHAT)?;
        self.read(QP_COUNTER_VALUE)
    }

    /// Reads every counter of a queue pair.
    pub fn qp_counters(&self, qp: u32) -> Result<QpCounters, DeviceError> {
        let mut counters = QpCounters::default();
        for counter in QpCounter::ALL {
            let value = self.qp_counter(QpCounterSelect { qp, counter })?;
            counters.set(counter, value);
        }
        Ok(counters)
    }

    fn write_page(&self, page: u16, offset: u16, word: [u8; 8]) -> Result<(), DeviceError> {
        let offset = u64::from(page) * PAGE_BYTES + u64::from(offset);
        let word = u64::from_le_bytes(word);
        self.function.write64(Bar::Doorbells, offset, word)
    }

    /// Rings for new send queue entries, in the queue pair's slot of the page if it has one.
    pub fn ring(
        &self,
        page: u16,
        slot: Option<u16>,
        doorbell: Doorbell,
    ) -> Result<(), DeviceError> {
        let offset = slot.map_or(Doorbell::OFFSET, Doorbell::slot);
        self.write_page(page, offset, doorbell.to_bytes())
    }

    /// Rings for new send queue entries and pushes the last of them to the card.
    pub fn push(
        &self,
        page: u16,
        entry: &[u8; Wqe::LEN],
        doorbell: Doorbell,
    ) -> Result<(), DeviceError> {
        let _push = lock(&self.push);
        for (offset, word) in doorbell.pushing(entry) {
            self.write_page(page, offset, word.to_le_bytes())?;
        }
        Ok(())
    }

    /// Writes the consumer index of a completion queue, in the queue pair's slot of the page if it has one.
    pub fn consume(
        &self,
        page: u16,
        slot: Option<u16>,
        index: ConsumerIndex,
    ) -> Result<(), DeviceError> {
        let offset = slot.map_or(ConsumerIndex::OFFSET, ConsumerIndex::slot);
        self.write_page(page, offset, index.to_bytes())
    }

    /// Writes the consumer index of the event queue.
    pub fn consume_events(&self, index: ConsumerIndex) -> Result<(), DeviceError> {
        self.write(EVENT_CONSUMER, u64::from_le_bytes(index.to_bytes()))
    }

    /// Arms an event at a count of immediates.
    pub fn arm_immediates(&self, arm: ImmediateArm) -> Result<(), DeviceError> {
        let _table = lock(&self.table);
        self.finish(IMMEDIATE_ARM, "take an earlier immediate threshold")?;
        self.write(IMMEDIATE_ARM, arm.to_word())
    }
}
