//! Queues compared with queueing theory.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sim_net::{Fabric, Frame, HostId};

use crate::common::{bottleneck, run, star, topology, Sent, A, B, C};

/// M/D/1: Poisson arrivals of frames of one length. The mean number waiting is rho^2 / (2 (1 - rho)) (Pollaczek and
/// Khinchine with no variance of service).
#[test]
fn poisson_arrivals_wait_as_in_m_d_1() {
    const LEN: usize = 1000;
    let service = (LEN as u64 + 24) * 40;
    for (rho, tolerance) in [(0.5, 0.04), (0.8, 0.06)] {
        let mut fabric = Fabric::new(
            topology("[defaults]\nrate_gbps = 200\n[back_to_back]\nplanes = 1"),
            1,
        );
        let mut rng = ChaCha8Rng::seed_from_u64(17);
        let frame = Frame::elided(vec![0; 14], LEN);
        let mut time = 0.0;
        for _ in 0..200_000 {
            time += -(1.0 - rng.random::<f64>()).ln() * service as f64 / rho;
            fabric
                .send(HostId(0), 0, time as u64, frame.clone())
                .unwrap();
        }
        fabric.advance_to(time as u64, |_| {});
        let link = fabric.topology().link("p0").unwrap();
        let stats = fabric.stats(link.forward()).unwrap();
        let waiting = stats.data.mean_bytes(fabric.now()) / LEN as f64;
        let expected = rho * rho / (2.0 * (1.0 - rho));
        assert!(
            (waiting / expected - 1.0).abs() < tolerance,
            "rho {rho}: {waiting:.4} waiting, expected {expected:.4}"
        );
    }
}

/// Two senders at line rate share a line of the same rate: half each, and the line is never idle.
#[test]
fn an_incast_fills_the_line() {
    let mut fabric = Fabric::new(star("queue_bytes = 20_000"), 1);
    let count = 2000;
    for _ in 0..count {
        for from in [A, B] {
            Sent::new(from, C).send(&mut fabric, 0);
        }
    }
    let channel = bottleneck(fabric.topology());
    let deliveries = run(&mut fabric);
    let len = deliveries[0].frame.len() as u64;
    let span = deliveries.last().unwrap().time - deliveries[0].time;
    assert_eq!(span, (deliveries.len() as u64 - 1) * (len + 24) * 80);
    // Everything sent in `count` frame times, plus what was left in the queue.
    let queued = 20_000 / len;
    assert_eq!(deliveries.len() as u64, count + queued);
    assert_eq!(fabric.stats(channel).unwrap().drops.total(), count - queued);
}

/// In a permutation across a non-blocking fabric in which every flow has a spine of its own, no frame waits.
#[test]
fn a_placed_permutation_meets_no_queue() {
    const HOSTS: u32 = 8;
    let mut fabric = Fabric::new(
        crate::common::leaf_spine(HOSTS as usize, HOSTS as usize, ""),
        1,
    );
    for host in 0..HOSTS {
        let (from, to) = (HostId(host), HostId(HOSTS + (host + 3) % HOSTS));
        let spine = fabric
            .topology()
            .switch(&format!("p0.spine{host}"))
            .unwrap();
        let path = fabric.topology().usid_path(&[spine], to, 0).unwrap();
        let srv6 = Some(stellar_wire::Srv6Encap {
            path,
            ..Default::default()
        });
        for _ in 0..100 {
            Sent {
                srv6,
                ..Sent::new(from, to)
            }
            .send(&mut fabric, 0);
        }
    }
    assert_eq!(run(&mut fabric).len(), 100 * HOSTS as usize);
    for link in ["leaf0-spine2", "leaf1-spine5", "h12-leaf1"] {
        let link = fabric.topology().link(&format!("p0.{link}")).unwrap();
        for channel in link.channels() {
            let stats = fabric.stats(channel).unwrap();
            assert!(stats.sent_frames == 100 || stats.sent_frames == 0);
            assert!(
                stats.data.max_bytes <= 1_200,
                "at most the one that waits for a tie"
            );
        }
    }
}
