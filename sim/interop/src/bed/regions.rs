//! Expected contents of the memory regions of both ends, and their comparison.

use anyhow::ensure;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::{Bed, Writer, READ_ONLY, SOURCE, TARGET};
use crate::card_end;
use crate::memory::{Image, REGION};
use crate::message::Message;

/// Expected contents of one end's regions.
pub struct Images {
    source: Image,
    target: Image,
    read_only: Image,
}

fn images(random: &mut ChaCha8Rng, names: [&'static str; 3]) -> Images {
    let [source, target, read_only] = names.map(|name| Image::random(name, random));
    Images {
        source,
        target,
        read_only,
    }
}

/// Initial contents of the card's and of the peer's regions.
pub fn both_images(seed: u64) -> (Images, Images) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let card = [
        "the card's source",
        "the card's target",
        "the card's read-only region",
    ];
    let peer = [
        "the peer's source",
        "the peer's target",
        "the peer's read-only region",
    ];
    (images(&mut random, card), images(&mut random, peer))
}

impl Bed {
    /// Fills all regions with random bytes that depend on the seed and the case number.
    pub(super) fn fill_regions(&mut self, case: u64) -> anyhow::Result<()> {
        (self.card_images, self.peer_images) = both_images(self.seed ^ case << 32);
        let end = self.end();
        for (region, image) in [
            (&end.source, &self.card_images.source),
            (&end.target, &self.card_images.target),
            (&end.read_only, &self.card_images.read_only),
        ] {
            card_end::fill(region, image.bytes())?;
        }
        for (id, image) in [
            (SOURCE, &self.peer_images.source),
            (TARGET, &self.peer_images.target),
            (READ_ONLY, &self.peer_images.read_only),
        ] {
            let mut peer = self.peer.borrow_mut();
            peer.put(id, 0, image.bytes(), &|| self.clock())?;
        }
        Ok(())
    }

    /// The receiver's target and the sender's source.
    fn images_of(&mut self, writer: Writer) -> (&mut Image, &Image) {
        match writer {
            Writer::Peer => (&mut self.card_images.target, &self.peer_images.source),
            Writer::Card => (&mut self.peer_images.target, &self.card_images.source),
        }
    }

    /// Expects these messages in the receiver's target region.
    pub fn arrived(&mut self, writer: Writer, messages: &[Message]) {
        let (target, source) = self.images_of(writer);
        for message in messages {
            target.expect(message.to, source, message.from, message.length);
        }
    }

    /// Expects a part of this message there: any number of bytes from its first byte on.
    pub fn arrived_in_part(&mut self, writer: Writer, message: &Message) {
        let (target, source) = self.images_of(writer);
        target.expect_part(message.to, source, message.from, message.length);
    }

    /// Compares every byte of all regions at both ends, and checks that the card has accessed no other memory.
    pub fn check_memory(&self) -> anyhow::Result<()> {
        let end = self.end();
        for (region, image) in [
            (&end.source, &self.card_images.source),
            (&end.target, &self.card_images.target),
            (&end.read_only, &self.card_images.read_only),
        ] {
            image.compare(&card_end::bytes(region)?)?;
        }
        for (id, image) in [
            (SOURCE, &self.peer_images.source),
            (TARGET, &self.peer_images.target),
            (READ_ONLY, &self.peer_images.read_only),
        ] {
            let mut peer = self.peer.borrow_mut();
            image.compare(&peer.get(id, 0, REGION, &|| self.clock())?)?;
        }
        let bad_accesses = self.card.bad_accesses(0);
        ensure!(
            bad_accesses == 0,
            "the card has touched memory that is not mapped for it {bad_accesses} times"
        );
        Ok(())
    }
}
