# The steps of `.ci/full arm`: 64-bit Arm in the emulator qemu, and what can be checked for macOS. Sourced, not run.

# What the steps need.
arm_tools() {
    command -v aarch64-linux-gnu-gcc >/dev/null || missing "aarch64-linux-gnu-gcc (Debian: gcc-aarch64-linux-gnu)"
    command -v qemu-aarch64 >/dev/null || missing "qemu-aarch64 (Debian: qemu-user)"
    rustup target add aarch64-unknown-linux-gnu
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
    # The second is for tests that start themselves.
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"
    export FEEDLINE_TEST_EMULATOR=$CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER
}

# arm_program NAME PATH: a script that runs a program for Arm, and prints where it is.
arm_program() {
    printf '#!/bin/sh\nexec qemu-aarch64 -L /usr/aarch64-linux-gnu "%s" "$@"\n' "$PWD/$2" >"$work/$1-arm"
    chmod +x "$work/$1-arm"
    echo "$work/$1-arm"
}

arm_lints() {
    arm_tools
    cargo clippy --locked --target aarch64-unknown-linux-gnu --lib --tests -- -D warnings
}

arm_tests() {
    arm_tools
    cargo test --locked --target aarch64-unknown-linux-gnu --lib
    count_tests "$work/arm--tests.log"
}

# The decoder's pixels against libjpeg-turbo's, by both levels; FEEDLINE_ARM_DATA names further folders, between colons.
arm_jpeg_parity() {
    arm_tools
    venv python numpy pillow simplejpeg
    cargo build --locked --release --quiet --target aarch64-unknown-linux-gnu --example decode_raw
    local program level folders
    program=$(arm_program decode_raw target/aarch64-unknown-linux-gnu/release/examples/decode_raw)
    IFS=: read -ra folders <<<"data/photos${FEEDLINE_ARM_DATA:+:$FEEDLINE_ARM_DATA}"
    for level in scalar neon; do
        FEEDLINE_SIMD=$level "$work/python/bin/python" tests/python/jpeg_parity.py "$program" "${folders[@]}"
    done
}

# The command says that it uses NEON, and that it does not where it is told so.
arm_doctor() {
    arm_tools
    cargo build --locked --release --quiet --target aarch64-unknown-linux-gnu --bins
    local program
    program=$(arm_program feedline target/aarch64-unknown-linux-gnu/release/feedline)
    env -u FEEDLINE_SIMD "$program" doctor >"$work/doctor"
    FEEDLINE_SIMD=scalar "$program" doctor >>"$work/doctor"
    grep '^simd' "$work/doctor" | diff - <(
        echo 'simd      neon is used; the machine has neon'
        echo 'simd      scalar is used (FEEDLINE_SIMD=scalar); the machine has neon'
    )
}

# What torchvision agreed with on another machine, to the bit and by both levels; `.ci/full "torch parity"` keeps the
# recording true.
arm_torch_parity() {
    arm_tools
    venv python numpy pillow simplejpeg
    cargo build --locked --release --quiet --target aarch64-unknown-linux-gnu --bins
    local program level
    program=$(arm_program feedline target/aarch64-unknown-linux-gnu/release/feedline)
    for level in scalar neon; do
        echo "$level:"
        FEEDLINE_SIMD=$level "$work/python/bin/python" tests/python/recorded_parity.py --feedline "$program"
    done
}

# The batches of two recipes: the same bytes here, and in the emulator by both levels.
arm_batches() {
    arm_tools
    cargo build --locked --release --quiet --example batch_bytes
    cargo build --locked --release --quiet --target aarch64-unknown-linux-gnu --example batch_bytes
    local program recipe level
    program=$(arm_program batch_bytes target/aarch64-unknown-linux-gnu/release/examples/batch_bytes)
    for recipe in imagenet-train imagenet-randaugment; do
        target/release/examples/batch_bytes data/photos "$recipe" 3 0 8 >"$work/batches"
        [[ -s $work/batches ]] || missing "the batches of $recipe"
        for level in scalar neon; do
            FEEDLINE_SIMD=$level "$program" data/photos "$recipe" 3 0 8 | cmp - "$work/batches"
        done
    done
}

arm_counts() {
    arm_tools
    venv cmake cmake
    PATH=$work/cmake/bin:$PATH benches/arm/run.sh data/photos
}

# The library for macOS, without the features whose crates compile C.
macos_check() {
    rustup target add aarch64-apple-darwin
    cargo check --locked --target aarch64-apple-darwin --lib --no-default-features --features cuda,tfrecord
}
