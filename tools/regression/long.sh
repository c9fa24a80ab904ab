# The campaigns of `./stellar test --long`: hours of random input, and all cases where the short run has a few. Sourced by ./stellar, after stages.sh.

# Name and what it does; the command of each is in campaign_command.
CAMPAIGNS=(
    "fuzz_1024: a million mutated frames through the receive lane of 1,024 bits, against the reference"
    "fuzz_512: the same through that of 512 bits"
    "properties: 500 cases of each property test of hardware and software, where the short run has 8 to 256"
    "cards: a thousand random transfers between two cards in random hosts, each with a reset at the end"
    "profiles: the tests of two cards in the simulation, with cards of one port and one endpoint, and queue pairs of cards with 16,384 and 65,536"
    "fence: read completions that take 40 ms, while their region, queue pair or ring is removed"
    "requester: 2,000 cases of random operations, packets and timeouts by the requester, against the reference"
    "rxe: all cases against the soft-RoCE of a Linux guest"
    "rxe_plain: the cases of the short form, with a card from which nothing is left out in simulation"
    "cocotb: every bench on this simulator and on stock cocotb: same outcomes, same simulated times"
    "suites: the tests that cocotbext-axi, -eth and -pcie ship, on both simulators"
    "sweep: transports and paths under loss, in the world"
    "cluster: permutations and all-to-all of 120 and 480 endpoints against the results of uet-htsim, six seeds each"
    "figures: the quick set of the papers' cluster figures; every band holds, or is known not to"
    "modes: every output of every cycle of both cards in a transfer, in all three simulation modes"
    "waves: a card with waves of all levels of its hierarchy, where the short run has two"
    "operators: every operator of hardware at every width from 1 to 256, rust-hdl's simulation against the Verilog"
    "boards: the card of each board, mapped as a whole, against the board's budget"
    "netlist: the blocks' tests on the netlists that Yosys makes of their Verilog"
    "mutate: mutants of each block's Verilog, which its tests have to find"
)

# The tests of designs and of cards, for the card with one port. Those left out take a port or a function away that it does not have.
ONE_PORT='export STELLAR_BOARD=u55c
cargo test -p hdl-designs && cargo test -p sim-nic --test sim-nic -- --include-ignored \
    --skip verbs::functions --skip verbs::fence::a_late_completion --skip verbs::fence::no_completion_is_written \
    --skip verbs::pcie_failures --skip verbs::order::flush_reads_that_push --skip counters::counters_of_queue_pairs \
    --skip verbs::stuck::a_port --skip verbs::interrupts::no_message_follows --skip addressing::with_source_routes'

# Boards with the same card share its netlists.
BOARDS='for board in u55c u280 u250 v80; do
    cargo run -q -p stellar-cli -- synth --board "$board" --check || exit
done'

# Sets `command` to the command line of campaign $1 with seed $2.
campaign_command() {
    local seed=$2 properties=(env "PROPTEST_RNG_SEED=$2")
    case $1 in
        fuzz_1024) command=(cargo run -q -p stellar-cli -- fuzz --frames 1000000 --width 1024 --seed "$seed") ;;
        fuzz_512) command=(cargo run -q -p stellar-cli -- fuzz --frames 1000000 --width 512 --seed "$seed") ;;
        properties) command=("${properties[@]}" PROPTEST_CASES=500 cargo test --workspace --lib --tests) ;;
        cards) command=(env STELLAR_SEEDS=1000 "STELLAR_FIRST_SEED=$seed" cargo test -p sim-nic --test sim-nic campaign:: -- --nocapture) ;;
        profiles) command=(bash -c "$ONE_PORT") ;;
        fence) command=(env STELLAR_LATE_US=40000 cargo test -p sim-nic --test sim-nic verbs::fence -- --nocapture) ;;
        requester) command=("${properties[@]}" PROPTEST_CASES=2000 cargo test -p hdl-requester --tests) ;;
        rxe) command=("$STELLAR_PYTHON" tools/interop rxe --seed "$seed" --directory "$STATE/interop/rxe_long") ;;
        rxe_plain) command=("$STELLAR_PYTHON" tools/interop rxe --short --sim-mode plain --seed "$seed" --seconds 7200 --directory "$STATE/interop/rxe_plain") ;;
        cocotb) command=(env "COCOTB_RANDOM_SEED=$seed" "$STELLAR_PYTHON" tools/cocotb compare) ;;
        suites) command=("$STELLAR_PYTHON" tools/cocotb suites) ;;
        sweep) command=(cargo run -q -p stellar-cli -- world --sweep --seed "$seed") ;;
        cluster) command=(cargo test -p sim-cluster --test cluster -- --ignored --nocapture) ;;
        figures) command=(./stellar figures --quick --quiet --directory "$STATE/figures") ;;
        modes) command=(cargo run -q -p stellar-cli -- bench modes --seed "$seed" --repeat 1) ;;
        waves) command=(cargo run -q -p stellar-cli -- wave nic --bytes 5000 --seed "$seed" --out "$STATE/waves/nic.fst") ;;
        operators) command=(cargo test -p hdl-verilog --features every-width operators) ;;
        boards) command=(bash -c "$BOARDS") ;;
        netlist) command=(cargo run -q -p stellar-netlist -- --seed "$seed") ;;
        mutate) command=(cargo run -q -p stellar-mutation -- --seed "$seed") ;;
        *) return 1 ;;
    esac
}

campaign_exists() {
    local entry
    for entry in "${CAMPAIGNS[@]}"; do
        [[ ${entry%%:*} != "$1" ]] || return 0
    done
    return 1
}

list_campaigns() {
    local entry
    for entry in "${CAMPAIGNS[@]}"; do
        printf '  %-11s %s\n' "${entry%%:*}" "${entry#*: }"
    done
}

# run_campaign NAME SEED: a stage, with its command line above it.
run_campaign() {
    local command
    campaign_command "$1" "$2"
    printf '%s, seed %s: %s\n' "$1" "$2" "${command[*]}"
    stage "$1" "${command[@]}"
}

# test_long SEED NAME...: the campaigns named, or all.
test_long() {
    local seed=$1 name started=$SECONDS names=("${@:2}")
    ((${#names[@]})) || names=("${CAMPAIGNS[@]%%:*}")
    begin_stages
    [[ " ${names[*]} " != *" cocotb "* && " ${names[*]} " != *" suites "* ]] || stage wheel install_package
    for name in "${names[@]}"; do
        run_campaign "$name" "$seed"
    done
    printf 'all passed, %d s\n' $((SECONDS - started))
}
