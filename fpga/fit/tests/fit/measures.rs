//! Paths, fan-out, cells and memories of designs whose numbers are known.

use stellar_fit::{Driver, Report};

use crate::designs::{border, chain, conditions, delayed, late, parity, ring, twins, wide};

#[test]
fn a_path_over_three_modules_is_counted_from_register_to_register() {
    let timing = &chain().0.timing;
    assert_eq!(timing.worst, 4.0, "{timing:#?}");
    // One end point: `last`.
    assert_eq!(timing.above, 1);
    let path = &timing.paths[0];
    assert_eq!((path.luts, path.muxes, path.end_points), (4, 0, 1));
    assert_eq!(
        (path.from.as_str(), path.to.as_str()),
        ("u_front.held", "u_back.last")
    );
    assert_eq!(path.through, ["u_front", "u_middle", "u_back"]);
    let [register] = timing.registers.as_slice() else {
        panic!("{:#?}", timing.registers);
    };
    assert_eq!(
        (register.name.as_str(), register.end_points, register.levels),
        ("u_back.last", 1, 4.0)
    );
}

#[test]
fn a_wide_function_is_mapped_by_what_its_multiplexers_cost() {
    let timing = parity().timing;
    assert_eq!((timing.worst, timing.above), (3.0, 0), "{timing:#?}");
}

#[test]
fn what_a_block_ram_drives_has_few_luts_behind_it() {
    let timing = late().timing;
    assert_eq!(timing.worst, 4.0 + 2.0, "{timing:#?}");
}

#[test]
fn what_comes_late_over_a_border_has_few_luts_behind_it() {
    let (before, runs, _) = border(0);
    assert_eq!(before.timing.worst, 3.0 + 3.0, "{:#?}", before.timing);
    let (after, more_runs, again) = border(2);
    assert!(after.timing.worst <= 3.0 + 2.0, "{:#?}", after.timing);
    // Both units are on the path, and the top has no LUT.
    assert!(
        more_runs > runs && again == 0,
        "{runs}, {more_runs}, {again}"
    );
    assert_eq!(after.total.ff, before.total.ff);
}

#[test]
fn a_chain_that_stays_too_long_is_mapped_in_other_ways() {
    // The usual way keeps the chain: each LUT takes five of its 48 inputs.
    let [usual, others] = [0, 1].map(|rounds| conditions(rounds).timing.worst);
    assert!(usual > 8.0 && others <= 3.0, "{usual}, {others}");
}

#[test]
fn loads_are_those_of_all_modules_that_a_net_enters() {
    let nets = &chain().0.nets;
    assert_eq!(nets.len(), 1, "{nets:#?}");
    assert_eq!(nets[0].name, "u_back.last");
    assert_eq!(nets[0].driver, Driver::Register);
    assert_eq!((nets[0].copies(500), nets[0].copies(700)), (2, 1));
    assert_eq!(nets[0].loads, 700);
}

#[test]
fn a_multiplexer_with_many_loads_is_a_lut() {
    let (few, many) = (wide(700), wide(500));
    let path = |report: &Report| {
        let path = &report.timing.paths[0];
        (path.luts, path.muxes)
    };
    assert_eq!((path(&few), few.nets.len()), ((1, 1), 0));
    assert_eq!((path(&many), many.timing.worst), ((2, 0), 2.0));
    let [net] = many.nets.as_slice() else {
        panic!("{:#?}", many.nets);
    };
    assert_eq!((net.driver, net.loads), (Driver::Lut, 600));
}

#[test]
fn a_shift_register_with_many_loads_ends_in_a_register() {
    let report = delayed();
    let drivers: Vec<Driver> = report.nets.iter().map(|net| net.driver).collect();
    assert_eq!(drivers, [Driver::Register], "{:#?}", report.nets);
    // A LUT holds the delay.
    assert!(
        report.total.lut >= 1 && report.total.ff < 604,
        "{:?}",
        report.total
    );
}

#[test]
fn cells_are_counted_by_block_without_what_nobody_reads() {
    let report = &chain().0;
    // `held`; the eight bits of `unused` are gone.
    assert_eq!(report.blocks["u_front"].ff, 6);
    assert_eq!(report.blocks["u_back"].ff, 701);
    assert_eq!(report.blocks["(top)"].ff, 5);
    assert_eq!(report.total.ff, 6 + 701 + 5);
    // `middle` with a constant bit: five bits, and the result with five others. Without it, `straight` takes two more.
    assert_eq!(report.blocks["u_middle"].lut, 2);
}

#[test]
fn a_memory_of_another_style_than_declared_is_found() {
    let memories = &chain().0.memories;
    assert_eq!(memories.len(), 1, "{memories:#?}");
    let wrong = &memories[0];
    assert_eq!(wrong.path, "u_store.memory");
    assert_eq!(
        (wrong.declared.as_str(), wrong.mapped.as_str()),
        ("auto", "distributed")
    );
    assert_eq!(wrong.shape, (4, 36));
}

#[test]
fn a_second_run_maps_nothing() {
    let (_, first, again) = chain();
    assert_eq!((*first, *again), (5, 0));
}

#[test]
fn a_loop_over_modules_is_an_error_that_names_it() {
    let error = ring().expect_err("a loop").to_string();
    assert!(error.contains("loop"), "{error}");
    assert!(error.contains("u_a") && error.contains("u_b"), "{error}");
}

#[test]
fn equal_registers_that_have_to_stay_are_not_merged() {
    let nets = twins().nets;
    let loads: Vec<u32> = nets.iter().map(|net| net.loads).collect();
    assert_eq!(loads, [600, 600], "{nets:#?}");
}
