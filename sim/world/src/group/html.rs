//! The report of a group as one page.

use std::fmt::Write as _;

use super::GroupReport;
use crate::report::{escape, line, lines, page, Labels, Line, TIME};
use crate::WorldError;

/// Most flows of a tenant whose windows are drawn.
const MOST_LINES: usize = 16;

impl GroupReport {
    /// The report as an HTML page with its plots inside.
    ///
    /// # Errors
    /// [`WorldError::Plot`].
    pub fn html(&self) -> Result<String, WorldError> {
        let mut body = String::from("<table>\n<tr><th>host</th><th>NIC</th></tr>\n");
        for (host, kind) in &self.nics {
            let _ = writeln!(body, "<tr><td>{}</td><td>{kind}</td></tr>", escape(host));
        }
        body += "</table>\n";
        for (tenant, windows) in self.tenants.iter().zip(&self.series.windows) {
            let _ = writeln!(
                body,
                "<h2>{}: {}</h2>\n<p>{:.1} us, {:.1} Gb/s, fairness {}.</p>\n<table>",
                escape(&tenant.name),
                tenant.pattern,
                tenant.duration_ns as f64 / 1e3,
                tenant.goodput_gbps,
                tenant
                    .fairness
                    .map_or("-".into(), |index| format!("{index:.4}")),
            );
            body += "<tr><th>flow</th><th>bytes</th><th>time, us</th><th>Gb/s</th></tr>\n";
            for flow in &tenant.flows {
                let _ = writeln!(
                    body,
                    "<tr><td>{} to {}</td><td>{}</td><td>{:.1}</td><td>{:.1}</td></tr>",
                    escape(&flow.from),
                    escape(&flow.to),
                    flow.bytes,
                    flow.fct_ns as f64 / 1e3,
                    flow.goodput_gbps
                );
            }
            body += "</table>\n";
            let named = tenant.flows.iter().zip(windows).take(MOST_LINES);
            let drawn: Vec<Line> = named
                .map(|(flow, windows)| line(&format!("{} to {}", flow.from, flow.to), windows))
                .collect();
            let labels = Labels {
                title: "Windows",
                x: TIME,
                y: "bytes",
            };
            body += &lines(labels, &self.series.time_ns, &drawn)?;
        }
        let queues = self.series.queues.iter();
        let queues: Vec<Line> = queues
            .map(|queue| line(&queue.channel, &queue.bytes))
            .collect();
        let labels = Labels {
            title: "Deepest queues",
            x: TIME,
            y: "bytes waiting",
        };
        body += &lines(labels, &self.series.queue_time_ns, &queues)?;
        let title = format!("{} hosts", self.nics.len());
        Ok(page(&title, self.seed, &body))
    }
}
