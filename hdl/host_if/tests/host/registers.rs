//! Registers compared with the register map, cycle by cycle.

use hdl_host_if::register_view::READ_LATENCY;
use hdl_host_if::registers::Registers;
use hdl_testkit::stream::stall;
use hdl_testkit::Dut;
use proptest::prelude::*;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use stellar_wire::host::registers::{self as map, TableCommand};
use stellar_wire::hw::config::ConfigSelect;

use crate::bench::{generator, reset};
use crate::register_model::{Model, World, Write, FEATURES};

fn random_address(rng: &mut ChaCha8Rng) -> u16 {
    if rng.random_ratio(1, 20) {
        return rng.random();
    }
    let register = &map::ALL[rng.random_range(0..map::ALL.len())];
    register.offset + 8 * rng.random_range(0..register.count)
}

fn random_write(rng: &mut ChaCha8Rng) -> Write {
    let address = random_address(rng);
    let data = if address == map::TABLE_COMMAND.offset {
        let select = rng.random_range(0..20u64);
        // The number of row bits is uniform, because most tables have few rows.
        let row = rng.random::<u64>() & 0xf_ffff >> rng.random_range(0..=20u32);
        rng.random::<u64>() & !0xff_ffff_ffff | select << 32 | row
    } else {
        rng.random()
    };
    let enable = match rng.random_range(0..6) {
        0 => rng.random(),
        1 => 0x0f,
        _ => 0xff,
    };
    Write {
        address,
        data,
        enable,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn registers_are_as_the_map_says(seed: u64, clocks in 100..1200usize) {
        let rng = &mut generator(seed);
        let mut dut = reset::<Registers<10, 12, 19>>();
        let mut model = Model::new();
        let mut writing = None;
        // Reads whose value is known two cycles after they came; the counter's value comes one cycle later.
        let mut asked = [None; 2];
        let mut picked: Option<Option<(u16, Option<u64>)>> = None;
        let mut answered: Option<u64> = None;
        for _ in 0..clocks {
            let write = rng.random_ratio(1, 2).then(|| random_write(rng));
            let read = rng.random_ratio(1, 2).then(|| random_address(rng));
            dut.set("write_valid", write.is_some().into());
            let shown = write.unwrap_or_default();
            dut.set("write_address", shown.address.into());
            dut.set("write_data", shown.data);
            dut.set("write_enable", shown.enable.into());
            dut.set("read_valid", read.is_some().into());
            dut.set("read_address", read.unwrap_or_default().into());
            let counter = rng.random::<u64>() >> 16;
            dut.set("counter_value", counter);
            for ready in [
                "settings_ready",
                "fence_ready",
                "fence_done",
                "arm_ready",
                "qp_counter_ready",
            ] {
                stall(&mut dut, rng, ready, 2);
            }
            let qp_counter = rng.random();
            dut.set("qp_counter_value", qp_counter);
            let world = World {
                port_up: rng.random_range(0..4),
                pending: rng.random(),
                settings_ready: dut.is("settings_ready"),
                fence_ready: dut.is("fence_ready"),
                fence_done: dut.is("fence_done"),
                arm_ready: dut.is("arm_ready"),
                qp_counter: dut.is("qp_counter_ready").then_some(qp_counter),
                admin_done: rng.random_range(0..1 << 16),
                admin_error: rng.random_range(0..3),
            };
            dut.set("port_up", world.port_up);
            dut.set("interrupt_pending", world.pending);
            dut.set("admin_done", world.admin_done);
            dut.set("admin_error", world.admin_error);
            dut.settle();
            model.check(&dut);
            prop_assert_eq!(dut.is("read_done"), answered.is_some());
            if let Some(value) = answered {
                prop_assert_eq!(dut.get("read_data"), value);
            }
            // A stray read is counted in the cycle after the registers were examined.
            let strays = picked.flatten().is_some_and(|(_, value)| value.is_none());
            answered = picked.flatten().map(|(address, value)| match value {
                Some(_) if address == map::COUNTER_VALUE.offset => counter,
                Some(value) => value,
                None => u64::MAX,
            });
            picked = Some(asked[1].map(|address| (address, model.read(address, &world))));
            asked = [read, asked[0]];
            model.step(writing, &world);
            model.unmapped += u64::from(strays);
            writing = write;
            dut.clock();
        }
    }
}

fn write(dut: &mut Dut, address: u16, data: u64, enable: u8) {
    dut.set("write_valid", 1);
    dut.set("write_address", address.into());
    dut.set("write_data", data);
    dut.set("write_enable", enable.into());
    dut.clock();
    dut.set("write_valid", 0);
}

fn read(dut: &mut Dut, address: u16) -> u64 {
    dut.set("read_valid", 1);
    dut.set("read_address", address.into());
    dut.clock();
    dut.set("read_valid", 0);
    for clock in 1..=READ_LATENCY {
        dut.settle();
        assert_eq!(dut.is("read_done"), clock == READ_LATENCY);
        if clock < READ_LATENCY {
            dut.clock();
        }
    }
    let value = dut.get("read_data");
    dut.clock();
    value
}

#[test]
fn what_software_must_not_do_is_refused_and_counted() {
    let mut dut = reset::<Registers<10, 12, 19>>();
    let commit = TableCommand {
        select: 13,
        index: 5,
    }
    .to_word();
    write(
        &mut dut,
        map::TABLE_COMMAND.offset,
        TableCommand {
            select: ConfigSelect::COUNT as u8,
            index: 0,
        }
        .to_word(),
        0xff,
    );
    assert_eq!(
        read(&mut dut, map::REFUSED.offset),
        1,
        "a table that does not exist"
    );
    write(&mut dut, map::TABLE_COMMAND.offset, commit, 0x0f);
    assert_eq!(read(&mut dut, map::REFUSED.offset), 2, "half a command");
    write(&mut dut, map::IDENTITY.offset, 0, 0xff);
    assert_eq!(read(&mut dut, map::REFUSED.offset), 3, "a constant");
    for table in [ConfigSelect::Qp, ConfigSelect::Mr, ConfigSelect::Emtt] {
        let beyond = TableCommand {
            select: table as u8,
            index: 1 << FEATURES.row_bits(table),
        };
        write(&mut dut, map::TABLE_COMMAND.offset, beyond.to_word(), 0xff);
        dut.settle();
        assert!(!dut.is("settings_valid"), "{table:?}");
    }
    assert_eq!(
        read(&mut dut, map::REFUSED.offset),
        6,
        "rows that tables have not"
    );
    write(&mut dut, map::TABLE_COMMAND.offset, commit, 0xff);
    assert_eq!(
        read(&mut dut, map::TABLE_COMMAND.offset),
        1 << map::status::BUSY_BIT
    );
    write(&mut dut, map::TABLE_COMMAND.offset, commit, 0xff);
    write(&mut dut, map::TABLE_DATA.offset, 1, 0xff);
    assert_eq!(
        read(&mut dut, map::REFUSED.offset),
        8,
        "a commit and data while one is under way"
    );
    assert_eq!(read(&mut dut, map::TABLE_DATA.offset), 0);
    dut.set("settings_ready", 1);
    dut.clock();
    assert_eq!(read(&mut dut, map::TABLE_COMMAND.offset), 0);
    assert_eq!(read(&mut dut, 0xfff8), u64::MAX);
    assert_eq!(read(&mut dut, map::SCRATCH.offset + 4), u64::MAX);
    write(&mut dut, 0xfff8, 0, 0xff);
    assert_eq!(read(&mut dut, map::UNMAPPED.offset), 3);
}

/// A counter is selected and read at once, with two cycles from selection to value.
#[test]
fn a_counter_can_be_read_right_after_it_was_selected() {
    let mut dut = reset::<Registers<10, 12, 19>>();
    let mut selected = [0u64; 2];
    let mut reads = vec![];
    dut.set("write_enable", 0xff);
    dut.set("write_address", map::COUNTER_SELECT.offset.into());
    dut.set("read_address", map::COUNTER_VALUE.offset.into());
    for clock in 0..20u64 {
        // Select in even cycles, read in odd ones.
        dut.set("write_valid", u64::from(clock % 2 == 0));
        dut.set("write_data", 100 + clock);
        dut.set("read_valid", clock % 2);
        dut.set("counter_value", selected[1] * 1000);
        dut.settle();
        selected = [dut.get("counter_select"), selected[0]];
        if dut.is("read_done") {
            reads.push(dut.get("read_data"));
        }
        dut.clock();
    }
    let expected: Vec<u64> = (0..8).map(|n| (100 + 2 * n) * 1000).collect();
    assert_eq!(reads[..8], expected);
}
