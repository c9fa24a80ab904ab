//! Prints the logic that drives one signal: an `assign`, or an `always @(*)` for this signal alone.

use num_bigint::BigUint;
use rust_hdl::core::ast::VerilogExpression as Expr;

use crate::error::EmitError;
use crate::expression::{bare, Printer};
use crate::literal;
use crate::names::flat;
use crate::record;
use crate::simplify::simplify;
use crate::statement::{covered, Case, Statement};
use crate::symbols::Symbol;

/// The form in which the driver of a signal is printed.
pub(crate) enum Driver {
    /// One unconditional expression, for an `assign`.
    Expression(String),
    /// Lines of a procedural block, for an `always @(*)`.
    Block(Vec<String>),
}

/// Prints the driver of `target`.
pub(crate) fn driver(
    printer: &mut Printer,
    program: &[Statement],
    target: &Symbol,
) -> Result<Driver, EmitError> {
    let (name, width) = (target.verilog.as_str(), target.width);
    let exhaustive = |cases: &[Case]| is_exhaustive(printer, cases);
    let program = simplify(printer, program, width, &exhaustive);
    let program = program.as_slice();
    let full = (BigUint::from(1u32) << width) - 1u32;
    if covered(program, width, &exhaustive) != full {
        return Err(EmitError::Latch {
            module: printer.module.into(),
            signal: name.into(),
        });
    }
    if let [Statement::Assign { value, .. }] = program {
        return Ok(Driver::Expression(printer.sized(value, width, name)?));
    }
    // An `always @(*)` block without variables would never run in simulation, so constants become an `assign`.
    if let Some(value) = constant(printer, program, width) {
        return Ok(Driver::Expression(literal::sized(&value, width)));
    }
    let mut lines = vec![];
    let mut block = BlockPrinter {
        printer,
        target,
        lines: &mut lines,
        depth: 0,
    };
    block.statements(program)?;
    Ok(Driver::Block(lines))
}

/// Returns the value that the program assigns if it has no branches and only constants.
fn constant(printer: &Printer, program: &[Statement], width: usize) -> Option<BigUint> {
    let mut value = BigUint::default();
    for s in program {
        match s {
            Statement::Assign { value: e, .. } => value = printer.constant(e, width)?,
            Statement::Slice {
                offset: Expr::Literal(at),
                width: w,
                value: e,
                ..
            } => {
                let low = literal::small(at);
                let ones = ((BigUint::from(1u32) << *w) - 1u32) << low;
                // Replaces the part's bits in the value.
                value = (&value | &ones) - &ones + (printer.constant(e, *w)? << low);
            }
            _ => return None,
        }
    }
    Some(value)
}

fn is_exhaustive(printer: &Printer, cases: &[Case]) -> bool {
    if cases.iter().any(|c| c.0 == "default") {
        return true;
    }
    let distinct: std::collections::BTreeSet<&str> = cases.iter().map(|c| c.0.as_str()).collect();
    cases
        .first()
        .and_then(|c| printer.symbols.variants_beside(&flat(&c.0)))
        .is_some_and(|n| n == distinct.len())
}

struct BlockPrinter<'a, 'b> {
    printer: &'a mut Printer<'b>,
    target: &'a Symbol,
    lines: &'a mut Vec<String>,
    depth: usize,
}

impl BlockPrinter<'_, '_> {
    fn line(&mut self, text: String) {
        self.lines
            .push(format!("{}{text}", "  ".repeat(self.depth)));
    }

    fn body(&mut self, statements: &[Statement]) -> Result<(), EmitError> {
        self.depth += 1;
        self.statements(statements)?;
        self.depth -= 1;
        Ok(())
    }

    fn statements(&mut self, statements: &[Statement]) -> Result<(), EmitError> {
        for s in statements {
            self.statement(s)?;
        }
        Ok(())
    }

    fn statement(&mut self, s: &Statement) -> Result<(), EmitError> {
        let name = &self.target.verilog;
        match s {
            Statement::Assign { value, .. } => {
                let text = self.printer.sized(value, self.target.width, name)?;
                self.line(format!("{name} = {};", bare(&text)));
            }
            Statement::Slice {
                offset,
                width,
                value,
                ..
            } => {
                let text = self.printer.sized(value, *width, name)?;
                let target = self.part(offset, *width)?;
                self.line(format!("{target} = {};", bare(&text)));
            }
            Statement::If {
                test,
                then,
                otherwise,
            } => self.branch("if", test, then, otherwise)?,
            Statement::Match { test, cases } => self.case(test, cases)?,
        }
        Ok(())
    }

    /// Prints a branch. `opening` is `if`, or `end else if` when it follows another branch.
    fn branch(
        &mut self,
        opening: &str,
        test: &Expr,
        then: &[Statement],
        otherwise: &[Statement],
    ) -> Result<(), EmitError> {
        let test = self.printer.sized(test, 1, "if condition")?;
        self.line(format!("{opening} ({}) begin", bare(&test)));
        self.body(then)?;
        match otherwise {
            [] => self.line("end".into()),
            [Statement::If {
                test,
                then,
                otherwise,
            }] => self.branch("end else if", test, then, otherwise)?,
            _ => {
                self.line("end else begin".into());
                self.body(otherwise)?;
                self.line("end".into());
            }
        }
        Ok(())
    }

    fn part(&mut self, offset: &Expr, width: usize) -> Result<String, EmitError> {
        let target = self.target;
        if width == target.width {
            return Ok(target.verilog.clone());
        }
        if let Expr::Literal(l) = offset {
            let low = literal::small(l);
            if low + width > target.width {
                return Err(EmitError::OutOfRange {
                    module: self.printer.module.into(),
                    signal: target.verilog.clone(),
                    high: low + width - 1,
                    low,
                    width: target.width,
                });
            }
            let fields = target.record.as_deref();
            return Ok(record::part(&target.verilog, low, width, fields));
        }
        let at = self.printer.typed(offset)?.text;
        Ok(format!("{}[{at} +: {width}]", target.verilog))
    }

    fn case(&mut self, test: &Expr, cases: &[Case]) -> Result<(), EmitError> {
        let exhaustive = is_exhaustive(self.printer, cases);
        let typed = self.printer.typed(test)?;
        let width = self.printer.width_of(test)?;
        self.line(format!("case ({})", typed.text));
        self.depth += 1;
        let has_default = cases.iter().any(|c| c.0 == "default");
        for (i, (pattern, body)) in cases.iter().enumerate() {
            // If the enumeration lists every variant, the last variant becomes the default. It thus also covers codes that no variant uses.
            let last_of_all = exhaustive && !has_default && i + 1 == cases.len();
            let label = if pattern == "default" || last_of_all {
                "default".to_string()
            } else {
                self.pattern(pattern, width)?
            };
            self.line(format!("{label}: begin"));
            self.body(body)?;
            self.line("end".into());
        }
        if !exhaustive {
            self.line("default: begin end".into());
        }
        self.depth -= 1;
        self.line("endcase".into());
        Ok(())
    }

    fn pattern(&mut self, pattern: &str, width: usize) -> Result<String, EmitError> {
        let digits: String = pattern.chars().filter(|c| *c != '_').collect();
        let number = match digits.strip_prefix("0x") {
            Some(hex) => BigUint::parse_bytes(hex.as_bytes(), 16),
            None => BigUint::parse_bytes(digits.as_bytes(), 10),
        };
        match number {
            Some(value) if value.bits() as usize <= width => Ok(literal::sized(&value, width)),
            Some(value) => Err(EmitError::LiteralTooWide {
                module: self.printer.module.into(),
                literal: value.to_string(),
                width,
            }),
            None if pattern == "true" || pattern == "false" => Ok(literal::sized(
                &BigUint::from(u32::from(pattern == "true")),
                1,
            )),
            None => self
                .printer
                .sized(&Expr::Signal(pattern.to_string()), width, "case pattern"),
        }
    }
}
