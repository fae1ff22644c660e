#!/usr/bin/env bash
# Builds the reference for damaged JPEGs: reference.c, with libjpeg-turbo as Pillow's wheel carries it (with its vector
# code, which wraps around where plain C does not), and with the headers in the crate turbojpeg-sys.
#
#     tests/libjpeg/build.sh SITE_PACKAGES OUT
#
# SITE_PACKAGES holds an installed Pillow. Prints the path of the library.
set -euo pipefail
site=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
here=$(realpath "$(dirname "$0")")

mkdir -p "$out/headers/src"
touch "$out/headers/src/lib.rs"
cat >"$out/headers/Cargo.toml" <<'END'
[package]
name = "headers"
version = "0.0.0"
edition = "2024"

[dependencies]
turbojpeg-sys = "=1.2.0"

[workspace]
END
cargo vendor --quiet --manifest-path "$out/headers/Cargo.toml" "$out/vendor" >/dev/null
headers=$out/vendor/turbojpeg-sys/libjpeg-turbo/src

library=$(find "$site/pillow.libs" -name 'libjpeg-*.so*')
cc -O2 -Wall -Wextra -shared -fPIC -I "$here" -I "$headers" "$here/reference.c" "$library" \
    -Wl,-rpath,"$(dirname "$library")" -o "$out/libreference.so"
echo "$out/libreference.so"
