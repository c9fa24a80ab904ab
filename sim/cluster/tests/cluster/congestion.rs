//! DCQCN: the rate in steps that are computed by hand, and clusters with it.

use sim_cluster::workload::{incast, permutation, Flow, Start, Workload};
use sim_cluster::{
    Baseline, Cluster, ClusterError, Congestion, Dcqcn, DcqcnParams, QueuePairs, Record, Settings,
    Transport,
};
use sim_net::{HostId, Time, Topology};
use stellar_transport::spray::Policy;
use stellar_transport::time::Ticks;

use crate::common::{clos, run, run_both, topology};

const MS: Time = 1_000_000_000;

fn at(us: u32) -> Ticks {
    Ticks::from_us(us)
}

/// Rate and target in Mb/s.
fn state(dcqcn: &Dcqcn) -> (f64, f64) {
    (dcqcn.rate(), dcqcn.target())
}

/// The rate after `us` microseconds.
fn rate(dcqcn: &mut Dcqcn, us: u32) -> f64 {
    dcqcn.on_time(at(us));
    dcqcn.rate()
}

#[test]
fn the_papers_rate_takes_the_steps_of_its_formulas() {
    let mut dcqcn = Dcqcn::new(DcqcnParams::paper(40));
    // Nothing happens before the first mark.
    dcqcn.on_sent(20_000_000);
    assert_eq!(rate(&mut dcqcn, 5_000), 40_000.0);
    assert!(!dcqcn.is_limited());
    let mut dcqcn = Dcqcn::new(DcqcnParams::paper(40));
    // Alpha begins at 1, so the first mark takes half. For 50 us no other one counts.
    dcqcn.on_mark(at(0));
    assert_eq!(state(&dcqcn), (20_000.0, 40_000.0));
    dcqcn.on_mark(at(49));
    assert_eq!(state(&dcqcn), (20_000.0, 40_000.0));
    dcqcn.on_mark(at(50));
    assert_eq!(state(&dcqcn), (10_000.0, 20_000.0));
    assert_eq!(rate(&mut dcqcn, 104), 10_000.0);
    // Every 55 us from then on: alpha is 255/256 of what it was, and five times half of the distance to the target goes.
    let raised = [105, 160, 215, 270, 325].map(|us| rate(&mut dcqcn, us));
    assert_eq!(raised, [15_000.0, 17_500.0, 18_750.0, 19_375.0, 19_687.5]);
    assert_eq!(dcqcn.alpha(), (255.0_f64 / 256.0).powi(5));
    // The sixth and the seventh add 40 to the target.
    assert_eq!(rate(&mut dcqcn, 380), (19_687.5 + 20_040.0) / 2.0);
    assert_eq!(
        rate(&mut dcqcn, 435),
        ((19_687.5 + 20_040.0) / 2.0 + 20_080.0) / 2.0
    );
    // So do the first six by bytes, because there were more than five by time.
    for raise in 1..=6 {
        dcqcn.on_sent(9_999_999);
        assert_eq!(dcqcn.target(), 20_080.0 + 40.0 * f64::from(raise - 1));
        dcqcn.on_sent(1);
        assert_eq!(dcqcn.target(), 20_080.0 + 40.0 * f64::from(raise));
    }
    // Now more than five raises of both kinds have been.
    dcqcn.on_sent(10_000_000);
    assert_eq!(dcqcn.target(), 20_320.0 + 400.0);
    // Another mark: the target is the rate, and the rate is less by half of alpha, which has fallen seven times. Then alpha rises.
    let before = rate(&mut dcqcn, 436);
    let alpha = (255.0_f64 / 256.0).powi(7);
    assert_eq!(dcqcn.alpha(), alpha);
    dcqcn.on_mark(at(436));
    assert_eq!(state(&dcqcn), (before * (1.0 - alpha / 2.0), before));
    assert_eq!(dcqcn.alpha(), alpha + (1.0 - alpha) / 256.0);
}

#[test]
fn the_simulators_rate_keeps_its_target_until_it_was_raised() {
    let mut dcqcn = Dcqcn::new(DcqcnParams::conweave(100));
    dcqcn.on_mark(at(0));
    assert_eq!(state(&dcqcn), (50_000.0, 100_000.0));
    // Alpha falls every microsecond, and the next mark counts after 4 us.
    dcqcn.on_mark(at(4));
    let alpha = (255.0_f64 / 256.0).powi(4);
    let lowered = 50_000.0 * (1.0 - alpha / 2.0);
    assert_eq!(state(&dcqcn), (lowered, 100_000.0));
    // Alpha rises once in a microsecond.
    let risen = alpha + (1.0 - alpha) / 256.0;
    dcqcn.on_mark(at(4));
    assert_eq!(dcqcn.alpha(), risen);
    assert_eq!(rate(&mut dcqcn, 303), lowered);
    let raised = (lowered + 100_000.0) / 2.0;
    assert_eq!(rate(&mut dcqcn, 304), raised);
    // It was raised, so the target is the rate now. One fast raise, then 40, then 100 at a time.
    dcqcn.on_mark(at(305));
    assert_eq!(dcqcn.target(), raised);
    let targets = [604, 605, 905, 1_205, 1_505].map(|us| {
        dcqcn.on_time(at(us));
        dcqcn.target() - raised
    });
    assert_eq!(targets, [0.0, 0.0, 40.0, 140.0, 240.0]);
    // Marks without end do not stop a flow, and without marks it is back at the line in the end.
    for us in 1_505..3_000 {
        dcqcn.on_mark(at(us));
    }
    assert_eq!(dcqcn.rate(), 100.0);
    assert_eq!(rate(&mut dcqcn, 4_000_000), 100_000.0);
    assert!(!dcqcn.is_limited());
}

/// Settings of flows as IRN has them: one path, and losses are found early.
fn irn(congestion: Congestion) -> Settings {
    Settings {
        congestion,
        policy: Policy::SinglePath.into(),
        paths: 1,
        early_loss: 128,
        limit: 100 * MS,
        ..Settings::default()
    }
}

const BOTH: [Congestion; 2] = [Congestion::Dcqcn, Congestion::DcqcnPaper];

fn flow(src: u32, dst: u32, bytes: u64, start: Time) -> Flow {
    Flow {
        id: 1,
        src: HostId(src),
        dst: HostId(dst),
        bytes,
        start: Start::At(start),
        on_sent: None,
        on_received: None,
    }
}

fn workload(flows: Vec<Flow>) -> Workload {
    Workload {
        flows,
        ..Workload::default()
    }
}

#[test]
fn a_flow_alone_keeps_the_rate_of_its_line() {
    let topology = clos(1, 2, "");
    let flows = workload(vec![flow(0, 2, 20_000_000, 0)]);
    let [nscc, rest @ ..] = [Congestion::Nscc, BOTH[0], BOTH[1]].map(|congestion| {
        let report = run::<Record>(&topology, &flows, &irn(congestion));
        assert_eq!(report.packets.marked, 0);
        report.flows.fct_us.max
    });
    for fct in rest {
        assert!((0.99..1.01).contains(&(fct / nscc)), "{fct} {nscc}");
    }
}

/// Three leaves with one host each under one spine, 100 Gb/s, with the marks of ConWeave's scripts.
fn three_leaves() -> Topology {
    topology(
        "
        [fabric]
        switch_latency_ns = 500
        ecn_at_last_hop = true
        [defaults]
        rate_gbps = 100
        delay_ns = 625
        queue_bytes = 4_000_000
        ecn = { min_bytes = 100_000, max_bytes = 400_000, max_probability = 0.2 }
        [leaf_spine]
        planes = 1
        leaves = 3
        spines = 1
        hosts_per_leaf = 1
        ",
    )
}

#[test]
fn a_flow_that_comes_later_gets_its_share() {
    let topology = three_leaves();
    for congestion in BOTH {
        let flows = workload(vec![
            flow(0, 2, 1_000_000_000, 0),
            flow(1, 2, 1_000_000_000, MS),
        ]);
        let mut cluster = Cluster::<Record>::new(topology.clone(), flows, irn(congestion)).unwrap();
        let mut sent = [[0.0_f64; 2]; 2];
        for (until, sent) in [15 * MS, 30 * MS].into_iter().zip(&mut sent) {
            cluster.run_until(until).unwrap();
            let report = cluster.report(None);
            *sent = [0, 1].map(|leaf| report.uplink_bytes[leaf] as f64);
        }
        let shares = [0, 1].map(|leaf| sent[1][leaf] - sent[0][leaf]);
        let sum = shares[0] + shares[1];
        let jain = sum * sum / (2.0 * (shares[0].powi(2) + shares[1].powi(2)));
        let use_of_line = sum * 8.0 / (100e9 * 15e-3);
        assert!(jain >= 0.95, "{congestion:?}: {shares:?}");
        assert!(use_of_line > 0.8, "{congestion:?}: {use_of_line}");
    }
}

#[test]
fn only_what_was_lost_is_sent_again() {
    // Without marks the windows of eight flows overflow a queue that holds one of them.
    let topology = clos(1, 8, "");
    let flows = incast(&topology, 8, 2_000_000, 1).unwrap();
    let report = run_both(&topology, &flows, &irn(Congestion::Dcqcn));
    let packets = report.packets;
    assert_eq!(report.flows.finished, 8);
    assert!(packets.dropped.total() > 100, "{packets:?}");
    // What a packet that is sent again loses counts as lost, too. Now and then a timeout is too early.
    let spurious = packets.retransmitted - packets.dropped.total();
    assert!(spurious * 100 <= packets.dropped.total(), "{packets:?}");
    let rc = Settings {
        transport: Transport::Rc,
        ..Settings::default()
    };
    let rc = run::<Record>(&topology, &flows, &rc).packets;
    // RC goes back, and sends again what had arrived.
    assert!(rc.retransmitted * 10 > rc.dropped.total() * 11, "{rc:?}");
}

#[test]
fn records_and_bytes_are_the_same_run_with_every_policy() {
    let marks = "ecn = { min_bytes = 20_000, max_bytes = 60_000, max_probability = 0.8 }";
    let topology = clos(
        2,
        4,
        &[0, 1]
            .map(|plane| {
                format!("[[overrides]]\nplane = {plane}\nset = {{ {marks}, loss = 0.001 }}\n")
            })
            .concat(),
    );
    let flows = permutation(&topology, None, 400_000, 3).unwrap();
    for policy in [
        Policy::SinglePath,
        Policy::Obs,
        Policy::FlowBender,
        Policy::Hopper,
        Policy::Hp3,
    ] {
        let settings = Settings {
            policy: policy.into(),
            paths: if policy == Policy::SinglePath { 1 } else { 8 },
            queue_pairs: QueuePairs::PerPair,
            ..irn(Congestion::Dcqcn)
        };
        let report = run_both(&topology, &flows, &settings);
        assert_eq!(report.flows.finished, 8, "{policy:?}");
        assert!(report.packets.marked > 0, "{policy:?}");
    }
}

#[test]
fn what_has_a_window_of_its_own_is_refused() {
    let refused = |settings: Settings| {
        let topology = clos(1, 2, "");
        let flows = workload(vec![flow(0, 2, 1, 0)]);
        let cluster = Cluster::<Record>::new(topology, flows, settings);
        cluster.err().expect("an error")
    };
    let error = refused(Settings {
        transport: Transport::Rc,
        ..irn(Congestion::Dcqcn)
    });
    assert!(matches!(error, ClusterError::CongestionOfRc), "{error}");
    let error = refused(Settings {
        policy: sim_cluster::ClusterPolicy::Baseline(Baseline::MpRdma),
        paths: 8,
        ..irn(Congestion::Dcqcn)
    });
    assert!(error.to_string().contains("mp-rdma"), "{error}");
}
