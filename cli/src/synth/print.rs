//! The tables of a check.

use stellar_fit::{Area, Budget, Declared, Driver, Record, Report};
use tabled::settings::object::Columns;
use tabled::settings::{Alignment, Style};
use tabled::{Table, Tabled};

fn table<T: Tabled>(title: &str, rows: Vec<T>) {
    let mut table = Table::new(rows);
    table
        .with(Style::markdown())
        .modify(Columns::new(1..), Alignment::right());
    println!("\n{title}\n\n{table}");
}

#[derive(Tabled)]
struct Share {
    resource: &'static str,
    used: f64,
    device: f64,
    share: String,
    budget: String,
}

/// Shares of the device.
pub fn shares(budget: &Budget, report: &Report) {
    let rows = shares_of(budget, &report.total);
    table("The card on its device", rows);
}

fn shares_of(budget: &Budget, used: &Area) -> Vec<Share> {
    let row = |(resource, used, device, percent)| Share {
        resource,
        used,
        device,
        share: format!("{percent:.1} %"),
        budget: format!("{} %", budget.goal.percent),
    };
    budget.shares(used).map(row).into()
}

/// Shares of the device that memories take.
pub fn shares_of_memories(budget: &Budget, used: &Area) {
    let mut rows = shares_of(budget, used);
    rows.retain(|row| ["BRAM36", "URAM"].contains(&row.resource));
    table("The memories on their device", rows);
}

#[derive(Tabled)]
struct DeclaredRow {
    memory: String,
    number: u64,
    words: u64,
    bits: u64,
    #[tabled(rename = "BRAM36")]
    bram: f64,
    #[tabled(rename = "URAM")]
    uram: u64,
}

/// Declared memories, but small ones.
pub fn declared(rows: &[Declared]) {
    /// UltraRAMs, or block RAMs, from which on a memory has a line.
    const WORTH: f64 = 4.0;
    let shown = |row: &&Declared| row.area.bram >= WORTH || row.area.uram as f64 >= WORTH;
    let line = |row: &Declared| DeclaredRow {
        memory: row.path.clone(),
        number: row.count,
        words: row.memory.depth,
        bits: row.memory.width,
        bram: row.area.bram,
        uram: row.area.uram,
    };
    let rows = rows.iter().filter(shown).map(line).collect();
    table("Declared memories", rows);
}

#[derive(Tabled)]
struct Block {
    block: String,
    #[tabled(rename = "LUTs")]
    lut: u64,
    #[tabled(rename = "FFs")]
    ff: u64,
    #[tabled(rename = "BRAM36")]
    bram: f64,
    #[tabled(rename = "URAM")]
    uram: u64,
    #[tabled(rename = "DSP")]
    dsp: u64,
}

/// Cells by block: what is below the top, and below that if it is large.
pub fn blocks(report: &Report) {
    /// Smaller parts of a block are not worth a line.
    const WORTH: u64 = 1_000;
    let shown = |(name, area): &(&String, &Area)| !name.contains('.') || area.lut >= WORTH;
    let row = |(name, area): (&String, &Area)| Block {
        block: name.clone(),
        lut: area.lut,
        ff: area.ff,
        bram: area.bram,
        uram: area.uram,
        dsp: area.dsp,
    };
    let rows = report.blocks.iter().filter(shown).map(row).collect();
    table("Cells by block, everything below it included", rows);
}

#[derive(Tabled)]
struct Line {
    levels: f64,
    #[tabled(rename = "LUT")]
    luts: u32,
    #[tabled(rename = "MUXF")]
    muxes: u32,
    carry: u32,
    #[tabled(rename = "end points above")]
    end_points: usize,
    from: String,
    to: String,
    through: String,
}

#[derive(Tabled)]
struct LongRegister {
    register: String,
    levels: f64,
    #[tabled(rename = "end points above")]
    end_points: usize,
}

/// The longest paths, and the `most` registers that most long paths end at.
pub fn paths(budget: &Budget, report: &Report, most: usize) {
    let timing = &report.timing;
    let row = |path: &stellar_fit::Path| Line {
        levels: path.levels,
        luts: path.luts,
        muxes: path.muxes,
        carry: path.carries,
        end_points: path.end_points,
        from: path.from.clone(),
        to: path.to.clone(),
        through: path.through.join(" > "),
    };
    table(
        "The longest paths between registers, by the register where they begin and the module where they end",
        timing.paths.iter().map(row).collect(),
    );
    println!("\nEnd points by levels:");
    for (levels, points) in &timing.histogram {
        println!("  {levels:>2}: {points}");
    }
    println!(
        "{} end points are behind more than {} levels.",
        timing.above, budget.goal.levels
    );
    if timing.registers.is_empty() {
        return;
    }
    let row = |register: &stellar_fit::Register| LongRegister {
        register: register.name.clone(),
        levels: register.levels,
        end_points: register.end_points,
    };
    let title = format!("Where they are: {} registers", timing.registers.len());
    table(
        &title,
        timing.registers.iter().take(most).map(row).collect(),
    );
}

#[derive(Tabled)]
struct Wide {
    net: String,
    loads: u32,
    driver: &'static str,
    replicated: String,
}

/// Nets with many loads.
pub fn nets(budget: &Budget, report: &Report, most: usize) {
    let row = |net: &stellar_fit::Net| Wide {
        net: net.name.clone(),
        loads: net.loads,
        driver: match net.driver {
            Driver::Register => "register",
            Driver::Lut => "LUT",
            Driver::Other => "another",
        },
        replicated: if budget.is_replicated(net) {
            format!("{} cells", net.copies(budget.goal.loads))
        } else {
            "no".into()
        },
    };
    let added: u32 = (report.nets.iter())
        .filter(|net| budget.is_replicated(net))
        .map(|net| net.copies(budget.goal.loads) - 1)
        .sum();
    let title = format!(
        "Nets of more than {} loads: {}. The placer adds {added} cells to drive them, and leaves {} as they are",
        budget.goal.loads,
        report.nets.len(),
        budget.unplanned(&report.nets).len()
    );
    table(&title, report.nets.iter().take(most).map(row).collect());
}

/// Memories of another style than declared.
pub fn memories(report: &Report) {
    if report.memories.is_empty() {
        println!("\nEvery memory is of its declared style.");
        return;
    }
    println!("\nMemories of another style than declared:");
    for wrong in &report.memories {
        let (words, bits) = wrong.shape;
        let (declared, mapped) = (&wrong.declared, &wrong.mapped);
        println!(
            "  {}, {words} x {bits}: declared {declared}, mapped to {mapped}",
            wrong.path
        );
    }
}

#[derive(Tabled)]
struct Grown {
    block: String,
    #[tabled(rename = "LUTs")]
    lut: String,
    #[tabled(rename = "FFs")]
    ff: String,
    #[tabled(rename = "BRAM36")]
    bram: String,
    #[tabled(rename = "URAM")]
    uram: String,
    #[tabled(rename = "DSP")]
    dsp: String,
}

/// What changed since the card was recorded.
pub fn growth(before: &Record, report: &Report) {
    let row = |(block, was, is): (String, Area, Area)| {
        let change = |was: f64, is: f64| {
            if was == is {
                String::new()
            } else {
                format!("{:+}", is - was)
            }
        };
        Grown {
            block,
            lut: change(was.lut as f64, is.lut as f64),
            ff: change(was.ff as f64, is.ff as f64),
            bram: change(was.bram, is.bram),
            uram: change(was.uram as f64, is.uram as f64),
            dsp: change(was.dsp as f64, is.dsp as f64),
        }
    };
    let mut rows: Vec<Grown> = before.growth(report).into_iter().map(row).collect();
    if rows.is_empty() {
        println!("\nNothing grew since {}.", before.source);
        return;
    }
    rows.push(row(("the card".into(), before.total, report.total)));
    table(&format!("Growth since {}", before.source), rows);
}
