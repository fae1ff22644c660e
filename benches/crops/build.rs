//! Compiles the shim against the headers of the libjpeg-turbo that turbojpeg-sys has built.

fn main() {
    println!("cargo:rerun-if-changed=src/shim.c");
    let include =
        std::env::var_os("DEP_TURBOJPEG_INCLUDE").expect("turbojpeg-sys says where its headers are");
    cc::Build::new().file("src/shim.c").include(include).opt_level(3).warnings(true).compile("shim");
}
