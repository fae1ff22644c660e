#!/usr/bin/env bash
# Makes include/feedline.h of capi/src; with --check says whether it is what would be made. Fetches cbindgen at the
# pinned version into target/ci/tools unless it is there.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=0.29.2
tools=$PWD/target/ci/tools
if [[ $("$tools/bin/cbindgen" --version 2>/dev/null) != "cbindgen $version" ]]; then
    CARGO_PROFILE_DEV_DEBUG=0 CARGO_TARGET_DIR=$PWD/target/ci/cbindgen-build \
        cargo install cbindgen --locked --debug --quiet --force --version $version --root "$tools"
    rm -rf target/ci/cbindgen-build
fi

made=$(mktemp)
trap 'rm -f "$made"' EXIT
"$tools/bin/cbindgen" --quiet --config capi/cbindgen.toml capi | sed 's|^// # Safety$|// What must hold:|' >"$made"

if [[ ${1:-} == --check ]]; then
    diff -u include/feedline.h "$made" || { echo "include/feedline.h is out of date: run capi/header.sh" >&2; exit 1; }
else
    cat "$made" >include/feedline.h
fi
