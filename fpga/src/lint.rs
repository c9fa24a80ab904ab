//! Checks constraints without Vivado: against the ports of the top, the pins of the board, and the crossings of the hardware.

use std::collections::{BTreeMap, BTreeSet};

use hdl_designs::{Board, MacKind};

use crate::crossing_constraints;
use crate::crossings::Crossing;
use crate::netlist::Module;
use crate::pins::{self, PortPins};
use crate::problem::Problem;
use crate::xdc::{self, Command};

/// What the flash of an UltraScale+ Alveo needs. The image of a Versal has this in its configuration of the platform controller.
const PROPERTIES: &[&str] = &[
    "CONFIG_VOLTAGE",
    "CFGBVS",
    "CONFIG_MODE",
    "BITSTREAM.CONFIG.SPI_BUSWIDTH",
    "BITSTREAM.CONFIG.SPI_32BIT_ADDR",
    "BITSTREAM.CONFIG.CONFIGRATE",
    "BITSTREAM.CONFIG.CONFIGFALLBACK",
    "BITSTREAM.CONFIG.OVERTEMPSHUTDOWN",
];

const fn properties(board: Board) -> &'static [&'static str] {
    match board.facts().mac {
        MacKind::Cmac => PROPERTIES,
        MacKind::Dcmac => &[],
    }
}

/// The crossings of a block, and what its constraints need.
pub struct Crossings<'a> {
    /// The path of the block in the design.
    pub at: &'a str,
    /// Its crossings.
    pub found: Vec<Crossing>,
    /// Periods of its clocks in nanoseconds, by the names of its ports.
    pub periods: BTreeMap<&'a str, f64>,
}

/// Checks the constraints of a project: all files, one behind the other. `top` is the board's top module, `crossings` are those of its blocks.
pub fn check(
    board: Board,
    top: &Module,
    constraints: &str,
    crossings: &[Crossings],
) -> Vec<Problem> {
    let commands = match xdc::read(constraints) {
        Ok(commands) => commands,
        Err(error) => return vec![error.into()],
    };
    let mut problems = vec![];
    let bits = bits_of(top);
    let placed = placements(&commands, &bits, &mut problems);
    check_pins(board, &placed, &mut problems);
    check_complete(board, &bits, &placed, &mut problems);
    for property in properties(board) {
        if !commands
            .iter()
            .any(|command| command.words.get(1).is_some_and(|word| word == property))
        {
            problems.push(Problem::NoProperty { property });
        }
    }
    check_standards(board, &commands, &placed, &mut problems);
    check_clocks(board, &commands, &bits, &mut problems);
    check_crossings(&commands, crossings, &mut problems);
    problems
}

/// The bits of a module's ports: `port`, or `port[3]`.
fn bits_of(top: &Module) -> BTreeSet<String> {
    let bits = top.ports.iter().flat_map(|port| match port.width {
        1 => vec![port.name.clone()],
        width => (0..width)
            .map(|bit| format!("{}[{bit}]", port.name))
            .collect(),
    });
    bits.collect()
}

/// The pin of each port bit. Reports what is placed twice, and what does not exist.
fn placements(
    commands: &[Command],
    bits: &BTreeSet<String>,
    problems: &mut Vec<Problem>,
) -> BTreeMap<String, String> {
    let mut placed: BTreeMap<String, String> = BTreeMap::new();
    let mut used: BTreeMap<String, String> = BTreeMap::new();
    for command in commands {
        let Some(ports) = command.objects("get_ports") else {
            continue;
        };
        for port in ports.split_whitespace() {
            if !bits.contains(port) {
                problems.push(Problem::NoSuchPort {
                    line: command.line,
                    port: port.into(),
                });
            }
            let Some(pin) = command.option("PACKAGE_PIN") else {
                continue;
            };
            if let Some(first) = placed.insert(port.into(), pin.into()) {
                problems.push(Problem::PlacedTwice {
                    port: port.into(),
                    first,
                    second: pin.into(),
                });
            }
            if let Some(first) = used.insert(pin.into(), port.into()) {
                problems.push(Problem::PinUsedTwice {
                    pin: pin.into(),
                    first,
                    second: port.into(),
                });
            }
        }
    }
    placed
}

/// The entry of the board for a port, and its bit.
fn entry(board: Board, port: &str) -> Option<(&'static PortPins, usize)> {
    let (name, bit) = match port.split_once('[') {
        Some((name, bit)) => (name, bit.trim_end_matches(']').parse().ok()?),
        None => (port, 0),
    };
    let found = pins::of(board).iter().find(|entry| entry.port == name)?;
    Some((found, bit))
}

fn check_pins(board: Board, placed: &BTreeMap<String, String>, problems: &mut Vec<Problem>) {
    for (port, pin) in placed {
        let expected = entry(board, port).and_then(|(entry, bit)| entry.pins.get(bit).copied());
        if expected != Some(pin) {
            problems.push(Problem::WrongPin {
                port: port.clone(),
                pin: pin.clone(),
                expected: expected.unwrap_or("no known pin").into(),
            });
        }
    }
}

/// Every bit has a pin. The second one of a pair is placed with the first one, and a hard block may have pins of its own.
fn check_complete(
    board: Board,
    bits: &BTreeSet<String>,
    placed: &BTreeMap<String, String>,
    problems: &mut Vec<Problem>,
) {
    for port in bits {
        let (name, index) = port.split_at(port.find('[').unwrap_or(port.len()));
        let first = name
            .strip_suffix("_n")
            .map(|pair| format!("{pair}_p{index}"));
        let is_second = first.is_some_and(|first| bits.contains(&first));
        let is_fixed = pins::FIXED.contains(&(board, name));
        if !is_second && !is_fixed && !placed.contains_key(port) {
            problems.push(Problem::NotPlaced { port: port.clone() });
        }
    }
}

fn check_standards(
    board: Board,
    commands: &[Command],
    placed: &BTreeMap<String, String>,
    problems: &mut Vec<Problem>,
) {
    for port in placed.keys() {
        let Some(expected) = entry(board, port).and_then(|(entry, _)| entry.standard) else {
            continue;
        };
        let is_for = |command: &&Command| {
            command
                .objects("get_ports")
                .is_some_and(|ports| ports.split_whitespace().any(|name| name == port))
        };
        let mut found = commands
            .iter()
            .filter(is_for)
            .filter_map(|command| command.option("IOSTANDARD"));
        let found = found.next().unwrap_or("none");
        if found != expected {
            problems.push(Problem::WrongStandard {
                port: port.clone(),
                found: found.into(),
                expected: expected.into(),
            });
        }
    }
}

fn check_clocks(
    board: Board,
    commands: &[Command],
    bits: &BTreeSet<String>,
    problems: &mut Vec<Problem>,
) {
    for entry in pins::of(board) {
        let Some(expected) = entry.period.filter(|_| bits.contains(entry.port)) else {
            continue;
        };
        let port = entry.port.to_owned();
        let is_for = |command: &&Command| {
            command.name() == "create_clock" && command.objects("get_ports") == Some(entry.port)
        };
        let Some(command) = commands.iter().find(is_for) else {
            problems.push(Problem::NoClock { port });
            continue;
        };
        let found = command
            .option("-period")
            .and_then(|period| period.parse().ok())
            .unwrap_or(0.0);
        if found != expected {
            problems.push(Problem::WrongPeriod {
                port,
                found,
                expected,
            });
        }
    }
}

/// The two ends of a timing exception, without its value.
fn ends(command: &Command) -> String {
    let words = command
        .words
        .iter()
        .filter(|word| word.parse::<f64>().is_err());
    words.cloned().collect::<Vec<_>>().join(" ")
}

fn value(command: &Command) -> f64 {
    command
        .words
        .iter()
        .find_map(|word| word.parse().ok())
        .unwrap_or(f64::INFINITY)
}

/// The kinds of exceptions, as problems name them.
fn kind(command: &Command) -> &'static str {
    match command.name() {
        "set_max_delay" => "set_max_delay -datapath_only",
        "set_bus_skew" => "set_bus_skew",
        _ => "set_false_path",
    }
}

fn check_crossings(commands: &[Command], blocks: &[Crossings], problems: &mut Vec<Problem>) {
    for command in commands {
        if command.name() == "set_clock_groups" && command.has("-asynchronous") {
            problems.push(Problem::ClockGroups { line: command.line });
        }
    }
    let mut needed = BTreeSet::new();
    let all = blocks
        .iter()
        .flat_map(|block| block.found.iter().map(move |crossing| (block, crossing)));
    for (crossings, crossing) in all {
        let one = std::slice::from_ref(crossing);
        let lines = crossing_constraints::lines(one, crossings.at, &crossings.periods);
        for line in xdc::read(&lines).expect("generated lines can be read") {
            let command = kind(&line);
            let to = format!("{}/{}", crossings.at, crossing.to);
            let mut same = commands.iter().filter(|other| ends(other) == ends(&line));
            match same.next() {
                None => problems.push(Problem::NotCovered { to, command }),
                Some(found) if command != "set_false_path" && value(found) > value(&line) => {
                    problems.push(Problem::TooLong {
                        to,
                        command,
                        found: value(found),
                        limit: value(&line),
                    });
                }
                Some(_) => {}
            }
            needed.insert(ends(&line));
        }
    }
    for command in commands {
        let names_one = command
            .words
            .iter()
            .any(|word| word.contains("_crossing_reg"));
        if names_one && !needed.contains(&ends(command)) {
            problems.push(Problem::Stale {
                line: command.line,
                command: command.name().into(),
            });
        }
    }
}
