//! What the simulation stores about a queue pair beside the card: its configuration, loads of its paths and outstanding work.

use std::sync::Arc;

use sim_world::HostMemory;
use stellar_transport::endpoint::{Memory as _, QpConfig, TransportConfig};
use stellar_transport::spray::{EntropyProfile, EvIndex};
use stellar_wire::host::{Doorbell, Wqe};
use stellar_wire::rows::{ConfigSelect, RingRow, EXPLICIT_BITS, PROFILE_BITS, VECTOR_BITS};
use stellar_wire::RoceFrame;

use crate::bar::Bar;

/// Entropy value indices: active ones and backups.
const PATHS: usize = EvIndex::ACTIVE + EvIndex::BACKUPS;

/// A queue pair.
pub(super) struct Pair {
    pub(super) config: QpConfig,
    /// Producer index of the last doorbell.
    pub(super) producer: u16,
    /// Data packets sent, by path.
    pub(super) path_loads: Vec<u64>,
}

impl Pair {
    /// A queue pair that has not sent anything.
    pub(super) fn new(config: QpConfig) -> Self {
        let paths = config.transport.spray().map_or(1, |_| PATHS);
        Self {
            config,
            producer: 0,
            path_loads: vec![0; paths],
        }
    }

    /// The only new entry of its send queue, if `doorbell` announces one to its page. Software then pushes it.
    pub(super) fn single_entry(
        &self,
        page: u32,
        doorbell: Doorbell,
        memory: &mut HostMemory,
    ) -> Option<[u8; Wqe::LEN]> {
        let ring = self.config.sq?;
        if self.config.page != page || doorbell.producer != self.producer.wrapping_add(1) {
            return None;
        }
        let mut entry = [0; Wqe::LEN];
        let address = ring.address_of(self.producer);
        memory.read(address, false, &mut entry).ok()?;
        Some(entry)
    }

    /// Counts a packet that it has sent, if it is a data packet.
    pub(super) fn count_sent(&mut self, frame: &RoceFrame) {
        if !frame.bth.opcode.is_write() {
            return;
        }
        let path = match self.config.transport.spray() {
            Some(paths) => {
                let entropy = stellar_wire::mrc::Entropy::of(&frame.ip, &frame.udp);
                let index = paths.profile.index_of(entropy, paths.rotation);
                index.map(|index| usize::from(index.value()))
            }
            // It has one.
            None => Some(0),
        };
        if let Some(path) = path {
            self.path_loads[path] += 1;
        }
    }
}

/// Entropy profiles that were written to the card, by number.
#[derive(Default)]
pub(super) struct Profiles(Vec<Arc<EntropyProfile>>);

impl Profiles {
    /// Returns the number of a profile, and writes it if the card does not have it. The first that are written may be explicit.
    ///
    /// # Panics
    /// If the card has no place for the profile.
    fn number(&mut self, profile: &Arc<EntropyProfile>, bar: &mut Bar) -> u8 {
        if let Some(number) = self.0.iter().position(|each| each == profile) {
            return number as u8;
        }
        let number = self.0.len() as u8;
        let rows = profile.rows().expect("values for which there is a key");
        let places = if rows.explicit.is_empty() {
            1 << PROFILE_BITS
        } else {
            1 << EXPLICIT_BITS
        };
        assert!(
            number < places,
            "{places} entropy profiles of a card at most"
        );
        for (index, row) in rows.values_of(number) {
            bar.write_table(ConfigSelect::Explicit, index, row);
        }
        bar.write_table(ConfigSelect::Profile, number.into(), &rows.profile);
        self.0.push(Arc::clone(profile));
        number
    }
}

/// Writes the rows of a queue pair to the tables of a card of this many ports. `completions` is its completion queue, `stash` the first of its entries of the stash.
pub(super) fn write_rows(
    config: &QpConfig,
    completions: &RingRow,
    stash: u32,
    ports: usize,
    profiles: &mut Profiles,
    bar: &mut Bar,
) {
    let qp = config.number;
    bar.write_table(ConfigSelect::CompletionQueue, qp, completions);
    bar.write_table(ConfigSelect::Responder, qp, &config.responder_row(stash));
    let vector = qp % (1 << VECTOR_BITS);
    bar.write_table(ConfigSelect::Address0, vector, &config.address_row(0));
    if ports > 1 {
        bar.write_table(ConfigSelect::Address1, vector, &config.address_row(1));
    }
    bar.write_table(ConfigSelect::Peer, qp, &config.peer_row(vector as u16));
    bar.write_table(ConfigSelect::Requester, qp, &config.requester_row());
    if let Some(ring) = config.sq {
        bar.write_table(ConfigSelect::SendQueue, qp, &config.send_queue_row(ring));
    }
    if let Some(paths) = config.transport.spray() {
        let profile = profiles.number(&paths.profile, bar);
        bar.write_table(ConfigSelect::Spray, qp, &paths.row(profile));
    }
    if let TransportConfig::Mrc(mrc) = &config.transport {
        bar.write_table(ConfigSelect::Nscc, qp, mrc.nscc.registers());
    }
    bar.write_table(ConfigSelect::Qp, qp, &config.context_row());
}
