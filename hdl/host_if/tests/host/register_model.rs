//! The registers of the register map, cycle by cycle.

use std::collections::BTreeMap;

use hdl_testkit::Dut;
use stellar_wire::config::{RECEIVE_WINDOW, WINDOW};
use stellar_wire::host::admin::AdminState;
use stellar_wire::host::registers::{
    self as map, Access, DataPath, Features, ImmediateArm, Immediates, Register, TableCommand,
};
use stellar_wire::host::{ConsumerIndex, QpCounterSelect};
use stellar_wire::hw::config::ConfigWrite;
use stellar_wire::hw::pack::Record;
use stellar_wire::hw::tables::EMTT_INDEX_BITS;

/// Sizes of the card in the block under test.
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

/// Its shape.
const DATA_PATH: DataPath = DataPath {
    endpoints: 2,
    width: 1024,
    profiles: 8,
    explicit_profiles: 4,
    rc_paths: true,
    log2_counted: 10,
};

/// Bits of a register that stores what software writes.
fn kept_bits(register: &Register) -> u64 {
    let bits = match *register {
        map::UDP_PORT => 16,
        map::MAX_PAYLOAD | map::MAX_READ => 3,
        map::READ_TIMEOUT => 31,
        map::COUNTER_SELECT => 8,
        _ => 64,
    };
    u64::MAX >> (64 - bits)
}

fn register_at(address: u16) -> Option<&'static Register> {
    map::ALL
        .iter()
        .find(|r| (r.offset..r.end()).contains(&address) && address.is_multiple_of(Register::BYTES))
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Write {
    pub address: u16,
    pub data: u64,
    pub enable: u8,
}

/// Inputs of one cycle other than software's.
#[derive(Clone, Copy, Debug, Default)]
pub struct World {
    pub port_up: u64,
    pub pending: u64,
    pub settings_ready: bool,
    pub fence_ready: bool,
    pub fence_done: bool,
    pub arm_ready: bool,
    /// The value of a queue pair's counter, if it is there.
    pub qp_counter: Option<u64>,
    pub admin_done: u64,
    pub admin_error: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fence {
    Idle,
    Queued,
    Asked,
    Issued,
}

/// Contents of the registers, by the register map.
#[derive(Clone, Debug)]
pub struct Model {
    /// The values by address.
    kept: BTreeMap<u16, u64>,
    commit: Option<(u64, u64)>,
    last_commit: (u64, u64),
    fence: Fence,
    fence_done: bool,
    arm: Option<(u64, u64)>,
    /// Queue pair and number of the counter that is being read.
    count: Option<(u64, u64)>,
    counted: u64,
    consumer: Option<(u64, u64, u64)>,
    admin_ring: Option<u64>,
    admin_producer: Option<u64>,
    refused: u64,
    pub unmapped: u64,
}

impl Model {
    pub fn new() -> Self {
        let stores = map::ALL.iter().filter(|r| r.access == Access::ReadWrite);
        Self {
            kept: stores
                .flat_map(|r| (r.offset..r.end()).step_by(8).map(|at| (at, r.reset)))
                .collect(),
            commit: None,
            last_commit: (0, 0),
            fence: Fence::Idle,
            fence_done: false,
            arm: None,
            count: None,
            counted: 0,
            consumer: None,
            admin_ring: None,
            admin_producer: None,
            refused: 0,
            unmapped: 0,
        }
    }

    fn status(done: bool, busy: bool) -> u64 {
        u64::from(done) << map::status::DONE_BIT | u64::from(busy) << map::status::BUSY_BIT
    }

    /// Value of a read, except for the selected counter. `None`: there is no register.
    pub fn read(&self, address: u16, world: &World) -> Option<u64> {
        let register = register_at(address)?;
        Some(match *register {
            map::IDENTITY | map::VERSION => register.reset,
            map::FEATURES => FEATURES.to_word(),
            map::DATA_PATH => DATA_PATH.to_word(),
            map::IMMEDIATES => Immediates::CARD.to_word(),
            map::PORT_STATE => world.port_up,
            map::INTERRUPT_PENDING => world.pending,
            map::REFUSED => self.refused,
            map::UNMAPPED => self.unmapped,
            map::FENCE => Self::status(self.fence_done, self.fence != Fence::Idle),
            map::IMMEDIATE_ARM => Self::status(false, self.arm.is_some()),
            map::QP_COUNTER_SELECT => Self::status(false, self.count.is_some()),
            map::QP_COUNTER_VALUE => self.counted,
            map::TABLE_COMMAND => Self::status(false, self.commit.is_some()),
            map::EVENT_CONSUMER | map::ADMIN_RING | map::ADMIN_PRODUCER | map::COUNTER_VALUE => 0,
            map::ADMIN_STATE => world.admin_done | world.admin_error << AdminState::ERROR_BIT,
            _ => self.kept[&address],
        })
    }

    /// Executes one cycle with a write and the other inputs of the cycle.
    pub fn step(&mut self, write: Option<Write>, world: &World) {
        let before = self.clone();
        if world.settings_ready {
            self.commit = None;
        }
        if world.arm_ready {
            self.arm = None;
        }
        if let Some(value) = world.qp_counter {
            if self.count.take().is_some() {
                self.counted = value;
            }
        }
        self.fence = match before.fence {
            Fence::Queued if before.commit.is_none() => Fence::Asked,
            Fence::Asked if world.fence_ready => Fence::Issued,
            Fence::Issued if world.fence_done => {
                self.fence_done = true;
                Fence::Idle
            }
            same => same,
        };
        self.consumer = None;
        self.admin_ring = None;
        self.admin_producer = None;
        let Some(write) = write else { return };
        let Some(register) = register_at(write.address) else {
            self.unmapped += 1;
            return;
        };
        let taken = match register.access {
            Access::ReadOnly => false,
            Access::ReadWrite => {
                let may = *register != map::TABLE_DATA || before.commit.is_none();
                if may {
                    let mask = (0..8)
                        .filter(|byte| write.enable >> byte & 1 != 0)
                        .fold(0, |mask, byte| mask | 0xff << (8 * byte));
                    let old = before.kept[&write.address];
                    let new = (old & !mask | write.data & mask) & kept_bits(register);
                    self.kept.insert(write.address, new);
                }
                may
            }
            Access::Command => write.enable == 0xff && self.act(&before, register, write.data),
        };
        self.refused += u64::from(!taken);
    }

    /// Whether the command is accepted.
    fn act(&mut self, before: &Self, register: &Register, data: u64) -> bool {
        match *register {
            map::TABLE_COMMAND => {
                let select = data >> TableCommand::SELECT_BIT & 0xff;
                let index = data >> TableCommand::INDEX_BIT & ((1 << EMTT_INDEX_BITS) - 1);
                let exists = FEATURES.has_row(select as u8, index as u32);
                let may = before.commit.is_none() && exists;
                if may {
                    self.last_commit = (select, index);
                    self.commit = Some(self.last_commit);
                }
                may
            }
            map::FENCE => {
                let may = before.fence == Fence::Idle;
                if may {
                    self.fence = Fence::Queued;
                    self.fence_done = false;
                }
                may
            }
            map::IMMEDIATE_ARM => {
                let may = before.arm.is_none();
                if may {
                    self.arm = Some((
                        data >> ImmediateArm::QP_BIT & 0x3ff,
                        data >> ImmediateArm::THRESHOLD_BIT,
                    ));
                }
                may
            }
            map::QP_COUNTER_SELECT => {
                let may = before.count.is_none();
                if may {
                    let number = data >> QpCounterSelect::COUNTER_BIT & 0x1ff;
                    self.count = Some((data >> QpCounterSelect::QP_BIT & 0x3ff, number));
                }
                may
            }
            map::ADMIN_RING => {
                self.admin_ring = Some(data);
                true
            }
            map::ADMIN_PRODUCER => {
                self.admin_producer = Some(data & 0xffff);
                true
            }
            _ => {
                let word = ConsumerIndex::from_bytes(&data.to_le_bytes());
                self.consumer = Some((u64::from(word.qp % 64), word.index.into(), word.arm.into()));
                true
            }
        }
    }

    /// Compares every output of the registers in this cycle.
    pub fn check(&self, dut: &Dut) {
        assert_eq!(dut.is("settings_valid"), self.commit.is_some());
        if let Some((select, index)) = self.commit {
            let words = dut.words("settings");
            let record = Record::<ConfigWrite>::new(&words);
            assert_eq!((record.u64("select"), record.u64("index")), (select, index));
            let table = map::TABLE_DATA.offset..map::TABLE_DATA.end();
            let entry = table.step_by(8).flat_map(|at| {
                let word = self.kept[&at];
                [word as u32, (word >> 32) as u32]
            });
            assert_eq!(record.words("entry"), entry.collect::<Vec<u32>>());
        }
        assert_eq!(dut.is("fence_valid"), self.fence == Fence::Asked);
        assert_eq!(dut.is("arm_valid"), self.arm.is_some());
        if let Some(arm) = self.arm {
            assert_eq!((dut.get("arm_qp"), dut.get("arm_threshold")), arm);
        }
        assert_eq!(dut.is("qp_counter_valid"), self.count.is_some());
        if let Some(count) = self.count {
            let asked = (dut.get("qp_counter_qp"), dut.get("qp_counter_counter"));
            assert_eq!(asked, count);
        }
        assert_eq!(dut.is("event_consumer_valid"), self.consumer.is_some());
        if let Some(consumer) = self.consumer {
            let port = |name| dut.get(name);
            assert_eq!(
                (
                    port("event_consumer_queue"),
                    port("event_consumer_index"),
                    port("event_consumer_arm")
                ),
                consumer
            );
        }
        for (port, written) in [
            ("admin_ring", self.admin_ring),
            ("admin_producer", self.admin_producer),
        ] {
            assert_eq!(dut.is(&format!("{port}_valid")), written.is_some());
            if let Some(written) = written {
                assert_eq!(dut.get(port), written, "{port}");
            }
        }
        for (port, register) in [
            ("udp_port", map::UDP_PORT),
            ("mps_code", map::MAX_PAYLOAD),
            ("mrrs_code", map::MAX_READ),
            ("read_timeout", map::READ_TIMEOUT),
            ("counter_select", map::COUNTER_SELECT),
        ] {
            assert_eq!(dut.get(port), self.kept[&register.offset], "{port}");
        }
    }
}
