//! The test programs of the hardware's crates, and how one is run.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{bail, Context};
use serde::{Deserialize, Serialize};

/// Where tests look for Verilog to replace, and leave the Verilog of the models they build (see sim-verilated).
pub const OVERLAY: &str = "STELLAR_VERILOG_OVERLAY";

/// A test program of libtest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// The crate it belongs to.
    pub package: String,
    /// Its target's name.
    pub target: String,
    pub path: PathBuf,
    /// Where cargo runs it: the crate's directory.
    pub directory: PathBuf,
    /// Further arguments, before the names of tests.
    pub arguments: Vec<String>,
}

/// Result of a run of tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Passed,
    Failed,
    /// It was ended when its time was up.
    TimedOut,
}

impl Program {
    /// The names of its tests.
    ///
    /// # Errors
    /// When the program cannot be run.
    pub fn tests(&self) -> anyhow::Result<Vec<String>> {
        let output = Command::new(&self.path)
            .args(&self.arguments)
            .args(["--list", "--format", "terse"])
            .current_dir(&self.directory)
            .output()
            .with_context(|| format!("cannot run {}", self.path.display()))?;
        if !output.status.success() {
            bail!("{} --list failed: {}", self.path.display(), output.status);
        }
        let list = String::from_utf8_lossy(&output.stdout);
        let names = list.lines().filter_map(|line| line.strip_suffix(": test"));
        Ok(names.map(str::to_owned).collect())
    }

    /// Runs `tests` one after another until one fails or the time is up; `variables` are added to the environment.
    ///
    /// # Errors
    /// When the program cannot be run.
    pub fn run(
        &self,
        tests: &[String],
        variables: &[(&str, &str)],
        limit: Duration,
    ) -> anyhow::Result<Outcome> {
        let mut child = Command::new(&self.path)
            .args(&self.arguments)
            .args(["--test-threads", "1", "--exact"])
            .args(tests)
            .env("CARGO_MANIFEST_DIR", &self.directory)
            .envs(variables.iter().copied())
            .current_dir(&self.directory)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot run {}", self.path.display()))?;
        let lines = lines_of(child.stdout.take().expect("the output is a pipe"));
        let outcome = follow(&lines, Instant::now() + limit);
        let status = match outcome {
            // The rest of the tests cannot change what is known.
            Some(_) => end(&mut child)?,
            None => child.wait()?,
        };
        Ok(match outcome {
            Some(outcome) => outcome,
            None if status.success() => Outcome::Passed,
            // A process that ended by a signal or an abort says no test's name.
            None => Outcome::Failed,
        })
    }
}

fn end(child: &mut Child) -> anyhow::Result<std::process::ExitStatus> {
    child.kill()?;
    Ok(child.wait()?)
}

/// The lines of `output` as they come, read by a thread of its own so that waiting for them can end.
fn lines_of(output: impl Read + Send + 'static) -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

/// Waits for a test that fails, or for the end of the time; nothing when the output ends first.
fn follow(lines: &mpsc::Receiver<String>, deadline: Instant) -> Option<Outcome> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match lines.recv_timeout(left) {
            Ok(line) if line.starts_with("test ") && line.ends_with("FAILED") => {
                return Some(Outcome::Failed)
            }
            Ok(_) => {}
            Err(mpsc::RecvTimeoutError::Timeout) => return Some(Outcome::TimedOut),
            Err(mpsc::RecvTimeoutError::Disconnected) => return None,
        }
    }
}

/// A crate with hardware blocks.
#[derive(Clone, Debug)]
pub struct Crate {
    pub name: String,
    pub directory: PathBuf,
}

/// The crates of hardware blocks in the workspace at `root`: those in its folder `hdl` that have tests.
///
/// # Errors
/// When cargo fails.
pub fn crates(root: &Path) -> anyhow::Result<Vec<Crate>> {
    #[derive(Deserialize)]
    struct Metadata {
        packages: Vec<Package>,
    }
    #[derive(Deserialize)]
    struct Package {
        name: String,
        manifest_path: PathBuf,
    }
    let output = cargo(root, ["metadata", "--no-deps", "--format-version", "1"])?;
    let metadata: Metadata = serde_json::from_slice(&output).context("cargo metadata")?;
    let folder = root.join("hdl").canonicalize()?;
    let mut found: Vec<Crate> = metadata
        .packages
        .into_iter()
        .map(|package| Crate {
            name: package.name,
            directory: folder_of(&package.manifest_path),
        })
        .filter(|one| {
            one.directory.parent() == Some(&folder) && one.directory.join("tests").is_dir()
        })
        .collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

/// Builds the test programs of `crates`.
///
/// # Errors
/// When cargo fails.
pub fn build(root: &Path, crates: &[Crate]) -> anyhow::Result<Vec<Program>> {
    #[derive(Deserialize)]
    struct Artifact {
        manifest_path: PathBuf,
        target: Target,
        profile: Profile,
        executable: Option<PathBuf>,
    }
    #[derive(Deserialize)]
    struct Target {
        name: String,
    }
    #[derive(Deserialize)]
    struct Profile {
        test: bool,
    }
    let packages = crates.iter().flat_map(|one| ["-p", &one.name]);
    let options = ["test", "--no-run", "--quiet", "--message-format", "json"];
    let output = cargo(root, options.into_iter().chain(packages))?;
    let mut programs = vec![];
    for line in output.split(|byte| *byte == b'\n') {
        // Messages of other kinds have other fields.
        let Ok(artifact) = serde_json::from_slice::<Artifact>(line) else {
            continue;
        };
        let directory = folder_of(&artifact.manifest_path);
        let owner = crates.iter().find(|one| one.directory == directory);
        if let (Some(owner), true, Some(path)) = (owner, artifact.profile.test, artifact.executable)
        {
            programs.push(Program {
                package: owner.name.clone(),
                target: artifact.target.name,
                path,
                directory,
                arguments: vec![],
            });
        }
    }
    programs.sort_by(|a, b| (&a.package, &a.target).cmp(&(&b.package, &b.target)));
    Ok(programs)
}

fn folder_of(manifest: &Path) -> PathBuf {
    manifest
        .parent()
        .expect("a manifest is in a folder")
        .to_path_buf()
}

/// What cargo prints; its messages for people go to the error stream.
fn cargo<'a>(root: &Path, arguments: impl IntoIterator<Item = &'a str>) -> anyhow::Result<Vec<u8>> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(arguments)
        .current_dir(root)
        .stderr(Stdio::inherit())
        .output()
        .context("cannot run cargo")?;
    if !output.status.success() {
        bail!("cargo failed: {}", output.status);
    }
    Ok(output.stdout)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How a program of this shell text ends, with two seconds of time.
    fn outcome_of(script: &str) -> Outcome {
        let program = Program {
            package: "p".into(),
            target: "t".into(),
            path: "/bin/sh".into(),
            directory: std::env::temp_dir(),
            arguments: vec!["-c".into(), script.into()],
        };
        let began = Instant::now();
        let outcome = program.run(&["a".into()], &[], Duration::from_secs(2));
        assert!(began.elapsed() < Duration::from_secs(60));
        outcome.unwrap()
    }

    #[test]
    fn a_program_is_followed_until_a_test_fails_or_its_time_is_up() {
        assert_eq!(outcome_of("echo 'test a ... ok'"), Outcome::Passed);
        assert_eq!(
            outcome_of("echo 'test a ... FAILED'; exec sleep 600"),
            Outcome::Failed
        );
        assert_eq!(
            outcome_of("echo 'test a ... ok'; exec sleep 600"),
            Outcome::TimedOut
        );
        assert_eq!(outcome_of("kill -9 $$"), Outcome::Failed);
    }
}
