//! Does nothing: without a build script cargo leaves the build dependencies of a package out.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
