//! Programs in processes of their own.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

/// Longest time of one program. The model is built already, because the tests of `sim-nic` use the same one.
pub const TIMEOUT: Duration = Duration::from_secs(900);

pub fn stellar() -> Command {
    Command::new(env!("CARGO_BIN_EXE_stellar-cli"))
}

/// Waits for the end of a process, up to that time.
pub fn end(child: &mut Child) -> ExitStatus {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        if let Some(status) = child.try_wait().expect("it can be waited for") {
            return status;
        }
        if Instant::now() > deadline {
            child.kill().expect("it can be killed");
            panic!("{child:?} takes longer than {TIMEOUT:?}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Runs a program to its end. Its output fits into the pipe, so nothing has to read it meanwhile.
pub fn run(command: &mut Command) -> Output {
    let piped = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().expect("the program starts");
    end(&mut child);
    child.wait_with_output().expect("it has ended")
}

#[track_caller]
pub fn succeed(command: &mut Command) -> String {
    let output = run(command);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    String::from_utf8(output.stdout).expect("text")
}

#[track_caller]
pub fn refuse(command: &mut Command, parts: &[&str]) {
    refuse_with(1, command, parts);
}

/// Does what [`refuse`] does for another exit status. Invalid options have status 2.
#[track_caller]
pub fn refuse_with(status: i32, command: &mut Command, parts: &[&str]) {
    let output = run(command);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{command:?}: {errors}");
    for part in parts {
        assert!(errors.contains(part), "no '{part}' in: {errors}");
    }
    assert!(!errors.contains("panicked"), "{errors}");
}

/// A running server of `N` cards.
pub struct Serve<const N: usize> {
    child: Child,
    pub sockets: [PathBuf; N],
    /// The process's output.
    lines: Receiver<String>,
}

impl Serve<2> {
    pub fn start(directory: &Path) -> Self {
        Self::start_with(directory, &[])
    }
}

impl<const N: usize> Serve<N> {
    /// Starts the server with options that give `N` cards.
    pub fn start_with(directory: &Path, options: &[&str]) -> Self {
        let mut child = stellar()
            .arg("serve")
            .arg(directory)
            .args(options)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        let (tell, lines) = mpsc::channel();
        std::thread::spawn(move || {
            let mut lines = output.lines().map_while(Result::ok);
            lines.try_for_each(|line| tell.send(line))
        });
        let sockets = std::array::from_fn(|host| directory.join(format!("nic{host}.sock")));
        let serve = Self {
            child,
            sockets,
            lines,
        };
        for socket in &serve.sockets {
            let expected = format!("serving a card at {}", socket.display());
            assert_eq!(serve.line(), expected);
            assert!(socket.exists());
        }
        serve
    }

    /// The next line of its output.
    pub fn line(&self) -> String {
        let line = self.lines.recv_timeout(TIMEOUT);
        line.expect("it says something, and says it in text")
    }

    /// Sends a signal: the server must succeed and remove its sockets. Returns its last output.
    pub fn stop(mut self, signal: &str) -> Vec<String> {
        let kill = format!("kill -{signal} {}", self.child.id());
        succeed(Command::new("sh").args(["-c", &kill]));
        let status = end(&mut self.child);
        assert!(status.success(), "{status}");
        for socket in &self.sockets {
            assert!(!socket.exists(), "{} is left", socket.display());
        }
        self.lines.iter().collect()
    }
}

impl<const N: usize> Drop for Serve<N> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
