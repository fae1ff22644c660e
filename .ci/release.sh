# What `.ci/full` checks of dependencies, packages and releases. Sourced, not run.

# Compiling cargo-deny takes minutes, so its unoptimised build has to do; it is kept in target/ for the next time.
dependencies() {
    local version=0.20.2
    if [[ $(cargo-deny --version 2>/dev/null) != "cargo-deny $version" ]]; then
        CARGO_TARGET_DIR=$work/deny-build \
            cargo install cargo-deny --locked --debug --quiet --force --version $version --root "$tools"
        rm -rf "$work/deny-build"
    fi
    cargo deny --log-level warn check licenses bans sources
    if timeout 60 cargo deny --log-level error fetch db; then
        cargo deny --log-level warn check --disable-fetch advisories
    else
        echo "NOTE: advisories NOT checked: the RustSec database could not be fetched"
    fi
}

# Cargo.toml names the oldest compiler; the other crates of the workspace name the same.
oldest_compiler() {
    local oldest
    oldest=$(cat Cargo.toml ./*/Cargo.toml tests/support/Cargo.toml | sed -n 's/^rust-version = "\(.*\)"$/\1/p' | sort -u)
    (($(wc -l <<<"$oldest") == 1)) || missing "one rust-version in all manifests"
    rustup toolchain install "$oldest" --profile minimal --no-self-update
    CARGO_TARGET_DIR=$work/oldest cargo "+$oldest" check --locked --workspace --lib --bins --features remote
}

# The library as embedders take it: with no feature, and with each one alone but for `cli`, the command's, and `tch`, which
# links torch.
fewer_features() {
    local features
    for features in "" cuda parquet tfrecord pack remote; do
        cargo clippy --locked --no-default-features --features "$features" --lib -- -D warnings
    done
    cargo clippy --locked --no-default-features --lib --profile test -- -D warnings
}

# What would be published, built from its packages, in a target folder of their own: in a shared one, cargo mistakes what it
# has built of a package for a build of the checkout, and never looks at the checkout's files again.
packages() {
    local file folder=$work/packages
    CARGO_TARGET_DIR=$folder cargo package --locked --allow-dirty --package feedline-nvjpeg-sys --package feedline
    # crates.io takes no more than 10 MiB.
    for file in "$folder"/package/feedline*.crate; do
        (($(stat -c %s "$file") < 10 << 20)) || missing "a package of less than 10 MiB: $file" || return 1
    done
}

# The documentation as docs.rs builds it: by a nightly compiler, with what the manifest names for it.
documentation_on_docs_rs() {
    nightly_compiler rust-src
    local features
    features=$(sed -n '/^\[package.metadata.docs.rs\]/,/^$/s/^features = \[\(.*\)\]$/\1/p' Cargo.toml | tr -d '" ')
    CARGO_TARGET_DIR=$work/docs-rs RUSTDOCFLAGS="--cfg docsrs -D warnings" \
        cargo "+$nightly" doc --locked --no-deps --lib --package feedline --features "$features"
    CARGO_TARGET_DIR=$work/docs-rs RUSTDOCFLAGS="--cfg docsrs -D warnings" \
        cargo "+$nightly" doc --locked --no-deps --lib --package feedline-nvjpeg-sys
}

# The crates' interfaces against those of the last release: whether the version says what became of them.
interface() {
    local version=0.51.0 tag
    tag=$(git tag --list 'v*' --sort=-version:refname --merged HEAD | head -n 1)
    if [[ ! $tag ]]; then
        echo "NOTE: interface NOT compared: no tag of a release is there yet"
        return
    fi
    grep -qs "^\"cargo-semver-checks $version " "$tools/.crates.toml" ||
        CARGO_TARGET_DIR=$work/semver-build cargo install cargo-semver-checks --locked --debug --quiet --force \
            --version $version --root "$tools"
    rm -rf "$work/semver-build"
    CARGO_TARGET_DIR=$work/semver cargo semver-checks --baseline-rev "$tag" --package feedline \
        --only-explicit-features --features default,remote
    CARGO_TARGET_DIR=$work/semver cargo semver-checks --baseline-rev "$tag" --package feedline-nvjpeg-sys
}

# The wheel for this machine as a release has it, out of the source distribution, run on the oldest and the newest Python here.
release_files() {
    release/build x86_64
}
