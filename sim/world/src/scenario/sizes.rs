//! Many queue pairs; messages of every length and at every alignment.

use rand::Rng;

use super::*;

impl<N: NicKind> Scenario<N> {
    pub(super) const ALL_QPS: Self = Self {
        name: "all-queue-pairs",
        what: "1,022 queue pairs at once: all that the table has besides the two of management",
        run: all_qps::<N>,
    };

    pub(super) const TINY: Self = Self {
        name: "tiny-messages",
        what: "messages of 0 bytes and of 1 byte between longer ones",
        run: tiny::<N>,
    };

    pub(super) const GIBIBYTE: Self = Self {
        name: "gibibyte",
        what: "the first 100 us of a message of 1 GiB",
        run: gibibyte::<N>,
    };

    pub(super) const UNALIGNED: Self = Self {
        name: "unaligned",
        what: "random lengths from random to random addresses, host and GPU memory mixed",
        run: unaligned::<N>,
    };
}

fn all_qps<N: NicKind>(setup: &Setup) -> Result<Outcome<N>, WorldError> {
    let mut plan = mrc_plan(BACK_TO_BACK, setup, |_| {})?;
    plan.qps = crate::MAX_QPS;
    plan.sq_log2 = 2;
    let mut world = connect::<N>(&plan)?;
    let buffers = buffers(&mut world, u64::from(plan.qps) * 9_001)?;
    for qp in FIRST_QP..FIRST_QP + plan.qps {
        let offset = u64::from(qp - FIRST_QP) * 9_001;
        world.post(write(buffers, qp, offset, 5_000))?;
        world.post(write(buffers, qp, offset + 5_000, 4_001))?;
    }
    all_succeeded(finish(setup, plan, world)?)
}

fn tiny<N: NicKind>(setup: &Setup) -> Result<Outcome<N>, WorldError> {
    let plan = mrc_plan(BACK_TO_BACK, setup, |_| {})?;
    let mut world = connect::<N>(&plan)?;
    post_in_turn(&mut world, &[0, 1, 0, 0, 4097, 1, 1, 8192, 0, 1])?;
    all_succeeded(finish(setup, plan, world)?)
}

fn gibibyte<N: NicKind>(setup: &Setup) -> Result<Outcome<N>, WorldError> {
    const LENGTH: u32 = 1 << 30;
    let plan = mrc_plan(BACK_TO_BACK, setup, |_| {})?;
    let mut world = connect::<N>(&plan)?;
    let spec = RegionSpec {
        owner: Owner::Gpu,
        length: LENGTH.into(),
        page_size: PageSize::Size2M,
        skew: 4_099,
    };
    let buffers = (
        world.register(SENDER, spec)?,
        world.register(RECEIVER, spec)?,
    );
    world.post(write(buffers, FIRST_QP, 0, LENGTH))?;
    world.run_until(100 * US)?;
    let verified = verify(&world)?;
    require(
        verified.bytes > u64::from(setup.bytes(2 << 20)) && world.pending() == 1,
        || {
            format!(
                "{} bytes written, {} message(s) open",
                verified.bytes,
                world.pending()
            )
        },
    )?;
    Ok(Outcome {
        plan,
        world,
        verified,
    })
}

fn unaligned<N: NicKind>(setup: &Setup) -> Result<Outcome<N>, WorldError> {
    const STRIDE: u64 = 40_000;
    let messages = u64::from(48 / setup.shrink).max(12);
    let mut plan = mrc_plan(LEAF_SPINE, setup, |_| {})?;
    plan.qps = 4;
    let mut world = connect::<N>(&plan)?;
    let mut rng = rng(setup.seed);
    let mut regions = Vec::new();
    for host in [SENDER, RECEIVER] {
        for owner in [Owner::Host, Owner::Gpu] {
            regions.push(world.register(
                host,
                RegionSpec {
                    owner,
                    length: messages * STRIDE,
                    page_size: PageSize::Size4K,
                    skew: rng.random_range(0..4096),
                },
            )?);
        }
    }
    for index in 0..messages {
        let mut place = || index * STRIDE + rng.random_range(0..8_000);
        let (from, to) = (place(), place());
        world.post(Write {
            from: SENDER,
            to: RECEIVER,
            qp: FIRST_QP + (index % 4) as u32,
            local: (regions[rng.random_range(0..2)], from),
            remote: (regions[2 + rng.random_range(0..2)], to),
            length: rng.random_range(1..32_000),
            immediate: (index % 5 == 0).then_some(index as u32),
        })?;
    }
    let outcome = all_succeeded(finish(setup, plan, world)?)?;
    let received = outcome.world.host(RECEIVER).completions().iter();
    let immediates = received.filter(|done| done.cqe.opcode.is_receive()).count();
    require(immediates == messages.div_ceil(5) as usize, || {
        format!(
            "{immediates} immediates arrived, {} expected",
            messages.div_ceil(5)
        )
    })?;
    Ok(outcome)
}
