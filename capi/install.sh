#!/usr/bin/env bash
# Builds feedline for C and C++ and installs it: capi/install.sh PREFIX [further arguments of cargo build]
#
# PREFIX gets include/feedline.h and .hpp, lib/libfeedline.so and .a, and what pkg-config and CMake need to find them.
# FEEDLINE_PROFILE=dev installs an unoptimised build; CARGO_BUILD_TARGET is heeded.

set -euo pipefail

(($#)) || { sed -n '2,5s/^# \?//p' "$0" >&2; exit 2; }
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
ln -sf "libfeedline.so.$version" "$prefix/lib/libfeedline.so.0"
ln -sf libfeedline.so.0 "$prefix/lib/libfeedline.so"
sed "s/@VERSION@/$version/" cmake/feedline.pc.in >"$prefix/lib/pkgconfig/feedline.pc"
install -m 644 cmake/feedlineConfig.cmake "$prefix/lib/cmake/feedline"
sed "s/@VERSION@/$version/" cmake/feedlineConfigVersion.cmake.in \
    >"$prefix/lib/cmake/feedline/feedlineConfigVersion.cmake"
echo "feedline $version is in $prefix"
