//! A digest of the sources that decide what a run of a cluster gives, so that results of other sources are told apart.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders whose code decides a run.
const SOURCES: [&str; 5] = [
    "wire/src",
    "transport/src",
    "transport/fetch/src",
    "sim/net/src",
    "sim/cluster/src",
];

fn main() -> std::io::Result<()> {
    // When it runs: a target folder that was copied with its checkout has a program that was compiled elsewhere.
    let folder = env::var_os("CARGO_MANIFEST_DIR").expect("cargo says where the crate is");
    let root = Path::new(&folder).join("../../..");
    let mut files = Vec::new();
    for folder in SOURCES {
        println!("cargo:rerun-if-changed={}", root.join(folder).display());
        collect(&root.join(folder), &mut files)?;
    }
    files.sort();
    // FNV-1a (Fowler, Noll, Vo), 64 bits: over names, lengths and contents.
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut add = |bytes: &[u8]| {
        for &byte in bytes {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for file in files {
        let text = fs::read(&file)?;
        let name = file.strip_prefix(&root).unwrap_or(&file);
        add(name.as_os_str().as_encoded_bytes());
        add(&text.len().to_le_bytes());
        add(&text);
    }
    println!("cargo:rustc-env=STELLAR_CLUSTER_SOURCES={hash:016x}");
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
