//! Tests of wave and coverage files.

use std::fs;

use sim_verilated::{ModelError, ModelSpec, Port};

use crate::common::{count, counter};

#[test]
fn waves_are_written_and_can_be_opened_again() {
    let directory = tempfile::tempdir().unwrap();
    let library = counter().with_trace().build().unwrap();
    let mut model = library.instantiate();
    for name in ["first.fst", "second.fst"] {
        let path = directory.path().join(name);
        model.open_trace(&path).unwrap();
        count(&mut model, 100);
        model.close_trace();
        let bytes = fs::read(&path).unwrap();
        // A finished FST file starts with a header block (type 0) of 329 bytes.
        assert_eq!(bytes[..9], [0, 0, 0, 0, 0, 0, 0, 1, 73], "{name}");
        assert!(bytes.len() > 400, "{name}: {} bytes", bytes.len());
    }
}

#[test]
fn waves_have_as_many_levels_as_were_asked_for() {
    const VERILOG: &str = "module leaf(input a, output b); assign b = !a; endmodule
        module branch(input a, output b); leaf u_leaf(.a(a), .b(b)); endmodule
        module root(input a, output b);
          wire c;
          branch u_first(.a(a), .b(c));
          branch u_second(.a(c), .b(b));
        endmodule";
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("levels.fst");
    for (levels, scopes) in [(Some(1), 2), (Some(2), 4), (None, 6)] {
        let ports = vec![Port::input("a", 1), Port::output("b", 1)];
        let spec = ModelSpec::new("root", VERILOG, ports).with_trace_of(levels);
        let mut model = spec.for_short_run().build().unwrap().instantiate();
        model.open_trace(&path).unwrap();
        model.eval();
        model.close_trace();
        let bytes = fs::read(&path).unwrap();
        // The number of scopes is the sixth number of the header block. Verilator adds one around the top module.
        let found = u64::from_be_bytes(bytes[41..49].try_into().unwrap());
        assert_eq!(found, scopes, "{levels:?}");
    }
}

#[test]
fn dropping_a_model_finishes_its_waves() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("dropped.fst");
    let mut model = counter().with_trace().build().unwrap().instantiate();
    model.open_trace(&path).unwrap();
    count(&mut model, 10);
    drop(model);
    assert_eq!(fs::read(&path).unwrap()[0], 0);
}

#[test]
fn line_coverage_tells_what_ran_in_one_instance() {
    let directory = tempfile::tempdir().unwrap();
    let library = counter().with_coverage().build().unwrap();
    let mut used = library.instantiate();
    let idle = library.instantiate();
    count(&mut used, 7);
    // Each point is one line that ends in its count.
    let total = |name: &str, model: &sim_verilated::Model| -> u64 {
        let path = directory.path().join(name);
        model.write_coverage(&path).unwrap();
        let text = fs::read_to_string(path).unwrap();
        let counts = text.lines().filter(|line| line.starts_with("C '"));
        counts
            .map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap())
            .sum()
    };
    let (used, idle) = (total("used.dat", &used), total("idle.dat", &idle));
    assert!(used >= idle + 7, "used {used}, idle {idle}");
}

#[test]
fn waves_and_coverage_are_refused_where_they_were_not_built() {
    let mut model = counter().build().unwrap().instantiate();
    assert!(matches!(
        model.open_trace("unused.fst").unwrap_err(),
        ModelError::TraceNotBuilt { .. }
    ));
    assert!(matches!(
        model.write_coverage("unused.dat").unwrap_err(),
        ModelError::CoverageNotBuilt { .. }
    ));
}

#[test]
fn an_unwritable_file_is_named() {
    let mut model = counter().with_trace().build().unwrap().instantiate();
    let error = model.open_trace("/nonexistent/waves.fst").unwrap_err();
    assert!(error.to_string().contains("/nonexistent/waves.fst"));
    assert_eq!(count(&mut model, 1), 4, "the model still runs");
}
