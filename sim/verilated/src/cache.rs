//! The on-disk cache of built artefacts: one directory per content hash, built under a lock and put in place by a rename.

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Instant;

use fs4::fs_std::FileExt;
use sha2::{Digest, Sha256};

use crate::error::BuildError;

/// In every entry: how long its build took, for `./stellar test --timings`.
const SECONDS_FILE: &str = "build.seconds";

/// Where built models are kept: `STELLAR_MODEL_CACHE`, else the cargo target directory the running program was built in, else this workspace's; with `verilated` appended.
pub fn default_directory() -> PathBuf {
    let base = match env::var_os("STELLAR_MODEL_CACHE") {
        Some(directory) if !directory.is_empty() => PathBuf::from(directory),
        _ => running_target_directory().unwrap_or_else(|| {
            Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("../..")
                .join("target")
        }),
    };
    base.join("verilated")
}

/// cargo marks its target directory with a `CACHEDIR.TAG`.
fn running_target_directory() -> Option<PathBuf> {
    let program = env::current_exe().ok()?;
    program
        .ancestors()
        .skip(1)
        .find(|directory| directory.join("CACHEDIR.TAG").is_file())
        .map(Path::to_path_buf)
}

/// Short hexadecimal digest of `parts`; the boundaries between parts count.
pub(crate) fn digest<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    // 96 bits: collisions are out of reach, and directory names stay readable.
    hasher.finalize()[..12]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// The directory `<cache>/<name>`, made by `build` in a temporary directory if it is not there yet.
///
/// Any number of threads and processes may ask at once: one builds, the others wait for it. When `build` fails, what it left is kept as
/// `<name>.failed` for its log, and the next caller tries again. `build` receives the directory to work in and the one failures end up in.
pub(crate) fn entry(
    cache: &Path,
    name: &str,
    build: impl FnOnce(&Path, &Path) -> Result<(), BuildError>,
) -> Result<PathBuf, BuildError> {
    let done = cache.join(name);
    if done.is_dir() {
        return Ok(done);
    }
    fs::create_dir_all(cache).map_err(|source| io("create", cache, source))?;
    let lock_path = cache.join(format!("{name}.lock"));
    let lock = File::create(&lock_path).map_err(|source| io("create", &lock_path, source))?;
    lock.lock_exclusive()
        .map_err(|source| io("lock", &lock_path, source))?;
    if done.is_dir() {
        return Ok(done);
    }
    // The lock makes us the only user of these names; leftovers come from a build that was killed.
    let working = cache.join(format!("{name}.building"));
    let failed = cache.join(format!("{name}.failed"));
    remove(&working)?;
    fs::create_dir(&working).map_err(|source| io("create", &working, source))?;
    let began = Instant::now();
    let result = build(&working, &failed);
    let seconds = began.elapsed().as_secs_f64();
    let file = working.join(SECONDS_FILE);
    fs::write(&file, format!("{seconds:.1}\n")).map_err(|source| io("write", &file, source))?;
    remove(&failed)?;
    let destination = if result.is_ok() { &done } else { &failed };
    fs::rename(&working, destination).map_err(|source| io("rename", &working, source))?;
    result.map(|()| done)
}

fn remove(directory: &Path) -> Result<(), BuildError> {
    match fs::remove_dir_all(directory) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
            Err(io("remove", directory, source))
        }
        _ => Ok(()),
    }
}

/// An I/O error at `path`.
pub(crate) fn io(action: &'static str, path: &Path, source: std::io::Error) -> BuildError {
    BuildError::Io {
        action,
        path: path.to_path_buf(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn parts_do_not_run_into_each_other() {
        assert_ne!(digest(["ab", "c"]), digest(["a", "bc"]));
        assert_eq!(digest(["ab", "c"]), digest(["ab", "c"]));
    }

    #[test]
    fn racing_callers_build_once_and_all_get_the_entry() {
        let cache = tempfile::tempdir().unwrap();
        let builds = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let path = entry(cache.path(), "thing", |directory, _| {
                        builds.fetch_add(1, Ordering::SeqCst);
                        thread::sleep(std::time::Duration::from_millis(20));
                        fs::write(directory.join("file"), "built").unwrap();
                        Ok(())
                    })
                    .unwrap();
                    assert_eq!(fs::read_to_string(path.join("file")).unwrap(), "built");
                });
            }
        });
        assert_eq!(builds.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn a_failed_build_keeps_its_files_and_is_tried_again() {
        let cache = tempfile::tempdir().unwrap();
        let failure = |directory: &Path, _: &Path| {
            fs::write(directory.join("log"), "why").unwrap();
            Err(BuildError::InvalidSpec {
                name: "thing".into(),
                problem: "for the test".into(),
            })
        };
        assert!(entry(cache.path(), "thing", failure).is_err());
        assert_eq!(
            fs::read_to_string(cache.path().join("thing.failed/log")).unwrap(),
            "why"
        );
        let path = entry(cache.path(), "thing", |_, _| Ok(())).unwrap();
        assert!(path.is_dir());
        assert!(!cache.path().join("thing.failed").exists());
    }
}
