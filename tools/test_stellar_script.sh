#!/usr/bin/env bash
# Tests ./stellar itself: help, wrong usage, and the messages about missing tools. Installs nothing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export STELLAR_NO_INSTALL=1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
output=$scratch/output

# expect NAME STATUS PATTERN COMMAND...: the command must end with the status and print a matching line.
expect() {
    local name=$1 status=$2 pattern=$3 got=0
    shift 3
    "$@" >"$output" 2>&1 </dev/null || got=$?
    if [[ $got != "$status" ]] || ! grep -Eq -- "$pattern" "$output"; then
        echo "FAILED: $name: status $got (expected $status), expected a line like '$pattern', got:"
        cat "$output"
        exit 1
    fi
    echo "ok: $name"
}

# Stages as `./stellar test` runs them, of the functions that follow.
stages() {
    STATE=$scratch/stages bash -c "
        set -euo pipefail
        say() { echo \"stellar: \$*\" >&2; }
        die() { say \"error: \$*\"; exit 1; }
        source tools/regression/stages.sh
        good() { true; }
        bad() { false; true; }
        sleeper() { sleep 600; }
        without() { echo 'skipped: no tool'; }
        $1"
}
expect 'a stage that passes says so' 0 '^fine +ok, [0-9]+ s$' stages 'begin_stages; stage fine good'
expect 'what a stage cannot have is shown' 0 '^skipped: no tool$' stages 'begin_stages; stage fine without'
expect 'a command that fails in the middle of a stage fails it' 1 "stage 'broken' failed; full log: " stages 'begin_stages; stage broken bad; stage fine good'
expect 'and no stage follows' 1 '^1$' stages 'begin_stages; trap "wc -l <$LOGS/stages.tsv" EXIT; stage broken bad; stage fine good'
expect 'two functions run beside each other' 0 '^2$' stages 'one() { stage one good; }; two() { stage two good; }; begin_stages; beside one two; wc -l <$LOGS/stages.tsv'
expect 'one that fails in the background fails the run' 1 "stage 'one' failed" stages 'one() { stage one bad; }; two() { sleep 0.2; }; begin_stages; beside one two'
expect 'one that fails in front ends the other' 1 "stage 'two' failed" timeout 60 bash -c "$(declare -f stages); scratch=$scratch; stages 'one() { stage one sleeper; }; two() { sleep 0.2; stage two bad; }; begin_stages; beside one two'"
expect 'a stage that hangs is ended' 1 "stage 'stuck' failed" timeout 60 bash -c "$(declare -f stages); scratch=$scratch; stages 'STAGE_LIMIT=1; begin_stages; stage stuck sleeper'"
expect 'and its log says why' 0 'it took longer than 1 s' timeout 60 bash -c "$(declare -f stages); scratch=$scratch; stages 'STAGE_LIMIT=1; begin_stages; trap : EXIT; (stage stuck sleeper) || cat \$LOGS/stuck.log'"
expect 'times are a table' 0 '^\| fine \| [0-9]+ \| [0-9]+ \|$' stages 'STELLAR_MODEL_CACHE=$STATE; begin_stages; TIMINGS=1; stage fine good'
expect 'tests and models have times' 0 'all of timings.py passed' python3 tools/regression/test_timings.py
expect 'coverage is added up' 0 'all of coverage.py passed' python3 tools/regression/test_coverage.py

# A copy of the script in an empty checkout, with a PATH of only what is named: nothing of this machine's set-up is seen.
checkout=$scratch/checkout
mkdir -p "$checkout/tools"
cp stellar requirements.txt "$checkout"
cp -r tools/regression "$checkout/tools"
path_of() {
    local directory=$scratch/bin-$1 program
    shift
    mkdir -p "$directory"
    for program in bash env dirname mkdir rm tail cat sha256sum "$@"; do
        ln -sf "$(command -v "$program")" "$directory/$program"
    done
    echo "$directory"
}
fake() {
    printf '#!/bin/sh\nexit 0\n' >"$1/$2"
    chmod +x "$1/$2"
}
isolated() { env -u VERILATOR PATH="$1" "$checkout/stellar" "${@:2}"; }

for flag in --help -h help; do
    expect "$flag lists the commands" 0 '^  demo ' ./stellar "$flag"
done
expect 'the usage names both demonstrations' 0 '^  demo .*two Verilated cards.*demo rx' ./stellar help
expect 'the usage names both kinds of figures' 0 '^  figures .*figures pcie.*figures --list' ./stellar help
expect 'the usage names sweeps' 0 '^  sweep .*Parquet' ./stellar help
expect 'the usage names the command for cocotb' 0 '^  cocotb ' ./stellar help
expect 'the usage names the server of cards' 0 '^  serve .*vfio-user' ./stellar help
expect 'the usage names the RDMA tools' 0 '^  write_lat ' ./stellar help
expect 'the usage names the test of immediates' 0 '^  write_imm_bw ' ./stellar help
expect 'the usage names the guest' 0 '^  interop .*QEMU' ./stellar help
expect 'the usage names the waves of a card' 0 '^  wave .*wave nic' ./stellar help
expect 'the usage names the variable for the simulation mode' 0 '^  STELLAR_SIM_MODE .*--sim-mode' ./stellar help
expect 'no command shows the usage' 2 '^usage: ' ./stellar
expect 'an unknown command is refused' 2 "unknown command 'dmeo'" ./stellar dmeo
expect 'an unknown option is refused' 2 "unknown option '--verbose'" ./stellar --verbose
expect 'test shows its options' 0 '^  --timings ' ./stellar test --help
expect 'and names its campaigns' 0 '^  fuzz_1024 ' ./stellar test --help
expect 'an option that test does not have is refused' 2 "test: unknown option '--fast'" ./stellar test --fast
expect 'a campaign that there is none of is refused' 2 "test: unknown campaign 'fuzzing'" ./stellar test --long fuzzing
expect 'a campaign without --long is refused' 2 "test: 'fuzz_512': names need --long or --coverage" ./stellar test fuzz_512
expect 'a seed without --long is refused' 2 'test: --seed needs --long' ./stellar test --seed 3
expect 'two kinds of run at once are refused' 2 '--long and --coverage are two runs' ./stellar test --long --coverage
expect 'a seed that is no number is refused' 2 "--seed takes a number, got 'x'" ./stellar test --long --seed x
expect 'the usage names the mutants' 0 '^  mutate ' ./stellar help
expect 'the usage names the proofs' 0 '^  prove ' ./stellar help
expect 'the usage names the sanitizer' 0 '^  sanitize ' ./stellar help
expect 'arguments that sanitize does not take are refused' 2 "'sanitize' takes no arguments" ./stellar sanitize thread
expect 'help works outside the checkout and without tools' 0 '^usage: ' isolated "$(path_of help)" --help

bare=$(path_of bare)
mkdir -p "$scratch/white space"
cp stellar requirements.txt "$scratch/white space"
expect 'a checkout whose path has white space is refused at once' 1 'white space.*Move the checkout, or set STELLAR_MODEL_CACHE' \
    env -u STELLAR_MODEL_CACHE -u CARGO_TARGET_DIR PATH="$bare" "$scratch/white space/stellar" setup
expect 'another directory for models is accepted' 1 'cargo is missing' \
    env STELLAR_MODEL_CACHE="$scratch" PATH="$bare" "$scratch/white space/stellar" setup
expect 'a missing cargo is named' 1 'cargo is missing: install Rust' isolated "$bare" demo
fake "$bare" cargo
expect 'missing tools are named in one line' 1 'missing: .*verilator.*tshark.*apt-get install' isolated "$bare" demo

complete=$(path_of complete)
for program in cargo g++ make perl verilator iverilog yosys tshark tclsh python3; do fake "$complete" "$program"; done
expect 'a missing Python environment is named' 1 'Python environment .venv is missing' isolated "$complete" setup
mkdir "$checkout/.venv" "$checkout/.venv/bin"
fake "$checkout/.venv/bin" python
sha256sum "$checkout/requirements.txt" | sed "s|$checkout/||" >"$checkout/.venv/stellar.stamp"
fake "$complete" rustc
expect 'a Rust without tools for coverage is named' 1 'llvm-profdata and llvm-cov .* are missing: run .rustup component add llvm-tools' isolated "$complete" test --coverage
expect 'a Rust without AddressSanitizer is named' 1 'this Rust brings no AddressSanitizer' isolated "$complete" sanitize
rm -r "$checkout/.venv"
rm "$complete/yosys"
expect 'one missing tool is named although setup was done before' 1 'missing: yosys\.' isolated "$complete" setup
# The commands of `./stellar interop` after everything is set up.
interop=("$(python3 -c "import sys; print(sys.executable)")" tools/interop)
expect 'interop lists what it has' 0 '^ +vfio ' "${interop[@]}" --help
expect 'and soft-RoCE among it' 0 '^ +rxe ' "${interop[@]}" --help
expect 'interop needs to be told what' 2 'arguments are required: command' "${interop[@]}"
expect 'other software is refused' 2 "invalid choice: 'xen'" "${interop[@]}" xen
expect 'a time that is none is refused' 2 'takes a number above 0' "${interop[@]}" vfio --seconds 0
for guest in vfio rxe; do
    expect "the guest of $guest is skipped where there is no apt" 0 '^skipped: QEMU .* cannot be had here: apt-get is missing' env PATH="$bare" "${interop[@]}" $guest
    expect "unless it is required ($guest)" 1 '^error: apt-get is missing' env PATH="$bare" "${interop[@]}" $guest --required
done
echo 'all tests of ./stellar passed'
