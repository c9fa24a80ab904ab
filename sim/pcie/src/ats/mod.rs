//! Address Translation Services (PCIe base specification, chapter 10), and a NIC that depends on them: the baseline against which STELLAR measures its
//! eMTT (section 6, figure 8).
//!
//! With ATS a device asks the IOMMU for a translation (a read with AT = 01), keeps it in its Address Translation Cache (ATC), and sends requests to
//! the final address with AT = 10. When software takes a mapping away, the root complex sends an Invalidate Request, which the device completes when
//! it can no longer use the old translation. An eMTT needs none of this: all translations of registered memory are on the card.
//!
//! The root complex's side is part of every [`crate::Fabric`]. [`WriteNic`] is the device's side: it writes packets from a line of fixed speed into
//! memory, and translates with an [`Atc`] or an [`Emtt`]. [`measure`] runs the experiment of figure 8.
//!
//! All times are picoseconds of simulated time, all sizes bytes.

mod cache;
mod emtt;
mod entry;
mod experiment;
mod invalidations;
mod line;
mod message;
mod translator;
mod write_nic;

pub use cache::{Atc, AtcConfig, AtcCounters};
pub use emtt::{Emtt, Owner};
pub use entry::TranslationEntry;
pub use experiment::{measure, Experiment, Goodput, Translation};
pub use invalidations::InvalidationDone;
pub use line::{LineConfig, WritePacket};
pub use message::{InvalidateCompletion, InvalidateRequest, Message};
pub use translator::Translator;
pub use write_nic::{FailedWrite, WriteNic, WriteNicConfig};

pub(crate) use invalidations::{is_translation_request, Invalidations};
