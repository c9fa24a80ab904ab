//! Wall time of a step of two items that compute for ten microseconds each, on one thread and on two: `cargo run -p sim-fork-join --example step_time`

use std::time::{Duration, Instant};

use sim_fork_join::ForkJoin;

const WORK: Duration = Duration::from_micros(10);
const STEPS: u32 = 50_000;

fn compute(count: &mut u64, _: ()) {
    let end = Instant::now() + WORK;
    while Instant::now() < end {
        *count += 1;
    }
}

fn show(what: &str, mut step: impl FnMut()) {
    let began = Instant::now();
    (0..STEPS).for_each(|_| step());
    let each = began.elapsed() / STEPS;
    println!("{what}: {:.2} us", each.as_secs_f64() * 1e6);
}

fn main() {
    let mut items = vec![0, 0];
    for threads in [1, 2] {
        let mut pool = ForkJoin::new(items.len(), threads, compute);
        show(&format!("ForkJoin, threads: {threads}"), || {
            pool.step(&mut items, (), 0, |count| compute(count, ()));
        });
    }
}
