//! perftest's head and table.

use stellar_driver::QueuePair;

use super::hosts::Host;

const LINE: &str =
    "---------------------------------------------------------------------------------------";

/// Prints what is measured, under what conditions, and between whom.
pub fn head(test: &str, conditions: &[(&str, String)], hosts: &[Host; 2]) {
    println!("{LINE}\n{:^87}", format!("{test} Test"));
    println!(
        " {:<18}: sim0, sim1 (Verilated cards, cable to cable)",
        "Devices"
    );
    println!(" {:<18}: MRC", "Connection type");
    println!(" {:<18}: Ethernet", "Link type");
    for (name, value) in conditions {
        println!(" {name:<18}: {value}");
    }
    println!(" {:<18}: of the cards' 250 MHz clock, simulated", "Times");
    println!(
        " {:<18}: reads take 600 ns; register and memory writes arrive at once",
        "PCIe"
    );
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
