//! Clocks per packet of an engine that always has something to send.

mod engine;
mod receiver;

use engine::Bench;

/// Bytes of a packet.
const MTU: u32 = 256;
/// Packets of a message, and of a queue pair's messages.
const MESSAGE: u32 = 32;
const PACKETS: u32 = 1024;

/// Sends `PACKETS` by each queue pair through ports that take one in `port_clocks` / 100 clocks; clocks per packet of the second half.
fn clocks_per_packet(queue_pairs: u32, port_clocks: u32) -> f64 {
    let packets = PACKETS / queue_pairs.min(4);
    let mut bench = Bench::new(queue_pairs, MTU, port_clocks);
    bench.post(packets / MESSAGE, MESSAGE * MTU);
    let half = queue_pairs * packets / 2;
    bench.run_until(half);
    let from = bench.clocks();
    bench.run_until(2 * half);
    let per_packet = (bench.clocks() - from) as f64 / f64::from(half);
    println!("{queue_pairs} queue pairs: {per_packet:.2} clocks per packet of {MTU} bytes");
    per_packet
}

/// Ports of 100 bytes per clock, packets of 358 bytes on the wire.
const WIRE: u32 = 358;

#[test]
fn one_queue_pair_is_bound_by_its_engine() {
    let clocks = clocks_per_packet(1, WIRE);
    assert!(clocks <= 2.2, "{clocks}");
}

/// The other engine of a card sends the other half, so both ports together take a packet in 3.58 clocks.
#[test]
fn eight_queue_pairs_fill_half_of_the_wire() {
    let clocks = clocks_per_packet(8, 2 * WIRE);
    assert!(clocks <= 3.65, "{clocks}");
}
