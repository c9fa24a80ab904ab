//! The report as rows of a table.

use super::Report;

impl Report {
    /// The rows of its table: name and value.
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        let (c, r, o) = (&self.completions, &self.requester, &self.out_of_order);
        let used = self.path_loads.iter().filter(|&&load| load > 0);
        let least = used.clone().min().copied().unwrap_or(0);
        let most = used.clone().max().copied().unwrap_or(0);
        vec![
            ("NICs", self.nics.into()),
            (
                "transfer",
                format!("{} -> {}, GPU memory", self.hosts[0], self.hosts[1]),
            ),
            (
                "mode",
                match self.policy {
                    Some(policy) => format!(
                        "{} over {}, policy {policy}, {} paths, {} QP",
                        self.mode, self.addressing, self.paths, self.qps
                    ),
                    None => format!(
                        "{} over {}, go-back-N, {} QP",
                        self.mode, self.addressing, self.qps
                    ),
                },
            ),
            ("bytes, all compared", self.bytes.to_string()),
            (
                "duration",
                format!("{:.1} us", self.duration_ns as f64 / 1e3),
            ),
            ("goodput", format!("{:.1} Gb/s", self.goodput_gbps)),
            ("wire limit", format!("{:.1} Gb/s", self.wire_limit_gbps)),
            ("ratio", format!("{:.3}", self.ratio)),
            (
                "completions, in order",
                format!("{} ({} failed)", c.succeeded + c.failed, c.failed),
            ),
            (
                "completion time p50 / p99",
                format!(
                    "{:.1} / {:.1} us",
                    c.p50_ns as f64 / 1e3,
                    c.p99_ns as f64 / 1e3
                ),
            ),
            ("data packets", r.packets.to_string()),
            ("retransmissions", r.retransmissions.to_string()),
            (
                "timeouts / found early / spurious",
                format!(
                    "{} / {} / {}",
                    r.timeouts, r.early_losses, r.spurious_losses
                ),
            ),
            (
                "acknowledgements, ECN-marked",
                format!("{}, {}", r.acknowledgements, r.ecn_marks),
            ),
            (
                "negative acknowledgements",
                r.negative_acknowledgements.to_string(),
            ),
            (
                "out-of-order distance, greatest",
                format!("{} packets", o.max),
            ),
            (
                "paths used, packets per path",
                format!("{}, {least} to {most}", used.count()),
            ),
            (
                "frames lost in the fabric",
                self.fabric.dropped.total().to_string(),
            ),
        ]
    }
}
