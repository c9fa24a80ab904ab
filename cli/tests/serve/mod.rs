//! `stellar serve`, and programs that use its cards over their sockets.

mod bridge;
mod perftest;
mod programs;
mod usage;

use std::path::Path;
use std::process::Command;

use programs::{refuse, stellar, succeed, Serve};
use stellar_driver::{CardCounter, DropReason, QpCounter};

/// Returns the command that runs the example, which is in a directory beside that of this test.
fn bring_up() -> Command {
    let tests = std::env::current_exe().expect("a test has a path");
    let target = tests.ancestors().nth(2).expect("target/debug/deps/test");
    Command::new(target.join("examples/bring_up"))
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

    let devinfo = succeed(
        stellar()
            .args(["devinfo", "--counters", "--vfio-user"])
            .arg(a),
    );
    let name = a.display().to_string();
    assert!(
        devinfo.starts_with(&format!("hca_id: {name}\n")),
        "{devinfo}"
    );
    assert!(devinfo.contains("PORT_ACTIVE (4)"), "{devinfo}");
    for reason in DropReason::ALL {
        let name = format!("\t{reason}:");
        assert!(devinfo.contains(&name), "no {name} in {devinfo}");
    }
    for counter in CardCounter::ALL {
        let name = format!("\t{counter}:");
        assert!(devinfo.contains(&name), "no {name} in {devinfo}");
    }
    // The program has reset the cards, so no queue pair has counted anything.
    assert!(!devinfo.contains("\tqp"), "{devinfo}");
    let devinfo = succeed(
        stellar()
            .args(["devinfo", "--qp", "1023", "--vfio-user"])
            .arg(a),
    );
    for counter in QpCounter::ALL {
        let name = format!("\t{counter}:");
        assert!(devinfo.contains(&name), "no {name} in {devinfo}");
    }
    refuse(
        stellar()
            .args(["devinfo", "--qp", "1024", "--vfio-user"])
            .arg(a),
        &["no queue pair 1024", "0 to 1023"],
    );
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
    let missing = ["/nonexistent/nic0.sock", "there is no such socket"];
    refuse(stellar().args(one), &missing);
    refuse(stellar().args(one).arg("localhost"), &missing);
    let three = ["--vfio-user=a", "--vfio-user=b", "--vfio-user=c"];
    let many = ["3 cards are named", "one, or two for both ends"];
    refuse(stellar().arg("write_lat").args(three), &many);
    let both = ["write_bw", "--sim", "localhost"];
    refuse(
        stellar().args(both),
        &["both ends", "localhost", "leave it out"],
    );
    let missing = ["devinfo", "--vfio-user", "/nonexistent/nic0.sock"];
    refuse(stellar().args(missing), &["/nonexistent/nic0.sock"]);
    let odd = ["devinfo", "--vfio", "eth0"];
    refuse(stellar().args(odd), &["'eth0' is no PCI address"]);
}
