//! Memory regions and page translation.

mod emtt_banks;
mod fault_report;
mod translation;
