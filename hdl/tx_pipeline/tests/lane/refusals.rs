//! Invalid parameters of a lane.

use hdl_tx_pipeline::TxPacketBuilder;

#[test]
#[should_panic(expected = "queue pair numbers have 16 bits, use Q = 1 to 16")]
fn more_queue_pairs_than_numbers() {
    let _ = TxPacketBuilder::<17, 7, 9>::default();
}

#[test]
#[should_panic(
    expected = "use B = 4 to 7, and A = 6 to 11 so that the payload buffer holds 8192 bytes"
)]
fn a_payload_buffer_without_room_for_a_packet() {
    let _ = TxPacketBuilder::<3, 7, 4>::default();
}
