//! `stellar serve`, and programs that reach its cards over their sockets.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Longest that one program may take. The model is there: tests of `sim-nic` and this one share it.
const PATIENCE: Duration = Duration::from_secs(900);

fn stellar() -> Command {
    Command::new(env!("CARGO_BIN_EXE_stellar-cli"))
}

/// The example beside this test's own directory.
fn bring_up() -> Command {
    let tests = std::env::current_exe().expect("a test has a path");
    let target = tests.ancestors().nth(2).expect("target/debug/deps/test");
    Command::new(target.join("examples/bring_up"))
}

/// Waits for the end of a process, for as long as it may take.
fn end(child: &mut Child) -> ExitStatus {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(status) = child.try_wait().expect("it can be waited for") {
            return status;
        }
        if Instant::now() > deadline {
            child.kill().expect("it can be killed");
            panic!("{child:?} takes longer than {PATIENCE:?}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Runs a program to its end. What these print fits into a pipe: nothing has to be read meanwhile.
fn run(command: &mut Command) -> Output {
    let piped = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().expect("the program starts");
    end(&mut child);
    child.wait_with_output().expect("it has ended")
}

#[track_caller]
fn succeed(command: &mut Command) -> String {
    let output = run(command);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    String::from_utf8(output.stdout).expect("text")
}

#[track_caller]
fn refuse(command: &mut Command, parts: &[&str]) {
    let output = run(command);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    for part in parts {
        assert!(errors.contains(part), "no '{part}' in: {errors}");
    }
    assert!(!errors.contains("panicked"), "{errors}");
}

/// A server that is up.
struct Serve {
    child: Child,
    sockets: [PathBuf; 2],
}

impl Serve {
    fn start(directory: &Path) -> Self {
        let mut child = stellar()
            .arg("serve")
            .arg(directory)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        let sockets = [0, 1].map(|host| directory.join(format!("nic{host}.sock")));
        let serve = Self { child, sockets };
        let (tell, told) = mpsc::channel();
        std::thread::spawn(move || output.lines().try_for_each(|line| tell.send(line)));
        for socket in &serve.sockets {
            let line = told.recv_timeout(PATIENCE).expect("it says where it is");
            let expected = format!("serving a card at {}", socket.display());
            assert_eq!(line.expect("a line"), expected);
            assert!(socket.exists());
        }
        serve
    }

    /// Sends a signal: the server ends well, and takes its sockets along.
    fn stop(mut self, signal: &str) {
        let kill = format!("kill -{signal} {}", self.child.id());
        succeed(Command::new("sh").args(["-c", &kill]));
        let status = end(&mut self.child);
        assert!(status.success(), "{status}");
        for socket in &self.sockets {
            assert!(!socket.exists(), "{} is left", socket.display());
        }
    }
}

impl Drop for Serve {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_same_program_prints_the_same_in_process_and_served() {
    let directory = tempfile::tempdir().expect("a temporary folder");
    let serve = Serve::start(&directory.path().join("sockets"));
    let [a, b] = &serve.sockets.clone();
    let served = succeed(bring_up().arg("--vfio-user").args([a, b]));
    let local = succeed(&mut bring_up());
    assert_eq!(served, local);
    assert!(
        served.ends_with("1048576 bytes compared: equal\n"),
        "{served}"
    );

    let devinfo = succeed(stellar().args(["devinfo", "--vfio-user"]).arg(a));
    let name = a.display().to_string();
    assert!(
        devinfo.starts_with(&format!("hca_id: {name}\n")),
        "{devinfo}"
    );
    assert!(devinfo.contains("PORT_ACTIVE (4)"), "{devinfo}");
    let mut program = stellar();
    program.args(["write_bw", "--size", "8192", "--iters", "8"]);
    program.arg("--vfio-user").arg(a).arg("--vfio-user").arg(b);
    let bandwidth = succeed(&mut program);
    assert!(bandwidth.contains("\n 8192       8 "), "{bandwidth}");
    assert!(bandwidth.contains("it runs on"), "{bandwidth}");
    serve.stop("TERM");
    refuse(
        stellar().args(["devinfo", "--vfio-user"]).arg(a),
        &[&name, "there is no such socket"],
    );
}

#[test]
fn what_cannot_be_served_is_said_and_what_is_there_stays() {
    let directory = tempfile::tempdir().expect("a temporary folder");
    let serve = Serve::start(directory.path());
    let at = |path: &Path| {
        let mut program = stellar();
        program.arg("serve").arg(path);
        program
    };
    let socket = serve.sockets[0].display().to_string();
    let used = [socket.as_str(), "another server listens there"];
    refuse(&mut at(directory.path()), &used);
    serve.stop("INT");

    std::fs::write(directory.path().join("nic1.sock"), "mine").expect("a file");
    refuse(&mut at(directory.path()), &["nic1.sock", "nobody listens"]);
    assert!(!directory.path().join("nic0.sock").exists());
    let file = directory.path().join("nic1.sock");
    assert_eq!(std::fs::read(&file).expect("the file"), b"mine");
    refuse(&mut at(&file), &["nic1.sock", "cannot be made"]);
    let long = directory.path().join("x".repeat(120));
    refuse(&mut at(&long), &["a UNIX socket takes 107"]);
}

#[test]
fn cards_have_to_be_named() {
    refuse(stellar().arg("devinfo"), &["--sim", "--vfio-user"]);
    let one = ["write_bw", "--vfio-user", "/nonexistent/nic0.sock"];
    refuse(stellar().args(one), &["1 cards are named; it takes 2"]);
    let missing = ["devinfo", "--vfio-user", "/nonexistent/nic0.sock"];
    refuse(stellar().args(missing), &["/nonexistent/nic0.sock"]);
    let odd = ["devinfo", "--vfio", "eth0"];
    refuse(stellar().args(odd), &["'eth0' is no PCI address"]);
}
