//! Notes what the binary was built from, for `feedline doctor`.
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
