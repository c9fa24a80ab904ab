//! The two ends of a test in two processes, as users of perftest run them.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread::{self, JoinHandle};

use crate::serve::programs::{end, refuse, stellar, succeed, Serve};

/// A server that waits for its client.
struct Server {
    child: Child,
    output: BufReader<ChildStdout>,
    errors: JoinHandle<String>,
    port: String,
}

impl Server {
    fn start(card: &Path, arguments: &[&str]) -> Self {
        let mut child = stellar()
            .args(arguments)
            .args(["--port", "0", "--vfio-user"])
            .arg(card)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let mut errors = child.stderr.take().expect("it is piped");
        let errors = thread::spawn(move || {
            let mut text = String::new();
            errors.read_to_string(&mut text).expect("text");
            text
        });
        let mut output = BufReader::new(child.stdout.take().expect("it is piped"));
        let port = loop {
            let mut line = String::new();
            let bytes = output.read_line(&mut line).expect("text");
            assert_ne!(bytes, 0, "it ended before it waited for a client");
            if let Some((_, port)) = line.split_once("on port ") {
                break port.split('.').next().expect("a number").to_owned();
            }
        };
        Self {
            child,
            output,
            errors,
            port,
        }
    }

    /// The client of this server.
    fn client(&self, card: &Path, arguments: &[&str]) -> Command {
        let mut client = stellar();
        client.args(arguments).arg("--vfio-user").arg(card);
        client.args(["--port", &self.port, "localhost"]);
        client
    }

    /// Waits for the program. Returns its output, and whether it succeeded.
    fn end(mut self) -> (String, String, bool) {
        let mut output = String::new();
        self.output.read_to_string(&mut output).expect("text");
        let status = end(&mut self.child);
        let errors = self.errors.join().expect("it is read");
        (output, errors, status.success())
    }
}

/// Runs both ends; returns the outputs of server and client.
fn measure(cards: &[std::path::PathBuf; 2], arguments: &[&str]) -> [String; 2] {
    let server = Server::start(&cards[0], arguments);
    let client = succeed(&mut server.client(&cards[1], arguments));
    let (server, errors, is_well) = server.end();
    assert!(is_well, "{errors}");
    [server, client]
}

/// The row of a table that begins with this text.
fn row<'a>(table: &'a str, start: &str) -> &'a str {
    let found = table.lines().find(|line| line.starts_with(start));
    found.unwrap_or_else(|| panic!("no row '{start}' in: {table}"))
}

#[test]
fn two_processes_run_a_test_as_users_of_perftest_do() {
    let directory = tempfile::tempdir().expect("a temporary folder");
    let serve = Serve::start(directory.path());
    let cards = serve.sockets.clone();
    for (connection, test, rows) in [
        (
            "RC",
            &["write_bw", "--size", "20000", "--iters", "6"][..],
            &[" 20000      6 "][..],
        ),
        (
            "MRC",
            &["write_imm_bw", "-s", "600", "-n", "40", "-q", "2"],
            &[
                " 600        80 ",
                " Immediates         : 80 counted at the receiver",
            ],
        ),
        ("RC", &["write_lat", "-n", "5"], &[" 2       5 "]),
    ] {
        let arguments = [test, &["-c", connection]].concat();
        let tables = measure(&cards, &arguments);
        for (table, peer) in tables
            .iter()
            .zip(["client 127.0.0.1:", "server localhost:"])
        {
            row(table, &format!(" {:<18}: {peer}", "Peer"));
            row(table, &format!(" {:<18}: {connection}", "Connection type"));
        }
        for start in rows {
            assert_eq!(row(&tables[0], start), row(&tables[1], start));
        }
        // The local side of one end is the remote side of the other.
        let (local, remote) = ("  local address: ", " remote address: ");
        for (here, there) in [(0, 1), (1, 0)] {
            let said = row(&tables[here], local).strip_prefix(local);
            assert_eq!(said, row(&tables[there], remote).strip_prefix(remote));
        }
    }

    // Ends with different parameters fail, and report the differences.
    let server = Server::start(&cards[0], &["write_bw", "--size", "64"]);
    let other = ["write_bw", "--size", "128", "-c", "RC"];
    let differ = [
        "--size is 128 here and 64 at the peer",
        "--connection is RC here and MRC",
    ];
    refuse(&mut server.client(&cards[1], &other), &differ);
    let (_, errors, is_well) = server.end();
    assert!(
        !is_well && errors.contains("--size is 64 here and 128 at the peer"),
        "{errors}"
    );

    // A client that dies in the middle ends its server.
    let long = ["write_imm_bw", "--iters", "20000"];
    let mut server = Server::start(&cards[0], &long);
    let mut client = server.client(&cards[1], &long);
    let mut client = client.stdout(Stdio::null()).spawn().expect("it starts");
    let mut line = String::new();
    while !line.contains("#bytes") {
        line.clear();
        assert_ne!(server.output.read_line(&mut line).expect("text"), 0);
    }
    client.kill().expect("it can be killed");
    client.wait().expect("it has ended");
    let (_, errors, is_well) = server.end();
    assert!(
        !is_well && errors.contains("error:") && !errors.contains("panicked"),
        "{errors}"
    );

    // A port without a server, and a port that is in use.
    let listener = TcpListener::bind("0.0.0.0:0").expect("a port");
    let port = listener
        .local_addr()
        .expect("an address")
        .port()
        .to_string();
    let waits = ["write_bw", "--port", &port, "--vfio-user"];
    let used = [&*format!("on port {port}"), "--port"];
    refuse(stellar().args(waits).arg(&cards[0]), &used);
    drop(listener);
    let refused = ["cannot reach server 127.0.0.1", "start the same test there"];
    refuse(
        stellar().args(waits).arg(&cards[1]).arg("127.0.0.1"),
        &refused,
    );
    serve.stop("TERM");
}
