//! Statements of rust-hdl with flat names.

use num_bigint::BigUint;
use rust_hdl::core::ast::VerilogExpression as Expr;

/// The pattern of a case (`default` for `_`), and its body.
pub(crate) type Case = (String, Vec<Statement>);

/// One statement with flat names.
#[derive(Clone, Debug)]
pub(crate) enum Statement {
    Assign {
        target: String,
        value: Expr,
    },
    Slice {
        target: String,
        offset: Expr,
        width: usize,
        value: Expr,
    },
    If {
        test: Expr,
        then: Vec<Statement>,
        otherwise: Vec<Statement>,
    },
    Match {
        test: Expr,
        cases: Vec<Case>,
    },
}

impl Statement {
    /// Appends the targets of the statements to `out`, in the order of their first assignment.
    pub(crate) fn targets(statements: &[Statement], out: &mut Vec<String>) {
        for s in statements {
            match s {
                Statement::Assign { target, .. } | Statement::Slice { target, .. } => {
                    if !out.contains(target) {
                        out.push(target.clone());
                    }
                }
                Statement::If {
                    then, otherwise, ..
                } => {
                    Self::targets(then, out);
                    Self::targets(otherwise, out);
                }
                Statement::Match { cases, .. } => {
                    cases.iter().for_each(|c| Self::targets(&c.1, out))
                }
            }
        }
    }

    /// Returns the part of a program that computes a local. A condition that surrounds all assignments of the local is dropped: a local is no memory,
    /// and it is read only where the condition holds.
    pub(crate) fn only_local(statements: &[Statement], target: &str) -> Vec<Statement> {
        let only = Self::only(statements, target);
        let inner = match only.as_slice() {
            [Statement::If {
                then, otherwise, ..
            }] if otherwise.is_empty() => then,
            [Statement::If {
                then, otherwise, ..
            }] if then.is_empty() => otherwise,
            [Statement::Match { cases, .. }] => {
                let mut filled = cases.iter().filter(|c| !c.1.is_empty());
                match (filled.next(), filled.next()) {
                    (Some(case), None) => &case.1,
                    _ => return only,
                }
            }
            _ => return only,
        };
        Self::only_local(inner, target)
    }

    /// Returns the part of a program that computes `target`.
    pub(crate) fn only(statements: &[Statement], target: &str) -> Vec<Statement> {
        let mut out = vec![];
        for s in statements {
            match s {
                Statement::Assign { target: t, .. } | Statement::Slice { target: t, .. } => {
                    if t == target {
                        out.push(s.clone());
                    }
                }
                Statement::If {
                    test,
                    then,
                    otherwise,
                } => {
                    let (then, otherwise) =
                        (Self::only(then, target), Self::only(otherwise, target));
                    if !then.is_empty() || !otherwise.is_empty() {
                        out.push(Statement::If {
                            test: test.clone(),
                            then,
                            otherwise,
                        });
                    }
                }
                Statement::Match { test, cases } => {
                    let cases: Vec<_> = cases
                        .iter()
                        .map(|(p, body)| (p.clone(), Self::only(body, target)))
                        .collect();
                    if cases.iter().any(|c| !c.1.is_empty()) {
                        out.push(Statement::Match {
                            test: test.clone(),
                            cases,
                        });
                    }
                }
            }
        }
        out
    }
}

/// Returns the bits of a target that a program assigns on every path, as a bit set.
pub(crate) fn covered(
    statements: &[Statement],
    width: usize,
    exhaustive: &dyn Fn(&[Case]) -> bool,
) -> BigUint {
    let ones = |n: usize| (BigUint::from(1u32) << n) - 1u32;
    let mut set = BigUint::default();
    for s in statements {
        set |= match s {
            Statement::Assign { .. } => ones(width),
            Statement::Slice {
                offset, width: w, ..
            } => match offset {
                Expr::Literal(l) => {
                    let (value, _) = crate::literal::parse(l);
                    ones(*w) << value.to_u32_digits().first().copied().unwrap_or(0) as usize
                }
                _ => BigUint::default(),
            },
            Statement::If {
                then, otherwise, ..
            } => covered(then, width, exhaustive) & covered(otherwise, width, exhaustive),
            Statement::Match { cases, .. } => {
                if exhaustive(cases) {
                    cases
                        .iter()
                        .map(|c| covered(&c.1, width, exhaustive))
                        .fold(ones(width), |a, b| a & b)
                } else {
                    BigUint::default()
                }
            }
        };
    }
    set
}
