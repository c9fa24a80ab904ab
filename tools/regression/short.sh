# What `./stellar test` runs. Sourced by ./stellar, after stages.sh.

# `--tests` means what has tests; `--lib` and `--examples` would also build those that have none.
#
# A test program in whose environment RUSTC_BOOTSTRAP is can print the time of each test. The compiler does not see it: nothing is built anew.
#
# nextest, which starts a process for each test, takes a fifth more of the processors: tests of a program share its models and the Verilog
# of its blocks.
timed_tests() {
    local host
    host=$(rustc -vV | sed -n 's/^host: //p' | tr a-z- A-Z_)
    env "CARGO_TARGET_${host}_RUNNER=env RUSTC_BOOTSTRAP=1" \
        cargo test "$@" --tests -- -Zunstable-options --report-time
}

# What simulates whole cards takes as long as all the rest.
CARD_TESTS=(stellar-cli sim-nic stellar-tests)
card_tests() { timed_tests "${CARD_TESTS[@]/#/--package=}"; }
block_tests() {
    timed_tests --workspace "${CARD_TESTS[@]/#/--exclude=}"
    cargo test --workspace --doc
}

# install_wheel FOLDER WHEELS: builds the wheel of a folder and installs it in the Python environment.
install_wheel() {
    local folder=$1 wheels=$2
    rm -rf "$wheels"
    "$VENV/bin/maturin" build --quiet --manifest-path "$folder/Cargo.toml" --interpreter "$STELLAR_PYTHON" --out "$wheels"
    "$STELLAR_PYTHON" -m pip install --disable-pip-version-check --no-input --quiet --no-deps --no-index --force-reinstall "$wheels"/*.whl
}
install_package() { install_wheel sim/python "$STATE/wheels"; }
# Clusters are a wheel of their own: without the hardware, it builds in a minute.
install_clusters() { install_wheel sim/python/cluster "$STATE/cluster_wheels"; }

test_python() {
    install_package
    install_clusters
    "$STELLAR_PYTHON" -m pytest -q -p no:cacheprovider --durations=10 tests/cocotb -m "not repeats"
    "$STELLAR_PYTHON" -m pytest -q -p no:cacheprovider --durations=5 tests/cluster
    # The same outcomes and simulated times on stock cocotb; `./stellar test --long` compares all benches.
    "$STELLAR_PYTHON" tools/cocotb compare --only bench_counter bench_psn_track
    "$STELLAR_PYTHON" -m pytest -q -p no:cacheprovider tools/interop/tests
    # A quick part of other people's suites; `./stellar test --long` runs them all.
    "$STELLAR_PYTHON" tools/cocotb suites cocotbext-axi --only axis --ours-only
}

# AddressSanitizer comes with the stable Rust of rustup; only the compiler's option for it counts as unstable. Programs and their
# dependencies are built with it, build scripts and procedural macros are not, because a target is named.
sanitizer_is_there() { [[ -f $(rustc --print target-libdir)/librustc-stable_rt.asan.a ]]; }
NO_SANITIZER="this Rust brings no AddressSanitizer (librustc-stable_rt.asan.a): use one from https://rustup.rs on x86_64 or aarch64"

sanitize() {
    sanitizer_is_there || die "$NO_SANITIZER"
    local target
    target=$(rustc -vV | sed -n 's/^host: //p')
    (
        # Memory that a card may still reach is leaked on purpose, so leaks are no finding.
        export RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address ASAN_OPTIONS=detect_leaks=0
        local tests=(cargo test --profile sanitize --target "$target")
        "${tests[@]}" -p stellar-driver -p sim-verilated --lib
        "${tests[@]}" -p sim-verilated --test sim-verilated -- ports:: signals:: outputs:: instances::
        # A check that could not fail would be none: an access beyond a mapping has to be reported.
        "${tests[@]}" -p stellar-driver -p sim-verilated --lib -- --ignored --exact sanitizer::a_bad_access_is_reported
    )
}

sanitize_or_skip() {
    if ! sanitizer_is_there; then
        printf 'skipped: %s\n' "$NO_SANITIZER"
        return 0
    fi
    sanitize
}

# These two run beside each other. Programs of tests often wait for their slowest test, or keep one core busy, as a guest does; together they use both
# cores to the end.
cards_python_and_guests() {
    stage cards card_tests
    stage python test_python
    stage guest "$STELLAR_PYTHON" tools/interop vfio
    stage rxe "$STELLAR_PYTHON" tools/interop rxe --short --directory "$STATE/interop/rxe"
}

blocks_and_sanitizer() {
    stage blocks block_tests
    stage sanitize sanitize_or_skip
}

# These use one core each.
script_and_format() {
    stage script bash tools/test_stellar_script.sh
    stage format cargo fmt --all --check
    stage features "$STELLAR_PYTHON" tools/features/check.py
}

# rustdoc reads what the compiler has found out about the crates that a crate uses, and clippy has run the compiler on all of them. cargo takes that over
# if it is told of clippy's compiler and arguments, as `cargo clippy` tells it; else it checks the workspace once more.
read_by_clippy() {
    env "RUSTC_WORKSPACE_WRAPPER=$(rustc --print sysroot)/bin/clippy-driver" CLIPPY_ARGS='-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__' "$@"
}

clippy_and_docs() {
    stage clippy cargo clippy --workspace --all-targets -- -D warnings
    stage docs read_by_clippy env RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps
}

test_short() {
    local started=$SECONDS
    begin_stages
    beside script_and_format clippy_and_docs
    stage build cargo test --workspace --no-run
    export CARGO_BUILD_JOBS=1
    beside cards_python_and_guests blocks_and_sanitizer
    printf 'all passed, %d s\n' $((SECONDS - started))
}
