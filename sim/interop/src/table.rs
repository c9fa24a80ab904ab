//! The table of cases.

use tabled::builder::Builder;
use tabled::settings::Style;

use crate::run::Row;

/// The rows as text.
pub fn text(rows: &[Row]) -> String {
    let mut builder = Builder::default();
    builder.push_record([
        "case",
        "packets to card",
        "to peer",
        "retransmitted to card",
        "retransmitted to peer",
        "impaired",
        "wall time",
        "outcome",
    ]);
    for row in rows {
        builder.push_record([
            row.name.clone(),
            row.to_card.packets.to_string(),
            row.to_peer.packets.to_string(),
            row.to_card.retransmissions.to_string(),
            row.to_peer.retransmissions.to_string(),
            row.impaired.to_string(),
            format!("{:.1} s", row.wall.as_secs_f64()),
            outcome(row),
        ]);
    }
    builder.build().with(Style::markdown()).to_string()
}

/// The outcome of a case in one line.
pub fn outcome(row: &Row) -> String {
    match &row.outcome {
        Ok(()) => "passed".to_owned(),
        Err(error) => format!("FAILED: {error:#}"),
    }
}
