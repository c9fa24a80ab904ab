//! The PSN trackers of MRC and RC.

mod common;
mod psn_track;
mod rc_track;
