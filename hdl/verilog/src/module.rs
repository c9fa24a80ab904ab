//! Prints one module.

use std::collections::BTreeMap;
use std::fmt::Write;

use rust_hdl::core::ast::{Verilog, VerilogExpression as Expr};
use rust_hdl::core::atom::AtomKind;

use crate::assign::{driver, Driver};
use crate::collect::{Instance, Signal};
use crate::error::EmitError;
use crate::expression::bare;
use crate::expression::Printer;
use crate::literal;
use crate::names;
use crate::skeleton::{instance_name, Skeleton};
use crate::statement::{normalise, Statement};
use crate::symbols::{Role, Symbol, Symbols};

/// What lines of a primitive that only gated models have begin with.
const GATED: &str = "//@ ";
/// What lines of a primitive end with that gated models are without.
const UNGATED: &str = " //-";

/// A printed module without its name, so that equal modules can be found.
pub(crate) struct Body {
    pub header: String,
    pub wanted_name: String,
    pub text: String,
    pub skeleton: Skeleton,
}

/// Initial value of a flip-flop, if this block is rust-hdl's `DFF`.
pub(crate) fn register_init(instance: &Instance) -> Option<String> {
    let Verilog::Custom(code) = &instance.code else {
        return None;
    };
    let squeezed: String = code.split_whitespace().collect::<Vec<_>>().join(" ");
    let init = squeezed
        .strip_prefix("initial begin q = ")?
        .strip_suffix("; end always @(posedge clock) begin q <= d; end")?;
    let mut names: Vec<&str> = instance.signals.iter().map(|s| s.name.as_str()).collect();
    names.sort_unstable();
    (names == ["clock", "d", "q"]).then(|| init.to_string())
}

/// Prints `instance`; `kinds` gives the module name of each child that is not a register.
pub(crate) fn print(
    instance: &Instance,
    kinds: &BTreeMap<String, String>,
) -> Result<Body, EmitError> {
    if let Some(s) = instance
        .signals
        .iter()
        .find(|s| s.kind == AtomKind::InOutParameter)
    {
        return Err(EmitError::Unsupported {
            module: instance.path.clone(),
            what: format!("in-out port {}", s.name),
        });
    }
    if let Some(s) = instance.signals.iter().find(|s| s.signed) {
        return Err(EmitError::Unsupported {
            module: instance.path.clone(),
            what: format!("signed signal {}", s.name),
        });
    }
    match &instance.code {
        Verilog::Combinatorial(block) => {
            let (type_path, program) = normalise(block, &instance.path)?;
            let (text, skeleton) = kernel(instance, kinds, &program)?;
            Ok(body(instance, type_path.as_deref(), text, skeleton))
        }
        Verilog::Custom(code) => Ok(custom(instance, code, "output reg")),
        Verilog::Wrapper(w) if w.cores.is_empty() => Ok(custom(instance, &w.code, "output wire")),
        Verilog::Empty => {
            let (text, skeleton) = kernel(instance, kinds, &[])?;
            Ok(body(instance, None, text, skeleton))
        }
        Verilog::Wrapper(_) | Verilog::Blackbox(_) => Err(EmitError::Unsupported {
            module: instance.path.clone(),
            what: "a vendor black box".into(),
        }),
    }
}

fn body(instance: &Instance, type_path: Option<&str>, text: String, skeleton: Skeleton) -> Body {
    let (header, wanted_name) = match type_path {
        Some(path) => (format!("// Generated from {path}\n"), names::of_type(path)),
        None => (
            format!("// Generated from instance {}\n", instance.path),
            instance.name.replace('$', "_"),
        ),
    };
    Body {
        header,
        wanted_name,
        text,
        skeleton,
    }
}

/// Hand-written Verilog of a primitive: ports from the block, text as it is. `// @module <path>` on its first line names it, lines
/// behind `//@ ` are for gated models, and lines before ` //-` for all others (see [`crate::gate`]).
fn custom(instance: &Instance, code: &str, output: &str) -> Body {
    let trimmed = code.trim_start();
    let (type_path, code) = match trimmed.strip_prefix("// @module ") {
        Some(rest) => {
            let (path, rest) = rest.split_once('\n').unwrap_or((rest, ""));
            (Some(path.trim()), rest)
        }
        None => (None, code),
    };
    let ports: Vec<String> = instance
        .signals
        .iter()
        .filter(|s| s.kind.is_parameter())
        .map(|s| {
            let direction = match s.kind {
                AtomKind::InputParameter => "input wire",
                _ => output,
            };
            format!(
                "  {direction}{} {}",
                range(s.width),
                s.name.replace('$', "_")
            )
        })
        .collect();
    let (gated, code): (Vec<&str>, Vec<&str>) = code
        .trim_matches('\n')
        .lines()
        .partition(|line| line.starts_with(GATED));
    let mut text = format!("(\n{}\n);\n", ports.join(",\n"));
    let mut ungated = vec![];
    for line in code {
        let plain = line.strip_suffix(UNGATED).unwrap_or(line);
        if plain != line {
            ungated.push(format!("{plain}\n"));
        }
        text += plain;
        text.push('\n');
    }
    let gated = gated
        .iter()
        .map(|line| format!("  {}\n", &line[GATED.len()..]));
    let skeleton = Skeleton::of_primitive(instance, gated.collect(), ungated);
    body(instance, type_path, text, skeleton)
}

fn range(width: usize) -> String {
    if width == 1 {
        String::new()
    } else {
        format!(" [{}:0]", width - 1)
    }
}

struct Driven {
    symbol: Symbol,
    driver: Driver,
}

/// Ports, declarations, registers, instances and logic of a block with a kernel.
fn kernel(
    instance: &Instance,
    kinds: &BTreeMap<String, String>,
    program: &[Statement],
) -> Result<(String, Skeleton), EmitError> {
    let registers: Vec<&str> = instance
        .children
        .iter()
        .filter(|c| register_init(c).is_some())
        .map(|c| c.name.as_str())
        .collect();
    let mut symbols = Symbols::of(instance, &registers);
    let mut targets = vec![];
    Statement::targets(program, &mut targets);
    let mut printer = Printer::new(&instance.path, &mut symbols);
    let lets = declare_lets(&mut printer, program, &targets)?;
    let mut driven: BTreeMap<String, Driven> = BTreeMap::new();
    for target in &targets {
        let symbol = assignable(&printer, target)?;
        let only = if symbol.role == Role::Let {
            Statement::only_local(program, target)
        } else {
            Statement::only(program, target)
        };
        let driver = driver(&mut printer, &only, &symbol.verilog, symbol.width)?;
        driven.insert(target.clone(), Driven { symbol, driver });
    }
    let wires = std::mem::take(&mut printer.wires);
    let enums = std::mem::take(&mut printer.enums);

    let missing = |name: &str| EmitError::Undriven {
        module: instance.path.clone(),
        signal: name.to_string(),
    };
    let mut out = String::new();
    out += "(\n";
    let ports: Vec<&Signal> = instance
        .signals
        .iter()
        .filter(|s| s.kind.is_parameter())
        .collect();
    for (i, s) in ports.iter().enumerate() {
        let symbol = symbols.get(&s.name).expect("own ports are symbols");
        let direction = match s.kind {
            AtomKind::InputParameter => "input wire",
            _ => match driven.get(&s.name).ok_or_else(|| missing(&s.name))?.driver {
                Driver::Expression(_) => "output wire",
                Driver::Block(_) => "output reg",
            },
        };
        let comma = if i + 1 == ports.len() { "" } else { "," };
        let _ = writeln!(
            out,
            "  {direction}{} {}{comma}",
            range(s.width),
            symbol.verilog
        );
    }
    out += ");\n";

    for (name, value, width) in enums.values() {
        let value = literal::sized(&(*value).into(), *width);
        let _ = writeln!(out, "  localparam{} {name} = {value};", range(*width));
    }
    for s in instance
        .signals
        .iter()
        .filter(|s| s.kind == AtomKind::Constant)
    {
        let name = &symbols.get(&s.name).expect("constants are symbols").verilog;
        let value = literal::sized(&literal::parse(&s.value).0, s.width);
        let _ = writeln!(out, "  localparam{} {name} = {value};", range(s.width));
    }
    let declare = |out: &mut String, d: &Driven| {
        let kind = match d.driver {
            Driver::Expression(_) => "wire",
            Driver::Block(_) => "reg",
        };
        let _ = writeln!(
            out,
            "  {kind}{} {};",
            range(d.symbol.width),
            d.symbol.verilog
        );
    };
    for s in instance.signals.iter().filter(|s| is_local(s)) {
        match driven.get(&s.name) {
            Some(d) => declare(&mut out, d),
            None => return Err(missing(&s.name)),
        }
    }
    for name in &lets {
        declare(&mut out, &driven[name]);
    }
    for w in &wires {
        let _ = writeln!(out, "  wire{} {};", range(w.width), w.name);
    }
    let changes = print_registers(instance, &registers, &symbols, &driven, &mut out, &missing)?;
    print_instances(instance, kinds, &symbols, &driven, &mut out, &missing)?;
    for w in &wires {
        let _ = writeln!(out, "  assign {} = {};", w.name, bare(&w.text));
    }
    for target in &targets {
        let d = &driven[target];
        let passed_by_name = matches!(
            d.symbol.role,
            Role::ChildInput | Role::RegisterNext | Role::RegisterClock
        );
        match &d.driver {
            Driver::Expression(_) if passed_by_name => {}
            Driver::Expression(text) => {
                let _ = writeln!(out, "  assign {} = {};", d.symbol.verilog, bare(text));
            }
            Driver::Block(lines) => {
                out += "  always @(*) begin\n";
                for line in lines {
                    let _ = writeln!(out, "    {line}");
                }
                out += "  end\n";
            }
        }
    }
    Ok((out, Skeleton::of_kernel(instance, kinds, changes)))
}

fn is_local(s: &Signal) -> bool {
    matches!(
        s.kind,
        AtomKind::LocalSignal | AtomKind::StubInputSignal | AtomKind::StubOutputSignal
    )
}

/// Gives every assigned name that is not a signal a wire of the width of its first assignment.
fn declare_lets(
    printer: &mut Printer,
    program: &[Statement],
    targets: &[String],
) -> Result<Vec<String>, EmitError> {
    let mut lets = vec![];
    for target in targets {
        if printer.symbols.get(target).is_some() {
            continue;
        }
        let first = first_value(program, target).ok_or_else(|| EmitError::UnknownSignal {
            module: printer.module.into(),
            name: target.clone(),
        })?;
        let width = match first {
            Expr::Cast(_, width) => *width,
            other => printer.width_of(other)?,
        };
        printer.symbols.add(target, target, width, Role::Let);
        lets.push(target.clone());
    }
    Ok(lets)
}

fn first_value<'a>(program: &'a [Statement], target: &str) -> Option<&'a Expr> {
    program.iter().find_map(|s| match s {
        Statement::Assign { target: t, value } if t == target => Some(value),
        Statement::If {
            then, otherwise, ..
        } => first_value(then, target).or_else(|| first_value(otherwise, target)),
        Statement::Match { cases, .. } => cases.iter().find_map(|c| first_value(&c.1, target)),
        _ => None,
    })
}

fn assignable(printer: &Printer, target: &str) -> Result<Symbol, EmitError> {
    let symbol = printer
        .symbols
        .get(target)
        .ok_or_else(|| EmitError::UnknownSignal {
            module: printer.module.into(),
            name: target.into(),
        })?
        .clone();
    let what = match symbol.role {
        Role::Input => "an input",
        Role::Constant => "a constant",
        Role::ChildOutput => "the output of a sub-block",
        Role::Register => "a register's output",
        _ => return Ok(symbol),
    };
    Err(EmitError::NotAssignable {
        module: printer.module.into(),
        signal: target.into(),
        what,
    })
}

/// Also returns, for each clock, under which conditions its edge changes a register.
fn print_registers(
    instance: &Instance,
    registers: &[&str],
    symbols: &Symbols,
    driven: &BTreeMap<String, Driven>,
    out: &mut String,
    missing: &dyn Fn(&str) -> EmitError,
) -> Result<BTreeMap<String, Vec<String>>, EmitError> {
    let mut by_clock: BTreeMap<&str, Vec<(&str, String)>> = BTreeMap::new();
    for child in instance
        .children
        .iter()
        .filter(|c| registers.contains(&c.name.as_str()))
    {
        let init = register_init(child).expect("chosen because it is a register");
        let (d_name, clock_name) = (format!("{}$d", child.name), format!("{}$clock", child.name));
        let q = symbols
            .get(&format!("{}$q", child.name))
            .expect("register output");
        let clock = match driven.get(&clock_name).map(|d| &d.driver) {
            Some(Driver::Expression(text)) => text,
            _ => return Err(missing(&clock_name)),
        };
        let d = driven.get(&d_name).ok_or_else(|| missing(&d_name))?;
        // rust-hdl prints enumeration values with 64 bits, whatever their width.
        let digits = init.split_once("'h").map_or(&*init, |(_, digits)| digits);
        let _ = writeln!(
            out,
            "  reg{} {} = {}'h{digits};",
            range(q.width),
            q.verilog,
            q.width
        );
        let next = match &d.driver {
            Driver::Expression(text) => bare(text).to_string(),
            Driver::Block(_) => {
                let _ = writeln!(out, "  reg{} {};", range(q.width), d.symbol.verilog);
                d.symbol.verilog.clone()
            }
        };
        by_clock.entry(clock).or_default().push((&q.verilog, next));
    }
    let mut changes = BTreeMap::new();
    for (clock, registers) in by_clock {
        let _ = writeln!(out, "  always @(posedge {clock}) begin");
        for (register, next) in &registers {
            let _ = writeln!(out, "    {register} <= {next};");
        }
        *out += "  end\n";
        let conditions = registers
            .iter()
            .map(|(register, next)| format!("({register} != ({next}))"));
        changes.insert(clock.to_string(), conditions.collect());
    }
    Ok(changes)
}

fn print_instances(
    instance: &Instance,
    kinds: &BTreeMap<String, String>,
    symbols: &Symbols,
    driven: &BTreeMap<String, Driven>,
    out: &mut String,
    missing: &dyn Fn(&str) -> EmitError,
) -> Result<(), EmitError> {
    for child in &instance.children {
        let Some(kind) = kinds.get(&child.name) else {
            continue;
        };
        let mut connections = vec![];
        for port in child.signals.iter().filter(|s| s.kind.is_parameter()) {
            let key = format!("{}${}", child.name, port.name);
            let symbol = symbols.get(&key).expect("ports of children are symbols");
            let connected = match port.kind {
                AtomKind::InputParameter => {
                    let d = driven.get(&key).ok_or_else(|| missing(&key))?;
                    match &d.driver {
                        Driver::Expression(text) => bare(text).to_string(),
                        Driver::Block(_) => {
                            let _ = writeln!(out, "  reg{} {};", range(port.width), symbol.verilog);
                            symbol.verilog.clone()
                        }
                    }
                }
                _ => {
                    let _ = writeln!(out, "  wire{} {};", range(port.width), symbol.verilog);
                    symbol.verilog.clone()
                }
            };
            connections.push(format!(
                "    .{}({connected})",
                port_name(child, &port.name)
            ));
        }
        let _ = writeln!(
            out,
            "  {kind} {} (\n{}\n  );",
            instance_name(child),
            connections.join(",\n")
        );
    }
    Ok(())
}

/// The Verilog name of a child's port.
fn port_name(child: &Instance, port: &str) -> String {
    let names = names::of_signals(child.signals.iter().map(|s| s.name.as_str()));
    let at = child.signals.iter().position(|s| s.name == port);
    names[at.expect("the port was found among the child's signals")].clone()
}
