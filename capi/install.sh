#!/usr/bin/env bash
# Builds feedline for C and C++ and installs it: capi/install.sh PREFIX [further arguments of cargo build]
#
# PREFIX gets include/feedline.h and .hpp, lib/libfeedline.so and .a, and what pkg-config and CMake need to find them. The
# libraries are without debugging tables and names of inner functions; FEEDLINE_PROFILE=dev installs an unoptimised build
# that has them. CARGO_BUILD_TARGET is heeded; STRIP names the program that takes the tables away.

set -euo pipefail

(($#)) || { sed -n '2,6s/^# \?//p' "$0" >&2; exit 2; }
prefix=$(realpath -m "$1")
shift
cd "$(dirname "${BASH_SOURCE[0]}")/.."

profile=${FEEDLINE_PROFILE:-release}
folder=$profile
[[ $profile != dev ]] || folder=debug
cargo build --locked --package feedline-capi --profile "$profile" "$@"
built=${CARGO_TARGET_DIR:-target}/${CARGO_BUILD_TARGET:+$CARGO_BUILD_TARGET/}$folder

version=$(sed -n 's/^version = "\(.*\)"/\1/p' capi/Cargo.toml | head -n 1)
install -d "$prefix"/{include,lib/pkgconfig,lib/cmake/feedline}
install -m 644 include/feedline.h include/feedline.hpp "$prefix/include"
install -m 755 "$built/libfeedline_c.so" "$prefix/lib/libfeedline.so.$version"
install -m 644 "$built/libfeedline_c.a" "$prefix/lib/libfeedline.a"
if [[ $profile != dev ]]; then
    machine=${CARGO_BUILD_TARGET:-}
    strip=${STRIP:-${machine:+${machine/-unknown/}-}strip}
    if ! command -v "$strip" >/dev/null && [[ $machine == "$(rustc -vV | sed -n 's/^host: //p')" ]]; then strip=strip; fi
    "$strip" --strip-unneeded "$prefix/lib/libfeedline.so.$version"
    "$strip" --strip-debug "$prefix/lib/libfeedline.a" # a program that links it needs the names
fi
ln -sf "libfeedline.so.$version" "$prefix/lib/libfeedline.so.0"
ln -sf libfeedline.so.0 "$prefix/lib/libfeedline.so"
sed "s/@VERSION@/$version/" cmake/feedline.pc.in >"$prefix/lib/pkgconfig/feedline.pc"
install -m 644 cmake/feedlineConfig.cmake "$prefix/lib/cmake/feedline"
sed "s/@VERSION@/$version/" cmake/feedlineConfigVersion.cmake.in \
    >"$prefix/lib/cmake/feedline/feedlineConfigVersion.cmake"
echo "feedline $version is in $prefix"
