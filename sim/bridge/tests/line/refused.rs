//! Invalid configurations of a bridge.

use std::fs;
use std::path::Path;

use sim_bridge::{Bridge, BridgeConfig, LinkAddress};

use crate::card::{config, datagram, is_free};

#[track_caller]
fn refuse(config: &BridgeConfig, parts: &[&str]) {
    let error = Bridge::open(config).err().expect("it is opened");
    let error = error.to_string();
    for part in parts {
        assert!(error.contains(part), "no '{part}' in: {error}");
    }
}

#[test]
fn a_path_where_something_is_is_refused_and_that_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("there");
    fs::write(&path, "mine").unwrap();
    let remote = folder.path().join("peer");
    let name = path.display().to_string();
    for address in [
        LinkAddress::Listen(path.clone()),
        LinkAddress::Datagram {
            local: path.clone(),
            remote,
        },
    ] {
        refuse(&config(address), &[&name, "there is a file already"]);
    }
    assert_eq!(fs::read(&path).unwrap(), b"mine");
}

#[test]
fn a_path_that_is_too_long_is_refused_whoever_makes_the_socket() {
    let folder = tempfile::tempdir().unwrap();
    let long = folder.path().join("x".repeat(108));
    let short = folder.path().join("short");
    let datagrams = |local: &Path, remote: &Path| LinkAddress::Datagram {
        local: local.to_owned(),
        remote: remote.to_owned(),
    };
    for address in [
        LinkAddress::Listen(long.clone()),
        LinkAddress::Connect(long.clone()),
        datagrams(&long, &short),
        datagrams(&short, &long),
    ] {
        refuse(&config(address), &["a UNIX socket takes 107"]);
    }
    assert!(is_free(&short));
}

#[test]
fn a_folder_that_is_not_there_and_a_port_that_is_not_are_refused() {
    let (folder, address) = datagram();
    let nowhere = folder.path().join("no").join("socket");
    let listens = LinkAddress::Listen(nowhere);
    refuse(&config(listens), &["no/socket", "cannot be made"]);
    let port = BridgeConfig {
        port: 2,
        ..config(address.clone())
    };
    refuse(&port, &["ports 0 and 1, not 2"]);
    let capture = BridgeConfig {
        capture: Some(folder.path().join("no").join("capture")),
        ..config(address)
    };
    refuse(&capture, &["no/capture", "the capture cannot be written"]);
    // Files that were made before the error are removed.
    assert!(is_free(&folder.path().join("bridge")));
}
