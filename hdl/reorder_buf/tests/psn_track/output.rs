//! The block's result for a token, reduced to the fields that have a meaning.

use stellar_wire::hw::ack::AckRequest;
use stellar_wire::hw::dma::PlaceCommand;
use stellar_wire::hw::pack::Record;
use stellar_wire::hw::receive::RxOutcome;

/// The compared values of one token.
#[derive(Debug, PartialEq, Default)]
pub struct Output {
    pub command: Option<Command>,
    /// Kind, reason and the fields that kind has.
    pub ack: Option<Vec<String>>,
    /// The rest of the outcome.
    pub outcome: Option<Vec<String>>,
}

#[derive(Debug, PartialEq)]
pub enum Command {
    Fence,
    Frame {
        lane: bool,
        reason: String,
        bytes: u64,
        span: Vec<u32>,
        /// Offset, length and segments, and whether it has to be flushed, if placed.
        place: Option<(u64, u64, Vec<u32>, bool)>,
    },
}

pub fn ack_fields(words: &[u32]) -> Vec<String> {
    let ack = Record::<AckRequest>::new(words);
    let kind = ack.variant("kind");
    let mut names = vec![
        "reason",
        "qp",
        "psn",
        "syndrome",
        "ecn_ce",
        "entropy",
        "has_timestamp",
    ];
    names.extend(match kind.as_str() {
        "AckKind::Sack" => &["cack_psn", "bitmap_base", "bitmap"][..],
        "AckKind::Nack" => &[],
        _ => &["msn"],
    });
    if ack.bool("has_timestamp") {
        names.push("timestamp");
    }
    let field = |name| format!("{name}={:#x}", ack.u64(name));
    std::iter::once(kind.clone())
        .chain(names.into_iter().map(field))
        .collect()
}

/// The fields of an outcome but for its acknowledgement.
pub fn outcome_fields(words: &[u32]) -> Vec<String> {
    let outcome = Record::<RxOutcome>::new(words);
    let mut names = vec!["qp", "port", "accepted", "epsn", "ack_valid", "probe"];
    if outcome.bool("probe") {
        names.push("probe_id");
    } else {
        names.extend([
            "mrc",
            "position",
            "psn",
            "ack_req",
            "has_immediate",
            "immediate",
            "msn",
            "rqmsn",
        ]);
        names.extend(["dma_length", "payload_length"]);
    }
    let field = |name| format!("{name}={:x?}", outcome.words(name));
    names.into_iter().map(field).collect()
}

pub fn command(words: &[u32], lane: bool, counted: bool, reason: String, bytes: u64) -> Command {
    let command = Record::<PlaceCommand>::new(words);
    assert_eq!(
        command.bool("fence"),
        !counted,
        "frames are counted, fences are not"
    );
    if !counted {
        return Command::Fence;
    }
    let place = command.bool("place").then(|| {
        (
            command.u64("offset"),
            command.u64("length"),
            command.words("segments"),
            command.bool("flush"),
        )
    });
    Command::Frame {
        lane,
        reason,
        bytes,
        span: command.words("span"),
        place,
    }
}
