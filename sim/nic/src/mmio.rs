//! Memory-mapped I/O: the host's accesses to BARs, as TLPs at the pins of the card's completer (AMD PG346, PG213).

use sim_bfm::Beat;
use stellar_wire::host::config_space::aer::HeaderLog;
use stellar_wire::host::config_space::{Bar, PAGE_BYTES};
use stellar_wire::pcie::descriptor::{CompleterCompletion, CompleterRequest, RequestType};
use stellar_wire::pcie::{AddressType, Attributes, CompletionStatus, DwSpan, MemOp, MemRequest};
use stellar_wire::Header;

use crate::model::{CqBeat, NicInputs, NicOutputs};

/// Bus address of BAR0. The others follow at multiples of [`STRIDE`].
const BASE: u64 = 0x38_0000_0000;
/// The largest BAR, doorbell pages.
const STRIDE: u64 = Bar::Doorbells.length();
/// Bus, device and function of the requester: the root complex.
const ROOT: u16 = 0;
/// Byte enables of a double word.
const DWORD_ENABLES: u8 = 0xf;

/// An access to some bytes of an aligned 64-bit word of a BAR, in one TLP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MmioAccess {
    pub bar: Bar,
    /// Offset of the word, a multiple of 8.
    pub offset: u64,
    /// Bit i: byte i of the word. At least one.
    pub enable: u8,
    /// The word that is written; `None` reads.
    pub data: Option<u64>,
}

impl MmioAccess {
    /// A write of all 64 bits of a word.
    pub const fn write(bar: Bar, offset: u64, word: u64) -> Self {
        Self {
            bar,
            offset,
            enable: u8::MAX,
            data: Some(word),
        }
    }

    /// A write of all 64 bits of a register.
    pub const fn register(offset: u16, word: u64) -> Self {
        Self::write(Bar::Registers, offset as u64, word)
    }

    /// A write of 64 bits to a doorbell page.
    pub const fn doorbell(page: u16, offset: u16, word: u64) -> Self {
        let offset = page as u64 * PAGE_BYTES + offset as u64;
        Self::write(Bar::Doorbells, offset, word)
    }

    /// A read of all 64 bits of a register.
    pub const fn read(offset: u16) -> Self {
        Self {
            data: None,
            ..Self::register(offset, 0)
        }
    }

    /// Offset and word, if this writes the first byte of a register.
    pub fn register_write(&self) -> Option<(u16, u64)> {
        let writes = self.bar == Bar::Registers && self.enable & 1 != 0;
        self.data
            .filter(|_| writes)
            .map(|word| (self.offset as u16, word))
    }

    /// Offset in its page, if this writes a doorbell page.
    pub fn page_write(&self) -> Option<u16> {
        let writes = self.bar == Bar::Doorbells && self.data.is_some();
        writes.then_some((self.offset % PAGE_BYTES) as u16)
    }

    /// Byte enables of the first double word of the TLP and of the second; the latter are 0 if it has one.
    const fn enables(&self) -> (u8, u8) {
        match (self.enable & DWORD_ENABLES, self.enable >> 4) {
            (0, high) => (high, 0),
            both => both,
        }
    }

    /// Whether the TLP begins with the high half of the word.
    const fn begins_high(&self) -> bool {
        self.enable & DWORD_ENABLES == 0
    }

    fn descriptor(&self, tag: u8) -> CompleterRequest {
        let address = BASE + u64::from(self.bar.index()) * STRIDE + self.offset;
        let request_type = match self.data {
            Some(_) => RequestType::MemWrite,
            None => RequestType::MemRead,
        };
        CompleterRequest {
            address_type: AddressType::Untranslated,
            address: address + 4 * u64::from(self.begins_high()),
            dword_count: if self.enables().1 == 0 { 1 } else { 2 },
            request_type,
            requester: ROOT,
            tag,
            target_function: 0,
            bar_id: self.bar.index(),
            bar_aperture: self.bar.length().ilog2() as u8,
            traffic_class: 0,
            attributes: Attributes::from_bits(0),
        }
    }

    /// The header of its TLP, as the header log of AER has it.
    pub fn header_log(&self, tag: u8) -> HeaderLog {
        let descriptor = self.descriptor(tag);
        let (first_be, last_be) = self.enables();
        let span = DwSpan {
            address: descriptor.address,
            length_dw: descriptor.dword_count,
            first_be,
            last_be,
        };
        let op = match self.data {
            Some(_) => MemOp::Write,
            None => MemOp::Read,
        };
        HeaderLog::of_request(&MemRequest {
            tag: tag.into(),
            ..MemRequest::new(op, span, descriptor.address_type, descriptor.requester)
        })
    }

    fn beat(&self, tag: u8) -> CqBeat {
        assert!(self.enable != 0, "an access to no byte: {self:?}");
        let descriptor = self.descriptor(tag);
        let mut bytes = descriptor.to_bytes();
        if let Some(word) = self.data {
            let shift = 32 * u32::from(self.begins_high());
            let payload = (word >> shift).to_le_bytes();
            bytes.extend(&payload[..4 * usize::from(descriptor.dword_count)]);
        }
        let (first_be, last_be) = self.enables();
        CqBeat {
            beat: Beat::new(&bytes, true),
            first_be,
            last_be,
        }
    }

    /// The word that `completion` brings, its bytes at their places. `None` if the request is not supported.
    ///
    /// # Panics
    /// If it does not complete this read.
    fn word(&self, tag: u8, completion: &[u8]) -> Option<u64> {
        let parsed = CompleterCompletion::parse(completion);
        let (got, payload) = parsed.unwrap_or_else(|error| panic!("the card completes: {error}"));
        let request = self.descriptor(tag);
        assert_eq!(
            (got.requester, got.tag),
            (ROOT, tag),
            "completion of {self:?}"
        );
        if got.status == CompletionStatus::UnsupportedRequest {
            return None;
        }
        let bytes = (self.enable.leading_zeros() + self.enable.trailing_zeros()) as u16;
        let first_byte = request.address & !7 | u64::from(self.enable.trailing_zeros());
        let expected = CompleterCompletion {
            lower_address: (first_byte & 0x7f) as u8,
            byte_count: 8 - bytes,
            dword_count: request.dword_count,
            status: CompletionStatus::Successful,
            ..got
        };
        assert_eq!(got, expected, "completion of {self:?}");
        assert_eq!(payload.len(), 4 * usize::from(got.dword_count), "{self:?}");
        let mut word = [0; 8];
        let at = 4 * usize::from(self.begins_high());
        word[at..at + payload.len()].copy_from_slice(payload);
        Some(u64::from_le_bytes(word))
    }
}

/// State of an access after a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Nothing has moved.
    Waits,
    /// The card has accepted the access. The word of a read follows.
    Taken,
    /// The word of the read that was accepted last.
    Answer(u64),
    /// There is nothing that the read which was accepted last could read. The header is that of the request.
    Unsupported(HeaderLog),
}

/// The completer's pins. While a read is outstanding, nothing else is offered.
#[derive(Default)]
pub struct Mmio {
    read: Option<MmioAccess>,
    /// Tag of that read, or of the next one.
    tag: u8,
}

impl Mmio {
    /// Offers an access in this cycle.
    ///
    /// # Panics
    /// If a read is outstanding, or the access enables no byte.
    pub fn drive(&self, access: Option<&MmioAccess>, inputs: &mut NicInputs) {
        // Mostly there is none, and a beat is large to be moved.
        if let Some(access) = access {
            assert!(self.read.is_none(), "{access:?} beside a read");
            inputs.cq = Some(access.beat(self.tag));
        }
    }

    /// What became of the access, and of the outstanding read, in this cycle.
    ///
    /// # Panics
    /// If the card breaks a rule of PCIe.
    pub fn look(&mut self, access: Option<&MmioAccess>, outputs: &NicOutputs) -> Progress {
        if let Some(beat) = &outputs.cc {
            assert!(beat.last, "a completion of one word has one beat");
            let read = self.read.take().expect("no read is outstanding");
            let mut completion = Vec::new();
            beat.append_to(beat.bytes, &mut completion);
            let unsupported = Progress::Unsupported(read.header_log(self.tag));
            let word = read.word(self.tag, &completion);
            self.tag = self.tag.wrapping_add(1);
            return word.map_or(unsupported, Progress::Answer);
        }
        match access {
            Some(access) if outputs.cq_taken => {
                if access.data.is_none() {
                    self.read = Some(*access);
                }
                Progress::Taken
            }
            _ => Progress::Waits,
        }
    }

    /// Whether a read is outstanding.
    pub const fn is_reading(&self) -> bool {
        self.read.is_some()
    }

    /// The card was reset: nothing is outstanding.
    pub fn reset(&mut self) {
        self.read = None;
    }
}
