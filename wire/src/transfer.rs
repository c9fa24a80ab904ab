//! What two transfer engines keep in each other's memory, and what their message queue pair's immediates say.

use crate::code_enum::code_enum;
use crate::header::fit;
use crate::WireError;

code_enum! {
    /// The content of a slot.
    pub enum MessageKind {
        /// A message without an answer.
        Message = 0,
        /// A request; the tag names it in the response.
        Request = 1,
        /// The response to the request with this tag.
        Response = 2,
    }
}

/// Immediate data of a message: slot in bits 9:0, tag in bits 29:10, kind in bits 31:30. The message's length is the WRITE's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageImmediate {
    /// What it is.
    pub kind: MessageKind,
    /// Slot of the receiver that it was written to, 10 bits.
    pub slot: u16,
    /// Which request, 20 bits; 0 in a message.
    pub tag: u32,
}

impl MessageImmediate {
    /// Slots that can be named.
    pub const SLOTS: u16 = 1 << 10;
    /// Number of tags.
    pub const TAGS: u32 = 1 << 20;

    /// The 32 bits.
    ///
    /// # Panics
    /// If slot or tag does not fit.
    pub fn to_word(self) -> u32 {
        let slot = u32::from(fit("message.slot", self.slot, 10));
        let tag = fit("message.tag", self.tag, 20);
        slot | tag << 10 | u32::from(self.kind.code()) << 30
    }

    /// Decodes the 32 bits.
    ///
    /// # Errors
    /// [`WireError::BadField`] for an undefined kind.
    pub fn from_word(word: u32) -> Result<Self, WireError> {
        let kind = (word >> 30) as u8;
        Ok(Self {
            kind: MessageKind::from_code(kind).ok_or(WireError::BadField {
                field: "message.kind",
                value: kind.into(),
            })?,
            slot: (word & 0x3ff) as u16,
            tag: word >> 10 & 0xf_ffff,
        })
    }
}

/// The memory that an engine keeps for one peer and that the peer writes:
///
/// | bytes | |
/// |---|---|
/// | 8 c, for channel c | the number of writes on the channel that the peer has consumed so far: 64 bits, little-endian, never decreasing |
/// | 8 `channels` | nonzero if the peer has given up the link |
/// | from the next multiple of 64 on | `slots` slots of `slot_bytes` for messages |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlBlock {
    /// Queue pairs of the link.
    pub channels: u32,
    /// Slots for messages.
    pub slots: u16,
    /// Bytes of a slot.
    pub slot_bytes: u32,
}

impl ControlBlock {
    /// Bytes of a word.
    pub const WORD: u64 = 8;
    /// What the first slot is aligned to: a line of a processor's cache, which the words above shall not share.
    const LINE: u64 = 64;

    /// Returns the offset at which the peer writes how much of a channel it has consumed.
    pub const fn taken(&self, channel: u32) -> u64 {
        channel as u64 * Self::WORD
    }

    /// Returns the offset of the word by which the peer gives up the link.
    pub const fn down(&self) -> u64 {
        self.taken(self.channels)
    }

    /// Returns the offset of a slot.
    pub const fn slot(&self, slot: u16) -> u64 {
        let words = self.down() + Self::WORD;
        words.next_multiple_of(Self::LINE) + slot as u64 * self.slot_bytes as u64
    }

    /// Returns the length of the whole block in bytes.
    pub const fn bytes(&self) -> u64 {
        self.slot(self.slots)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_immediate_names_kind_slot_and_tag() {
        for &kind in MessageKind::ALL {
            let message = MessageImmediate {
                kind,
                slot: 0x2aa,
                tag: 0xf_0f0f,
            };
            let word = message.to_word();
            assert_eq!(word & 0x3fff_ffff, 0x3c3c_3eaa);
            assert_eq!(MessageImmediate::from_word(word), Ok(message));
        }
        let undefined = MessageImmediate::from_word(3 << 30);
        assert!(matches!(undefined, Err(WireError::BadField { .. })));
    }

    #[test]
    #[should_panic(expected = "message.tag")]
    fn a_tag_too_large_is_not_cut() {
        let kind = MessageKind::Request;
        let tag = MessageImmediate::TAGS;
        let _ = MessageImmediate { kind, slot: 0, tag }.to_word();
    }

    #[test]
    fn words_and_slots_do_not_touch() {
        for channels in 1..20 {
            let block = ControlBlock {
                channels,
                slots: 3,
                slot_bytes: 100,
            };
            assert_eq!(block.taken(channels), block.down());
            assert!(block.slot(0) >= block.down() + 8 && block.slot(0).is_multiple_of(64));
            assert_eq!(block.slot(2), block.slot(1) + 100);
            assert_eq!(block.bytes(), block.slot(2) + 100);
        }
    }
}
