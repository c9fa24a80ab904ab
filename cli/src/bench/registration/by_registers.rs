//! Writes translations through registers, one by one, to show the cost of registration without an admin queue.

use std::time::Duration;

use anyhow::ensure;
use stellar_driver::{DeviceError, PciFunction};
use stellar_wire::host::config_space::Bar;
use stellar_wire::host::registers::{status, Register, TableCommand, TABLE_COMMAND, TABLE_DATA};
use stellar_wire::rows::ConfigSelect;

/// Longest time of one row on the card's clock.
const PATIENCE: Duration = Duration::from_millis(1);

/// Writes this number of rows of the eMTT, from the first on, as invalid translations. These take as long as valid ones, and no region uses them.
pub fn write_translations(function: &dyn PciFunction, count: u64) -> anyhow::Result<()> {
    let write = |register: Register, value| -> Result<(), DeviceError> {
        function.write64(Bar::Registers, register.offset.into(), value)
    };
    for index in 0..count as u32 {
        write(TABLE_DATA, 0)?;
        let select = ConfigSelect::Emtt.index();
        write(TABLE_COMMAND, TableCommand { select, index }.to_word())?;
        let began = function.now();
        while function.read64(Bar::Registers, TABLE_COMMAND.offset.into())? >> status::BUSY_BIT & 1
            == 1
        {
            let waited = function.now() - began;
            ensure!(
                waited < PATIENCE,
                "row {index} is not written after {waited:?}"
            );
            function.relax();
        }
    }
    Ok(())
}
