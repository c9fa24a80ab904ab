//! Registers of the physical function, in BAR0: the one definition for hardware, driver and documentation.
//!
//! All registers have 64 bits and lie at multiples of 8; BAR0 is 64 KiB. An address without a register reads as all ones, and the access is counted by
//! [`UNMAPPED`]. Reserved bits read as zero and are ignored on writing.
//!
//! Writes to part of a register: an [`Access::ReadWrite`] register stores the bytes that are enabled, so it may be written in two halves. A write to
//! an [`Access::Command`] register has an effect, so it must be one store of 64 bits. A shorter write does nothing and is counted by [`REFUSED`].

use crate::config::{stash_entries, MOST_IMMEDIATES};
use crate::header::fit;
use crate::rows::ConfigSelect;
use crate::rows::{
    EMTT_INDEX_BITS, EXPLICIT_ROW_BITS, PROFILE_BITS, QPN_BITS, TENANT_BITS, VECTOR_BITS,
};

/// What software may do with a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Writes are refused.
    ReadOnly,
    /// Stores written values, byte by byte.
    ReadWrite,
    /// A write of all 64 bits starts the command; a read returns the state.
    Command,
}

/// A register, or several of the same kind at consecutive addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register {
    pub name: &'static str,
    /// Byte offset in BAR0.
    pub offset: u16,
    /// Number of registers.
    pub count: u16,
    pub access: Access,
    /// Value after reset; constants always have it.
    pub reset: u64,
    /// Description, for the reference manual.
    pub description: &'static str,
}

impl Register {
    /// Bytes of one register.
    pub const BYTES: u16 = 8;

    /// Offset behind the last one.
    pub const fn end(&self) -> u16 {
        self.offset + self.count * Self::BYTES
    }

    /// Offset in units of registers: address bits 15:3.
    pub const fn index(&self) -> u64 {
        (self.offset / Self::BYTES) as u64
    }
}

macro_rules! registers {
    ($($(#[doc = $doc:literal])+ $name:ident [$count:literal] at $offset:literal: $access:ident = $reset:expr;)+) => {
        $($(#[doc = $doc])+
        pub const $name: Register = Register {
            name: stringify!($name),
            offset: $offset,
            count: $count,
            access: Access::$access,
            reset: $reset,
            description: concat!($($doc, "\n"),+).trim_ascii(),
        };)+

        /// Every register, by offset.
        pub const ALL: &[Register] = &[$($name),+];
    };
}

registers! {
    /// `STELLAR1` in ASCII, first letter in bits 7:0.
    IDENTITY[1] at 0x0000: ReadOnly = u64::from_le_bytes(*b"STELLAR1");
    /// Version of this map: minor in bits 15:0, major in bits 31:16. A new minor version only adds.
    VERSION[1] at 0x0008: ReadOnly = 0x0004_0000;
    /// Sizes of the card: log2 of its queue pairs in bits 7:0, ports in bits 15:8, interrupt vectors in bits 23:16, log2 of its memory
    /// regions in bits 31:24, log2 of its translations (eMTT) in bits 39:32, log2 of its event queues in bits 47:40,
    /// log2 of the packets of an MRC window in bits 55:48 when it sends and in bits 63:56 when it receives.
    FEATURES[1] at 0x0010: ReadOnly = 0;
    /// A register for software's own use.
    SCRATCH[1] at 0x0018: ReadWrite = 0;
    /// Bit n: port n is up.
    PORT_STATE[1] at 0x0020: ReadOnly = 0;
    /// UDP destination port of RoCEv2, bits 15:0.
    UDP_PORT[1] at 0x0028: ReadWrite = 4791;
    /// Largest payload of a PCIe write, bits 2:0: 128 bytes shifted left by the value, 0 to 3. Change it only while nothing is in flight.
    MAX_PAYLOAD[1] at 0x0030: ReadWrite = 0;
    /// Largest PCIe read, bits 2:0: 128 bytes shifted left by the value, 0 to 5. Change it only while nothing is in flight.
    MAX_READ[1] at 0x0038: ReadWrite = 0;
    /// Timeout of a PCIe read in cycles, bits 30:0; after reset 50 ms at 250 MHz, the default of PCIe (base specification, section 2.8).
    /// While a fence waits, a port that takes nothing for as long drops its frames.
    READ_TIMEOUT[1] at 0x0040: ReadWrite = 12_500_000;
    /// Number of the counter in [`COUNTER_VALUE`], bits 7:0: a `DropReason` from 0; or bit 6 with the port in bit 5 and a
    /// `PortCounter` in bits 4:0; or bit 7 with a `CardCounter` in bits 4:0.
    COUNTER_SELECT[1] at 0x0048: ReadWrite = 0;
    /// Value of the selected counter, bits 47:0.
    COUNTER_VALUE[1] at 0x0050: ReadOnly = 0;
    /// Number of accesses to addresses without a register, bits 31:0, modulo 2^32.
    UNMAPPED[1] at 0x0058: ReadOnly = 0;
    /// Number of refused writes, bits 31:0, modulo 2^32. The card refuses writes to read-only registers, short writes of commands,
    /// commands and table data while a command is in progress, and tables and rows that do not exist.
    REFUSED[1] at 0x0060: ReadOnly = 0;
    /// Interrupt vectors that are pending because they are masked, bit n: vector n.
    INTERRUPT_PENDING[1] at 0x0068: ReadOnly = 0;
    /// Value of the counter that the last write of [`QP_COUNTER_SELECT`] selected.
    QP_COUNTER_VALUE[1] at 0x0070: ReadOnly = 0;
    /// Write: reads a counter of a queue pair (bits 15:0) into [`QP_COUNTER_VALUE`]: that with the number in bits 40:32 (`QpCounter`); a number without a
    /// counter reads as zero. With bit 40, reads and clears what was counted on the path in bits 39:32 (backups from 128 on): packets sent in bits 11:0 of the value,
    /// marked in bits 23:12, lost in bits 35:24 (`PathCount`); bit 36: they were counted for another queue pair, which is equal modulo 1,024. Read: bit 1, the value is not there yet.
    QP_COUNTER_SELECT[1] at 0x0078: Command = 0;
    /// Write of any value: starts a fence, which is done when nothing is under way that used a table entry from before: memory writes of packets and of the
    /// host's queues have reached memory, memory reads are complete or timed out, packets that waited for a port are with it, and control packets
    /// that were received are with the requester.
    /// Read: bit 0, the last fence is done; bit 1, a fence is in progress.
    FENCE[1] at 0x0080: Command = 0;
    /// Write: arms one event for the time when the count of WRITEs with immediate of a queue pair (bits 15:0) is a threshold (bits 63:32).
    /// Read: bit 1, the last write has not been accepted yet.
    IMMEDIATE_ARM[1] at 0x0088: Command = 0;
    /// Consumer index of an event queue ([`crate::host::ConsumerIndex`]; its number is in place of the queue pair). Reads as zero.
    EVENT_CONSUMER[1] at 0x0090: Command = 0;
    /// Ring of the admin queue: log2 of its commands in bits 3:0, bit 8 switches it on, address in bits 63:12
    /// ([`crate::host::admin::AdminRing`]). A write restarts the queue. Write only while no command is in progress, or after an error. Reads as zero.
    ADMIN_RING[1] at 0x0098: Command = 0;
    /// The card executes the commands before this index, bits 15:0, in order. Reads as zero.
    ADMIN_PRODUCER[1] at 0x00a0: Command = 0;
    /// Number of commands done in bits 15:0, modulo 2^16; error that stopped the queue in bits 39:32, 0 if there is none ([`crate::host::admin::AdminState`]).
    ADMIN_STATE[1] at 0x00a8: ReadOnly = 0;
    /// Shape of the card ([`DataPath`]): PCIe endpoints, each a PCI function, in bits 7:0; bits of a beat of its lanes in bits 23:8;
    /// entropy profiles in bits 31:24, and how many of them, from profile 0 on, may have explicit values in bits 39:32. Bit 40: an RC queue pair may have paths, among
    /// which a policy chooses one at a time. log2 of the queue pairs that have counters in bits 55:48: those from 0 on, or all if it is 0.
    DATA_PATH[1] at 0x00b0: ReadOnly = 0;
    /// Further sizes ([`Immediates`]): log2 of the WRITEs with immediate that a queue pair's peer may have in flight at most in bits 7:0, log2 of the entries of the
    /// stash where those of all queue pairs wait for their order in bits 15:8.
    IMMEDIATES[1] at 0x00b8: ReadOnly = 0;
    /// The table entry to write, packed from bit 0 of the first word.
    TABLE_DATA[16] at 0x0100: ReadWrite = 0;
    /// Write: writes [`TABLE_DATA`] to the table in bits 39:32 (`ConfigSelect`, in its order from 0), row in bits 19:0.
    /// Read: bit 1, the write is in progress; until it is done, the data must not change.
    TABLE_COMMAND[1] at 0x0180: Command = 0;
}

/// State bits that commands read as.
pub mod status {
    /// The last command is done ([`super::FENCE`]).
    pub const DONE_BIT: usize = 0;
    /// A command is in progress.
    pub const BUSY_BIT: usize = 1;
}

/// Packets of a window whose log2 is in [`FEATURES`]. A card that does not say it has windows of 1,024. The PSNs of a wider one than 2^22 could not be told from
/// those behind it.
const fn window(log2: u8) -> u32 {
    match log2 {
        0 => 1024,
        1..22 => 1 << log2,
        _ => 1 << 22,
    }
}

/// Contents of [`FEATURES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    /// log2 of the queue pairs.
    pub log2_queue_pairs: u8,
    pub ports: u8,
    /// Interrupt vectors.
    pub vectors: u8,
    /// log2 of the memory regions.
    pub log2_regions: u8,
    /// log2 of the translations: rows of the eMTT.
    pub log2_translations: u8,
    /// log2 of the event queues.
    pub log2_event_queues: u8,
    /// log2 of the packets that an MRC window may span when the card sends, and when it receives. 0 in a card that does not say it.
    pub log2_send_window: u8,
    pub log2_receive_window: u8,
}

impl Features {
    /// The register's value.
    pub const fn to_word(self) -> u64 {
        u64::from_le_bytes([
            self.log2_queue_pairs,
            self.ports,
            self.vectors,
            self.log2_regions,
            self.log2_translations,
            self.log2_event_queues,
            self.log2_send_window,
            self.log2_receive_window,
        ])
    }

    /// Decodes a value.
    pub const fn from_word(word: u64) -> Self {
        let [log2_queue_pairs, ports, vectors, log2_regions, log2_translations, log2_event_queues, log2_send_window, log2_receive_window] =
            word.to_le_bytes();
        Self {
            log2_queue_pairs,
            ports,
            vectors,
            log2_regions,
            log2_translations,
            log2_event_queues,
            log2_send_window,
            log2_receive_window,
        }
    }

    /// Packets that an MRC window may span when the card sends: the largest MPR of its queue pairs.
    pub const fn send_window(self) -> u32 {
        window(self.log2_send_window)
    }

    /// Packets that an MRC window may span when the card receives: the largest MPR of its peers.
    pub const fn receive_window(self) -> u32 {
        window(self.log2_receive_window)
    }

    /// log2 of the rows of a table. The card has at least one port and one vector.
    pub const fn row_bits(self, table: ConfigSelect) -> u8 {
        match table {
            ConfigSelect::Mr => self.log2_regions,
            ConfigSelect::Emtt => self.log2_translations,
            ConfigSelect::Profile => PROFILE_BITS as u8,
            ConfigSelect::Port => self.ports.ilog2() as u8,
            ConfigSelect::EventQueue => self.log2_event_queues,
            ConfigSelect::Address0 | ConfigSelect::Address1 => VECTOR_BITS as u8,
            ConfigSelect::Tenant => TENANT_BITS as u8,
            ConfigSelect::Explicit => EXPLICIT_ROW_BITS as u8,
            ConfigSelect::Qp
            | ConfigSelect::Requester
            | ConfigSelect::SendQueue
            | ConfigSelect::Spray
            | ConfigSelect::PathUse
            | ConfigSelect::Nscc
            | ConfigSelect::Peer
            | ConfigSelect::Responder
            | ConfigSelect::CompletionQueue => self.log2_queue_pairs,
        }
    }

    /// Whether the card has this table: the addresses of a second port need that port.
    pub const fn has_table(self, table: ConfigSelect) -> bool {
        !matches!(table, ConfigSelect::Address1) || self.ports > 1
    }

    /// Whether there is a table with this number ([`TableCommand::select`]), and it has this row.
    pub fn has_row(self, select: u8, row: u32) -> bool {
        let table = ConfigSelect::ALL.get(usize::from(select)).copied();
        table.is_some_and(|table| {
            self.has_table(table) && u64::from(row) >> self.row_bits(table) == 0
        })
    }
}

/// Contents of [`IMMEDIATES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Immediates {
    /// log2 of the WRITEs with immediate that a queue pair's peer may have in flight (MAX_WIMM).
    pub log2_most: u8,
    /// log2 of the entries of the stash, of which each queue pair has a part.
    pub log2_stash: u8,
}

impl Immediates {
    /// Those of a card with 1,024 queue pairs, and of every card that stands for it.
    pub const CARD: Self = Self::of(10);

    /// Those of a card with 2^`queue_pair_bits` queue pairs.
    pub const fn of(queue_pair_bits: usize) -> Self {
        Self {
            log2_most: MOST_IMMEDIATES.ilog2() as u8,
            log2_stash: stash_entries(queue_pair_bits).ilog2() as u8,
        }
    }

    /// The register's value.
    pub const fn to_word(self) -> u64 {
        u64::from_le_bytes([self.log2_most, self.log2_stash, 0, 0, 0, 0, 0, 0])
    }

    /// Decodes a value.
    pub const fn from_word(word: u64) -> Self {
        let [log2_most, log2_stash, ..] = word.to_le_bytes();
        Self {
            log2_most,
            log2_stash,
        }
    }
}

/// Contents of [`DATA_PATH`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataPath {
    /// PCIe endpoints: the control function's, and the data function's if there are two.
    pub endpoints: u8,
    /// Bits of a beat.
    pub width: u16,
    /// Entropy profiles. 0 in a card that does not say it.
    pub profiles: u8,
    /// Profiles, from 0 on, that may have explicit values.
    pub explicit_profiles: u8,
    /// An RC queue pair may have paths and a policy ([`crate::config::RcConfig::paths`]).
    pub rc_paths: bool,
    /// log2 of the queue pairs, from 0 on, that have counters. 0 in a card that does not say it: all have them.
    pub log2_counted: u8,
}

impl DataPath {
    /// Lowest bit of the width.
    pub const WIDTH_BIT: usize = 8;
    /// Lowest bit of the number of profiles.
    pub const PROFILES_BIT: usize = 24;
    /// Lowest bit of the number of explicit profiles.
    pub const EXPLICIT_BIT: usize = 32;
    /// The bit for paths of RC queue pairs.
    pub const RC_PATHS_BIT: usize = 40;
    /// Lowest bit of the log2 of the queue pairs that have counters.
    pub const COUNTED_BIT: usize = 48;

    /// The register's value.
    pub const fn to_word(self) -> u64 {
        self.endpoints as u64
            | (self.width as u64) << Self::WIDTH_BIT
            | (self.profiles as u64) << Self::PROFILES_BIT
            | (self.explicit_profiles as u64) << Self::EXPLICIT_BIT
            | (self.rc_paths as u64) << Self::RC_PATHS_BIT
            | (self.log2_counted as u64) << Self::COUNTED_BIT
    }

    /// Number of entropy profiles. A card that does not say it has 8.
    pub const fn entropy_profiles(self) -> u8 {
        match self.profiles {
            0 => 1 << PROFILE_BITS,
            profiles => profiles,
        }
    }

    /// Number of queue pairs, from 0 on, that have counters, of the 2^`log2_queue_pairs` of the card.
    pub const fn counted_queue_pairs(self, log2_queue_pairs: u8) -> u32 {
        match self.log2_counted {
            1..32 => 1 << self.log2_counted,
            _ => 1 << log2_queue_pairs,
        }
    }

    /// Decodes a value.
    pub const fn from_word(word: u64) -> Self {
        Self {
            endpoints: word as u8,
            width: (word >> Self::WIDTH_BIT) as u16,
            profiles: (word >> Self::PROFILES_BIT) as u8,
            explicit_profiles: (word >> Self::EXPLICIT_BIT) as u8,
            rc_paths: word >> Self::RC_PATHS_BIT & 1 == 1,
            log2_counted: (word >> Self::COUNTED_BIT) as u8,
        }
    }
}

/// What is written to [`TABLE_COMMAND`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableCommand {
    /// Number of the table, in the order of [`crate::rows::ConfigSelect`].
    pub select: u8,
    /// Row, [`EMTT_INDEX_BITS`] bits.
    pub index: u32,
}

impl TableCommand {
    /// Lowest bit of the row.
    pub const INDEX_BIT: usize = 0;
    /// Lowest bit of the table's number.
    pub const SELECT_BIT: usize = 32;

    /// The register's value.
    ///
    /// # Panics
    /// If the row does not fit [`EMTT_INDEX_BITS`] bits.
    pub fn to_word(self) -> u64 {
        let index = fit("table command.index", self.index, EMTT_INDEX_BITS as u32);
        u64::from(index) << Self::INDEX_BIT | u64::from(self.select) << Self::SELECT_BIT
    }
}

/// What is written to [`IMMEDIATE_ARM`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImmediateArm {
    /// Queue pair, [`QPN_BITS`] bits.
    pub qp: u32,
    pub threshold: u32,
}

impl ImmediateArm {
    /// Lowest bit of the queue pair.
    pub const QP_BIT: usize = 0;
    /// Lowest bit of the threshold.
    pub const THRESHOLD_BIT: usize = 32;

    /// The register's value.
    ///
    /// # Panics
    /// If the queue pair does not fit [`QPN_BITS`] bits.
    pub fn to_word(self) -> u64 {
        u64::from(fit("immediate arm.qp", self.qp, QPN_BITS as u32)) << Self::QP_BIT
            | u64::from(self.threshold) << Self::THRESHOLD_BIT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_in_order_aligned_and_apart() {
        for register in ALL {
            assert_eq!(register.offset % Register::BYTES, 0, "{}", register.name);
            assert!(register.count > 0, "{}", register.name);
            assert!(!register.description.is_empty(), "{}", register.name);
        }
        for pair in ALL.windows(2) {
            assert!(
                pair[0].end() <= pair[1].offset,
                "{} and {} overlap",
                pair[0].name,
                pair[1].name
            );
        }
    }

    #[test]
    fn words_have_their_fields_at_the_documented_places() {
        let features = Features {
            log2_queue_pairs: 10,
            ports: 2,
            vectors: 64,
            log2_regions: 12,
            log2_translations: 19,
            log2_event_queues: 6,
            log2_send_window: 10,
            log2_receive_window: 12,
        };
        assert_eq!(features.to_word(), 0x0c0a_0613_0c40_020a);
        assert_eq!(Features::from_word(features.to_word()), features);
        assert_eq!(
            (features.send_window(), features.receive_window()),
            (1024, 4096)
        );
        // A card from before these fields, and one that no software can follow.
        let windows = |word| Features::from_word(word).receive_window();
        assert_eq!(windows(0x0613_0c40_020a), 1024);
        assert_eq!(windows(u64::MAX), 1 << 22);
        let most = |table| 1u32 << features.row_bits(table);
        for table in ConfigSelect::ALL {
            let last = most(table) - 1;
            assert!(features.has_row(table as u8, last), "{table:?}");
            assert!(!features.has_row(table as u8, last + 1), "{table:?}");
        }
        assert_eq!(most(ConfigSelect::Emtt), 524_288);
        assert_eq!(
            (most(ConfigSelect::Mr), most(ConfigSelect::Spray)),
            (4096, 1024)
        );
        assert!(!features.has_row(18, 0));
        let one_port = Features {
            ports: 1,
            ..features
        };
        let [port, address1] = [ConfigSelect::Port, ConfigSelect::Address1].map(|t| t as u8);
        assert!(one_port.has_row(port, 0) && !one_port.has_row(port, 1));
        assert!(features.has_row(address1, 0) && !one_port.has_row(address1, 0));
        let data_path = DataPath {
            endpoints: 1,
            width: 512,
            profiles: 7,
            explicit_profiles: 4,
            rc_paths: true,
            log2_counted: 12,
        };
        assert_eq!(data_path.to_word(), 0x0c_0104_0702_0001);
        assert_eq!(DataPath::from_word(0x0c_0104_0702_0001), data_path);
        assert_eq!(data_path.counted_queue_pairs(16), 4096);
        assert_eq!(data_path.entropy_profiles(), 7);
        // A card from before these fields.
        let old = DataPath::from_word(0x02_0001);
        assert_eq!((old.entropy_profiles(), old.explicit_profiles), (8, 0));
        assert!(!old.rc_paths);
        assert_eq!(old.counted_queue_pairs(14), 16_384);
        assert_eq!(Immediates::CARD.to_word(), 0x0e08);
        assert_eq!(Immediates::of(16).to_word(), 0x1008);
        assert_eq!(Immediates::from_word(0x0e08), Immediates::CARD);
        let command = TableCommand {
            select: 13,
            index: 0xa_abcd,
        };
        assert_eq!(command.to_word(), 0xd_000a_abcd);
        let arm = ImmediateArm {
            qp: 0x83ff,
            threshold: 0x8000_0001,
        };
        assert_eq!(arm.to_word(), 0x8000_0001_0000_83ff);
    }

    #[test]
    #[should_panic(expected = "table command.index")]
    fn a_row_that_does_not_fit_is_refused() {
        let _ = TableCommand {
            select: 0,
            index: 1 << EMTT_INDEX_BITS,
        }
        .to_word();
    }
}
