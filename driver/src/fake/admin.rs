//! Admin queue of the mock card.

use std::sync::Weak;

use stellar_wire::host::admin::{AdminCommand, AdminState};
use stellar_wire::host::registers;
use stellar_wire::rows::ConfigSelect;

use crate::device::DmaMemory;

use super::{place, FakeCard, State, FIRST_ADDRESS, MOST_BYTES};

impl State {
    /// Copies bytes out of memory. Returns `false` if no memory is mapped there.
    fn read(&self, address: u64, into: &mut [u8]) -> bool {
        let place = address.wrapping_sub(FIRST_ADDRESS);
        let memory = self.memory.get((place / MOST_BYTES) as usize);
        let Some(memory) = memory.and_then(Weak::upgrade) else {
            return false;
        };
        memory.load((place % MOST_BYTES) as usize, into);
        true
    }

    /// Executes the commands of the admin queue before `producer`.
    pub(super) fn execute(&mut self, producer: u16) {
        let base = self.admin_ring & !0xfff;
        let places = 1 << (self.admin_ring & 0xf);
        let mut done = self.registers[place(registers::ADMIN_STATE)] as u16;
        while done != producer {
            let mut bytes = [0; AdminCommand::LEN];
            let at = base + u64::from(done) % places * bytes.len() as u64;
            let fails = self.admin_fails > 0;
            self.admin_fails = self.admin_fails.saturating_sub(1);
            let result = if !fails && self.read(at, &mut bytes) {
                self.act(AdminCommand::from_bytes(&bytes))
            } else {
                Err(AdminState::READ)
            };
            if let Err(code) = result {
                let error = u64::from(code) << AdminState::ERROR_BIT;
                self.registers[place(registers::ADMIN_STATE)] = error | u64::from(done);
                return;
            }
            done = done.wrapping_add(1);
        }
        self.registers[place(registers::ADMIN_STATE)] = done.into();
    }

    /// Executes a command of the admin queue, or returns the code of the error.
    fn act(&mut self, command: Option<AdminCommand>) -> Result<(), u8> {
        match command.ok_or(AdminState::COMMAND)? {
            AdminCommand::Row { command, entry } => {
                if !FakeCard::FEATURES.has_row(command.select, command.index) {
                    return Err(AdminState::ROW);
                }
                self.rows
                    .push((command.select, command.index, entry.to_vec()));
            }
            AdminCommand::Pages(list) if list.count == 0 => return Err(AdminState::COMMAND),
            AdminCommand::Pages(list) => {
                let emtt = ConfigSelect::Emtt.index();
                let rows = list.first..list.first + list.count;
                if !FakeCard::FEATURES.has_row(emtt, rows.end - 1) {
                    return Err(AdminState::ROW);
                }
                for (index, at) in rows.zip((list.address..).step_by(8)) {
                    let mut row = [0; 8];
                    assert!(self.read(at, &mut row), "a list at {at:#x}");
                    self.rows.push((emtt, index, vec![u64::from_le_bytes(row)]));
                }
            }
        }
        Ok(())
    }
}
