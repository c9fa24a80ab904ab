//! The pins of two cards show the steps of a write in order, with times exact to the picosecond.

use sim_net::{Time, Topology};
use sim_nic::{RtlNic, CLOCK_PS};
use sim_verilated::Toolchain;
use sim_world::pair::{RECEIVER, SENDER};
use sim_world::transfer::{run_watched, Transfer, LEAF_SPINE};
use sim_world::{Nic, Plan};

#[test]
fn a_small_write_is_seen_at_every_pin_on_its_way() {
    let topology = Topology::from_toml("leaf_spine.toml", LEAF_SPINE).unwrap();
    let plan = Plan::new(topology, 3).unwrap();
    let mut placed: Option<Time> = None;
    let run = run_watched::<RtlNic>(&plan, Transfer::whole(64), |world| {
        if world.host(RECEIVER).nic().memory().written() == 64 {
            placed.get_or_insert(world.now());
        }
    })
    .unwrap();
    let times = |host: usize| *run.world.host(host).nic().times();
    let (sender, receiver) = (times(SENDER), times(RECEIVER));
    // The descriptor was pushed with its doorbell.
    assert_eq!((sender.pushes.count, sender.descriptor_reads.count), (8, 0));
    for span in [
        sender.doorbells,
        sender.payload_reads,
        sender.frames_out,
        receiver.frames_in,
        receiver.payload_writes,
        receiver.payload_written,
    ] {
        assert_eq!((span.count, span.first), (1, span.last));
    }
    let way = [
        run.world.posted()[0].time,
        sender.pushes.first,
        sender.pushes.last,
        sender.doorbells.first,
        sender.payload_reads.first,
        sender.payload_data.last,
        sender.frames_out.first,
        receiver.frames_in.last,
        receiver.payload_writes.first,
        receiver.payload_written.last,
    ];
    assert!(way.is_sorted(), "{way:?}");
    // Two links, the switch between them and the GPU take five eighths of a read's latency; the TLP itself and the world's sampling of every second cycle
    // add a few cycles.
    let late = placed.expect("the bytes are in memory") - way[way.len() - 1];
    let least = sim_nic::write_latency(plan.pcie.reads);
    assert!(
        (least..least + 4 * CLOCK_PS).contains(&late),
        "seen {late} ps late"
    );
    // The read takes at least the latency of the link.
    let (asked, came) = (way[4], way[5]);
    assert!(came - asked >= plan.pcie.reads.latency, "{asked} to {came}");
    // The budgets of `architecture.md`, section 9: doorbell to first header beat without the read, last beat to first TLP. An engine that is idle chooses an
    // operation a clock before it starts it, the doorbell and the burst; the doorbell takes its answer a clock earlier than when the budget was made.
    let clocks = |from: usize, to: usize| (way[to] - way[from]) / CLOCK_PS;
    let (sends, receives) = (clocks(3, 4) + clocks(5, 6), clocks(7, 8));
    println!("{sends} clocks in the sending card, {receives} in the receiving card");
    assert!(sends <= 80 + 1, "{sends} clocks in the sending card");
    assert!(receives <= 60, "{receives} clocks in the receiving card");
    let nic = run.world.host(SENDER).nic();
    assert!(nic.rate().clocks > 0 && nic.rate().clocks_per_second() > 0.0);
    // The card's code runs on change, so that the time of its blocks is known; it would be half as fast otherwise.
    let tools = Toolchain::find().unwrap();
    assert_eq!(nic.profile().is_some(), tools.runs_on_change());
}
