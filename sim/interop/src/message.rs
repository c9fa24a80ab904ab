//! The messages of a case and their places in the regions.

/// A WRITE, with immediate or without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Work request ID.
    pub wr_id: u64,
    /// Length in bytes.
    pub length: u32,
    /// Offset in the sender's source region.
    pub from: u64,
    /// Offset in the receiver's target region.
    pub to: u64,
    /// Immediate data.
    pub immediate: Option<u32>,
}

/// Assigns places to messages, one behind the other in both regions, with a gap between them. All addresses are odd; source and target differ modulo 4
/// and modulo 64.
pub struct Layout {
    next_wr_id: u64,
    next_from: u64,
    next_to: u64,
}

impl Layout {
    /// An empty layout. The first message gets the work request ID `wr_id`.
    pub const fn new(wr_id: u64) -> Self {
        Self {
            next_wr_id: wr_id,
            next_from: 1,
            next_to: 67,
        }
    }

    /// Assigns a place to the next message.
    pub fn message(&mut self, length: u32, immediate: Option<u32>) -> Message {
        let message = Message {
            wr_id: self.next_wr_id,
            length,
            from: self.next_from,
            to: self.next_to,
            immediate,
        };
        self.next_wr_id += 1;
        // Even steps keep the addresses odd.
        let step = (u64::from(length) + 2) & !1;
        self.next_from += step + 6;
        self.next_to += step + 36;
        message
    }

    /// Adds one WRITE of each length.
    pub fn writes(&mut self, lengths: &[u32]) -> Vec<Message> {
        let lengths = lengths.iter();
        lengths.map(|&length| self.message(length, None)).collect()
    }

    /// Adds one WRITE with immediate of each length.
    pub fn writes_with_immediate(&mut self, lengths: &[u32]) -> Vec<Message> {
        let immediates = 0xabcd_0000..;
        let pairs = lengths.iter().zip(immediates);
        pairs
            .map(|(&length, immediate)| self.message(length, Some(immediate)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_lie_apart_at_odd_addresses() {
        let mut layout = Layout::new(5);
        let mut all = layout.writes(&[0, 1, 2, 3, 4096, 1]);
        all.extend(layout.writes_with_immediate(&[7, 0]));
        for (index, message) in all.iter().enumerate() {
            assert_eq!(message.wr_id, 5 + index as u64);
            assert_eq!((message.from % 2, message.to % 2), (1, 1));
        }
        for pair in all.windows(2) {
            let length = u64::from(pair[0].length);
            assert!(pair[0].from + length < pair[1].from);
            assert!(pair[0].to + length < pair[1].to);
        }
        assert_eq!(all[6].immediate, Some(0xabcd_0000));
        assert_eq!(all[5].immediate, None);
    }
}
