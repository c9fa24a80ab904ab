//! The admin queue: translations that the card fetches from lists in host memory, instead of two register writes and a read for each.

use std::sync::Arc;
use std::time::Duration;

use stellar_wire::host::admin::{AdminCommand, AdminError, AdminRing, AdminState, PageList};
use stellar_wire::host::registers::{ADMIN_PRODUCER, ADMIN_RING, ADMIN_STATE};

use crate::card::Card;
use crate::device::{DeviceError, DmaBuffer, PciFunction};

/// log2 of the number of commands in the ring. Only one command is outstanding at a time.
const LOG2_ENTRIES: u8 = 1;
/// Translations that one command writes at most: a list of 64 KiB.
const LIST: usize = 8192;
/// Rows are written through registers if they are fewer than this number, because a command costs the card a read for itself and one for its list.
pub const LEAST: usize = 32;
/// Longest time that the card may take for a command, on its own clock. It is many times the time of a full list.
const PATIENCE: Duration = Duration::from_millis(20);
/// Maximum number of pauses between two reads of the queue's state.
const MOST_PAUSES: u32 = 64;

/// The admin queue in host memory.
pub struct AdminQueue {
    ring: DmaBuffer,
    list: DmaBuffer,
    producer: u16,
}

impl AdminQueue {
    /// Memory for the queue.
    pub fn new(function: &Arc<dyn PciFunction>) -> Result<Self, DeviceError> {
        Ok(Self {
            ring: DmaBuffer::new(function, AdminCommand::LEN << LOG2_ENTRIES)?,
            list: DmaBuffer::new(function, 8 * LIST)?,
            producer: 0,
        })
    }

    /// Writes the address of the queue to the card and starts with an empty queue.
    pub fn start(&mut self, card: &Card) -> Result<(), DeviceError> {
        let ring = AdminRing {
            base: self.ring.address(),
            log2_entries: LOG2_ENTRIES,
        };
        self.producer = 0;
        card.write(ADMIN_RING, ring.to_word())
    }

    /// Writes rows of the eMTT, packed in 64 bits each, from `first` on. If it fails, the queue starts again empty, and it is unknown which rows were written.
    pub fn write_translations(
        &mut self,
        card: &Card,
        first: u32,
        rows: &[u64],
    ) -> Result<(), DeviceError> {
        for (first, rows) in (first..).step_by(LIST).zip(rows.chunks(LIST)) {
            let bytes: Vec<u8> = rows.iter().flat_map(|row| row.to_le_bytes()).collect();
            self.list.write(0, &bytes)?;
            let command = AdminCommand::Pages(PageList {
                first,
                count: rows.len() as u32,
                address: self.list.address(),
            });
            if let Err(error) = self.execute(card, &command) {
                self.start(card)?;
                return Err(error);
            }
        }
        Ok(())
    }

    /// Has the card do a command.
    fn execute(&mut self, card: &Card, command: &AdminCommand) -> Result<(), DeviceError> {
        let place = usize::from(self.producer) % (1 << LOG2_ENTRIES);
        self.ring
            .write(place * AdminCommand::LEN, &command.to_bytes())?;
        self.producer = self.producer.wrapping_add(1);
        card.write(ADMIN_PRODUCER, self.producer.into())?;
        let function = card.function();
        let began = function.now();
        let mut pauses = 1;
        let what = "do a command of the admin queue";
        loop {
            let state = AdminState::from_word(card.read_state(ADMIN_STATE, what)?);
            if let Some(error) = state.error {
                return Err(stopped(error));
            }
            if state.done == self.producer {
                return Ok(());
            }
            let waited = function.now() - began;
            if waited > PATIENCE {
                return Err(DeviceError::NoAnswer { what, waited });
            }
            (0..pauses).for_each(|_| function.relax());
            pauses = (2 * pauses).min(MOST_PAUSES);
        }
    }
}

fn stopped(error: AdminError) -> DeviceError {
    let reason = match error {
        AdminError::Read => "it could not read the command or its list: is bus master on, and is the memory still mapped?".to_owned(),
        AdminError::Command => "it does not know the command: is the card older than its version says?".to_owned(),
        AdminError::Row => "the table has no such row: does the card have as many translations as FEATURES says?".to_owned(),
        AdminError::Other(code) => format!("error {code}, which this driver does not know"),
    };
    DeviceError::Admin { reason }
}
