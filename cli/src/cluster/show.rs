//! The table of `./stellar cluster`.

use sim_cluster::{Depth, Report, Transport};
use tabled::builder::Builder;
use tabled::settings::Style;

/// Prints the results.
pub fn table(report: &Report) {
    let settings = &report.settings;
    let transport = match settings.transport {
        Transport::Mrc => format!("MRC, {} over {} paths", report.policy(), settings.paths),
        Transport::Rc if settings.policy.is_for_rc() => {
            format!("RC, {} over {} paths", report.policy(), settings.paths)
        }
        Transport::Rc => "RC on one path".into(),
    };
    println!(
        "{} simulated endpoints with the software reference of the transport, no hardware: {transport}. Packets are {}.",
        report.hosts, report.carrier
    );
    if settings.policy.baseline().is_some() {
        println!(
            "The policy {} is a baseline to compare with: the card does not have it.",
            report.policy()
        );
    }
    let flows = &report.flows;
    let times = flows.fct_us;
    let packets = &report.packets;
    let uplinks = &report.uplinks;
    let depth = |depth: Option<Depth>| {
        depth.map_or("no sample".into(), |depth| {
            format!("{:.1}, {:.1} KB", depth.mean / 1e3, depth.max as f64 / 1e3)
        })
    };
    let mut rows: Vec<(&str, String)> = vec![
        (
            "flows: finished, failed, all",
            format!("{}, {}, {}", flows.finished, flows.failed, flows.total),
        ),
        (
            "flow completion time: mean, median, 99 %, longest",
            format!(
                "{:.1}, {:.1}, {:.1}, {:.1} us",
                times.mean, times.p50, times.p99, times.max
            ),
        ),
        ("data packets", packets.data.to_string()),
        (
            "retransmissions, timeouts",
            format!("{}, {}", packets.retransmitted, packets.timeouts),
        ),
        ("acknowledgements", packets.acknowledgements.to_string()),
        (
            "frames marked, trimmed, dropped",
            format!(
                "{}, {}, {}",
                packets.marked,
                packets.trimmed,
                packets.dropped.total()
            ),
        ),
        ("uplinks", uplinks.count.to_string()),
        ("choice among them", report.balancer.name().into()),
        ("waiting at an uplink: mean, most", depth(uplinks.waiting)),
        (
            "with the frame on the line: mean, most",
            depth(uplinks.with_line),
        ),
        (
            "bytes of an uplink: deviation, range, in parts of the mean",
            format!("{:.3}, {:.3}", uplinks.bytes.cv, uplinks.bytes.range),
        ),
        ("simulated", format!("{:.1} us", report.simulated_us)),
    ];
    if let (Some(seconds), Some(speed)) = (report.cpu_seconds, report.packets_per_second) {
        rows.push(("CPU time", format!("{seconds:.2} s")));
        rows.push(("data packets per second of CPU time", format!("{speed:.0}")));
    }
    rows.push(("hash of the run", report.hash.clone()));
    let mut builder = Builder::default();
    for (name, value) in rows {
        builder.push_record([name.to_string(), value]);
    }
    println!("{}", builder.build().with(Style::sharp()));
    for flow in report
        .flow_results
        .iter()
        .filter(|flow| flow.failed.is_some())
        .take(10)
    {
        let reason = flow.failed.as_deref().unwrap_or_default();
        println!(
            "flow {} from host {} to host {} failed: {reason}",
            flow.id, flow.src, flow.dst
        );
    }
    let open = flows.total - flows.finished - flows.failed;
    if open > 0 {
        println!("{open} flows did not finish: --limit-us, or a trigger that was never activated");
    }
}
