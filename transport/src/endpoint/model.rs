//! What a model of a card checks, copies and counts, beyond the card that it models.

use stellar_wire::rows::QPN_BITS;

use super::ConfigError;
use crate::requester::WindowPool;
use crate::rx::Tables;

/// What happens to the payload of packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PayloadPolicy {
    /// Keys, bounds and pages are checked. Frames carry the bytes of the sender's memory, and those that arrive are written to the receiver's.
    #[default]
    Bytes,
    /// Keys, bounds and pages are checked, but no payload is read or written: frames carry zeros.
    Checked,
    /// There are no memory regions: every key and address is good, and no payload is read or written.
    Unchecked,
}

/// Size and detail of a model. The default is the hardware's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CardModel {
    pub payload: PayloadPolicy,
    /// Data packets of an MRC queue pair, and what they suffer, are counted by path: 3.4 KB for each.
    pub path_loads: bool,
    /// Queue pairs have numbers from 2 up to below this one. It must fit 24 bits.
    pub queue_pairs: u32,
    /// Blocks of 32 packets in the pool of each of the two requester engines, 1 or more.
    pub window_blocks: u32,
}

impl Default for CardModel {
    fn default() -> Self {
        Self {
            payload: PayloadPolicy::default(),
            path_loads: true,
            queue_pairs: Tables::QPS,
            window_blocks: WindowPool::BLOCKS,
        }
    }
}

impl CardModel {
    /// Bits of a queue pair number.
    const QP_BITS: u32 = 24;

    /// log2 of the queue pairs, rounded up, for what depends on them in hardware. A model with more than any card has is like the smallest card in this.
    pub(super) const fn queue_pair_bits(&self) -> usize {
        let bits = self.queue_pairs.next_power_of_two().ilog2() as usize;
        if bits <= QPN_BITS {
            bits
        } else {
            0
        }
    }

    /// Empty tables of this size.
    ///
    /// # Errors
    /// [`ConfigError::Width`] if there are more queue pairs than numbers.
    pub(super) fn tables(&self) -> Result<Tables, ConfigError> {
        if self.queue_pairs >> Self::QP_BITS != 0 {
            return Err(ConfigError::Width {
                field: "queue_pairs",
                value: self.queue_pairs,
                width: Self::QP_BITS,
            });
        }
        let checks_access = self.payload != PayloadPolicy::Unchecked;
        Ok(Tables::new(self.queue_pairs, checks_access))
    }
}
