//! Tables that the lane reads: queue pair contexts, memory regions, page translations.

use std::collections::BTreeMap;

use stellar_wire::rows::{EmttRow, MrRow, QpRow, QpState, TableError, EMTT_INDEX_BITS, FIRST_QP};

/// One table write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableWrite {
    /// Also restarts packet tracking of the queue pair at its initial PSN.
    Qp {
        index: u32,
        context: QpRow,
    },
    Mr {
        index: u32,
        entry: MrRow,
    },
    Emtt {
        index: u32,
        entry: EmttRow,
    },
}

/// The three tables. Entries never written are invalid.
#[derive(Clone, Debug)]
pub struct Tables {
    queue_pairs: u32,
    checks_access: bool,
    /// Contexts by queue pair number, up to the highest number that was written.
    qps: Vec<QpRow>,
    mrs: BTreeMap<u32, MrRow>,
    emtt: BTreeMap<u32, EmttRow>,
}

impl Default for Tables {
    /// Tables of the hardware's size.
    fn default() -> Self {
        Self::new(Self::QPS, true)
    }
}

impl Tables {
    /// Queue pairs of the hardware.
    pub const QPS: u32 = 1024;
    /// Memory regions.
    pub const MRS: u32 = 4096;
    /// Page translations.
    pub const EMTT: u32 = 524_288;
    /// Queue pair numbers below this one are management's.
    pub const FIRST_QP: u32 = FIRST_QP;

    /// Tables with room for `queue_pairs`. Without `checks_access` they answer for a card that has no memory regions: its user asks for none.
    pub const fn new(queue_pairs: u32, checks_access: bool) -> Self {
        Self {
            queue_pairs,
            checks_access,
            qps: Vec::new(),
            mrs: BTreeMap::new(),
            emtt: BTreeMap::new(),
        }
    }

    /// Whether an access to memory is looked up; otherwise every key and address is good, and the access touches no page.
    pub const fn checks_access(&self) -> bool {
        self.checks_access
    }

    /// Writes one entry.
    ///
    /// # Errors
    /// [`TableError`] if the index is out of range or a value does not fit its field; nothing is written then.
    pub fn write(&mut self, write: &TableWrite) -> Result<(), TableError> {
        match *write {
            TableWrite::Qp { index, context } => {
                check_index("QP", index, self.queue_pairs)?;
                if index < Self::FIRST_QP {
                    return Err(TableError::ReservedQp(index));
                }
                check_width("QP pd", context.pd.into(), 20)?;
                check_width("QP mtu_log2", context.mtu_log2.into(), 4)?;
                let index = index as usize;
                if self.qps.len() <= index {
                    self.qps.resize(index + 1, QpRow::default());
                }
                self.qps[index] = context;
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
        if let Some(context) = self.qps.get_mut(number as usize) {
            if context.state != QpState::Invalid {
                context.state = QpState::Error;
            }
        }
    }

    /// Context of a queue pair; invalid if the number is reserved, out of range or was never written.
    pub fn qp(&self, number: u32) -> QpRow {
        self.qps.get(number as usize).copied().unwrap_or_default()
    }

    /// Region at a table index; invalid if out of range or never written.
    pub fn mr(&self, index: u32) -> MrRow {
        self.mrs.get(&index).copied().unwrap_or_default()
    }

    /// Translation at a table index; invalid if out of range or never written.
    pub fn emtt(&self, index: u32) -> EmttRow {
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
