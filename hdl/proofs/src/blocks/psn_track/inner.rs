//! What the properties see of the tracker.

use hdl_macros::bundle;
use hdl_reorder_buf::psn_stages::{
    CompareReg, DecideReg, Decision, EpsnWordReg, Forwarding, PrefixReg, WaitReg,
};
use hdl_reorder_buf::tracked::Tracked;
use rust_hdl::prelude::*;

/// Registers of a tracker of 2 queue pairs, and the memory of their error states.
#[bundle]
pub struct TrackInsideSrc {
    pub looked_up_valid: Signal<Out, Bit>,
    pub looked_up: Signal<Out, Tracked>,
    pub forwarding: Signal<Out, Forwarding>,
    pub waited_valid: Signal<Out, Bit>,
    pub waited: Signal<Out, WaitReg>,
    pub compared_valid: Signal<Out, Bit>,
    pub compared: Signal<Out, CompareReg>,
    pub decided_valid: Signal<Out, Bit>,
    pub decided: Signal<Out, DecideReg>,
    pub advance_counted_valid: Signal<Out, Bit>,
    pub advance_counted: Signal<Out, PrefixReg>,
    pub advance_updated_valid: Signal<Out, Bit>,
    pub advance_updated: Signal<Out, PrefixReg>,
    pub advance_located_valid: Signal<Out, Bit>,
    pub advance_located: Signal<Out, EpsnWordReg>,
    pub advance_asked_valid: Signal<Out, Bit>,
    pub advance_asked: Signal<Out, EpsnWordReg>,
    pub advance_committed_valid: Signal<Out, Bit>,
    pub advance_committed: Signal<Out, Decision>,

    pub errors_memory: [Signal<Out, Bit>; 2],
    pub errors_read_data: Signal<Out, Bit>,
}
