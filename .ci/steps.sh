# How .ci/run and .ci/full run their steps: one line each, the output only of what fails. Sourced, not run.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec </dev/null

export CI=true CARGO_TERM_COLOR=never CARGO_INCREMENTAL=0 RUST_BACKTRACE=0 PIP_DISABLE_PIP_VERSION_CHECK=1
export PYTHONDONTWRITEBYTECODE=1
export CARGO_PROFILE_DEV_DEBUG=0 # nobody looks at lines of code here, and they cost a sixth of the time
unset RUSTFLAGS CARGO_TARGET_DIR FEEDLINE_CUDA FEEDLINE_TESTDOUBLE FEEDLINE_KERNELS FEEDLINE_SEEDS FEEDLINE_TEST_DECODER "${!FEEDLINE_CHAOS_@}" # what the person at the keyboard prefers must not decide

# Everything that CI makes lies below target/, which git ignores.
work=$PWD/target/ci
tools=$work/tools
mkdir -p "$work"
export PATH="$tools/bin:$PATH"

# What the closing line speaks of.
subject=CI

failed=()
# The steps that are wanted; all where none is named.
only=()

# The part that the steps belong to; .ci/run has none.
part=
# Set where parts and steps are to be shown and not run.
listing=

# part NAME MINUTES: the steps that follow belong to it.
part() {
    part=$1
    if [[ $listing ]]; then printf '%s, about %d minutes:\n' "$1" "$2"; fi
}

# step NAME COMMAND...: runs it, prints "ok" or "FAILED" with its seconds, and goes on either way.
step() {
    begin "$@"
    [[ ! $process ]] || ended "$process $SECONDS $1"
}

# The steps that were begun to run beside others: process, second of the beginning, and name of each.
begun=()

# beside NAME COMMAND...: begins a step, and goes on with the next ones, until `together` waits for it.
beside() {
    begin "$@"
    [[ ! $process ]] || begun+=("$process $SECONDS $1")
}

# Waits for the steps that run beside others.
together() {
    local one
    for one in "${begun[@]}"; do ended "$one"; done
    begun=()
}

# begin NAME COMMAND...: starts a step, and sets `process`; to nothing where the step is not wanted.
begin() {
    local name=$1
    shift
    process=
    if [[ $listing ]]; then
        printf '    %s\n' "$name"
        return
    fi
    is_wanted "$name" || return 0
    # In the background and then waited for: bash turns `set -e` off inside anything whose failure is asked for.
    ( "$@" ) >"$(log_of "$name")" 2>&1 &
    process=$!
}

# ended "PROCESS SECOND NAME": waits for a step, and says how it ended.
ended() {
    local process began name status=0
    read -r process began name <<<"$1"
    wait "$process" || status=$?
    if ((status == 0)); then
        printf 'ok      %-34s %4d s\n' "$name" $((SECONDS - began))
        return
    fi
    failed+=("$name")
    printf 'FAILED  %-34s %4d s, exit status %d; its last lines:\n' "$name" $((SECONDS - began)) "$status"
    { grep -v '^test .* \.\.\. ok$' "$(log_of "$name")" || true; } | tail -n 60 | sed 's/^/        | /'
}

# log_of NAME: where a step's output is.
log_of() { printf '%s\n' "$work/${1//[^a-z0-9]/-}.log"; }

# is_wanted STEP: whether the step, or the part that it belongs to, is to be run.
is_wanted() {
    local wanted
    [[ -z $listing ]] || return 1
    ((${#only[@]})) || return 0
    for wanted in "${only[@]}"; do
        [[ $wanted != "$1" && $wanted != "$part" ]] || return 0
    done
    return 1
}

# notes_of NAME: repeats the lines that a step began with "NOTE:"; a step that passes shows nothing else.
notes_of() {
    is_wanted "$1" || return 0
    grep -hs "^NOTE: " "$(log_of "$1")" || true
}

# missing WHAT: a part that ought to be there is a failure, never a step left out.
missing() {
    echo "missing: $1" >&2
    return 1
}

# block NAME: the commands that README.md shows between `<!-- NAME -->` and the end of that code block.
block() {
    local commands
    commands=$(awk -v mark="<!-- $1 -->" '
        $0 == mark { wanted = 1; next }
        wanted && /^```/ { if (inside) exit; inside = 1; next }
        wanted && inside { print }' README.md)
    [[ -n $commands ]] || missing "README.md has no commands below <!-- $1 -->"
    printf '%s\n' "$commands"
}

# run_block NAME [SCRIPT]: runs them as a reader would, line by line, edited by a script for sed if there is one.
run_block() {
    block "$1" | sed -e "${2:-}" >"$work/block.sh"
    bash -euo pipefail "$work/block.sh"
}

# main_job [SCRIPT]: runs the main job of README.md, edited likewise, and looks for what it promises.
main_job() {
    rm -f out/sheet.png
    run_block "ci: main job" "${1:-}"
    [[ -s out/sheet.png ]] || missing "out/sheet.png, which the README promises"
}

# venv NAME PACKAGE...: makes a Python environment of the named packages, at the versions that the benchmarks pin.
venv() {
    local folder=$work/$1 list=$work/$1.txt pins=benches/peers/requirements.txt
    [[ -f $pins ]] || missing "$pins, which pins the versions of the Python packages"
    shift
    grep -E "^($(IFS='|' && echo "$*"))[=><]" $pins >"$list"
    if ! cmp -s "$list" "$folder/installed.txt"; then
        rm -rf "$folder"
        python3 -m venv "$folder"
        "$folder/bin/pip" install --quiet --requirement "$list"
        cp "$list" "$folder/installed.txt"
    fi
}

# listed_environment NAME LIST: makes a Python environment of just the packages in a list, which names all that they need.
listed_environment() {
    local folder=$work/$1 list=$2
    if ! cmp -s "$list" "$folder/installed.txt"; then
        rm -rf "$folder"
        python3 -m venv "$folder"
        "$folder/bin/pip" install --quiet --no-deps --requirement "$list"
        cp "$list" "$folder/installed.txt"
    fi
}

# python_package VENV PACKAGE...: the Python package, unoptimised, in an environment of its own with what tests it. Named
# together with the library and an example, the extension module takes the library as `cargo test --features remote` has
# built it; a wheel, for which maturin builds the package alone, would need another.
python_package() {
    local folder=$work/$1 site
    venv "$@" pytest
    PYO3_BUILD_EXTENSION_MODULE=1 cargo build --locked --quiet --package feedline --package feedline-python \
        --features feedline/remote --lib --example decode_raw
    site=$(find "$folder/lib" -maxdepth 2 -name site-packages)
    rm -rf "$site/feedline"
    cp -r python/feedline "$site/feedline"
    cp target/debug/lib_feedline.so "$site/feedline/_feedline.abi3.so"
}

# wheel VENV PACKAGE...: builds the Python package and puts it, with what tests it, into an environment of its own.
wheel() {
    local folder=$work/$1
    venv "$@" maturin pytest
    rm -rf "$work/wheels"
    "$folder/bin/maturin" build --locked --quiet --profile dev --manifest-path python/Cargo.toml \
        --interpreter "$folder/bin/python" --out "$work/wheels"
    "$folder/bin/pip" install --quiet --force-reinstall --no-deps "$work"/wheels/feedline-*.whl
}

# count_tests LOG...: sums cargo's own closing lines and prints "N passed, N failed, N ignored".
count_tests() {
    awk '/^test result: / { runs++; passed += $4; failed += $6; ignored += $8 }
         END { printf "%d passed, %d failed, %d ignored in %d test programs\n", passed, failed, ignored, runs
               exit !(runs > 0 && failed == 0) }' "$@"
}

finish() {
    [[ -z $listing ]] || return 0
    if ((${#failed[@]})); then
        local list
        list=$(printf ', %s' "${failed[@]}")
        echo "$subject FAILED after ${SECONDS} s: ${list:2}"
        exit 1
    fi
    echo "$subject passed in ${SECONDS} s"
}
