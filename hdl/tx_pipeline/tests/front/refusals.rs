//! Invalid parameters of a lane.

use hdl_tx_pipeline::{FrameAssembler, FrameLayouts, IcrcInsert, PayloadBuffer};

#[test]
#[should_panic(expected = "FrameAssembler<256, 32, 5>: use <512, 64, 6> or <1024, 128, 7>")]
fn a_join_of_another_width() {
    let _ = FrameAssembler::<256, 32, 5>::default();
}

#[test]
#[should_panic(expected = "IcrcInsert<1024, 64>: use <512, 64> or <1024, 128>")]
fn an_icrc_of_two_widths() {
    let _ = IcrcInsert::<1024, 64>::default();
}

#[test]
#[should_panic(expected = "FrameLayouts<5>: use 6")]
fn a_layout_of_another_width() {
    let _ = FrameLayouts::<5>::default();
}

#[test]
#[should_panic(expected = "two packets of 8192 bytes must fit, use A = 7 or more")]
fn a_payload_buffer_without_room() {
    let _ = PayloadBuffer::<1024, 5, 6>::default();
}
