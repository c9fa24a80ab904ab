//! What both cards moved over PCIe.

use sim_nic::FabricPair;
use sim_pcie::{Flow, Route, Traffic};
use tabled::settings::Style;
use tabled::{Table, Tabled};

/// TLPs of one kind.
#[derive(Tabled)]
#[tabled(rename_all = "lowercase")]
struct Row {
    card: usize,
    endpoint: String,
    request: &'static str,
    route: &'static str,
    #[tabled(rename = "AT")]
    at: &'static str,
    #[tabled(rename = "TLPs")]
    tlps: u64,
    bytes: u64,
}

fn row(card: usize, request: &'static str, (flow, traffic): (Flow, Traffic)) -> Row {
    Row {
        card,
        endpoint: flow.requester.to_string(),
        request,
        route: match flow.route {
            Route::PeerDirect => "peer, by the switch",
            Route::Host => "host memory",
            Route::Hairpin => "peer, by the root complex",
        },
        at: if flow.is_translated { "10" } else { "00" },
        tlps: traffic.tlps,
        bytes: traffic.bytes,
    }
}

/// Prints bytes by card, endpoint, route and AT, and what the fabric has refused.
pub fn show(pair: &FabricPair) {
    let counters = [0, 1].map(|card| pair.pcie_counters(card));
    let rows = counters.iter().enumerate().flat_map(|(card, counters)| {
        let reads = counters
            .read_flows()
            .map(move |flow| row(card, "read", flow));
        let writes = counters
            .write_flows()
            .map(move |flow| row(card, "write", flow));
        reads.chain(writes)
    });
    println!("PCIe:\n{}", Table::new(rows).with(Style::sharp()));
    for (card, counters) in counters.iter().enumerate() {
        for (refusal, traffic) in counters.refusals() {
            println!("card {card}: {} TLPs refused: {refusal}", traffic.tlps);
        }
    }
}
