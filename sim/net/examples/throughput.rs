//! How fast the model is: a permutation on a leaf-spine fabric, every frame on its own path.
//!
//! `cargo run -p sim-net --example throughput [frames per host]`

use std::time::Instant;

use sim_net::{Fabric, Frame, HostId, Time, Topology};
use stellar_wire::mrc::Meth;
use stellar_wire::{Ecn, Ethernet, ExtHeaders, Ip, Ipv4, Opcode, Reth, RoceFrame, Udp};

const TOPOLOGY: &str = "
    [fabric]
    switch_latency_ns = 500
    [defaults]
    rate_gbps = 200
    delay_ns = 500
    ecn = { min_bytes = 100_000, max_bytes = 400_000, max_probability = 0.2 }
    [leaf_spine]
    planes = 1
    leaves = 2
    spines = 60
    hosts_per_leaf = 60
";

fn frame(topology: &Topology, from: usize, to: usize, sport: u16) -> Vec<u8> {
    let port = |host: usize| &topology.hosts()[host].ports[0];
    let frame = RoceFrame {
        eth: Ethernet {
            dst: port(to).mac,
            src: port(from).mac,
            ethertype: 0,
        },
        ip: Ip::V4(Ipv4 {
            src: port(from).ipv4,
            dst: port(to).ipv4,
            ecn: Ecn::Ect0,
            ..Ipv4::default()
        }),
        udp: Udp {
            sport,
            ..Udp::default()
        },
        bth: stellar_wire::Bth {
            opcode: Opcode::MrcWriteOnly,
            ..Default::default()
        },
        ext: ExtHeaders {
            meth: Some(Meth::default()),
            reth: Some(Reth::default()),
            ..Default::default()
        },
        payload: vec![0; 4096],
        ..RoceFrame::default()
    };
    frame.emit().expect("a well-formed frame")
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let per_host: u64 = match std::env::args().nth(1) {
        Some(count) => count.parse()?,
        None => 2_000,
    };
    for elided in [false, true] {
        let topology = Topology::from_toml("throughput example", TOPOLOGY)?;
        let hosts = topology.hosts().len();
        // The 128 paths of a host differ in the UDP source port. The peer is at the other leaf.
        let frames: Vec<Vec<Vec<u8>>> = (0..hosts)
            .map(|host| {
                (0..128)
                    .map(|path| frame(&topology, host, (host + hosts / 2) % hosts, 0xc000 + path))
                    .collect()
            })
            .collect();
        let mut fabric = Fabric::new(topology, 1);
        let started = Instant::now();
        let mut delivered = 0u64;
        for round in 0..per_host {
            let mut time = 0;
            for (host, paths) in (0..).zip(&frames) {
                let bytes = &paths[round as usize % paths.len()];
                let frame = if elided {
                    Frame::elided(&bytes[..128], bytes.len())
                } else {
                    Frame::from(bytes.as_slice())
                };
                let free = fabric.free_at(HostId(host), 0)?;
                time = time.max(free);
                fabric.send(HostId(host), 0, free, frame)?;
            }
            fabric.advance_to(time, |_| delivered += 1);
        }
        fabric.advance_to(Time::MAX, |_| delivered += 1);
        let wall = started.elapsed().as_secs_f64();
        let totals = fabric.totals();
        let hops: u64 = fabric
            .topology()
            .channels()
            .map(|channel| fabric.stats(channel).map(|stats| stats.sent_frames))
            .sum::<Result<u64, _>>()?;
        println!(
            "{}: {} frames sent, {delivered} delivered, {} dropped, {} us simulated, {wall:.2} s: {:.2} M packet-hops/s",
            if elided { "payload elided" } else { "whole frames" },
            totals.sent,
            totals.dropped.total(),
            fabric.now() / 1_000_000,
            hops as f64 / wall / 1e6,
        );
    }
    Ok(())
}
