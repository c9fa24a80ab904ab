//! Simplifies the part of a program that drives one signal: it removes branches of constant conditions, and values that are overwritten.

use num_bigint::BigUint;
use rust_hdl::core::ast::VerilogExpression as Expr;

use crate::expression::Printer;
use crate::literal;
use crate::statement::{covered, Case, Statement};

/// Returns a simplified form of `program`, which drives one signal of `width` bits.
pub(crate) fn simplify(
    printer: &Printer,
    program: &[Statement],
    width: usize,
    exhaustive: &dyn Fn(&[Case]) -> bool,
) -> Vec<Statement> {
    let decided = decide(printer, program);
    keep_last(decided, width, exhaustive)
}

/// Replaces a branch with a constant condition by its selected side.
fn decide(printer: &Printer, program: &[Statement]) -> Vec<Statement> {
    let mut out = vec![];
    for s in program {
        match s {
            Statement::If {
                test,
                then,
                otherwise,
            } => match printer.constant(test, 1) {
                Some(value) if value == BigUint::from(1u32) => out.extend(decide(printer, then)),
                Some(_) => out.extend(decide(printer, otherwise)),
                None => out.push(Statement::If {
                    test: test.clone(),
                    then: decide(printer, then),
                    otherwise: decide(printer, otherwise),
                }),
            },
            Statement::Match { test, cases } => out.push(Statement::Match {
                test: test.clone(),
                cases: cases
                    .iter()
                    .map(|(pattern, body)| (pattern.clone(), decide(printer, body)))
                    .collect(),
            }),
            other => out.push(other.clone()),
        }
    }
    out
}

/// Removes assignments whose bits are all overwritten by later statements. This is sound because no statement reads the signal itself: kernels read
/// only register outputs, ports and locals that are assigned once.
fn keep_last(
    mut program: Vec<Statement>,
    width: usize,
    exhaustive: &dyn Fn(&[Case]) -> bool,
) -> Vec<Statement> {
    let mut at = 0;
    while at < program.len() {
        let later = covered(&program[at + 1..], width, exhaustive);
        if assigned(&program[at], width).is_some_and(|bits| (&bits & &later) == bits) {
            program.remove(at);
        } else {
            at += 1;
        }
    }
    for s in &mut program {
        match s {
            Statement::If {
                then, otherwise, ..
            } => {
                *then = keep_last(std::mem::take(then), width, exhaustive);
                *otherwise = keep_last(std::mem::take(otherwise), width, exhaustive);
            }
            Statement::Match { cases, .. } => {
                for (_, body) in cases {
                    *body = keep_last(std::mem::take(body), width, exhaustive);
                }
            }
            Statement::Assign { .. } | Statement::Slice { .. } => {}
        }
    }
    program
}

/// Returns the bits that an assignment sets. Returns `None` for other statements, and for a position that is not constant.
fn assigned(s: &Statement, width: usize) -> Option<BigUint> {
    let ones = |n: usize| (BigUint::from(1u32) << n) - 1u32;
    match s {
        Statement::Assign { .. } => Some(ones(width)),
        Statement::Slice {
            offset: Expr::Literal(at),
            width,
            ..
        } => Some(ones(*width) << literal::small(at)),
        _ => None,
    }
}
