//! Prints one module.

use std::collections::BTreeMap;
use std::fmt::Write;

use rust_hdl::core::ast::Verilog;
use rust_hdl::core::atom::AtomKind;

use crate::annotation;
use crate::assign::{driver, Driver};
use crate::bundle::{self, Checks};
use crate::collect::{Instance, Signal};
use crate::error::EmitError;
use crate::expression::{bare, Printer};
use crate::instances::Parts;
use crate::literal;
use crate::locals;
use crate::names;
use crate::primitive;
use crate::program::{Notes, Program};
use crate::skeleton::Skeleton;
use crate::statement::Statement;
use crate::symbols::{Role, Symbol, Symbols};

/// A printed module without its name. Modules with equal bodies are emitted once.
pub(crate) struct Body {
    pub header: String,
    pub wanted_name: String,
    pub text: String,
    /// The checks of its bundles.
    pub checks: Checks,
    pub skeleton: Skeleton,
}

/// Returns the initial value of a flip-flop if this block is rust-hdl's `DFF`.
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

/// Prints `instance`. `kinds` has the module name of each child that is not a register.
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
    if let Some((first, second)) = names::same_port(&instance.signals) {
        return Err(EmitError::SamePort {
            module: instance.path.clone(),
            port: first.wanted.clone(),
            first: first.name.replace('$', "."),
            second: second.name.replace('$', "."),
        });
    }
    match &instance.code {
        Verilog::Combinatorial(block) => {
            let program = Program::of(block, &instance.path)?;
            let (text, checks, skeleton) = kernel(instance, kinds, &program)?;
            let mut body = body(instance, program.type_path.as_deref(), text, skeleton);
            body.header += &program.about();
            body.checks = checks;
            Ok(body)
        }
        Verilog::Custom(code) => Ok(primitive::print(instance, code, "output reg")),
        Verilog::Wrapper(w) if w.cores.is_empty() => {
            Ok(primitive::print(instance, &w.code, "output wire"))
        }
        Verilog::Empty => {
            let (text, _, skeleton) = kernel(instance, kinds, &Program::default())?;
            Ok(body(instance, None, text, skeleton))
        }
        Verilog::Wrapper(_) | Verilog::Blackbox(_) => Err(EmitError::Unsupported {
            module: instance.path.clone(),
            what: "a vendor black box".into(),
        }),
    }
}

pub(crate) fn body(
    instance: &Instance,
    type_path: Option<&str>,
    text: String,
    skeleton: Skeleton,
) -> Body {
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
        checks: Checks::default(),
        skeleton,
    }
}

/// Returns a vector's range with a space in front, and nothing for a single bit.
pub(crate) fn range(width: usize) -> String {
    if width == 1 {
        String::new()
    } else {
        format!(" [{}:0]", width - 1)
    }
}

/// A signal that is assigned, and its driver.
pub(crate) struct Driven {
    pub symbol: Symbol,
    pub driver: Driver,
}

/// Prints a block with a kernel: its ports, declarations, registers, instances and logic.
fn kernel(
    instance: &Instance,
    kinds: &BTreeMap<String, String>,
    program: &Program,
) -> Result<(String, Checks, Skeleton), EmitError> {
    let registers: Vec<&str> = instance
        .children
        .iter()
        .filter(|c| register_init(c).is_some())
        .map(|c| c.name.as_str())
        .collect();
    let statements = &program.statements;
    let mut symbols = Symbols::of(instance, &registers);
    let mut targets = vec![];
    Statement::targets(statements, &mut targets);
    let mut printer = Printer::new(&instance.path, &mut symbols);
    let lets = locals::declare(&mut printer, statements, &mut targets)?;
    let mut driven: BTreeMap<String, Driven> = BTreeMap::new();
    for target in &targets {
        let symbol = assignable(&printer, target)?;
        let only = if symbol.role == Role::Let {
            Statement::only_local(statements, target)
        } else {
            Statement::only(statements, target)
        };
        let driver = driver(&mut printer, &only, &symbol)?;
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
    let mut documented = "";
    for (i, s) in ports.iter().enumerate() {
        let symbol = symbols.get(&s.name).expect("own ports are symbols");
        let direction = match s.kind {
            AtomKind::InputParameter => "input wire",
            _ => match driven.get(&s.name).ok_or_else(|| missing(&s.name))?.driver {
                Driver::Expression(_) => "output wire",
                Driver::Block(_) => "output reg",
            },
        };
        let field = bundle::field(&s.name);
        if field != documented {
            let about = program.ports.get(field).into_iter().flatten();
            out.extend(about.map(|text| annotation::line("  ", text)));
            documented = field;
        }
        let about = bundle::about(&instance.bundles, &s.name);
        out.extend(
            about.map(|text| annotation::line("  ", &format!("{}: {text}", symbol.verilog))),
        );
        out += &field_map(&symbol.verilog, s);
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
    let parts = Parts {
        instance,
        kinds,
        symbols: &symbols,
        driven: &driven,
    };
    parts.declare(&mut out)?;
    let changes = parts.print_registers(&mut out)?;
    parts.print_sub_blocks(&mut out)?;
    for w in &wires {
        let _ = writeln!(out, "  assign {} = {};", w.name, bare(&w.text));
    }
    let mut notes = Notes::of(program);
    for (at, target) in program.in_order(&targets) {
        let d = &driven[&target];
        let passed_by_name = matches!(
            d.symbol.role,
            Role::ChildInput | Role::RegisterNext | Role::RegisterClock
        );
        if passed_by_name && matches!(d.driver, Driver::Expression(_)) {
            continue;
        }
        out += &notes.above(at);
        match &d.driver {
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
    let checks = bundle::checks(instance, &mut symbols);
    Ok((out, checks, Skeleton::of_kernel(instance, kinds, changes)))
}

/// Returns comment lines with the positions of the fields of a record port.
fn field_map(name: &str, port: &Signal) -> String {
    let map = port.record.iter().flat_map(|record| record.map());
    map.map(|line| annotation::line("  ", &format!("{name}: {line}")))
        .collect()
}

fn is_local(s: &Signal) -> bool {
    matches!(
        s.kind,
        AtomKind::LocalSignal | AtomKind::StubInputSignal | AtomKind::StubOutputSignal
    )
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
