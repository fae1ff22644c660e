# The steps of `.ci/full fuzz` and `more fuzz`. Sourced, not run.

fuzz_seconds=${FUZZ_SECONDS:-300}

fuzzer() {
    local version=0.13.2
    [[ $(cargo fuzz --version 2>/dev/null) == "cargo-fuzz $version" ]] ||
        cargo install cargo-fuzz --locked --quiet --force --version $version --root "$tools"
}

# Sanitizers need unstable compiler flags; RUSTC_BOOTSTRAP lets the stable compiler take them.
fuzz() {
    fuzzer
    if [[ $1 == damaged ]]; then
        FEEDLINE_LIBJPEG=$(libjpeg_reference)
        export FEEDLINE_LIBJPEG
    fi
    mkdir -p "fuzz/corpus/$1" "fuzz/seeds/$1"
    # What longer runs have found: an input for each piece of code that they reached.
    [[ ! -f fuzz/seeds/$1.tar.gz ]] || tar -xzf "fuzz/seeds/$1.tar.gz" -C "fuzz/corpus/$1"
    RUSTC_BOOTSTRAP=1 cargo fuzz run "$1" "fuzz/corpus/$1" "fuzz/seeds/$1" -- \
        -max_total_time="$fuzz_seconds" -timeout=10 -rss_limit_mb=2048
}

fuzz_targets() {
    grep -A1 '^\[\[bin\]\]' fuzz/Cargo.toml 2>/dev/null | sed -n 's/^name = "\(.*\)"/\1/p'
}
