#!/usr/bin/env bash
# Counts the instructions for 64-bit Arm under qemu, by stage: scalar, NEON, and libjpeg-turbo: benches/arm/run.sh FOLDER...
#
# Fails where NEON's inverse DCT, upsampling, colour, resampling and stores take more than half of the scalar version's
# instructions, or where the two decode to other bytes. Builds into target/arm. Needs Debian's gcc-aarch64-linux-gnu,
# qemu-user and binutils, cmake, and rustup's target aarch64-unknown-linux-gnu.
set -euo pipefail

: "${1:?usage: benches/arm/run.sh FOLDER...}"
cd "$(dirname "$0")/../.."
here=benches/arm
work=$PWD/target/arm
mkdir -p "$work/headers/src"
for tool in aarch64-linux-gnu-gcc aarch64-linux-gnu-addr2line qemu-aarch64 cmake; do
    command -v "$tool" >/dev/null || { echo "missing: $tool; this script's head says what it needs" >&2; exit 1; }
done

# libjpeg-turbo from the source that the crate turbojpeg-sys carries, with its NEON code.
touch "$work/headers/src/lib.rs"
printf '[package]\nname = "headers"\nversion = "0.0.0"\n[dependencies]\nturbojpeg-sys = "=1.2.0"\n[workspace]\n' \
    >"$work/headers/Cargo.toml"
[[ -d $work/vendor ]] || cargo vendor --quiet --manifest-path "$work/headers/Cargo.toml" "$work/vendor" >/dev/null
source=$work/vendor/turbojpeg-sys/libjpeg-turbo
cmake -S "$source" -B "$work/jpeg" -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
    -DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc -DENABLE_SHARED=0 -DREQUIRE_SIMD=ON -DWITH_TURBOJPEG=0 \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS=-g1 >"$work/cmake.log"
cmake --build "$work/jpeg" --target jpeg-static >>"$work/cmake.log"
aarch64-linux-gnu-gcc -O2 -g1 -I "$work/jpeg" -I "$source/src" $here/libjpeg.c "$work/jpeg/libjpeg.a" -o "$work/libjpeg"
cc -O2 -shared -fPIC $here/count.c -o "$work/libcount.so"

export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
cargo build --locked --quiet --target aarch64-unknown-linux-gnu --profile profiling --bins --example decode_raw
built=target/aarch64-unknown-linux-gnu/profiling

for folder in "$@"; do
    mapfile -t files < <(find "$folder" -type f -iname '*.jp*g' | sort)
    echo "== $folder: libjpeg-turbo decodes ${#files[@]} files"
    $here/counts.py "$work/libcount.so" "$work/libjpeg.json" -- "$work/libjpeg" "${files[@]}"
    for level in scalar neon; do
        rm -rf "$work/$level"
        mkdir "$work/$level"
        echo "== $folder: $level decodes them"
        FEEDLINE_SIMD=$level $here/counts.py "$work/libcount.so" "$work/decode-$level.json" -- \
            $built/examples/decode_raw "$work/$level" "${files[@]}"
        echo "== $folder: $level makes training batches of them"
        FEEDLINE_SIMD=$level $here/counts.py "$work/libcount.so" "$work/pipeline-$level.json" -- $built/feedline bench \
            --data "$folder" --recipe imagenet-train --device cpu --workers 1 --images "${#files[@]}"
    done
    diff -r "$work/scalar" "$work/neon"
    $here/counts.py --half "$work/pipeline-scalar.json" "$work/pipeline-neon.json"
done
