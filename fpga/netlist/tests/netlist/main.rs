//! A netlist behaves as the Verilog that it was made of, on random input; a netlist with a changed cell does not.

mod sample;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use sim_models::DesignModels;
use sim_verilated::{Dir, Model, ModelSpec};
use stellar_netlist::{cells as cells_of, Synthesis};

use sample::{Sample, ADDRESS};

fn synthesis() -> Synthesis {
    Synthesis::new("yosys").unwrap()
}

/// The specifications of the block's model and of its netlist's, and the netlist without models of cells.
fn both(block: impl Block) -> (ModelSpec, ModelSpec, String) {
    let mut block = Box::new(block);
    block.connect_all();
    let design = hdl_verilog::emit(block.as_ref()).unwrap();
    let mut verilog = design.model().for_short_run();
    // As synthesis sees it: otherwise a model of an UltraRAM also gives what its other mapping would.
    verilog.verilator_arguments.push("-DSYNTHESIS".into());
    let netlist = synthesis().netlist(&design.text(), &design.top).unwrap();
    let cells = ModelSpec {
        verilog: synthesis().with_models(&netlist).unwrap(),
        ..verilog.clone()
    };
    (verilog, cells, netlist)
}

/// Drives both models with the same random input. Returns the first cycle in which an output differs, and its name.
fn first_difference(
    verilog: &ModelSpec,
    netlist: &ModelSpec,
    cycles: u64,
) -> Option<(u64, String)> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut models: Vec<Model> = [verilog, netlist]
        .map(|spec| spec.build_exactly().unwrap().instantiate())
        .into();
    let clock = models[0].port("clock").unwrap();
    for cycle in 0..cycles {
        for port in verilog
            .ports
            .iter()
            .filter(|port| port.dir == Dir::In && port.name != "clock")
        {
            let mut words: Vec<u32> = (0..port.width.div_ceil(32)).map(|_| rng.random()).collect();
            // Few addresses, so that words are read that have been written, also in the same cycle.
            if port.name.ends_with("address") {
                words[0] &= ADDRESS;
            }
            if port.name == "reset" {
                words[0] = u32::from(cycle < 2 || rng.random_ratio(1, 100));
            }
            let last = port.width % 32;
            if last != 0 {
                *words.last_mut().unwrap() &= (1 << last) - 1;
            }
            for model in &mut models {
                let id = model.port(&port.name).unwrap();
                model.set(id, &words);
            }
        }
        for level in [0, 1] {
            for model in &mut models {
                model.set_u64(clock, level);
                model.eval();
            }
            for port in verilog.ports.iter().filter(|port| port.dir == Dir::Out) {
                let [a, b] = [&models[0], &models[1]]
                    .map(|model| model.get_words(model.port(&port.name).unwrap()).to_vec());
                if a != b {
                    return Some((cycle, port.name.clone()));
                }
            }
        }
    }
    None
}

#[test]
fn every_kind_of_cell_behaves_as_the_verilog_it_stands_for() {
    let (verilog, cells, netlist) = both(Sample::default());
    let kinds = cells_of(&netlist);
    for kind in [
        "LUT6", "FDRE", "CARRY4", "RAMB36E2", "RAMB18E2", "URAM288", "DSP48E2", "SRL",
    ] {
        assert!(kinds.of(kind) > 0, "the sample has no {kind}: {kinds:?}");
    }
    let counts = kinds.counts();
    assert!(
        counts.lut_rams > 0,
        "the sample has no memory of LUTs: {kinds:?}"
    );
    assert_eq!(first_difference(&verilog, &cells, 3_000), None);
}

#[test]
fn a_changed_lut_is_found() {
    let (verilog, cells, _) = both(hdl_primitives::Counter::<16>::default());
    let at = cells
        .verilog
        .rfind(".INIT(4'h")
        .expect("a counter has a LUT of two inputs");
    let digit = at + ".INIT(4'h".len();
    let mut changed = cells.clone();
    let other = if &cells.verilog[digit..=digit] == "0" {
        "1"
    } else {
        "0"
    };
    changed.verilog.replace_range(digit..=digit, other);
    assert_eq!(first_difference(&verilog, &cells, 600), None);
    assert!(first_difference(&verilog, &changed, 600).is_some());
}

#[test]
fn what_cannot_be_made_is_said() {
    let missing = Synthesis::new("no-such-yosys").err().unwrap();
    assert!(missing.to_string().contains("./stellar setup"), "{missing}");
    let wrong = synthesis().netlist("module a(input x, output y); assign y = ; endmodule", "a");
    assert!(wrong.unwrap_err().to_string().contains("yosys fails on a"));
    let unknown = synthesis().with_models("module a;\n  XYZ9 one (\n  );\nendmodule\n");
    assert!(unknown
        .unwrap_err()
        .to_string()
        .contains("no model of the cell XYZ9"));
}
