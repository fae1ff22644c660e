# How release/build runs the wheels that it has built. Sourced, not run.

# interpreters: the oldest and the newest Python from 3.9 on that is on the PATH or among pyenv's.
interpreters() {
    local minor found=() program
    for minor in {9..40}; do
        for program in "python3.$minor" "${PYENV_ROOT:-$HOME/.pyenv}/versions/3.$minor".*/bin/python; do
            if "$program" -c "import sys; sys.exit(sys.version_info[:2] != (3, $minor))" 2>/dev/null; then
                found+=("$program")
                break
            fi
        done
    done
    ((${#found[@]})) || missing "a Python from 3.9 on" || return 1
    printf '%s\n' "${found[0]}" "${found[-1]}" | uniq
}

# try_wheel PYTHON WHEEL: installs a wheel into an empty environment, where no Rust is, and runs what the documentation shows.
try_wheel() {
    local folder=$build/venv
    rm -rf "$folder"
    "$1" -m venv "$folder"
    PATH=/usr/bin:/bin "$folder/bin/pip" install --quiet --no-index "$2"
    PATH=/usr/bin:/bin "$folder/bin/pip" install --quiet numpy
    PATH=/usr/bin:/bin "$folder/bin/python" release/try.py
}

run_x86_64() {
    local programs program
    programs=$(interpreters)
    for program in $programs; do
        try_wheel "$program" "$files"/feedline-*-abi3-*x86_64.whl
    done
}

run_free_threaded() {
    if ! command -v python3.14t >/dev/null; then
        echo "NOTE: the free-threaded wheel was NOT run: there is no python3.14t"
        return
    fi
    try_wheel python3.14t "$files"/feedline-*-cp314t-*.whl
}

# In the emulator, with Debian's Python for Arm.
run_aarch64() {
    if ! command -v qemu-aarch64 >/dev/null || [[ ! -f $debian_keys ]]; then
        echo "NOTE: the wheel for Arm was NOT run: that takes Debian and qemu-aarch64 (Debian: qemu-user)"
        return
    fi
    arm_python
    local folder=$build/arm-site
    rm -rf "$folder"
    "$environment/bin/pip" install --quiet --no-deps --only-binary=:all: --implementation cp --python-version 3.11 \
        --platform manylinux_2_28_aarch64 --platform manylinux_2_27_aarch64 --target "$folder" \
        "$files"/feedline-*_aarch64.whl numpy
    PYTHONHOME=$build/arm/usr PYTHONPATH=$folder qemu-aarch64 -L "$build/arm" "$build/arm/usr/bin/python3.11" release/try.py
}

debian_keys=/usr/share/keyrings/debian-archive-keyring.gpg

# Unpacks Python 3.11 for Arm, and the libraries that it loads, into $build/arm; the system's own packages are left alone.
arm_python() {
    local folder=$build/arm lists=$build/apt file
    [[ ! -x $folder/usr/bin/python3.11 ]] || return 0
    mkdir -p "$lists"/{lists/partial,cache/archives/partial,debs}
    echo "deb [arch=arm64 signed-by=$debian_keys] http://deb.debian.org/debian bookworm main" >"$lists/sources.list"
    local apt=(-o "Dir::Etc::SourceList=$lists/sources.list" -o Dir::Etc::SourceParts=- -o "Dir::State::Lists=$lists/lists"
        -o "Dir::Cache=$lists/cache" -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o APT::Sandbox::User=root)
    apt-get "${apt[@]}" update --quiet=2
    (cd "$lists/debs" && apt-get "${apt[@]}" download --quiet=2 python3.11-minimal libpython3.11-minimal \
        libpython3.11-stdlib libc6 libgcc-s1 libstdc++6 zlib1g libexpat1 libssl3 libffi8 libbz2-1.0 liblzma5)
    rm -rf "$folder.part"
    for file in "$lists"/debs/*.deb; do
        dpkg-deb --extract "$file" "$folder.part"
    done
    rm -rf "$folder"
    mv "$folder.part" "$folder"
}
