//! A recording mock PCI function, for tests that need no card. Its registers keep the values that are written, it records table rows, and its memory
//! is a vector.

mod admin;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use stellar_wire::config::{RECEIVE_WINDOW, WINDOW};
use stellar_wire::host::config_space::{ats, Bar, Function, LENGTH};
use stellar_wire::host::registers::{
    self, DataPath, Features, Immediates, Register, TableCommand, TABLE_COMMAND,
};
use stellar_wire::host::{PathCount, PathCountSelect};
use stellar_wire::rows::{EMTT_INDEX_BITS, EXPLICIT_BITS, PROFILE_BITS};

use crate::card::lock;
use crate::context::Context;
use crate::device::{Access, DeviceError, DmaMemory, Interrupt, PciFunction, Width};
use crate::open::{DeviceConfig, PortAddress};
use crate::probe::Probe;

/// Offset of ATS control, which the operating system has set, less 2.
pub const ATS_CONTROL: u16 = 0x164;

/// A table row that was written: table, row, entry.
pub type Row = (u8, u32, Vec<u64>);

#[derive(Default)]
struct State {
    configs: [Vec<u32>; 2],
    registers: Vec<u64>,
    rows: Vec<Row>,
    doorbells: Vec<(u64, u64)>,
    /// Memory by address.
    memory: Vec<Weak<FakeMemory>>,
    admin_ring: u64,
    /// Commands of the admin queue that are still to fail.
    admin_fails: u32,
    /// Counts by path as `QP_COUNTER_VALUE` has them, by what is written to read them.
    path_counts: BTreeMap<u64, u64>,
    stores: u64,
    resets: u32,
    time: u64,
}

/// A recording mock of the card's PCI function.
pub struct FakeCard(Mutex<State>);

fn place(register: Register) -> usize {
    register.index() as usize
}

/// Addresses of the ports of a card under test.
pub fn ports() -> [PortAddress; 2] {
    [1, 2].map(|last| PortAddress {
        mac: [2, 0, 0, 0, 0, last],
        ip: [10, 0, 0, last].into(),
    })
}

/// Starts the card under test and opens it.
///
/// # Panics
/// If the function is not a card.
pub fn open(function: Arc<dyn PciFunction>) -> Context {
    let probe = Probe::new(function).expect("the card");
    let device = probe.bring_up(DeviceConfig::new(ports(), 1));
    device
        .and_then(|device| device.open())
        .expect("a card that is up")
}

/// Bus address of the first memory that is allocated, and the distance to the next.
const FIRST_ADDRESS: u64 = 0x1000_0000;
const MOST_BYTES: u64 = 1 << 32;

impl FakeCard {
    /// The sizes of the fake card's tables, whatever its register contains.
    pub const FEATURES: Features = Features {
        log2_queue_pairs: 10,
        ports: 2,
        vectors: 64,
        log2_regions: 12,
        log2_translations: 19,
        log2_event_queues: 6,
        log2_send_window: WINDOW.ilog2() as u8,
        log2_receive_window: RECEIVE_WINDOW.ilog2() as u8,
    };

    /// The shape of the fake card, as [`Self::new`] has it.
    pub const DATA_PATH: DataPath = DataPath {
        endpoints: 2,
        width: 1024,
        profiles: 1 << PROFILE_BITS,
        explicit_profiles: 1 << EXPLICIT_BITS,
        rc_paths: true,
        log2_counted: 10,
    };

    /// A card with one port and one endpoint, after power-up.
    pub fn one_port() -> Arc<Self> {
        let card = Self::new();
        let features = Features {
            ports: 1,
            ..Self::FEATURES
        };
        let data_path = DataPath {
            endpoints: 1,
            width: 512,
            ..Self::DATA_PATH
        };
        card.set_register(registers::FEATURES, features.to_word());
        card.set_register(registers::DATA_PATH, data_path.to_word());
        card
    }

    /// A card after power-up.
    pub fn new() -> Arc<Self> {
        let mut state = State {
            configs: Function::ALL.map(|_| vec![0; usize::from(LENGTH / 4)]),
            registers: vec![u64::MAX; (Bar::Registers.length() / 8) as usize],
            ..State::default()
        };
        for (function, config) in Function::ALL.into_iter().zip(&mut state.configs) {
            for word in function.words() {
                config[usize::from(word.offset / 4)] = word.reset;
            }
            config[usize::from(ATS_CONTROL / 4)] = u32::from(ats::ENABLE) << 16;
        }
        for register in registers::ALL {
            let from = place(*register);
            state.registers[from..from + usize::from(register.count)].fill(register.reset);
        }
        state.registers[place(registers::FEATURES)] = Self::FEATURES.to_word();
        state.registers[place(registers::IMMEDIATES)] = Immediates::CARD.to_word();
        state.registers[place(registers::DATA_PATH)] = Self::DATA_PATH.to_word();
        Arc::new(Self(Mutex::new(state)))
    }

    /// Puts something into a register.
    pub fn set_register(&self, register: Register, value: u64) {
        lock(&self.0).registers[place(register)] = value;
    }

    /// Puts a double word into a configuration space.
    pub fn set_config(&self, function: Function, offset: u16, value: u32) {
        lock(&self.0).configs[function.endpoint()][usize::from(offset / 4)] = value;
    }

    /// Makes the next `commands` commands of the admin queue fail.
    pub fn fail_admin(&self, commands: u32) {
        lock(&self.0).admin_fails = commands;
    }

    /// The last entry written to a row.
    pub fn row(&self, select: u8, index: u32) -> Option<Vec<u64>> {
        let state = lock(&self.0);
        let is_it = |row: &&Row| (row.0, row.1) == (select, index);
        state.rows.iter().rev().find(is_it).map(|row| row.2.clone())
    }

    /// The last entries written to the rows of a table.
    pub fn last_rows(&self, select: u8) -> BTreeMap<u32, Vec<u64>> {
        let state = lock(&self.0);
        let its_own = state.rows.iter().filter(|row| row.0 == select);
        its_own.map(|row| (row.1, row.2.clone())).collect()
    }

    /// What was written to doorbell pages since the last call: offsets and words.
    pub fn take_doorbells(&self) -> Vec<(u64, u64)> {
        std::mem::take(&mut lock(&self.0).doorbells)
    }

    /// Rows written since power-up.
    pub fn rows_written(&self) -> usize {
        lock(&self.0).rows.len()
    }

    /// Counts this on a path of a queue pair, until it is read.
    pub fn set_path_count(&self, select: PathCountSelect, count: PathCount) {
        let path_counts = &mut lock(&self.0).path_counts;
        path_counts.insert(select.to_word(), count.to_word());
    }

    /// Counts on a path for a queue pair that shares its counts with that of `select`.
    pub fn set_path_count_of_another(&self, select: PathCountSelect, count: PathCount) {
        let word = count.to_word() | 1 << PathCount::OF_ANOTHER_BIT;
        lock(&self.0).path_counts.insert(select.to_word(), word);
    }

    /// Register and doorbell writes since power-up.
    pub fn stores(&self) -> u64 {
        lock(&self.0).stores
    }

    /// Function-level resets so far.
    pub fn resets(&self) -> u32 {
        lock(&self.0).resets
    }
}

impl PciFunction for FakeCard {
    fn config_load(&self, function: Function, offset: u16) -> Result<u32, DeviceError> {
        Ok(lock(&self.0).configs[function.endpoint()][usize::from(offset / 4)])
    }

    fn config_store(&self, function: Function, offset: u16, value: u16) -> Result<(), DeviceError> {
        let mut state = lock(&self.0);
        let shift = 8 * u32::from(offset & 2);
        let word = &mut state.configs[function.endpoint()][usize::from(offset / 4)];
        *word = *word & !(0xffff << shift) | u32::from(value) << shift;
        Ok(())
    }

    fn load(&self, access: Access) -> Result<u64, DeviceError> {
        assert_eq!(
            (access.bar(), access.width()),
            (Bar::Registers, Width::Eight)
        );
        Ok(lock(&self.0).registers[(access.offset() / 8) as usize])
    }

    fn store(&self, access: Access, value: u64) -> Result<(), DeviceError> {
        assert_eq!(access.width(), Width::Eight);
        let mut state = lock(&self.0);
        state.stores += 1;
        if access.bar() == Bar::Doorbells {
            state.doorbells.push((access.offset(), value));
        } else if access.offset() == u64::from(TABLE_COMMAND.offset) {
            let from = place(registers::TABLE_DATA);
            let entry = state.registers[from..from + 16].to_vec();
            let select = (value >> TableCommand::SELECT_BIT) as u8;
            let index = value as u32 & ((1 << EMTT_INDEX_BITS) - 1);
            if FakeCard::FEATURES.has_row(select, index) {
                state.rows.push((select, index, entry));
            } else {
                state.registers[place(registers::REFUSED)] += 1;
            }
        } else if access.offset() == u64::from(registers::ADMIN_RING.offset) {
            state.admin_ring = value;
            state.registers[place(registers::ADMIN_STATE)] = 0;
        } else if access.offset() == u64::from(registers::ADMIN_PRODUCER.offset) {
            state.execute(value as u16);
        } else if access.offset() == u64::from(registers::QP_COUNTER_SELECT.offset) {
            let word = state.path_counts.remove(&value).unwrap_or_default();
            state.registers[place(registers::QP_COUNTER_VALUE)] = word;
        } else if access.offset() != u64::from(registers::FENCE.offset) {
            state.registers[(access.offset() / 8) as usize] = value;
        }
        Ok(())
    }

    fn allocate_memory(&self, bytes: usize) -> Result<Arc<dyn DmaMemory>, DeviceError> {
        let mut state = lock(&self.0);
        let memory = Arc::new(FakeMemory {
            address: FIRST_ADDRESS + MOST_BYTES * state.memory.len() as u64,
            bytes: Mutex::new(vec![0; bytes]),
        });
        state.memory.push(Arc::downgrade(&memory));
        Ok(memory)
    }

    fn interrupt(&self, _vector: u16) -> Result<Arc<dyn Interrupt>, DeviceError> {
        Ok(Arc::new(NeverRaised))
    }

    fn reset(&self) -> Result<(), DeviceError> {
        lock(&self.0).resets += 1;
        Ok(())
    }

    fn now(&self) -> Duration {
        let mut state = lock(&self.0);
        state.time += 1;
        Duration::from_micros(state.time)
    }

    fn relax(&self) {}
}

struct FakeMemory {
    address: u64,
    bytes: Mutex<Vec<u8>>,
}

impl DmaMemory for FakeMemory {
    fn address(&self) -> u64 {
        self.address
    }

    fn length(&self) -> usize {
        lock(&self.bytes).len()
    }

    fn load(&self, offset: usize, into: &mut [u8]) {
        into.copy_from_slice(&lock(&self.bytes)[offset..offset + into.len()]);
    }

    fn store(&self, offset: usize, bytes: &[u8]) {
        lock(&self.bytes)[offset..offset + bytes.len()].copy_from_slice(bytes);
    }

    fn load_word(&self, offset: usize) -> u64 {
        let mut bytes = [0; 8];
        self.load(offset, &mut bytes);
        u64::from_le_bytes(bytes)
    }
}

struct NeverRaised;

impl Interrupt for NeverRaised {
    fn wait(&self, _timeout: Duration) -> Result<bool, DeviceError> {
        Ok(false)
    }
}
