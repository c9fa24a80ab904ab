//! perftest's head and table.

use stellar_driver::QueuePair;

use super::hosts::Host;
use super::Cards;

const LINE: &str =
    "---------------------------------------------------------------------------------------";

/// Prints what is measured, under what conditions, and between whom.
pub fn head(test: &str, cards: &Cards, conditions: &[(&str, String)], hosts: &[Host; 2]) {
    println!("{LINE}\n{:^87}", format!("{test} Test"));
    println!(
        " {:<18}: {} ({})",
        "Devices",
        cards.names().join(", "),
        cards.kind()
    );
    println!(" {:<18}: MRC", "Connection type");
    println!(" {:<18}: Ethernet", "Link type");
    for (name, value) in conditions {
        println!(" {name:<18}: {value}");
    }
    println!(" {:<18}: {}", "Times", cards.times());
    println!(" {:<18}: {}", "PCIe", cards.pcie());
    println!("{LINE}");
    for (side, host) in ["local", "remote"].into_iter().zip(hosts) {
        for qp in &host.qps {
            address(side, host, qp);
        }
    }
    println!("{LINE}");
}

fn address(side: &str, host: &Host, qp: &QueuePair) {
    let to = host.target.remote();
    println!(
        " {side:>6} address: QPN {:#06x} RKey {:#010x} VAddr {:#014x} GID {}",
        qp.number(),
        to.rkey,
        to.address,
        qp.connection(0).ports[0].ip,
    );
}

/// Prints the line under the table.
pub fn end() {
    println!("{LINE}");
}
