//! Topologies of htsim (`.topo`): fat trees of two or three tiers.

use sim_net::topology::{HostSpec, LinkSettings, LinkSpec, PortSpec, SwitchSpec, TopologySpec};
use sim_net::{EcnThresholds, Topology, Trimming};

use super::lines::{FileError, Line, LineProblem, Lines};
use crate::ClusterError;

/// Most tiers.
const TIERS: usize = 3;
/// Keys of a tier.
const TIER_WORDS: &str = "a line starts with Nodes, Tiers, Podsize, Tier, Downlink_speed_Gbps, Radix_Up, Radix_Down, Queue_Up, Queue_Down, Oversubscribed, Bundle, \
    Switch_Latency_ns or Downlink_Latency_ns";

/// What the file of a fat tree does not say; in htsim these are options of the command line.
#[derive(Clone, Copy, Debug, Default)]
pub struct FatTreeSettings {
    /// Capacity of queues where the file gives none, in bytes; with `None`, the default of `sim-net`.
    pub queue_bytes: Option<u64>,
    /// ECN marking, at ports to hosts too.
    pub ecn: Option<EcnThresholds>,
    /// Trimming.
    pub trim: Option<Trimming>,
}

/// One tier as the file has it.
#[derive(Clone, Copy, Debug, Default)]
struct Tier {
    speed: Option<u64>,
    radix_up: Option<usize>,
    radix_down: Option<usize>,
    queue_up: Option<u64>,
    queue_down: Option<u64>,
    oversubscribed: Option<u64>,
    bundle: Option<usize>,
    switch_latency: Option<u64>,
    link_latency: Option<u64>,
}

/// Reads the text of a fat tree; errors call it `file`. Hosts are `h0`, ..., switches `tor0`, `agg0`, `core0`, .... The radices decide the number of
/// switches; `Oversubscribed` is read and has no effect.
///
/// # Errors
/// [`ClusterError::File`] with the line, or [`ClusterError::Topology`].
pub fn read_fat_tree(
    file: &str,
    text: &str,
    settings: &FatTreeSettings,
) -> Result<Topology, ClusterError> {
    let lines = Lines { file, text };
    let tree = Tree::read(&lines)?;
    let spec = tree.spec(&lines, settings)?;
    Ok(Topology::from_spec(file, spec)?)
}

#[derive(Default)]
struct Tree {
    nodes: Option<usize>,
    tiers: Option<usize>,
    pod: Option<usize>,
    tier: [Tier; TIERS],
}

impl Tree {
    fn read(lines: &Lines) -> Result<Self, FileError> {
        let mut tree = Self::default();
        let mut current: Option<usize> = None;
        for line in lines.words() {
            let key = line.words[0].to_lowercase();
            match key.as_str() {
                "nodes" => set(&line, &mut tree.nodes, 2)?,
                "podsize" => set(&line, &mut tree.pod, 1)?,
                "tiers" => {
                    let tiers =
                        line.number(1, "Tiers", "2 or 3", |tiers| (2..=TIERS).contains(tiers))?;
                    tree.tiers = Some(tiers);
                }
                "tier" => {
                    let tier = line.number(1, "Tier", "0 to 2", |&tier: &usize| tier < TIERS)?;
                    current = Some(tier);
                }
                _ => {
                    let tier = current.map(|tier| &mut tree.tier[tier]);
                    let tier = tier.ok_or_else(|| unknown(&line))?;
                    tier.read(&line, &key)?;
                }
            }
        }
        Ok(tree)
    }

    /// The topology that the radices make.
    fn spec(&self, lines: &Lines, settings: &FatTreeSettings) -> Result<TopologySpec, FileError> {
        let need = |value: Option<usize>, what| {
            value.ok_or_else(|| lines.error(LineProblem::Missing(what)))
        };
        let nodes = need(self.nodes, "Nodes")?;
        let tiers = need(self.tiers, "Tiers")?;
        let pod = need(self.pod, "Podsize")?;
        let tier = &self.tier;
        let hosts_per_tor = need(tier[0].radix_down, "Radix_Down of tier 0")?;
        let tor_up = need(tier[0].radix_up, "Radix_Up of tier 0")?;
        let agg_down = need(tier[1].radix_down, "Radix_Down of tier 1")?;
        let bundle = tier[1].bundle.unwrap_or(1);
        let divides = |what: &str, whole: usize, part: usize| {
            if part > 0 && whole > 0 && whole.is_multiple_of(part) {
                return Ok(whole / part);
            }
            let text = format!("{what}: {whole} is no multiple of {part}; correct one of them");
            Err(lines.error(LineProblem::Contradiction(text)))
        };
        let pods = divides("Nodes and Podsize", nodes, pod)?;
        if tiers == 2 && pods > 1 {
            let text = "two tiers have one pod; set Podsize to Nodes, or Tiers to 3";
            return Err(lines.error(LineProblem::Contradiction(text.into())));
        }
        let tors = divides("Podsize and Radix_Down of tier 0", pod, hosts_per_tor)?;
        let aggs = divides("Radix_Up of tier 0 and Bundle of tier 1", tor_up, bundle)?;
        let equal = |what: &str, left: usize, right: usize| {
            if left == right {
                return Ok(());
            }
            let text = format!("{what}: {left} ports meet {right}; correct the radices");
            Err(lines.error(LineProblem::Contradiction(text)))
        };
        equal(
            "links between tiers 0 and 1 of a pod",
            tors * tor_up,
            aggs * agg_down,
        )?;

        let mut spec = TopologySpec::default();
        spec.fabric.ecn_at_last_hop = true;
        spec.hosts.extend((0..nodes).map(|host| HostSpec {
            name: format!("h{host}"),
            ports: vec![PortSpec::default()],
        }));
        let host_link = self.link(lines, settings, 0)?;
        let agg_link = self.link(lines, settings, 1)?;
        self.switches(&mut spec, 0, "tor", pods * tors);
        self.switches(&mut spec, 1, "agg", pods * aggs);
        for host in 0..nodes {
            let tor = host / hosts_per_tor;
            spec.links
                .push(link(format!("h{host}"), format!("tor{tor}"), 0, &host_link));
        }
        for tor in 0..pods * tors {
            for (agg, nth) in (0..aggs).flat_map(|agg| (0..bundle).map(move |nth| (agg, nth))) {
                let agg = tor / tors * aggs + agg;
                spec.links.push(link(
                    format!("tor{tor}"),
                    format!("agg{agg}"),
                    nth,
                    &agg_link,
                ));
            }
        }
        if tiers == 3 {
            let agg_up = need(tier[1].radix_up, "Radix_Up of tier 1")?;
            let core_down = need(tier[2].radix_down, "Radix_Down of tier 2")?;
            let bundle = tier[2].bundle.unwrap_or(1);
            let up = divides("Radix_Up of tier 1 and Bundle of tier 2", agg_up, bundle)?;
            let cores = aggs * up;
            equal(
                "links between tiers 1 and 2",
                pods * aggs * agg_up,
                cores * core_down,
            )?;
            let core_link = self.link(lines, settings, 2)?;
            self.switches(&mut spec, 2, "core", cores);
            for agg in 0..pods * aggs {
                for (core, nth) in (0..up).flat_map(|core| (0..bundle).map(move |nth| (core, nth)))
                {
                    let core = agg % aggs * up + core;
                    spec.links.push(link(
                        format!("agg{agg}"),
                        format!("core{core}"),
                        nth,
                        &core_link,
                    ));
                }
            }
        }
        Ok(spec)
    }

    fn switches(&self, spec: &mut TopologySpec, tier: usize, name: &str, count: usize) {
        let latency = self.tier[tier].switch_latency.unwrap_or(0);
        spec.switches.extend((0..count).map(|index| SwitchSpec {
            name: format!("{name}{index}"),
            plane: 0,
            usid: None,
            latency_ns: Some(latency as f64),
        }));
    }

    /// Settings of the links below tier `tier`.
    fn link(
        &self,
        lines: &Lines,
        settings: &FatTreeSettings,
        tier: usize,
    ) -> Result<LinkSettings, FileError> {
        let of = &self.tier[tier];
        let missing = |what| move || lines.error(LineProblem::Missing(what));
        let below = tier
            .checked_sub(1)
            .and_then(|below| self.tier[below].queue_up);
        if let (Some(up), Some(down)) = (below, of.queue_down) {
            if up != down {
                let text = format!(
                    "Queue_Up of tier {} is {up} and Queue_Down of tier {tier} {down}; both directions of a link have the same queues here",
                    tier - 1
                );
                return Err(lines.error(LineProblem::Contradiction(text)));
            }
        }
        Ok(LinkSettings {
            rate_gbps: Some(
                of.speed
                    .ok_or_else(missing("Downlink_speed_Gbps of every tier"))?
                    as f64,
            ),
            delay_ns: Some(
                of.link_latency
                    .ok_or_else(missing("Downlink_Latency_ns of every tier"))?
                    as f64,
            ),
            queue_bytes: of.queue_down.or(below).or(settings.queue_bytes),
            ecn: settings.ecn,
            trim: settings.trim,
            ..LinkSettings::default()
        })
    }
}

impl Tier {
    fn read(&mut self, line: &Line, key: &str) -> Result<(), FileError> {
        match key {
            "downlink_speed_gbps" => set(line, &mut self.speed, 1),
            "radix_up" => set(line, &mut self.radix_up, 1),
            "radix_down" => set(line, &mut self.radix_down, 1),
            "queue_up" => set(line, &mut self.queue_up, 1),
            "queue_down" => set(line, &mut self.queue_down, 1),
            "oversubscribed" => set(line, &mut self.oversubscribed, 1),
            "bundle" => set(line, &mut self.bundle, 1),
            "switch_latency_ns" => set(line, &mut self.switch_latency, 0),
            "downlink_latency_ns" => set(line, &mut self.link_latency, 0),
            _ => Err(unknown(line)),
        }
    }
}

fn unknown(line: &Line) -> FileError {
    line.error(LineProblem::Unknown {
        word: line.words[0].into(),
        expected: TIER_WORDS,
    })
}

/// Most of anything: a number that a topology cannot reach.
const MOST: u64 = 1 << 40;

/// Sets the value of a key that a file or tier may have once: a whole number, at least `least`.
fn set<T: TryFrom<u64>>(line: &Line, to: &mut Option<T>, least: u64) -> Result<(), FileError> {
    let key = line.words[0];
    let expected = format!("a whole number from {least} on");
    let value = line.number(1, key, &expected, |value| (least..MOST).contains(value))?;
    let value = T::try_from(value).ok();
    if to.is_some() {
        return Err(line.error(LineProblem::Twice(key.into())));
    }
    *to = value;
    Ok(())
}

fn link(from: String, to: String, nth: usize, set: &LinkSettings) -> LinkSpec {
    LinkSpec {
        name: if nth == 0 {
            format!("{from}-{to}")
        } else {
            format!("{from}-{to}.{nth}")
        },
        ends: [from, to],
        set: set.clone(),
    }
}
