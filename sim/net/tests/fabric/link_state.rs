//! Links that go down and come back.

use sim_net::{DropReason, Fabric, HostId, LinkId, Time};

use crate::common::{leaf_spine, numbered, psns, run, topology, Sent, A, B};

fn cable(settings: &str) -> Fabric {
    let text = format!("[defaults]\nrate_gbps = 200\n{settings}\n[back_to_back]\nplanes = 2");
    Fabric::new(topology(&text), 1)
}

#[test]
fn a_link_that_goes_down_loses_what_it_carries_and_holds() {
    let mut fabric = cable("delay_ns = 100");
    // Frames start every 6.64 ns and arrive 106.16 ns after: at 50 ns eight have started, none has arrived.
    let (down, up) = (50_000, 80_000);
    fabric.schedule_link(LinkId(0), down, false).unwrap();
    fabric.schedule_link(LinkId(0), up, true).unwrap();
    numbered(&mut fabric, 20);
    for (psn, time) in [(100, down), (101, up - 1), (102, up), (103, up + 1)] {
        Sent {
            psn,
            payload: 64,
            ..Sent::new(A, B)
        }
        .send(&mut fabric, time);
    }
    fabric.advance_to(down, |delivery| panic!("{delivery:?}"));
    assert_eq!(fabric.is_up(LinkId(0)), Ok(false));
    assert_eq!(fabric.is_up(LinkId(1)), Ok(true));
    let deliveries = run(&mut fabric);
    assert_eq!(psns(&deliveries), [102, 103]);
    assert_eq!(deliveries[0].time, up + 154 * 40 + 100_000);
    assert_eq!(
        fabric
            .stats(LinkId(0).forward())
            .unwrap()
            .drops
            .of(DropReason::LinkDown),
        22
    );
    assert_eq!(fabric.totals().in_flight, 0);
}

#[test]
fn what_arrived_before_is_not_lost_inside_the_switch_behind() {
    let text = |latency| {
        format!(
            "
            hosts = [{{ name = 'a' }}, {{ name = 'c' }}]
            switches = [{{ name = 's', latency_ns = {latency} }}]
            links = [{{ name = 'a', ends = ['a', 's'] }}, {{ name = 'c', ends = ['s', 'c'] }}]
            defaults = {{ rate_gbps = 100 }}"
        )
    };
    let mut fabric = Fabric::new(topology(&text(1000)), 1);
    Sent::new(HostId(0), HostId(1)).send(&mut fabric, 0);
    // The last bit arrives after 1,086 bytes at 80 ps. The link goes down during the latency of the switch.
    fabric.schedule_link(LinkId(0), 200_000, false).unwrap();
    assert_eq!(run(&mut fabric).len(), 1);
}

#[test]
fn a_plane_dies_and_comes_back() {
    let text = "
        [defaults]
        rate_gbps = 200
        [leaf_spine]
        planes = 2
        leaves = 2
        spines = 2
        hosts_per_leaf = 1
        [[events]]
        at_us = 10
        plane = 1
        up = false
        [[events]]
        at_us = 20
        plane = 1
        up = true";
    let mut fabric = Fabric::new(topology(text), 1);
    for microsecond in 0..30u32 {
        for port in 0..2 {
            let sent = Sent {
                psn: microsecond,
                port,
                ..Sent::new(HostId(0), HostId(1))
            };
            sent.send(&mut fabric, u64::from(microsecond) * 1_000_000 + 1);
        }
    }
    let deliveries = run(&mut fabric);
    let of_port = |port| -> Vec<u32> {
        psns(
            &deliveries
                .iter()
                .filter(|d| d.port == port)
                .cloned()
                .collect::<Vec<_>>(),
        )
    };
    assert_eq!(of_port(0), (0..30).collect::<Vec<_>>());
    assert_eq!(of_port(1), (0..10).chain(20..30).collect::<Vec<_>>());
}

/// The link is behind the next switch, so the leaf learns of it through routing only.
#[test]
fn routing_converges_after_its_delay() {
    let dead_spine = |more: &str| {
        let more = format!("{more}\n[[events]]\nat_us = 0\nlink = 'p0.leaf1-spine0'\nup = false");
        let mut fabric = Fabric::new(leaf_spine(2, 1, &more), 3);
        for sport in 0..400u16 {
            // Half of the frames leave before 100 us, half after.
            let time: Time = 1_000_000 + 1_000_000 * Time::from(sport);
            Sent {
                sport,
                psn: sport.into(),
                ..Sent::new(HostId(0), HostId(1))
            }
            .send(&mut fabric, time);
        }
        let arrived = psns(&run(&mut fabric));
        let drops = fabric.totals().dropped;
        assert_eq!(drops.total(), drops.of(DropReason::NoRoute));
        (arrived, drops.total())
    };
    let (arrived, dropped) = dead_spine("");
    assert!((150..250).contains(&arrived.len()) && dropped as usize == 400 - arrived.len());
    let (arrived, dropped) = dead_spine("[fabric]\nreroute_ns = 100_000");
    assert!(
        (30..70).contains(&dropped),
        "{dropped} of about 100 before convergence took the dead way"
    );
    assert!((100..400).all(|psn| arrived.contains(&psn)));
}

#[test]
fn routing_may_converge_at_once_and_again() {
    let mut fabric = Fabric::new(leaf_spine(3, 1, "[fabric]\nreroute_ns = 0"), 3);
    for spine in 0..2 {
        let link = fabric
            .topology()
            .link(&format!("p0.leaf1-spine{spine}"))
            .unwrap();
        fabric.schedule_link(link, 0, false).unwrap();
        fabric.advance_to(0, |_| {});
    }
    for sport in 0..100 {
        Sent {
            sport,
            ..Sent::new(HostId(0), HostId(1))
        }
        .send(&mut fabric, 0);
    }
    assert_eq!(run(&mut fabric).len(), 100);
}

#[test]
fn a_leaf_cut_off_has_no_route() {
    let more = "[[events]]\nat_us = 0\nnode = 'p0.spine0'\nup = false\n[[events]]\nat_us = 0\nnode = 'p0.spine1'\nup = false";
    let mut fabric = Fabric::new(leaf_spine(2, 1, more), 3);
    Sent::new(HostId(0), HostId(1)).send(&mut fabric, 1);
    assert_eq!(run(&mut fabric), []);
    let leaf = fabric.topology().switch("p0.leaf0").unwrap();
    assert_eq!(
        fabric.switch_drops(leaf).unwrap().of(DropReason::NoRoute),
        1
    );
}
