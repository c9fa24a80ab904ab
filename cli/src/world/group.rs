//! `./stellar world --nics`: many hosts, of which any may have a Verilated card.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::builder::PossibleValue;
use serde::Deserialize;
use sim_net::workload::Pattern;
use sim_net::Topology;
use sim_nic::{AsPlanned, MixedNic, RtlNic, SimRate};
use sim_world::group::{
    place, run as run_group, GroupNic, GroupPlan, GroupReport, GroupRun, HostNic, Tenant,
    GROUP_TOPOLOGY, GROUP_TOPOLOGY_FILE,
};
use sim_world::ReferenceNic;
use tabled::builder::Builder;
use tabled::settings::{object::Columns, Alignment, Style};

use super::{captured, plan_on, Arguments};
use crate::board::host_ports;
use crate::progress;

/// Time limit: 10 s of simulated time, in picoseconds.
const LIMIT: u64 = 10_000_000_000_000;
/// The lossy link of the built-in topology, if --loss is given without one.
const LOSSY_LINK: &str = "p0.leaf0-spine1";
/// Picoseconds of a microsecond.
const US: f64 = 1e6;

#[derive(clap::Args)]
pub struct GroupOptions {
    /// NICs of many hosts, `card` or `reference`, like card*3,reference. They are on the leaves in turn; the last one receives an incast. Links lose nothing
    /// unless --loss says so [default fabric: sim/world/topologies/group.toml]
    #[arg(long, value_name = "LIST", value_parser = Nics::parse, conflicts_with_all = ["nic", "qps", "scenario", "list", "sweep"])]
    nics: Option<Nics>,
    /// Flows between the hosts of --nics
    #[arg(long, default_value = "incast", requires = "nics")]
    pattern: PatternName,
    /// Rounds of the pattern
    #[arg(long, value_name = "N", default_value_t = 1, requires = "nics")]
    rounds: u32,
    /// File (TOML) with the tenants of --nics, in place of --pattern, --bytes and --rounds (docs/world.md)
    #[arg(long, value_name = "FILE", requires = "nics", conflicts_with_all = ["pattern", "bytes", "rounds"])]
    tenants: Option<PathBuf>,
}

impl GroupOptions {
    /// Whether this is a group.
    pub const fn is_chosen(&self) -> bool {
        self.nics.is_some()
    }

    /// Whether a host of it has a Verilated card.
    pub fn has_card(&self) -> bool {
        let mut kinds = self.nics.iter().flat_map(|nics| &nics.0);
        kinds.any(|&kind| kind == HostNic::Card)
    }
}

/// The NICs of the hosts.
#[derive(Clone)]
struct Nics(Vec<HostNic>);

impl Nics {
    fn parse(text: &str) -> Result<Self, String> {
        let mut kinds = Vec::new();
        for item in text.split(',') {
            let (name, count) = item.split_once('*').unwrap_or((item, "1"));
            let kind = match name {
                "card" => HostNic::Card,
                "reference" => HostNic::Reference,
                _ => return Err(format!("{name:?} is no NIC; use card or reference")),
            };
            let count: usize = count
                .parse()
                .ok()
                .filter(|count| (1..=1000).contains(count))
                .ok_or_else(|| format!("{item:?}: give a number from 1 to 1000 behind the *"))?;
            kinds.extend(std::iter::repeat_n(kind, count));
        }
        Ok(Self(kinds))
    }
}

/// Name of a pattern.
#[derive(Clone, Copy)]
struct PatternName(Pattern);

impl clap::ValueEnum for PatternName {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [PatternName; 5] = {
            let mut all = [PatternName(Pattern::Permutation); 5];
            let mut i = 0;
            while i < all.len() {
                all[i] = PatternName(Pattern::ALL[i]);
                i += 1;
            }
            all
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name()))
    }
}

/// A file of tenants.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TenantFile {
    tenants: Vec<TenantEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TenantEntry {
    name: String,
    pattern: String,
    /// Names of hosts; all that have a NIC if left out.
    hosts: Option<Vec<String>>,
    bytes: u64,
    #[serde(default)]
    start_us: f64,
    #[serde(default = "one")]
    rounds: u32,
}

const fn one() -> u32 {
    1
}

impl TenantEntry {
    fn tenant(self, plan: &GroupPlan) -> anyhow::Result<Tenant> {
        let named = Pattern::ALL
            .into_iter()
            .find(|known| known.name() == self.pattern);
        let pattern = named.with_context(|| {
            let names = Pattern::ALL.map(Pattern::name).join(", ");
            format!("{:?} is no pattern; use one of {names}", self.pattern)
        })?;
        anyhow::ensure!(
            (0.0..=1e9).contains(&self.start_us),
            "start_us is {}; use 0 to 1000000000",
            self.start_us
        );
        let hosts = match self.hosts {
            None => plan.nics.iter().map(|&(host, _)| host).collect(),
            Some(names) => names
                .iter()
                .map(|name| plan.host(name))
                .collect::<Result<_, _>>()?,
        };
        Ok(Tenant {
            name: self.name,
            pattern,
            hosts,
            bytes: self.bytes,
            start: (self.start_us * US) as u64,
            rounds: self.rounds,
        })
    }
}

/// Runs a group; writes report and captures.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut plan = group_plan(arguments)?;
    if !arguments.group.has_card() {
        let run = watched::<ReferenceNic>(&mut plan)?;
        return finish(arguments, &run, None);
    }
    progress::building("the card", RtlNic::prepare)?;
    let run = watched::<MixedNic<AsPlanned>>(&mut plan)?;
    let hosts = run.world.hosts().iter();
    let mut rate = SimRate::default();
    for card in hosts.filter_map(|host| host.nic().rtl()) {
        rate.add(card.rate());
    }
    finish(arguments, &run, Some(rate))
}

fn group_plan(arguments: &Arguments) -> anyhow::Result<GroupPlan> {
    let topology = topology(arguments)?;
    let kinds = arguments.group.nics.as_ref().map(|nics| nics.0.clone());
    let nics = place(&topology, &kinds.unwrap_or_default())?;
    let base = plan_on(arguments, topology, arguments.group.has_card())?;
    let mut plan = GroupPlan {
        base,
        nics,
        tenants: Vec::new(),
        limit: LIMIT,
    };
    plan.tenants = match &arguments.group.tenants {
        Some(path) => tenants(path, &plan)?,
        None => vec![Tenant {
            name: "all".into(),
            pattern: arguments.group.pattern.0,
            hosts: plan.nics.iter().map(|&(host, _)| host).collect(),
            bytes: arguments.bytes,
            start: 0,
            rounds: arguments.group.rounds,
        }],
    };
    let hosts = plan.tenants.iter().map(|tenant| {
        let flows = tenant.hosts.len() as u64;
        flows * tenant.bytes * u64::from(tenant.rounds)
    });
    plan.base.capture = captured(hosts.sum());
    Ok(plan)
}

fn topology(arguments: &Arguments) -> anyhow::Result<Topology> {
    let (file, text) = match &arguments.topology {
        None => (GROUP_TOPOLOGY_FILE.into(), GROUP_TOPOLOGY.into()),
        Some(_) => super::topology_text(arguments)?,
    };
    let link = match (&arguments.lossy_link, &arguments.topology) {
        (Some(link), _) => Some(link.as_str()),
        (None, None) => Some(LOSSY_LINK),
        (None, Some(_)) => None,
    };
    let loss = match (link, arguments.loss) {
        (Some(link), Some(loss)) => Some((link, loss)),
        (None, Some(_)) => {
            anyhow::bail!(
                "--loss without --lossy-link: say which link of the topology loses frames"
            )
        }
        (_, None) if arguments.lossy_link.is_some() => {
            anyhow::bail!("--lossy-link without --loss: say how much, like --loss 0.01")
        }
        (_, None) => None,
    };
    Ok(host_ports().lossy_topology(&file, &text, loss)?)
}

fn tenants(path: &Path, plan: &GroupPlan) -> anyhow::Result<Vec<Tenant>> {
    let file = path.display().to_string();
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {file}"))?;
    let read: TenantFile = toml::from_str(&text).with_context(|| file.clone())?;
    let tenant = |entry: TenantEntry| {
        let what = format!("{file}: tenant {:?}", entry.name);
        entry.tenant(plan).context(what)
    };
    read.tenants.into_iter().map(tenant).collect()
}

fn watched<N: GroupNic>(plan: &mut GroupPlan) -> anyhow::Result<GroupRun<N>> {
    let progress = progress::Clock::show("group")?;
    plan.base.clock = Some(progress.time());
    Ok(run_group::<N>(plan)?)
}

/// Writes the report and the captures, and prints the report.
fn finish<N: GroupNic>(
    arguments: &Arguments,
    run: &GroupRun<N>,
    rate: Option<SimRate>,
) -> anyhow::Result<()> {
    let out = &arguments.out;
    std::fs::create_dir_all(out).with_context(|| format!("cannot create {}", out.display()))?;
    run.report.write(out)?;
    if let Some(captures) = run.world.captures() {
        captures.write(out)?;
    }
    if arguments.json {
        println!("{}", run.report.json());
        return Ok(());
    }
    show(&run.report);
    if let Some(rate) = rate {
        println!(
            "Co-simulation: {} cycles of all cards together, {:.0} cycles/s of a thread.",
            rate.clocks,
            rate.clocks_per_second()
        );
    }
    println!("\nReport:   {}", out.join("report.html").display());
    println!("          {}", out.join("report.json").display());
    if run.world.captures().is_some() {
        println!("Captures: {}/*.pcapng, one per port", out.display());
    }
    Ok(())
}

fn show(report: &GroupReport) {
    let nics = report.nics.iter();
    let nics: Vec<String> = nics.map(|(host, kind)| format!("{host} {kind}")).collect();
    println!(
        "{} hosts on a simulated fabric, no hardware: {}.",
        nics.len(),
        nics.join(", ")
    );
    for tenant in &report.tenants {
        let mut builder = Builder::default();
        builder.push_record([
            "flow",
            "bytes",
            "start us",
            "time us",
            "Gb/s",
            "share",
            "first window",
            "late window: least, mean, most",
        ]);
        let shared: u64 = tenant.flows.iter().map(|flow| flow.share_bytes).sum();
        for flow in &tenant.flows {
            let [least, mean, most] = flow.window_late;
            builder.push_record([
                format!("{} -> {}", flow.from, flow.to),
                flow.bytes.to_string(),
                format!("{:.1}", flow.start_ns as f64 / 1e3),
                format!("{:.1}", flow.fct_ns as f64 / 1e3),
                format!("{:.1}", flow.goodput_gbps),
                format!("{:.3}", flow.share_bytes as f64 / shared.max(1) as f64),
                flow.window_first.to_string(),
                format!("{least}, {mean}, {most}"),
            ]);
        }
        let mut table = builder.build();
        table
            .with(Style::sharp())
            .modify(Columns::new(1..), Alignment::right());
        let index = |index: Option<f64>| index.map_or("-".into(), |index| format!("{index:.4}"));
        println!(
            "\nTenant {:?}: {} of {} hosts, {} round(s), {:.1} us, {:.1} Gb/s in sum.\n\
             Jain's index until the first flow was complete: shares {}, windows {}.\n{table}",
            tenant.name,
            tenant.pattern,
            tenant.hosts.len(),
            tenant.rounds,
            tenant.duration_ns as f64 / 1e3,
            tenant.goodput_gbps,
            index(tenant.fairness),
            index(tenant.window_fairness),
        );
    }
    let sums = &report.requester;
    println!(
        "{} data packets, {} retransmissions, {} timeouts, {} marked SACKs; {} frames lost in the fabric.\n\
         All {} WRITEs completed; every byte was compared with the sender's memory, and nothing else was written.",
        sums.packets,
        sums.retransmissions,
        sums.timeouts,
        sums.ecn_marks,
        report.fabric.dropped.total(),
        report.completed
    );
}
