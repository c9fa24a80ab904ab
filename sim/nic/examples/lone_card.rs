//! One transfer between a Verilated card and the software reference, or between two cards, for profilers: what `./stellar bench nic` times, without the rest of the benchmark.
//!
//! Arguments: `send`, `receive` or `both` (two cards), log2 of the path MTU, queue pairs, packets. Instructions of a card's cycle, on a machine that is too busy for times:
//! `valgrind --tool=callgrind --toggle-collect=sim_nic::rtl_nic::RtlNic::clock target/debug/examples/lone_card send 12 1 768`

use std::error::Error;
use std::time::{Duration, Instant};

use sim_nic::{CardReceives, CardSends, Mix, MixedNic, RtlNic, SimRate};
use sim_world::pair::SENDER;
use sim_world::transfer::{run, run_watched, Transfer, LEAF_SPINE, LEAF_SPINE_FILE};
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

fn plan(mtu_log2: u8, qps: u32, packets: u32) -> Result<(Plan, Transfer), WorldError> {
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
    Ok((plan, transfer))
}

/// Between a Verilated card and the software reference: prints how fast the card is.
fn one_card<M: Mix>(plan: &Plan, transfer: Transfer) -> Result<(), WorldError> {
    let run = run::<MixedNic<M>>(plan, transfer)?;
    if let Some(card) = run.world.host(MixedNic::<M>::RTL_HOST).nic().rtl() {
        let rate = card.rate();
        println!("{} cycles, {:.0}/s", rate.clocks, rate.clocks_per_second());
    }
    Ok(())
}

/// Between two Verilated cards: prints how fast their world is, from its first moment to its last completion.
fn two_cards(plan: &Plan, transfer: Transfer) -> Result<(), WorldError> {
    let mut first = None;
    let run = run_watched::<RtlNic>(plan, transfer, |_| {
        first.get_or_insert_with(Instant::now);
    })?;
    let clocks = run.world.host(SENDER).nic().rate().clocks;
    let wall = first.map_or(Duration::ZERO, |first| first.elapsed());
    let rate = SimRate { clocks, wall };
    println!("{clocks} cycles, {:.0}/s", rate.clocks_per_second());
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [direction, mtu_log2, qps, packets] = arguments.as_slice() else {
        return Err(
            "arguments: send, receive or both, log2 of the path MTU, queue pairs, packets".into(),
        );
    };
    let (plan, transfer) = plan(mtu_log2.parse()?, qps.parse()?, packets.parse()?)?;
    RtlNic::prepare()?;
    let before = processor_time()?;
    match direction.as_str() {
        "send" => one_card::<CardSends>(&plan, transfer)?,
        "receive" => one_card::<CardReceives>(&plan, transfer)?,
        "both" => two_cards(&plan, transfer)?,
        _ => return Err("the direction is send, receive or both".into()),
    }
    let taken = processor_time()? - before;
    println!("{taken:.3} s of processor time, reference included");
    Ok(())
}
