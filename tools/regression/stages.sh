# Stages of `./stellar test`: each has a log of its own, and a line in a table of times. Sourced by ./stellar.

LOGS=$STATE/logs

# Starts a run: an empty table, and a file that is older than every model built from here on.
begin_stages() {
    mkdir -p "$LOGS"
    rm -f "$LOGS"/*.log "$LOGS/failed"
    : >"$LOGS/stages.tsv"
    : >"$LOGS/begin.stamp"
    trap end_of_stages EXIT
}

# Seconds after which a stage hangs. On two idle processors the longest one, which shares them with another stage, takes half of it with empty caches; on busy ones it took 2,400.
STAGE_LIMIT=${STELLAR_STAGE_LIMIT:-3600}

# Ends process $1 and all that it started, but not the shell that calls this.
end_tree() {
    local process=$1 child
    for child in $(cat "/proc/$process/task/"*/children 2>/dev/null); do
        [[ $child == "$BASHPID" ]] || end_tree "$child"
    done
    kill "$process" 2>/dev/null || true
}

# Ends process $1 after the time limit of a stage. The log then names the tests that have not ended: libtest prints a line for each that takes long.
limit_time() {
    # A stage that ends earlier ends the sleep, and has not taken too long.
    sleep "$STAGE_LIMIT" || exit 0
    echo "stellar: ended, because it took longer than $STAGE_LIMIT s"
    end_tree "$1"
}

# logged LOG COMMAND...: runs it in a shell of its own, which ends at the first failure, or when the time limit has passed.
logged() {
    local log=$1
    shift
    (
        stage_shell=$BASHPID
        limit_time "$stage_shell" &
        trap "end_tree $!" EXIT
        set -e
        "$@"
    ) >"$log" 2>&1 </dev/null
}

# Runs one stage, says how it ended, and adds `name seconds user system` to the table. Ends the shell it runs in if the stage fails, or if a
# stage beside it has failed before this one begins.
#
# The caller must not ask for the status (`if stage`, `stage || ...`): bash would then go on behind a failed command inside the stage.
stage() {
    local name=$1 log=$LOGS/$1.log status real user system TIMEFORMAT='%R %U %S'
    shift
    [[ ! -e $LOGS/failed ]] || exit 1
    set +e
    { time logged "$log" "$@"; } 2>"$LOGS/$name.time"
    status=$?
    set -e
    # The shell's word about a stage that was killed comes before the times.
    read -r real user system < <(tail -n 1 "$LOGS/$name.time")
    rm "$LOGS/$name.time"
    printf '%s\t%s\t%s\t%s\n' "$name" "$real" "$user" "$system" >>"$LOGS/stages.tsv"
    if ((status == 0)); then
        printf '%-9s ok, %.0f s\n' "$name" "$real"
        # What a stage could not have here.
        grep '^skipped: ' "$log" || true
        return 0
    fi
    echo "$name" >>"$LOGS/failed"
    printf '%-9s FAILED, %.0f s\n' "$name" "$real"
    tail -n 80 "$log" >&2
    die "test: stage '$name' failed; full log: $log"
}

# The process group that runs beside this shell.
BESIDE=
# Whether a table of times is wanted at the end.
TIMINGS=

# beside ONE OTHER: runs two functions at the same time, and waits for both.
beside() {
    # A process group of its own, so that all of it can be ended with this shell.
    set -m
    "$1" &
    BESIDE=$!
    set +m
    "$2"
    local other=$BESIDE
    BESIDE=
    wait "$other"
}

# Also after a stage that failed, or an interrupt.
end_of_stages() {
    [[ -z $BESIDE ]] || kill -- "-$BESIDE" 2>/dev/null || true
    [[ -z $TIMINGS ]] || show_timings
}

# Prints the table of times, and keeps it.
show_timings() {
    "${STELLAR_PYTHON:-python3}" tools/regression/timings.py "$LOGS" "$STELLAR_MODEL_CACHE/verilated" | tee "$LOGS/timings.md"
}
