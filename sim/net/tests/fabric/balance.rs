//! How switches choose among equal paths: what defines each balancer.

use sim_net::{Balancer, ChannelId, Fabric, HostId, Time, Topology};

use crate::common::{channels_from, leaf_spine, run, topology, Sent};

pub const US: Time = 1_000_000;

/// Four hosts at each of two leaves, `spines` spines.
pub fn fabric(spines: usize, balancer: &str, more: &str) -> Fabric {
    let more = format!("[fabric]\nbalancer = {{ {balancer} }}\n{more}");
    Fabric::new(leaf_spine(spines, 4, &more), 3)
}

/// Frame `number` of a flow from host 0 to host 4.
pub fn frame(number: u32) -> Sent {
    Sent {
        psn: number,
        ..Sent::new(HostId(0), HostId(4))
    }
}

fn uplinks(topology: &Topology) -> Vec<ChannelId> {
    channels_from(topology, "leaf0")
}

/// Frames per uplink of leaf 0 so far.
pub fn counts(fabric: &Fabric) -> Vec<u64> {
    let count = |channel| fabric.stats(channel).unwrap().sent_frames;
    uplinks(fabric.topology()).into_iter().map(count).collect()
}

/// Sends `frames` at the times that `time` gives; returns the uplink of each.
fn paths(fabric: &mut Fabric, frames: u32, time: impl Fn(u32) -> Time) -> Vec<usize> {
    let mut before = counts(fabric);
    let path = |number| {
        frame(number).send(fabric, time(number));
        // The frame is on its uplink when the next one comes.
        fabric.advance_to(time(number) + 500_000, |_| {});
        let now = counts(fabric);
        let path = before
            .iter()
            .zip(&now)
            .position(|(before, now)| before != now);
        before = now;
        path.expect("the frame left the leaf")
    };
    (0..frames).map(path).collect()
}

/// Chi-square of the numbers of `paths` against equal shares of 8; 24.3 is exceeded with probability 0.001.
fn chi_square(paths: &[usize]) -> f64 {
    let expected = paths.len() as f64 / 8.0;
    let count = |path| paths.iter().filter(|&&other| other == path).count() as f64;
    (0..8)
        .map(|path| (count(path) - expected).powi(2) / expected)
        .sum()
}

#[test]
fn ecmp_keeps_a_flow_on_its_path() {
    let mut fabric = fabric(8, "name = 'ecmp'", "");
    let paths = paths(&mut fabric, 50, |number| u64::from(number) * US);
    assert!(paths.iter().all(|&path| path == paths[0]));
}

#[test]
fn spraying_takes_every_path_alike() {
    let mut fabric = fabric(8, "name = 'spray'", "");
    let paths = paths(&mut fabric, 2000, |number| u64::from(number) * US);
    assert!(chi_square(&paths) < 24.3, "{paths:?}");
    let again = paths.windows(2).filter(|pair| pair[0] == pair[1]).count();
    assert!(
        (150..350).contains(&again),
        "{again} of 2,000 as the one before"
    );
}

/// Greatest depth of the uplinks' queues, when four hosts send at line rate over four uplinks.
fn greatest_depth(balancer: &str) -> u64 {
    let mut fabric = fabric(4, balancer, "");
    for host in 0..4 {
        for number in 0..500 {
            let sent = Sent {
                from: HostId(host),
                to: HostId(4 + host),
                sport: number as u16,
                ..frame(number)
            };
            sent.send(&mut fabric, 0);
        }
    }
    let delivered = run(&mut fabric).len();
    assert_eq!(delivered, 2000);
    let depth = |channel| fabric.stats(channel).unwrap().data.max_bytes;
    let depths = uplinks(fabric.topology()).into_iter().map(depth);
    depths.max().unwrap()
}

#[test]
fn the_shortest_queue_stays_short_and_two_samples_come_near_it() {
    let length = frame(0).roce(&leaf_spine(2, 4, "")).emit().unwrap().len() as u64;
    let adaptive = greatest_depth("name = 'adaptive'");
    let drill = greatest_depth("name = 'drill'");
    let spray = greatest_depth("name = 'spray'");
    let ecmp = greatest_depth("name = 'ecmp'");
    // Four frames come at a time and four leave.
    assert!(adaptive <= length, "adaptive {adaptive}, a frame {length}");
    assert!(drill <= 6 * length, "DRILL(2, 1) {drill}");
    assert!(spray > 4 * drill && ecmp > 4 * drill, "{spray}, {ecmp}");
}

#[test]
fn adaptive_routing_loads_a_slow_uplink_by_its_rate() {
    let slow = "[[overrides]]\nlink = 'p0.leaf0-spine0'\nset = { rate_gbps = 50 }";
    let mut fabric = fabric(4, "name = 'adaptive'", slow);
    for host in 0..4 {
        for number in 0..500 {
            let sent = Sent {
                from: HostId(host),
                to: HostId(4 + host),
                ..frame(number)
            };
            sent.send(&mut fabric, 0);
        }
    }
    run(&mut fabric);
    let counts = counts(&fabric);
    // While frames come at 800 Gb/s, 650 leave, 50 of them here: 125 frames. Then the queues are equal, each with a quarter of the 375 that wait.
    assert!((210..230).contains(&counts[0]), "{counts:?}");
}

#[test]
fn letflow_moves_a_flow_only_after_the_gap() {
    let mut fabric = fabric(8, "name = 'let-flow', gap_us = 10", "");
    // Bursts of ten frames, 10 us apart within a burst, 10.001 us between bursts.
    let time = |number: u32| {
        let (burst, frame) = (u64::from(number / 10), u64::from(number % 10));
        burst * (9 * 10 * US + 10_001_000) + frame * 10 * US
    };
    let paths = paths(&mut fabric, 8000, time);
    let mut bursts = Vec::new();
    for burst in paths.chunks(10) {
        assert!(burst.iter().all(|&path| path == burst[0]), "{burst:?}");
        bursts.push(burst[0]);
    }
    assert!(chi_square(&bursts) < 24.3);
    let same = bursts.windows(2).filter(|pair| pair[0] == pair[1]).count();
    assert!((60..150).contains(&same), "{same} of 800 as the one before");
}

/// Share of the packets of eight flows over the spine whose channel to the other leaf has a quarter of the rate. The leaf that chooses sees only its own uplinks,
/// which are alike. With `answers`, packets go back.
fn share_over_slow_spine(balancer: &str, answers: bool) -> f64 {
    let slow = "[[overrides]]\nlink = 'p0.leaf1-spine1'\nset = { rate_gbps = 50 }";
    let mut fabric = fabric(2, balancer, slow);
    for burst in 0..200u64 {
        let start = burst * 20 * US;
        for number in 0..20 {
            let sent = Sent {
                payload: 4000,
                sport: burst as u16 % 8,
                ..frame(number)
            };
            sent.send(&mut fabric, start);
        }
        for answer in 0..4 {
            let sent = Sent {
                payload: 8,
                ..Sent::new(HostId(4), HostId(0))
            };
            if answers {
                sent.send(&mut fabric, start + answer * 5 * US);
            }
        }
    }
    run(&mut fabric);
    let counts = counts(&fabric);
    counts[1] as f64 / (counts[0] + counts[1]) as f64
}

#[test]
fn conga_learns_from_the_other_leaf_which_path_is_congested() {
    let conga = "name = 'conga', gap_us = 5, period_us = 10";
    let informed = share_over_slow_spine(conga, true);
    assert!(informed < 0.15, "{informed}");
    let alone = share_over_slow_spine(conga, false);
    assert!((0.35..0.65).contains(&alone), "{alone}");
    let random = share_over_slow_spine("name = 'let-flow', gap_us = 5", true);
    assert!((0.35..0.65).contains(&random), "{random}");
}

/// Share of 2,000 new flows over an idle fabric that take the first or the last of eight uplinks.
fn share_of_outer_uplinks(balancer: &str) -> f64 {
    let mut fabric = fabric(8, balancer, "");
    for number in 0..2_000 {
        let sent = Sent {
            sport: number as u16,
            ..frame(number)
        };
        sent.send(&mut fabric, u64::from(number) * 100 * US);
    }
    run(&mut fabric);
    let counts = counts(&fabric);
    (counts[0] + counts[7]) as f64 / 2_000.0
}

#[test]
fn conga_may_look_at_some_uplinks_only() {
    let all = share_of_outer_uplinks("name = 'conga'");
    assert!((0.21..0.29).contains(&all), "{all}");
    // Each of the two is in one of five groups of four.
    let some = share_of_outer_uplinks("name = 'conga', uplinks = 4");
    assert!((0.075..0.125).contains(&some), "{some}");
    let eight = share_of_outer_uplinks("name = 'conga', uplinks = 8");
    assert!((0.21..0.29).contains(&eight), "{eight}");
    let more = share_of_outer_uplinks("name = 'conga', uplinks = 9");
    assert!((0.21..0.29).contains(&more), "{more}");
}

#[test]
fn every_balancer_avoids_a_link_that_is_down_and_gives_the_same_run_twice() {
    for balancer in [
        "ecmp", "spray", "adaptive", "let-flow", "conga", "conweave", "drill",
    ] {
        let down = "[[events]]\nat_us = 0\nlink = 'p0.leaf0-spine2'\nup = false";
        let once = || {
            let mut fabric = fabric(4, &format!("name = '{balancer}'"), down);
            for number in 0..400 {
                let sent = Sent {
                    sport: number as u16 % 37,
                    ..frame(number)
                };
                sent.send(&mut fabric, 1 + u64::from(number) * US / 2);
            }
            let times: Vec<Time> = run(&mut fabric).iter().map(|got| got.time).collect();
            (times, counts(&fabric))
        };
        let (times, counts) = once();
        assert_eq!(times.len(), 400, "{balancer}");
        assert_eq!(counts[2], 0, "{balancer}");
        assert_eq!(once(), (times, counts), "{balancer}");
    }
}

#[test]
fn parameters_are_checked() {
    let refused = |balancer: &str| {
        let text = format!(
            "[fabric]\nbalancer = {{ {balancer} }}\n[defaults]\nrate_gbps = 1\n[back_to_back]\nplanes = 1"
        );
        Topology::from_toml("f", &text).unwrap_err().to_string()
    };
    assert_eq!(
        refused("name = 'let-flow', gap_us = 0"),
        "f: fabric.balancer.gap_us: 0 is outside its range: give above 0, up to 1e9 us"
    );
    assert_eq!(
        refused("name = 'drill', samples = 0"),
        "f: fabric.balancer.samples: 0 is outside its range: give 1 to 64"
    );
    assert_eq!(
        refused("name = 'conga', alpha = 1"),
        "f: fabric.balancer.alpha: 1 is outside its range: give between 0 and 1"
    );
    assert_eq!(
        refused("name = 'conga', uplinks = 0"),
        "f: fabric.balancer.uplinks: 0 is outside its range: give 1 or more"
    );
    assert_eq!(
        refused("name = 'conweave', slack_us = 0"),
        "f: fabric.balancer.slack_us: 0 is outside its range: give above 0, up to 1e9 us"
    );
    assert!(refused("name = 'none'").contains("unknown variant"));
    assert!(refused("name = 'spray', gap_us = 1").contains("unknown field"));
    let two = topology("[defaults]\nrate_gbps = 1\n[back_to_back]\nplanes = 1");
    let gap_us = f64::NAN;
    assert!(two.with_balancer(Balancer::LetFlow { gap_us }).is_err());
    let read = |text: &str| text.parse::<Balancer>();
    for name in [
        "ecmp", "spray", "adaptive", "let-flow", "conga", "conweave", "drill",
    ] {
        assert_eq!(read(name).unwrap().name(), name);
    }
    let drill = Balancer::Drill {
        samples: 4,
        remembered: 1,
    };
    assert_eq!(read("drill,samples=4"), Ok(drill));
    assert!(read("drill,samples=0")
        .unwrap_err()
        .contains("give 1 to 64"));
    assert!(read("drill,paths=3").unwrap_err().contains("unknown field"));
    assert!(read("drill,samples").unwrap_err().contains("gap_us=50"));
}
