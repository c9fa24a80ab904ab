//! `./stellar bench registration`: the cost of registering memory with a Verilated card.

mod by_registers;
mod counting;

use std::sync::Arc;
use std::time::Duration;

use sim_nic::{LoneCard, PcieSettings};
use stellar_driver::{
    AccessFlags, DeviceConfig, Error, MemoryRegion, PageSize, Pages, PciFunction, PortAddress,
    Probe, ProtectionDomain,
};

use super::Row;
use crate::pcie_options::PcieOptions;
use crate::progress;
use crate::simulation::SimulationOptions;
use counting::{Accesses, Counting};

#[derive(clap::Args)]
pub struct Arguments {
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
    /// Registers a 64th of the memory, for a quick look
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    pcie: PcieOptions,
    #[command(flatten)]
    simulation: SimulationOptions,
}

/// Memory of one size in pages of one size. The memory itself does not exist: registering touches only the card's tables.
struct Case {
    name: &'static str,
    page: PageSize,
    pages: u64,
}

/// The second case fills the table of translations.
const CASES: [Case; 3] = [
    Case {
        name: "1 GiB in pages of 4 KiB",
        page: PageSize::Size4K,
        pages: 1 << 18,
    },
    TERABYTE,
    Case {
        name: "1 TiB in pages of 1 GiB",
        page: PageSize::Size1G,
        pages: 1 << 10,
    },
];
const TERABYTE: Case = Case {
    name: "1 TiB in pages of 2 MiB",
    page: PageSize::Size2M,
    pages: 1 << 19,
};

/// Number of translations to write through registers, for comparison. Each takes the same time, and a whole terabyte would take minutes to simulate.
const ONE_BY_ONE: u64 = 4096;

/// Final address of the first page, and of the region.
const FIRST: u64 = 1 << 40;

/// A card after bring-up.
struct Bench {
    function: Arc<Counting>,
    domain: ProtectionDomain,
}

impl Bench {
    fn new(pcie: &PcieSettings) -> anyhow::Result<Self> {
        let card = progress::building("the card", || LoneCard::with_pcie(pcie))?;
        let function = Arc::new(Counting::new(card.function(0)));
        let ports = [0, 1].map(|plane| PortAddress {
            mac: [2, 0, 0, plane, 0, 1],
            ip: [10, plane, 0, 1].into(),
        });
        let probe = Probe::new(Arc::clone(&function) as Arc<dyn PciFunction>)?;
        let device = probe.bring_up(DeviceConfig::new(ports, 1))?;
        Ok(Self {
            function,
            domain: device.open()?.alloc_pd()?,
        })
    }

    /// Accesses to the card, and the time on its clock.
    fn measure<T>(&self, what: impl FnOnce() -> T) -> (T, Accesses, Duration) {
        let (before, began) = (self.function.accesses(), self.function.now());
        let done = what();
        let (after, ended) = (self.function.accesses(), self.function.now());
        (done, after.since(before), ended - began)
    }

    fn register(&self, case: &Case, pages: u64) -> Result<MemoryRegion, Error> {
        let pages = Pages {
            size: case.page,
            addresses: (0..pages).map(|n| FIRST + n * case.page.bytes()).collect(),
            base: FIRST,
            device: 1,
        };
        // SAFETY: nobody has the region's key, so neither the card nor a peer touches these pages.
        unsafe {
            self.domain
                .register_translated(pages, AccessFlags::default())
        }
    }

    /// The rows of a case, of which only one part in `share` is registered.
    fn rows(&self, case: &Case, share: u64) -> anyhow::Result<Vec<Row>> {
        let pages = case.pages / share;
        let name = match share {
            1 => case.name.to_owned(),
            share => format!("1/{share} of {}", case.name),
        };
        let (region, registered, took) = self.measure(|| self.register(case, pages));
        let region = region?;
        anyhow::ensure!(
            region.length() == pages * case.page.bytes(),
            "the region has {:#x} bytes",
            region.length()
        );
        let (gone, deregistered, to_take_away) = self.measure(|| region.deregister());
        gone?;
        let translations = format!("{name}: translations");
        let mut rows = vec![Row::new(translations, pages as f64, "", None)];
        for (verb, accesses, time) in [
            ("register", registered, took),
            ("deregister", deregistered, to_take_away),
        ] {
            rows.extend(costs(&format!("{name}: {verb}"), accesses, time));
        }
        Ok(rows)
    }

    /// The rows of translations through registers.
    fn one_by_one(&self) -> anyhow::Result<Vec<Row>> {
        let write = || by_registers::write_translations(&*self.function, ONE_BY_ONE);
        let (written, accesses, time) = self.measure(write);
        written?;
        let name = format!("{ONE_BY_ONE} translations through registers");
        Ok(costs(&name, accesses, time))
    }
}

/// The rows of one measurement.
fn costs(name: &str, accesses: Accesses, time: Duration) -> Vec<Row> {
    let row = |what: &str, value, unit| Row::new(format!("{name}, {what}"), value, unit, None);
    vec![
        row("register writes", accesses.writes as f64, ""),
        row("register reads", accesses.reads as f64, ""),
        row("doorbells", accesses.doorbells as f64, ""),
        row("simulated time", time.as_secs_f64() * 1e6, "us"),
    ]
}

/// Measures and prints.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    arguments.simulation.choose()?;
    let bench = Bench::new(&arguments.pcie.settings()?)?;
    let share = if arguments.quick { 64 } else { 1 };
    let mut rows = Vec::new();
    for case in CASES {
        let measured = progress::measuring(case.name, || bench.rows(&case, share));
        rows.extend(measured?);
    }
    rows.extend(progress::measuring("registers", || bench.one_by_one())?);
    let too_many = TERABYTE.pages + 1;
    let (refused, accesses, _) = bench.measure(|| bench.register(&TERABYTE, too_many));
    let Err(refused @ Error::Exhausted { .. }) = refused else {
        anyhow::bail!("{too_many} translations: registered, or refused for another reason");
    };
    anyhow::ensure!(accesses == Accesses::default(), "a refusal costs nothing");
    super::print("registration", &rows, arguments.json)?;
    if !arguments.json {
        println!("{too_many} translations: {refused}");
    }
    Ok(())
}
