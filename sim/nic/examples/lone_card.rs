//! One transfer between a Verilated card and the software reference, for profilers: what `./stellar bench nic` times, without the rest of the benchmark.
//!
//! Arguments: `send` or `receive`, log2 of the path MTU, queue pairs, packets. Instructions of a card's cycle, on a machine that is too busy for times:
//! `valgrind --tool=callgrind --toggle-collect=sim_nic::rtl_nic::RtlNic::clock target/debug/examples/lone_card send 12 1 768`

use std::error::Error;

use sim_nic::{CardReceives, CardSends, Mix, MixedNic, RtlNic};
use sim_world::transfer::{run, Transfer, LEAF_SPINE, LEAF_SPINE_FILE};
use sim_world::{lossy_topology, MrcPlan, Plan, TransportPlan, WorldError, MAX_PATHS};
use stellar_transport::spray::Policy;

/// Processor time of this thread in seconds. It depends less than wall time on what else runs on the machine.
fn processor_time() -> Result<f64, Box<dyn Error>> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanoseconds = text.split_whitespace().next().ok_or("an empty file")?;
    Ok(nanoseconds.parse::<f64>()? / 1e9)
}

/// Packets of a message, and the time limit, as in the benchmark.
const MESSAGE_PACKETS: u32 = 32;
const LIMIT: u64 = 1_000_000_000_000;

fn transfer<M: Mix>(mtu_log2: u8, qps: u32, packets: u32) -> Result<(), WorldError> {
    let topology = lossy_topology(LEAF_SPINE_FILE, LEAF_SPINE, None)?;
    let mut plan = Plan::new(topology, 1)?;
    plan.transport = TransportPlan::Mrc(MrcPlan {
        policy: Policy::Obs,
        paths: MAX_PATHS,
        ..MrcPlan::default()
    });
    plan.qps = qps;
    plan.mtu_log2 = mtu_log2;
    plan.sq_log2 = 12;
    let transfer = Transfer {
        bytes: MESSAGE_PACKETS << mtu_log2,
        messages: packets / MESSAGE_PACKETS / qps,
        immediates: false,
        interval: 0,
        limit: LIMIT,
    };
    let run = run::<MixedNic<M>>(&plan, transfer)?;
    if let Some(card) = run.world.host(MixedNic::<M>::RTL_HOST).nic().rtl() {
        let rate = card.rate();
        println!("{} cycles, {:.0}/s", rate.clocks, rate.clocks_per_second());
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [direction, mtu_log2, qps, packets] = arguments.as_slice() else {
        return Err(
            "arguments: send or receive, log2 of the path MTU, queue pairs, packets".into(),
        );
    };
    let (mtu_log2, qps, packets) = (mtu_log2.parse()?, qps.parse()?, packets.parse()?);
    RtlNic::prepare()?;
    let before = processor_time()?;
    match direction.as_str() {
        "send" => transfer::<CardSends>(mtu_log2, qps, packets)?,
        "receive" => transfer::<CardReceives>(mtu_log2, qps, packets)?,
        _ => return Err("the direction is send or receive".into()),
    }
    let taken = processor_time()? - before;
    println!("{taken:.3} s of processor time, reference included");
    Ok(())
}
