//! Head and table in perftest's format.

use stellar_driver::{Connection, RemoteRegion};

use super::hosts::Told;
use super::Options;

const LINE: &str =
    "---------------------------------------------------------------------------------------";

/// Prints test, conditions, and both ends. The other end is `peer` if it is another process.
pub fn head(
    test: &str,
    options: &Options,
    conditions: &[(&str, String)],
    peer: Option<&str>,
    ends: [&Told; 2],
) {
    let cards = &options.cards;
    println!("{LINE}\n{:^87}", format!("{test} Test"));
    println!(
        " {:<18}: {} ({})",
        "Devices",
        cards.names().join(", "),
        cards.kind()
    );
    if let Some(peer) = peer {
        println!(" {:<18}: {peer}", "Peer");
    }
    println!(" {:<18}: {}", "Connection type", options.transport());
    println!(" {:<18}: Ethernet", "Link type");
    for (name, value) in conditions {
        println!(" {name:<18}: {value}");
    }
    println!(" {:<18}: {}", "Times", cards.times());
    println!(" {:<18}: {}", "PCIe", cards.pcie());
    println!("{LINE}");
    for (side, told) in ["local", "remote"].into_iter().zip(ends) {
        for connection in &told.connections {
            address(side, connection, &told.target);
        }
    }
    println!("{LINE}");
}

fn address(side: &str, connection: &Connection, to: &RemoteRegion) {
    println!(
        " {side:>6} address: QPN {:#06x} PSN {:#08x} RKey {:#010x} VAddr {:#014x} GID {}",
        connection.qp, connection.psn, to.rkey, to.address, connection.ports[0].ip,
    );
}

/// Prints the line under the table.
pub fn end() {
    println!("{LINE}");
}
