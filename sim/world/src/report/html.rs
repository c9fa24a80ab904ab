//! The report as one self-contained page.

use std::fmt::Write as _;

use super::plots::{bars, lines, Labels, Line};
use super::Report;
use crate::record::bin_name;
use crate::WorldError;

pub(crate) const TIME: &str = "time (us)";
/// How to read the table.
const GOOD: &str = "<p>A good run has a ratio near 1 (one message of 8 MiB loses about 0.04 to its first round trip), no failed completion, no more retransmissions than \
     frames that the fabric lost, no timeout, and packets spread evenly over the paths. Packets out of order are normal with more than one path.</p>";

pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

pub(crate) fn line<T: Copy + Into<f64>>(name: &str, values: &[T]) -> Line {
    Line {
        name: name.into(),
        values: values.iter().map(|&value| value.into()).collect(),
    }
}

/// A page with this title around its contents.
pub(crate) fn page(title: &str, seed: u64, body: &str) -> String {
    let title = escape(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>OpenStellar: {title}</title>\n\
         <style>body{{font-family:sans-serif;max-width:60em;margin:2em auto}}table{{border-collapse:collapse;margin:1em 0}}\
         th,td{{border:1px solid #ccc;padding:.3em .8em;text-align:left}}svg{{display:block;margin:1em 0}}</style></head>\n\
         <body><h1>{title}</h1>\n<p>Simulated; seed {seed}.</p>\n{body}</body></html>\n"
    )
}

impl Report {
    /// The report as an HTML page with its plots inside.
    ///
    /// # Errors
    /// [`WorldError::Plot`].
    pub fn html(&self) -> Result<String, WorldError> {
        let mut rows = String::new();
        for (name, value) in self.rows() {
            let _ = writeln!(
                rows,
                "<tr><th>{}</th><td>{}</td></tr>",
                escape(name),
                escape(&value)
            );
        }
        let mut bins = String::new();
        for (bin, count) in self.out_of_order.histogram.iter().enumerate() {
            let _ = writeln!(bins, "<tr><th>{}</th><td>{count}</td></tr>", bin_name(bin));
        }
        let mut plots = self.time_plots()?;
        plots.push(bars(
            Labels {
                title: "Data packets per path (left bar of each pair: plane 0)",
                x: "entropy value index",
                y: "packets",
            },
            &self.path_loads,
        )?);
        let body = format!(
            "<p>NICs: {}, no hardware; the fabric is simulated.</p>\n<table>\n{rows}</table>\n{GOOD}\n{}\n<h2>Order of arrival</h2>\n\
             <p>Data packets by distance below the highest PSN that had arrived (0: in order; a retransmission counts where it arrives).</p>\n\
             <table>\n<tr><th>distance</th><th>packets</th></tr>\n{bins}</table>\n",
            self.nics,
            plots.join("\n"),
        );
        let title = format!("{} to {}", self.hosts[0], self.hosts[1]);
        Ok(page(&title, self.seed, &body))
    }

    fn time_plots(&self) -> Result<Vec<String>, WorldError> {
        let series = &self.series;
        let time = &series.time_ns;
        let micro: Vec<f64> = series.rtt_ns.iter().map(|&ns| ns as f64 / 1e3).collect();
        let queues: Vec<Line> = series
            .queues
            .iter()
            .map(|queue| line(&queue.channel, &queue.bytes))
            .collect();
        let plot = |title, y, values: &[Line]| lines(Labels { title, x: TIME, y }, time, values);
        let mut plots = vec![plot(
            "Goodput",
            "Gb/s",
            &[line("goodput", &series.goodput_gbps)],
        )?];
        if self.shows_congestion() {
            plots.push(plot(
                "Window and bytes in flight of the first queue pair",
                "bytes",
                &[
                    line("window", &series.cwnd),
                    line("in flight", &series.in_flight),
                ],
            )?);
            plots.push(plot(
                "Round trip of the first queue pair",
                "us",
                &[line("RTT", &micro)],
            )?);
        }
        if queues
            .iter()
            .all(|queue| queue.values.iter().all(|&bytes| bytes == 0.0))
        {
            plots.push("<h3>Deepest queues</h3>\n<p>No queue of the fabric held a packet when one was looked at.</p>".into());
        } else {
            plots.push(plot("Deepest queues", "bytes waiting", &queues)?);
        }
        Ok(plots)
    }

    /// Whether the NIC has a congestion window and reports it. RC has none, and the card reports none of its own.
    fn shows_congestion(&self) -> bool {
        self.series.cwnd.iter().any(|&window| window > 0)
    }
}
