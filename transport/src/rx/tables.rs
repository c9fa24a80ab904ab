//! Tables the lane reads: queue pair contexts, memory regions, page translations.

use std::collections::BTreeMap;

use stellar_wire::hw::tables::EMTT_INDEX_BITS;
use thiserror::Error;

use super::Psn;

/// A table write that cannot be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TableError {
    /// Index beyond the table.
    #[error("{table} index {index} is out of range; the table has {size} entries")]
    Index {
        table: &'static str,
        index: u32,
        size: u32,
    },
    /// Queue pairs 0 and 1 are management queue pairs, which the lane never receives for.
    #[error("queue pair {0} is reserved for management; use 2 or higher")]
    ReservedQp(u32),
    /// A value wider than its field.
    #[error("{field} is {value:#x}; it must fit {width} bits")]
    Width {
        field: &'static str,
        value: u64,
        width: u32,
    },
}

/// Transport mode of a queue pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum QpMode {
    /// Reliable connection: one path, in order.
    #[default]
    Rc,
    /// OCP Multipath Reliable Connection: any order inside the window.
    Mrc,
}

/// Receive state of a queue pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum QpState {
    /// Never written.
    #[default]
    Invalid,
    /// Reset or Init.
    Init,
    /// RTR or RTS: the only state that accepts packets.
    Ready,
    Error,
}

/// Static context of a queue pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QpContext {
    pub state: QpState,
    pub mode: QpMode,
    /// Protection domain, 20 bits.
    pub pd: u32,
    pub pkey: u16,
    /// log2 of the path MTU in bytes, 4 bits: 8 to 13.
    pub mtu_log2: u8,
    /// First PSN expected.
    pub initial_psn: Psn,
    /// Accepts remote writes at all.
    pub remote_write: bool,
}

impl QpContext {
    /// Path MTU in bytes.
    pub const fn mtu(&self) -> u32 {
        1 << self.mtu_log2
    }
}

/// Page size of a memory region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PageSize {
    #[default]
    Size4K,
    Size64K,
    Size2M,
    Size1G,
}

impl PageSize {
    /// Every size, smallest first.
    pub const ALL: [Self; 4] = [Self::Size4K, Self::Size64K, Self::Size2M, Self::Size1G];

    /// log2 of the size in bytes.
    pub const fn shift(self) -> u32 {
        match self {
            Self::Size4K => 12,
            Self::Size64K => 16,
            Self::Size2M => 21,
            Self::Size1G => 30,
        }
    }

    /// Size in bytes.
    pub const fn bytes(self) -> u64 {
        1 << self.shift()
    }
}

/// Memory region. Its R_Key is `index << 8 | key`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MrEntry {
    pub valid: bool,
    /// Low byte of the R_Key.
    pub key: u8,
    /// Protection domain, 20 bits.
    pub pd: u32,
    pub remote_write: bool,
    pub remote_read: bool,
    pub remote_atomic: bool,
    pub page_size: PageSize,
    /// Requester's address of the first byte.
    pub base_va: u64,
    /// Bytes, 48 bits.
    pub length: u64,
    /// Translation of the page that holds `base_va`, 20 bits; the following pages follow.
    pub first_emtt: u32,
    /// Pages come when they are first used: a WRITE over MRC to one without a valid translation is as if it were lost.
    pub on_demand: bool,
}

/// Owner of the memory behind a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Owner {
    /// The IOMMU translates: AT = 00.
    #[default]
    Host,
    /// The address is final: AT = 10.
    Gpu,
}

/// Translation of one page (eMTT).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EmttEntry {
    pub valid: bool,
    pub owner: Owner,
    /// Owning device, 10 bits.
    pub device: u16,
    /// Address bits 63:12 of the page, 52 bits.
    pub frame: u64,
}

/// One table write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableWrite {
    /// Also starts packet tracking of the queue pair anew.
    Qp {
        index: u32,
        context: QpContext,
    },
    Mr {
        index: u32,
        entry: MrEntry,
    },
    Emtt {
        index: u32,
        entry: EmttEntry,
    },
}

/// The three tables. Entries never written are invalid.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    qps: BTreeMap<u32, QpContext>,
    mrs: BTreeMap<u32, MrEntry>,
    emtt: BTreeMap<u32, EmttEntry>,
}

impl Tables {
    /// Queue pairs.
    pub const QPS: u32 = 1024;
    /// Memory regions.
    pub const MRS: u32 = 4096;
    /// Page translations.
    pub const EMTT: u32 = 524_288;
    /// Queue pair numbers below this one are management's.
    pub const FIRST_QP: u32 = 2;

    /// Writes one entry.
    ///
    /// # Errors
    /// [`TableError`] if the index is out of range or a value does not fit its field; nothing is written then.
    pub fn write(&mut self, write: &TableWrite) -> Result<(), TableError> {
        match *write {
            TableWrite::Qp { index, context } => {
                check_index("QP", index, Self::QPS)?;
                if index < Self::FIRST_QP {
                    return Err(TableError::ReservedQp(index));
                }
                check_width("QP pd", context.pd.into(), 20)?;
                check_width("QP mtu_log2", context.mtu_log2.into(), 4)?;
                self.qps.insert(index, context);
            }
            TableWrite::Mr { index, entry } => {
                check_index("MR", index, Self::MRS)?;
                check_width("MR pd", entry.pd.into(), 20)?;
                check_width("MR length", entry.length, 48)?;
                check_width(
                    "MR first_emtt",
                    entry.first_emtt.into(),
                    EMTT_INDEX_BITS as u32,
                )?;
                self.mrs.insert(index, entry);
            }
            TableWrite::Emtt { index, entry } => {
                check_index("eMTT", index, Self::EMTT)?;
                check_width("eMTT device", entry.device.into(), 10)?;
                check_width("eMTT frame", entry.frame, 52)?;
                self.emtt.insert(index, entry);
            }
        }
        Ok(())
    }

    /// Puts a queue pair in state Error; one that was never written, or was written as invalid, stays invalid.
    pub fn fail_qp(&mut self, number: u32) {
        if let Some(context) = self.qps.get_mut(&number) {
            if context.state != QpState::Invalid {
                context.state = QpState::Error;
            }
        }
    }

    /// Context of a queue pair; invalid if the number is reserved, out of range or was never written.
    pub fn qp(&self, number: u32) -> QpContext {
        self.qps.get(&number).copied().unwrap_or_default()
    }

    /// Region at a table index; invalid if out of range or never written.
    pub fn mr(&self, index: u32) -> MrEntry {
        self.mrs.get(&index).copied().unwrap_or_default()
    }

    /// Translation at a table index; invalid if out of range or never written.
    pub fn emtt(&self, index: u32) -> EmttEntry {
        self.emtt.get(&index).copied().unwrap_or_default()
    }
}

fn check_index(table: &'static str, index: u32, size: u32) -> Result<(), TableError> {
    if index < size {
        Ok(())
    } else {
        Err(TableError::Index { table, index, size })
    }
}

fn check_width(field: &'static str, value: u64, width: u32) -> Result<(), TableError> {
    if value >> width == 0 {
        Ok(())
    } else {
        Err(TableError::Width {
            field,
            value,
            width,
        })
    }
}
