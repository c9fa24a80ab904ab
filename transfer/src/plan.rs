//! From a transfer to the writes of each queue pair.

use std::ops::Range;
use std::sync::Arc;

use stellar_driver::RemoteRegion;

use crate::error::SubmitError;
use crate::ids::{EngineId, PeerId};
use crate::nic::Nic;
use crate::region::{LocalRegion, RegionDescriptor};
use crate::request::{LocalSlice, Pages, RemoteSlice, Sharding, Transfer, What};
use crate::shard;

/// Longest write in bytes: that of the InfiniBand architecture, and of the card.
const LONGEST: u64 = 1 << 31;

/// One write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Offset of the first byte in the source.
    pub source: u64,
    /// Offset of the first byte in the target.
    pub target: u64,
    pub length: u32,
}

/// Writes of a run.
pub enum Pieces {
    One(Piece),
    Pages {
        lists: Arc<[Pages; 2]>,
        /// Range of positions in the lists.
        places: Range<usize>,
        /// Length of each page in bytes.
        cut: Range<u64>,
    },
}

impl Pieces {
    /// Number of writes.
    pub fn count(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Pages { places, .. } => places.len(),
        }
    }

    /// The write number `index`.
    pub fn get(&self, index: usize) -> Piece {
        match self {
            Self::One(piece) => *piece,
            Self::Pages { lists, places, cut } => {
                let [source, target] = [&lists[0], &lists[1]].map(|pages| {
                    let page = pages.indices[places.start + index];
                    pages.offset + u64::from(page) * pages.stride + cut.start
                });
                let length = (cut.end - cut.start) as u32;
                Piece {
                    source,
                    target,
                    length,
                }
            }
        }
    }
}

/// The writes of a transfer to one peer over one NIC.
pub struct Run<N: Nic> {
    pub peer: PeerId,
    pub rail: usize,
    /// The source region; `None` if no write has bytes.
    pub source: Option<LocalRegion<N>>,
    pub to: RemoteRegion,
    pub immediate: Option<u32>,
    pub pieces: Pieces,
}

/// The engine's data that a plan needs.
pub struct Planner<'a> {
    pub engine: EngineId,
    pub rails: usize,
    /// Number of the transfer, so that NICs take turns.
    pub turn: usize,
    pub peer_of: &'a dyn Fn(EngineId) -> Result<PeerId, SubmitError>,
}

impl Planner<'_> {
    /// The writes of a transfer. All of them have been checked.
    pub fn plan<N: Nic>(&self, transfer: &Transfer<'_, N>) -> Result<Vec<Run<N>>, SubmitError> {
        if let Sharding::Rail(rail) = transfer.sharding {
            self.check_rail(rail, self.rails)?;
        }
        let runs = match &transfer.what {
            What::Writes(writes) => {
                let mut runs = Vec::new();
                for (index, (source, target)) in writes.iter().enumerate() {
                    let shares = self.shares(transfer.sharding, index, source.length);
                    for (rail, cut) in shares {
                        runs.push(self.write(transfer, (source, target), rail, cut)?);
                    }
                }
                runs
            }
            What::Pages { .. } => self.pages(transfer)?,
        };
        let has_work = |run: &Run<N>| {
            run.pieces.count() > 0 && (run.immediate.is_some() || run.pieces.get(0).length > 0)
        };
        let runs: Vec<_> = runs.into_iter().filter(has_work).collect();
        if runs.is_empty() {
            return Err(SubmitError::Nothing);
        }
        Ok(runs)
    }

    fn check_rail(&self, rail: usize, have: usize) -> Result<(), SubmitError> {
        if rail < have {
            Ok(())
        } else {
            Err(SubmitError::Rail { rail, have })
        }
    }

    /// The NICs of write number `index` of a transfer, and the bytes that each writes.
    fn shares(&self, sharding: Sharding, index: usize, length: u64) -> Vec<(usize, Range<u64>)> {
        match sharding {
            Sharding::Whole => vec![((self.turn + index) % self.rails, 0..length)],
            Sharding::Rail(rail) => vec![(rail, 0..length)],
            Sharding::Bytes => (0..self.rails)
                .map(|rail| (rail, shard::bytes(length, self.rails, rail)))
                .collect(),
        }
    }

    fn check_source<N: Nic>(
        &self,
        region: &LocalRegion<N>,
        begin: u64,
        end: Option<u64>,
    ) -> Result<(), SubmitError> {
        if region.descriptor().owner() != self.engine {
            return Err(SubmitError::OtherEngine(region.descriptor().owner()));
        }
        check_bounds("source", begin, end, region.length())
    }

    /// Peer and key of a target, after a check that it contains the bytes.
    fn target(
        &self,
        region: &RegionDescriptor,
        rail: usize,
        begin: u64,
        end: Option<u64>,
    ) -> Result<(PeerId, RemoteRegion), SubmitError> {
        self.check_rail(rail, region.parts.len())?;
        check_bounds("target", begin, end, region.length())?;
        Ok(((self.peer_of)(region.owner())?, region.parts[rail]))
    }

    fn write<N: Nic>(
        &self,
        transfer: &Transfer<'_, N>,
        (source, target): (&LocalSlice<'_, N>, &RemoteSlice<'_>),
        rail: usize,
        cut: Range<u64>,
    ) -> Result<Run<N>, SubmitError> {
        let end = |offset: u64| offset.checked_add(source.length);
        self.check_source(source.region, source.offset, end(source.offset))?;
        let (peer, to) = self.target(target.region, rail, target.offset, end(target.offset))?;
        let piece = Piece {
            source: source.offset + cut.start,
            target: target.offset + cut.start,
            length: check_length(cut.end - cut.start)?,
        };
        Ok(Run {
            peer,
            rail,
            source: Some(source.region.clone()),
            to,
            immediate: transfer.immediate,
            pieces: Pieces::One(piece),
        })
    }

    fn pages<N: Nic>(&self, transfer: &Transfer<'_, N>) -> Result<Vec<Run<N>>, SubmitError> {
        let What::Pages {
            source,
            source_pages,
            target,
            target_pages,
            bytes,
        } = &transfer.what
        else {
            return Ok(Vec::new());
        };
        check_pages(source_pages, target_pages, *bytes)?;
        let count = source_pages.indices.len();
        let end = |pages: &Pages| {
            let last = pages.indices.iter().copied().max().unwrap_or(0);
            let begin = u64::from(last).checked_mul(pages.stride)?;
            begin
                .checked_add(pages.offset)?
                .checked_add((*bytes).into())
        };
        self.check_source(source, source_pages.offset, end(source_pages))?;
        let lists = Arc::new([source_pages.clone(), target_pages.clone()]);
        let shares = self.shares(transfer.sharding, 0, (*bytes).into());
        let shares: Vec<_> = match transfer.sharding {
            Sharding::Whole => (0..self.rails)
                .map(|rail| {
                    (
                        rail,
                        shard::items(count, self.rails, rail),
                        0..(*bytes).into(),
                    )
                })
                .collect(),
            Sharding::Bytes | Sharding::Rail(_) => shares
                .into_iter()
                .map(|(rail, cut)| (rail, 0..count, cut))
                .collect(),
        };
        let run = |(rail, places, cut)| {
            let end = end(target_pages);
            let (peer, to) = self.target(target, rail, target_pages.offset, end)?;
            let lists = Arc::clone(&lists);
            Ok(Run {
                peer,
                rail,
                source: Some((*source).clone()),
                to,
                immediate: transfer.immediate,
                pieces: Pieces::Pages { lists, places, cut },
            })
        };
        shares.into_iter().map(run).collect()
    }
}

/// Checks that the bytes up to `end` lie inside. `end` is `None` if the offset does not fit a number.
fn check_bounds(
    side: &'static str,
    begin: u64,
    end: Option<u64>,
    have: u64,
) -> Result<(), SubmitError> {
    match end {
        Some(end) if end <= have => Ok(()),
        _ => Err(SubmitError::Bounds {
            side,
            begin,
            end: end.unwrap_or(u64::MAX),
            have,
        }),
    }
}

fn check_length(length: u64) -> Result<u32, SubmitError> {
    let most = LONGEST;
    if length > most {
        return Err(SubmitError::TooLong { length, most });
    }
    Ok(length as u32)
}

fn check_pages(source: &Pages, target: &Pages, bytes: u32) -> Result<(), SubmitError> {
    let (source_pages, target_pages) = (source.indices.len(), target.indices.len());
    if source_pages != target_pages {
        return Err(SubmitError::PageCounts {
            source_pages,
            target_pages,
        });
    }
    check_length(bytes.into())?;
    let wrong = |problem: String| SubmitError::Pages {
        bytes,
        stride: target.stride,
        problem,
    };
    if bytes == 0 {
        return Err(wrong("a page has at least one byte".to_owned()));
    }
    if target_pages > 1 && target.stride < u64::from(bytes) {
        return Err(wrong("they would overlap".to_owned()));
    }
    let mut indices = target.indices.clone();
    indices.sort_unstable();
    match indices.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(wrong(format!("page {} is written twice", pair[0]))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_has_at_most_two_gibibytes() {
        assert_eq!(check_length(LONGEST).unwrap(), 1 << 31);
        let error = check_length(LONGEST + 1).unwrap_err().to_string();
        assert!(error.contains("2147483649") && error.contains("Sharding::Bytes"));
    }
}
