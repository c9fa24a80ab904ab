//! Which card is meant: that of a board, or one that a file describes.

use hdl_host_if::table_rows::features;
use hdl_nic::table_bits::{emtt_bits, MR_BITS};
use hdl_nic::{Board, Shape, UnknownBoard, UnknownShape};
use serde::Deserialize;
use stellar_wire::host::registers::Immediates;
use thiserror::Error;

/// A card that can be built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Profile {
    /// The board it is for, if one was named.
    pub board: Option<Board>,
    /// Its shape.
    pub shape: Shape,
}

/// Why a file describes no card that can be built.
#[derive(Debug, Error)]
pub enum ProfileError {
    /// The text is not a description.
    #[error("{file}: {reason}")]
    Text {
        /// The file.
        file: String,
        /// What is wrong in it.
        reason: String,
    },
    /// It names an unknown board.
    #[error("{file}: {error}")]
    Board {
        /// The file.
        file: String,
        /// The boards that there are.
        error: UnknownBoard,
    },
    /// It names an unknown shape.
    #[error("{file}: {error}")]
    Shape {
        /// The file.
        file: String,
        /// The shapes that there are.
        error: UnknownShape,
    },
    /// It asks for something that a card of its shape does not have.
    #[error("{file}: {key} = {given}; a card of {ports} port(s) and {width} bits has {allowed}")]
    Value {
        /// The file.
        file: String,
        /// The setting.
        key: &'static str,
        /// What it says.
        given: String,
        /// What it may say.
        allowed: String,
        /// The shape.
        ports: usize,
        /// Bits of a beat.
        width: usize,
    },
}

/// The file. What it does not say follows from the board, and without one from the shape.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Description {
    board: Option<String>,
    ports: Option<usize>,
    width: Option<usize>,
    queue_pairs: Option<u64>,
    regions: Option<u64>,
    translations: Option<u64>,
    send_window: Option<u64>,
    receive_window: Option<u64>,
    immediates: Option<u64>,
    stash: Option<u64>,
    mac: Option<String>,
    pcie: Option<String>,
}

impl Profile {
    /// The card of a board.
    pub const fn of(board: Board) -> Self {
        Self {
            board: Some(board),
            shape: board.shape(),
        }
    }

    /// The name of its design ([`crate::ALL`]).
    pub const fn design(self) -> &'static str {
        self.shape.design()
    }

    /// The card that a file (TOML) describes. `file` is its name, for errors.
    ///
    /// A file names a board, or ports and width, or both, and the number of queue pairs if it is not 1,024. The sizes of other tables, windows and the blocks of MAC and PCIe
    /// follow from these; a file may state them, and one that states others is refused.
    ///
    /// # Errors
    /// [`ProfileError`], which says what is allowed.
    pub fn from_toml(file: &str, text: &str) -> Result<Self, ProfileError> {
        let wrong = |reason: String| ProfileError::Text {
            file: file.into(),
            reason,
        };
        let told: Description = toml::from_str(text).map_err(|error| wrong(error.to_string()))?;
        let board = told.board.as_deref().map(str::parse::<Board>);
        let board = board.transpose().map_err(|error| ProfileError::Board {
            file: file.into(),
            error,
        })?;
        let default = board.map(Board::shape);
        let (ports, width) = match (told.ports, told.width, default) {
            (Some(ports), Some(width), _) => (ports, width),
            (ports, width, Some(shape)) => (
                ports.unwrap_or(shape.ports()),
                width.unwrap_or(shape.width()),
            ),
            _ => return Err(wrong("name a board, or ports and width".into())),
        };
        let shape = Shape::new(ports, width).map_err(|error| ProfileError::Shape {
            file: file.into(),
            error,
        })?;
        let card = Self { board, shape };
        let sized = match told.queue_pairs {
            Some(count) => card.with_queue_pairs(file, count)?,
            None => card,
        };
        card.check(file, &told, sized.shape.queue_pair_bits())?;
        Ok(sized)
    }

    /// The card with this many queue pairs.
    fn with_queue_pairs(self, file: &str, queue_pairs: u64) -> Result<Self, ProfileError> {
        let counts = self
            .shape
            .queue_pair_counts()
            .map(|count| count.to_string());
        let refusal = || ProfileError::Value {
            file: file.into(),
            key: "queue_pairs",
            given: queue_pairs.to_string(),
            allowed: counts.collect::<Vec<_>>().join(" or "),
            ports: self.shape.ports(),
            width: self.shape.width(),
        };
        let shape = self.shape.with_queue_pairs(queue_pairs);
        let shape = shape.ok_or_else(refusal)?;
        Ok(Self { shape, ..self })
    }

    /// Checks what the file states beside the shape, of a card with 2^`queue_pair_bits` queue pairs.
    fn check(
        self,
        file: &str,
        told: &Description,
        queue_pair_bits: usize,
    ) -> Result<(), ProfileError> {
        let (ports, width) = (self.shape.ports(), self.shape.width());
        let refuse = |key, given: String, allowed: String| ProfileError::Value {
            file: file.into(),
            key,
            given,
            allowed,
            ports,
            width,
        };
        if self.board.is_some_and(|board| board.shape() != self.shape) {
            let given = format!("{:?}", told.board.as_deref().unwrap_or_default());
            let names = self.boards().map(|board| board.facts().name);
            return Err(refuse("board", given, one_of(names)));
        }
        let features = features(queue_pair_bits, MR_BITS, emtt_bits(queue_pair_bits), ports);
        let further = Immediates::of(queue_pair_bits);
        let sizes = [
            ("regions", told.regions, features.log2_regions),
            (
                "translations",
                told.translations,
                features.log2_translations,
            ),
            ("send_window", told.send_window, features.log2_send_window),
            (
                "receive_window",
                told.receive_window,
                features.log2_receive_window,
            ),
            ("immediates", told.immediates, further.log2_most),
            ("stash", told.stash, further.log2_stash),
        ];
        for (key, given, log2) in sizes {
            let built = 1u64 << log2;
            if let Some(given) = given.filter(|&given| given != built) {
                return Err(refuse(key, given.to_string(), built.to_string()));
            }
        }
        let macs = self.boards().map(|board| board.facts().mac.name());
        let blocks = self.boards().map(|board| board.facts().pcie.name());
        check_name("mac", told.mac.as_deref(), macs, refuse)?;
        check_name("pcie", told.pcie.as_deref(), blocks, refuse)
    }

    /// The boards that it may be for.
    fn boards(self) -> impl Iterator<Item = Board> {
        let fits = move |board: &Board| {
            board.shape() == self.shape
                && self
                    .board
                    .is_none_or(|named| named == *board || named.shape() != self.shape)
        };
        Board::ALL.into_iter().filter(fits)
    }
}

/// Names, each once.
fn one_of(names: impl Iterator<Item = &'static str>) -> String {
    let mut names: Vec<&str> = names.collect();
    names.dedup();
    names.join(" or ")
}

/// Checks a name that a file states.
fn check_name(
    key: &'static str,
    given: Option<&str>,
    allowed: impl Iterator<Item = &'static str>,
    refuse: impl FnOnce(&'static str, String, String) -> ProfileError,
) -> Result<(), ProfileError> {
    let allowed: Vec<&str> = allowed.collect();
    match given {
        Some(given) if !allowed.contains(&given) => {
            let names = one_of(allowed.into_iter());
            Err(refuse(key, format!("{given:?}"), names))
        }
        _ => Ok(()),
    }
}
