//! Goodput against the loss of one link: few and many paths, and go-back-N.

use std::sync::Arc;

use sim_nic::RtlNic;
use sim_world::sweep::{self, LOSSES};
use sim_world::transfer::{run, Transfer, LEAF_SPINE, LEAF_SPINE_FILE};
use sim_world::{Plan, ReferenceNic};

use super::goodput::LIMIT;
use super::{Effort, Row};
use crate::board::host_ports;
use crate::progress;

/// log2 of the path MTU of the sweep.
const MTU_LOG2: u8 = 12;
const MESSAGES: u32 = 32;
/// RC sends fewer messages by this factor: under loss its runs take the longest time.
const RC_SHARE: u32 = 4;

/// The rows. The lossy link is the link between switches that carries most packets of the reference.
pub fn rows(effort: Effort) -> anyhow::Result<Vec<Row>> {
    let mut rows = series(effort, effort.packets, Some(4), "4 paths")?;
    rows.extend(series(effort, effort.packets, Some(128), "128 paths")?);
    let packets = effort.packets / RC_SHARE;
    rows.extend(series(effort, packets, None, "RC")?);
    Ok(rows)
}

fn series(effort: Effort, packets: u32, paths: Option<u8>, what: &str) -> anyhow::Result<Vec<Row>> {
    let transfer = Transfer {
        bytes: (packets / MESSAGES) << MTU_LOG2,
        messages: MESSAGES,
        immediates: false,
        interval: 0,
        limit: LIMIT,
    };
    let plan = |loss| {
        let topology = host_ports().lossy_topology(LEAF_SPINE_FILE, LEAF_SPINE, loss)?;
        let plan = sweep::plan(LEAF_SPINE_FILE, LEAF_SPINE, loss, paths, effort.seed)?;
        anyhow::Ok(Plan {
            topology: Arc::new(topology),
            pcie: effort.pcie,
            ..plan
        })
    };
    let clean = run::<ReferenceNic>(&plan(None)?, transfer)?;
    let (link, share) = sweep::busiest(&clean);
    let mut rows = vec![];
    for loss in LOSSES {
        let name = format!(
            "{what}, loss {} % for {:.0} % of packets",
            loss * 100.0,
            share * 100.0
        );
        if !effort.wants(&name) {
            continue;
        }
        let plan = plan(Some((&link, loss)))?;
        let report = progress::measuring(&name, || run::<RtlNic>(&plan, transfer))?.report;
        let limit = Some(report.wire_limit_gbps);
        rows.push(Row::new(
            format!("{name}: goodput"),
            report.goodput_gbps,
            "Gb/s",
            limit,
        ));
        let again = report.requester.retransmissions as f64;
        rows.push(Row::new(
            format!("{name}: sent again"),
            again,
            "packets",
            None,
        ));
    }
    Ok(rows)
}
