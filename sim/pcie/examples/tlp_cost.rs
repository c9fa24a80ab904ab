//! Measures what a TLP costs the simulator: two endpoints at 200 Gb/s each, clock by clock, as a card's model drives them.
//!
//! `cargo run -p sim-pcie --example tlp_cost` measures with the optimisation of the tests; `--release` with that of a release.

use std::time::{Duration, Instant};

use sim_pcie::iommu::Permission;
use sim_pcie::*;

/// A card's clock of 250 MHz.
const CLOCK_PS: Picoseconds = 4000;
/// TLPs of each measurement.
const TLPS: u64 = 400_000;
/// Measurements of each kind; the fastest counts, because the others shared the processor with something.
const REPEATS: usize = 5;
const NICS: [Bdf; 2] = [Bdf::from_id(0x1700), Bdf::from_id(0x1800)];
const BAR: Window = Window {
    base: 0x20_0000_0000,
    size: 1 << 30,
};
/// Bytes that the traffic goes round in.
const SPAN: u64 = 1 << 24;

#[derive(Clone, Copy)]
enum Kind {
    HostWrite,
    GpuWrite,
    HostRead,
}

fn fabric() -> Fabric {
    let mut builder = FabricBuilder::new()
        .switch(SwitchConfig::new(Bdf::from_id(0x1600)))
        .gpu(GpuConfig::new(Bdf::from_id(0x1900), BAR))
        .host_memory(0, 1 << 30);
    for nic in NICS {
        builder = builder.nic(NicConfig {
            ats: true,
            acs: AcsConfig {
                request_redirect: true,
                direct_translated: true,
                ..AcsConfig::default()
            },
            ..NicConfig::new(nic)
        });
    }
    let mut fabric = builder.build().expect("the configuration is valid");
    let iommu = fabric.iommu_mut();
    let domain = iommu.create_domain();
    for nic in NICS {
        iommu.attach(nic, domain).expect("the domain exists");
    }
    iommu
        .map_range(domain, 0x40_0000_0000, 0, SPAN, Permission::READ_WRITE)
        .expect("nothing is mapped there");
    fabric
}

fn tlp(kind: Kind, nic: usize, n: u64) -> Tlp {
    let bytes = [n as u8; 256];
    let (host, gpu) = (AddressType::Untranslated, AddressType::Translated);
    let at = n * 256 % SPAN;
    let made = match kind {
        Kind::HostWrite => {
            MemWrite::of_bytes(NICS[nic], 0x40_0000_0000 + at, host, &bytes).map(Tlp::Write)
        }
        Kind::GpuWrite => MemWrite::of_bytes(NICS[nic], BAR.base + at, gpu, &bytes).map(Tlp::Write),
        Kind::HostRead => {
            let tag = (n / 2 % 256) as u16;
            MemRead::of_bytes(NICS[nic], tag, 0x40_0000_0000 + at, host, 256).map(Tlp::Read)
        }
    };
    made.expect("256 aligned bytes make one TLP")
}

/// Time of all TLPs; both endpoints offer 256 bytes whenever 200 Gb/s allow it.
fn run(kind: Kind) -> Duration {
    let mut fabric = fabric();
    let mut credit = [0; 2];
    let (mut sent, mut now) = (0, 0);
    let begin = Instant::now();
    while sent < TLPS {
        for (nic, credit) in credit.iter_mut().enumerate() {
            let port = PortId(nic);
            *credit = (*credit + 800).min(8 * 512);
            let tlp = tlp(kind, nic, sent);
            if *credit >= 8 * 256 && fabric.ready(now, port, tlp.class()).expect("port exists") {
                *credit -= 8 * 256;
                fabric.submit(now, port, tlp).expect("it is ready");
                sent += 1;
            }
            while let Some(received) = fabric.take_received(port).expect("port exists") {
                std::hint::black_box(received);
            }
        }
        now += CLOCK_PS;
    }
    fabric.run_until_idle();
    assert_eq!(fabric.counters().refusals().count(), 0);
    begin.elapsed()
}

/// Time to make the TLPs and drop them again, which is not the fabric's.
fn without_fabric(kind: Kind) -> Duration {
    let begin = Instant::now();
    for n in 0..TLPS {
        std::hint::black_box(tlp(kind, (n % 2) as usize, n));
    }
    begin.elapsed()
}

fn fastest(measure: impl Fn() -> Duration) -> f64 {
    let all = (0..REPEATS).map(|_| measure().as_secs_f64());
    all.fold(f64::INFINITY, f64::min) * 1e9 / TLPS as f64
}

fn main() {
    for (name, kind) in [
        ("write to host memory", Kind::HostWrite),
        ("write to a GPU", Kind::GpuWrite),
        ("read of host memory", Kind::HostRead),
    ] {
        let (whole, made) = (fastest(|| run(kind)), fastest(|| without_fabric(kind)));
        println!(
            "{name}: {:.0} ns per TLP of 256 bytes, and {made:.0} ns to make it",
            whole - made
        );
    }
}
