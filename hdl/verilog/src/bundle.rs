//! The bundles of a module: the descriptions of their signals, and the checks of their rules in simulation.
//!
//! A module has to keep the rules of the bundles that it drives only as long as its own inputs keep theirs. So a test that withdraws an offer at
//! random does not make the block fail that passes the offer on. A connection between two modules is checked in the module that drives it.

use std::fmt::Write;

use rust_hdl::core::ast::Verilog;
use rust_hdl::core::atom::AtomKind;

use crate::collect::{Instance, Signal};
use crate::module::range;
use crate::skeleton::CLOCK;
use crate::symbols::Symbols;

/// The marker that `#[bundle]` puts into the code of a port group, in the place of Verilog.
const TAG: &str = "@bundle";
/// Plus argument of a simulation whose input keeps no rules, such as random bits: nothing is checked then.
pub const IGNORE_RULES: &str = "ignore_bundle_rules";
/// The name of a module's reset.
const RESET: &str = "reset";

/// A group of ports with a description and rules.
pub(crate) struct Bundle {
    /// Flat name of the field that holds the bundle.
    pub name: String,
    /// Rule: an offer stays, with its payload, until it is accepted.
    keep: bool,
    /// Rule: the signals carry frames in beats, and every beat but the last of a frame is full.
    frames: bool,
    /// Name of each signal, and its description in the source.
    about: Vec<(String, String)>,
}

impl Bundle {
    /// Returns the bundle that `code` describes. Returns `None` if it describes none.
    pub(crate) fn of(name: String, code: &Verilog) -> Option<Self> {
        let Verilog::Custom(text) = code else {
            return None;
        };
        let mut lines = text.lines();
        let rules = lines.next()?.strip_prefix(TAG)?;
        let has = |rule: &str| rules.split_whitespace().any(|r| r == rule);
        let about = lines.filter_map(|line| line.split_once(' '));
        Some(Self {
            keep: has("keep"),
            frames: has("frames"),
            about: about.map(|(f, text)| (f.into(), text.into())).collect(),
            name,
        })
    }

    /// Finds the signal of the field `field` of this bundle.
    fn signal<'a>(&self, instance: &'a Instance, field: &str) -> Option<&'a Signal> {
        let name = format!("{}${field}", self.name);
        instance.signals.iter().find(|s| s.name == name)
    }
}

/// Returns the field of the Rust struct that a signal belongs to.
pub(crate) fn field(signal: &str) -> &str {
    signal.split('$').next().unwrap_or(signal)
}

/// Returns the lines that the bundle of a signal has as its description.
pub(crate) fn about<'a>(bundles: &'a [Bundle], signal: &'a str) -> impl Iterator<Item = &'a str> {
    let parts = bundles.iter().filter_map(move |bundle| {
        let field = signal.strip_prefix(&bundle.name)?.strip_prefix('$')?;
        Some((bundle, field))
    });
    parts.flat_map(|(bundle, field)| {
        let lines = bundle.about.iter().filter(move |(of, _)| of == field);
        lines.map(|(_, text)| text.as_str())
    })
}

/// The check of one rule. The net `broken` is high in a cycle that breaks the rule.
#[derive(Clone, Debug)]
struct Rule {
    broken: String,
    driven: bool,
    message: String,
}

/// The rules of a module's bundles as nets, and their check in simulation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Checks {
    /// Declares the nets of `rules`.
    declarations: String,
    rules: Vec<Rule>,
    /// Stops a simulation that breaks a rule which the module has to keep.
    statements: String,
}

impl Checks {
    /// Returns the text that a simulation model appends to the module. It is empty if the module drives no bundle with rules.
    pub(crate) fn simulated(&self) -> String {
        if self.statements.is_empty() {
            return String::new();
        }
        format!("{}{}", self.declarations, self.statements)
    }

    /// Returns the text that a proof appends to the module, which drives the outputs `broken_rule_0` and so on.
    pub(crate) fn formal(&self) -> (String, Vec<FormalRule>) {
        let mut text = self.declarations.clone();
        let mut rules = vec![];
        for (i, rule) in self.rules.iter().enumerate() {
            let port = format!("broken_rule_{i}");
            let _ = writeln!(text, "  assign {port} = {};", rule.broken);
            rules.push(FormalRule {
                port,
                driven: rule.driven,
                name: rule.broken.clone(),
                message: rule.message.clone(),
            });
        }
        (text, rules)
    }
}

/// A rule of a bundle of the top module, for a proof.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FormalRule {
    /// Output that is high in a cycle that breaks the rule.
    pub port: String,
    /// The design has to keep the rule. Otherwise what drives the design's inputs has to.
    pub driven: bool,
    /// Name of the net, such as `out_valid_withdrawn`.
    pub name: String,
    /// What happens in such a cycle.
    pub message: String,
}

/// Returns the checks of a module's bundles. There are none if the module has no clock.
pub(crate) fn checks(instance: &Instance, symbols: &mut Symbols) -> Checks {
    let port = |name: &str| {
        let port = instance.signals.iter().find(|s| s.name == name)?;
        (port.kind == AtomKind::InputParameter).then(|| symbols.get(name))?
    };
    let Some(clock) = port(CLOCK).map(|s| s.verilog.clone()) else {
        return Checks::default();
    };
    let reset = port(RESET).map(|s| s.verilog.clone());
    let mut out = String::new();
    let mut rules = vec![];
    for bundle in &instance.bundles {
        if bundle.keep {
            rules.extend(kept(
                bundle,
                instance,
                symbols,
                (&clock, reset.as_deref()),
                &mut out,
            ));
        }
        if bundle.frames {
            rules.extend(full_beats(bundle, instance, symbols, &mut out));
        }
    }
    let mut checks = Checks {
        declarations: out,
        rules,
        statements: String::new(),
    };
    if checks.rules.iter().any(|r| r.driven) {
        checks.statements = statements(&checks.rules, &clock, symbols);
    }
    checks
}

/// Returns what stops a simulation in which the module breaks one of `rules`.
fn statements(rules: &[Rule], clock: &str, symbols: &mut Symbols) -> String {
    let mut out = String::new();
    let outside: Vec<&str> = rules
        .iter()
        .filter(|r| !r.driven)
        .map(|r| r.broken.as_str())
        .collect();
    let (allowed, excused) = (
        symbols.scope.claim("protocol_broken_outside"),
        symbols.scope.claim("protocol_excused"),
    );
    let outside = if outside.is_empty() {
        "1'b0".into()
    } else {
        outside.join(" | ")
    };
    let _ = writeln!(
        out,
        "  reg {allowed} = 1'b0;\n  wire {excused} = {allowed} | {outside};\n  always @(posedge {clock}) begin\n    {allowed} <= {excused};"
    );
    for rule in rules.iter().filter(|r| r.driven) {
        let _ = writeln!(
            out,
            "    if ({} & ~{excused}) if (!$test$plusargs(\"{IGNORE_RULES}\")) $fatal(1, \"%m: {}\");",
            rule.broken, rule.message
        );
    }
    out + "  end\n"
}

/// Checks that an offer stays unchanged until it is accepted.
fn kept(
    bundle: &Bundle,
    instance: &Instance,
    symbols: &mut Symbols,
    (clock, reset): (&str, Option<&str>),
    out: &mut String,
) -> Option<Rule> {
    let valid = bundle.signal(instance, "valid")?;
    let ready = bundle.signal(instance, "ready")?;
    let prefix = format!("{}$", bundle.name);
    let payload = instance
        .signals
        .iter()
        .filter(|s| s.name.starts_with(&prefix) && s.kind == valid.kind && s.name != valid.name);
    let payload: Vec<&Signal> = payload.collect();
    let name = |s: &Signal, symbols: &Symbols| {
        symbols
            .get(&s.name)
            .expect("own ports are symbols")
            .verilog
            .clone()
    };
    let (valid_name, ready_name) = (name(valid, symbols), name(ready, symbols));
    let values: Vec<String> = payload.iter().map(|s| name(s, symbols)).collect();
    let width: usize = payload.iter().map(|s| s.width).sum();
    let waits = symbols.scope.claim(&format!("{valid_name}_waits"));
    let held = symbols.scope.claim(&format!("{valid_name}_held"));
    let broken = symbols.scope.claim(&format!("{valid_name}_withdrawn"));
    let in_reset = reset.map_or(String::new(), |reset| format!(" & ~{reset}"));
    let _ = writeln!(out, "  reg {waits} = 1'b0;");
    let mut changed = String::new();
    if width > 0 {
        let all = format!("{{{}}}", values.join(", "));
        let _ = writeln!(
            out,
            "  reg{} {held} = {width}'d0;\n  always @(posedge {clock}) {held} <= {all};",
            range(width)
        );
        changed = format!(" | ({all} != {held})");
    }
    let _ = writeln!(
        out,
        "  always @(posedge {clock}) {waits} <= {valid_name} & ~{ready_name}{in_reset};\n  wire {broken} = {waits} & (~{valid_name}{changed});"
    );
    Some(Rule {
        broken,
        driven: valid.kind != AtomKind::InputParameter,
        message: format!("{valid_name} fell, or its payload changed, before {ready_name}"),
    })
}

/// Checks that every beat but the last is full, and that no beat is empty.
fn full_beats(
    bundle: &Bundle,
    instance: &Instance,
    symbols: &mut Symbols,
    out: &mut String,
) -> Option<Rule> {
    let signal = |field: &str| bundle.signal(instance, field);
    let (valid, data, bytes, last) = (
        signal("valid")?,
        signal("data")?,
        signal("bytes")?,
        signal("last")?,
    );
    let name = |s: &Signal| {
        symbols
            .get(&s.name)
            .expect("own ports are symbols")
            .verilog
            .clone()
    };
    let (valid_name, bytes_name, last_name) = (name(valid), name(bytes), name(last));
    let full = format!("{}'d{}", bytes.width, data.width / 8);
    let broken = symbols.scope.claim(&format!("{bytes_name}_wrong"));
    let _ = writeln!(
        out,
        "  wire {broken} = {valid_name} & ({last_name} ? ({bytes_name} == {}'d0) | ({bytes_name} > {full}) : {bytes_name} != {full});",
        bytes.width
    );
    Some(Rule {
        broken,
        driven: valid.kind != AtomKind::InputParameter,
        message: format!(
            "{bytes_name} is wrong: a beat has all of its bytes unless {last_name}, and at least 1"
        ),
    })
}
