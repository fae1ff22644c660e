//! Compiles the kernels of the JPEG decoder for the targets `kernels` and `expand`: for this machine, by g++, with AddressSanitizer's checks
//! and with coverage.

use std::path::PathBuf;
use std::process::Command;

fn main() {
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo names a folder")).join("kernels");
    for folder in ["kernels/jpeg", "kernels/device.cuh", "testdouble"] {
        println!("cargo::rerun-if-changed=../{folder}");
    }
    let mut make = Command::new("make");
    make.args(["--silent", "--directory", "../testdouble", "V=fuzz"]).arg(format!("OUT={}", out.display()));
    let made = make.status().expect("make can be started");
    assert!(made.success(), "the kernels can be compiled");
    for target in ["kernels", "expand"] {
        println!("cargo::rustc-link-arg-bin={target}={}", out.join("jpeg_kernels.o").display());
    }
}
