//! The plain run: every queue pair WRITEs from the sender's GPU memory to the receiver's.

use sim_net::Time;
use stellar_transport::rx::{Owner, PageSize};

use crate::pair::{connect, PairWorld, RECEIVER, SENDER};
use crate::report::Report;
use crate::{verify, NicKind, Plan, ReferenceNic, RegionSpec, World, WorldError, Write};

/// Default topology of a run: two planes of leaves and spines.
pub const LEAF_SPINE: &str = include_str!("../../net/topologies/leaf_spine.toml");
/// Name of [`LEAF_SPINE`] in messages.
pub const LEAF_SPINE_FILE: &str = "leaf_spine.toml";
/// Time limit of [`Transfer::whole`]: 10 s of simulated time, in picoseconds.
const PATIENCE: Time = 10_000_000_000_000;

/// The traffic of a run.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    /// Bytes of each message.
    pub bytes: u32,
    /// Messages of each queue pair.
    pub messages: u32,
    /// The messages are WRITEs with immediate; each has its number among those of all queue pairs.
    pub immediates: bool,
    /// Time between two messages of a queue pair in picoseconds; 0 posts all at once, as a list.
    pub interval: Time,
    /// Time limit, in picoseconds of simulated time.
    pub limit: Time,
}

impl Transfer {
    /// One message of `bytes` per queue pair, with a time limit that is enough for any run.
    pub const fn whole(bytes: u32) -> Self {
        Self {
            bytes,
            messages: 1,
            immediates: false,
            interval: 0,
            limit: PATIENCE,
        }
    }
}

/// A run that succeeded, with its world, which has more details than the report.
pub struct Run<N = ReferenceNic> {
    /// The world at its end.
    pub world: PairWorld<N>,
    /// The run's numbers.
    pub report: Report,
}

/// Runs `transfer` over `plan`, checks memory and completions, and reports.
///
/// # Errors
/// The errors of [`connect`]; [`WorldError::Stalled`]; [`WorldError::Check`] if the outcome is wrong.
pub fn run<N: NicKind>(plan: &Plan, transfer: Transfer) -> Result<Run<N>, WorldError> {
    run_watched(plan, transfer, |_| {})
}

/// Does what [`run`] does, and calls `watch` as [`World::run_watched`] does.
///
/// # Errors
/// The errors of [`run`].
pub fn run_watched<N: NicKind>(
    plan: &Plan,
    transfer: Transfer,
    watch: impl FnMut(&World<N>),
) -> Result<Run<N>, WorldError> {
    let mut world = connect::<N>(plan)?;
    let each = u64::from(transfer.bytes);
    let total = each * u64::from(transfer.messages) * u64::from(plan.qps);
    let spec = RegionSpec {
        owner: Owner::Gpu,
        length: total,
        page_size: PageSize::Size64K,
        skew: 0,
    };
    let (local, remote) = (
        world.register(SENDER, spec)?,
        world.register(RECEIVER, spec)?,
    );
    let (mut offset, mut number) = (0, 0);
    let mut list = vec![];
    for message in 0..u64::from(transfer.messages) {
        for qp in plan.numbers() {
            let write = Write {
                from: SENDER,
                to: RECEIVER,
                qp,
                local: (local, offset),
                remote: (remote, offset),
                length: transfer.bytes,
                immediate: transfer.immediates.then_some(number),
            };
            if transfer.interval == 0 {
                list.push(write);
            } else {
                world.at(message * transfer.interval, move |world| {
                    world.post(write).map(|_| ())
                });
            }
            offset += each;
            number += 1;
        }
    }
    world.at(0, move |world| world.post_list(&list));
    world.run_watched(transfer.limit, watch)?;
    let verified = verify(&world)?;
    let report = Report::of(plan, &mut world, verified);
    Ok(Run { world, report })
}
