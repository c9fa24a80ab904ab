//! The `let`s of a kernel. A `let` becomes a wire, or is an alias of a signal, and may be a record.

use rust_hdl::core::ast::VerilogExpression as Expr;

use crate::error::EmitError;
use crate::expression::Printer;
use crate::statement::Statement;
use crate::symbols::{Role, Symbols};

/// Declares a symbol for every assigned name that is not a signal. Returns the names that become wires, in order. A `let` that only renames a signal
/// does not become a wire; the signal is printed where the name is read.
pub(crate) fn declare(
    printer: &mut Printer,
    program: &[Statement],
    targets: &mut Vec<String>,
) -> Result<Vec<String>, EmitError> {
    let mut wires = vec![];
    let mut aliases = vec![];
    for target in targets.iter() {
        if printer.symbols.get(target).is_some() {
            continue;
        }
        let only = Statement::only_local(program, target);
        let first = first_value(&only).ok_or_else(|| EmitError::UnknownSignal {
            module: printer.module.into(),
            name: target.clone(),
        })?;
        let width = match first {
            Expr::Cast(_, width) => *width,
            other => printer.width_of(other)?,
        };
        if let [Statement::Assign { value, .. }] = only.as_slice() {
            if let Some(of) = signal(printer.symbols, value, width) {
                let of = printer.symbols.get(&of).expect("found just now").clone();
                printer.symbols.alias(target, &of);
                aliases.push(target.clone());
                continue;
            }
        }
        printer.symbols.add(target, target, width, Role::Let);
        if let Some((of, low)) = place(printer.symbols, first) {
            let record = printer.symbols.get(&of).and_then(|s| s.record.clone());
            let whole = record.as_ref().filter(|r| low == 0 && r.width == width);
            let part = whole.cloned().or_else(|| record?.part(low, width));
            printer.symbols.describe(target, &part);
        }
        wires.push(target.clone());
    }
    targets.retain(|t| !aliases.contains(t));
    describe_by_use(printer.symbols, program);
    Ok(wires)
}

/// Gives the fields of a record to a local that is assigned to a signal of that record type.
fn describe_by_use(symbols: &mut Symbols, program: &[Statement]) {
    for s in program.iter().rev() {
        match s {
            Statement::Assign { target, value } => {
                let Some(symbol) = symbols.get(target) else {
                    continue;
                };
                let record = symbol.record.clone();
                if let Some(source) = signal(symbols, value, symbol.width) {
                    symbols.describe(&source, &record);
                }
            }
            Statement::Slice { .. } => {}
            Statement::If {
                then, otherwise, ..
            } => {
                describe_by_use(symbols, otherwise);
                describe_by_use(symbols, then);
            }
            Statement::Match { cases, .. } => {
                for case in cases {
                    describe_by_use(symbols, &case.1);
                }
            }
        }
    }
}

/// If `e` is a signal of `width` bits, returns its flat name.
fn signal(symbols: &Symbols, e: &Expr, width: usize) -> Option<String> {
    match e {
        Expr::Paren(x) => signal(symbols, x, width),
        Expr::Cast(x, to) if *to == width => signal(symbols, x, width),
        Expr::Signal(name) => {
            let name = crate::names::flat(name);
            (symbols.get(&name)?.width == width).then_some(name)
        }
        _ => None,
    }
}

/// If `e` is a signal or a constant part of one, returns the signal and the first bit of the part.
fn place(symbols: &Symbols, e: &Expr) -> Option<(String, usize)> {
    match e {
        Expr::Paren(x) | Expr::Cast(x, _) => place(symbols, x),
        Expr::Signal(name) => {
            let name = crate::names::flat(name);
            symbols.get(&name).is_some().then_some((name, 0))
        }
        Expr::Slice(x, _, offset) => {
            let Expr::Literal(low) = &**offset else {
                return None;
            };
            let (name, base) = place(symbols, x)?;
            Some((name, base + crate::literal::small(low)))
        }
        _ => None,
    }
}

fn first_value(program: &[Statement]) -> Option<&Expr> {
    program.iter().find_map(|s| match s {
        Statement::Assign { value, .. } => Some(value),
        Statement::If {
            then, otherwise, ..
        } => first_value(then).or_else(|| first_value(otherwise)),
        Statement::Match { cases, .. } => cases.iter().find_map(|c| first_value(&c.1)),
        Statement::Slice { .. } => None,
    })
}
