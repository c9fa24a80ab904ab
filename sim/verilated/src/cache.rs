//! The on-disk cache of build results. Each result has a directory named by a hash of its inputs, which is built under a lock and then renamed to its
//! place.

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Instant;

use fs4::fs_std::FileExt;
use sha2::{Digest, Sha256};

use crate::error::BuildError;

/// A file in every entry with the duration of its build, for `./stellar test --timings`.
const SECONDS_FILE: &str = "build.seconds";

/// Returns the directory in which built models are kept: the folder `verilated` in `STELLAR_MODEL_CACHE` if that is set, else in the cargo target
/// directory of the running program, else in that of this workspace.
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

/// Finds cargo's target directory by the file `CACHEDIR.TAG` that cargo puts there.
fn running_target_directory() -> Option<PathBuf> {
    let program = env::current_exe().ok()?;
    program
        .ancestors()
        .skip(1)
        .find(|directory| directory.join("CACHEDIR.TAG").is_file())
        .map(Path::to_path_buf)
}

/// Returns a short hexadecimal digest of `parts`. Moving a boundary between two parts changes the digest.
pub(crate) fn digest<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    // 96 bits make collisions practically impossible and keep directory names readable.
    hasher.finalize()[..12]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Returns the directory `<cache>/<name>`. If it does not exist yet, `build` makes it in a temporary directory.
///
/// Threads and processes may call this at the same time: one of them builds, the others wait for it. When `build` fails, its directory is kept as
/// `<name>.failed` for the log, and the next caller tries again. The arguments of `build` are the directory to work in and the directory to which a
/// failed build is moved.
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
    // The lock guarantees that no other process uses these names. Directories left from an interrupted build can therefore be deleted.
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

/// Makes an I/O error at `path`.
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
