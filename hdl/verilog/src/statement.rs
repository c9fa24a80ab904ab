//! rust-hdl statements, normalised: loops unrolled, links turned into assignments, names flattened.

use num_bigint::BigUint;
use rust_hdl::core::ast::{
    VerilogBlock, VerilogBlockOrConditional, VerilogExpression as Expr, VerilogLink,
    VerilogLiteral, VerilogStatement,
};

use crate::error::EmitError;
use crate::names::flat;

/// Pattern text (`default` for `_`) and body.
pub(crate) type Case = (String, Vec<Statement>);

/// One statement on flat names.
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
    /// Targets in order of first assignment.
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

    /// The part of a program that decides a local: as locals are values and not memories, conditions around all of its assignments
    /// do not matter to those who may read it.
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

    /// The part of a program that decides `target`.
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

/// Normalises a block. The path that `#[hdl]` leaves as a first comment is returned beside it.
pub(crate) fn normalise(
    block: &VerilogBlock,
    module: &str,
) -> Result<(Option<String>, Vec<Statement>), EmitError> {
    let mut normaliser = Normaliser {
        module,
        loops: vec![],
        type_path: None,
    };
    let mut out = vec![];
    normaliser.block(block, &mut out)?;
    Ok((normaliser.type_path, out))
}

struct Normaliser<'a> {
    module: &'a str,
    loops: Vec<(String, usize)>,
    type_path: Option<String>,
}

impl Normaliser<'_> {
    fn block(&mut self, block: &VerilogBlock, out: &mut Vec<Statement>) -> Result<(), EmitError> {
        for s in block {
            self.statement(s, out)?;
        }
        Ok(())
    }

    fn sub(&mut self, block: &VerilogBlock) -> Result<Vec<Statement>, EmitError> {
        let mut out = vec![];
        self.block(block, &mut out)?;
        Ok(out)
    }

    fn statement(
        &mut self,
        s: &VerilogStatement,
        out: &mut Vec<Statement>,
    ) -> Result<(), EmitError> {
        match s {
            VerilogStatement::Assignment(target, value) => out.push(Statement::Assign {
                target: self.target(target)?,
                value: self.expression(value),
            }),
            VerilogStatement::SliceAssignment {
                base,
                width,
                offset,
                replacement,
            } => out.push(Statement::Slice {
                target: self.target(base)?,
                offset: self.expression(offset),
                width: *width,
                value: self.expression(replacement),
            }),
            VerilogStatement::If(c) => {
                let then = self.sub(&c.then)?;
                let otherwise = match &c.otherwise {
                    VerilogBlockOrConditional::Block(b) => self.sub(b)?,
                    VerilogBlockOrConditional::Conditional(s) => {
                        let mut inner = vec![];
                        self.statement(s, &mut inner)?;
                        inner
                    }
                    VerilogBlockOrConditional::None => vec![],
                };
                out.push(Statement::If {
                    test: self.expression(&c.test),
                    then,
                    otherwise,
                });
            }
            VerilogStatement::Match(m) => {
                let mut cases = vec![];
                for case in &m.cases {
                    cases.push((case.condition.trim().to_string(), self.sub(&case.block)?));
                }
                out.push(Statement::Match {
                    test: self.expression(&m.test),
                    cases,
                });
            }
            VerilogStatement::Loop(l) => {
                for i in l.from.as_usize()..l.to.as_usize() {
                    self.loops.push((l.index.clone(), i));
                    self.block(&l.block, out)?;
                    self.loops.pop();
                }
            }
            VerilogStatement::Comment(text) => {
                if let Some(path) = text.trim().trim_matches('"').strip_prefix("@module ") {
                    self.type_path.get_or_insert_with(|| path.to_string());
                }
            }
            VerilogStatement::Link(links) => {
                for link in links {
                    out.push(self.link(link)?);
                }
            }
            VerilogStatement::Macro(block) => self.block(block, out)?,
        }
        Ok(())
    }

    fn link(&self, link: &VerilogLink) -> Result<Statement, EmitError> {
        let join = |owner: &str, name: &str| {
            flat(&self.name(&format!("{owner}.{}", name.trim_start_matches('.'))))
        };
        let (target, source) = match link {
            VerilogLink::Forward(d) => (
                join(&d.other_name, &d.my_name),
                join(&d.owner_name, &d.my_name),
            ),
            VerilogLink::Backward(d) => (
                join(&d.owner_name, &d.my_name),
                join(&d.other_name, &d.my_name),
            ),
            VerilogLink::Bidirectional(_) => {
                return Err(EmitError::Unsupported {
                    module: self.module.into(),
                    what: "an in-out link".into(),
                })
            }
        };
        let trim = |s: String| s.trim_end_matches('$').to_string();
        Ok(Statement::Assign {
            target: trim(target),
            value: Expr::Signal(trim(source)),
        })
    }

    fn target(&self, e: &Expr) -> Result<String, EmitError> {
        match e {
            Expr::Signal(name) => Ok(flat(&self.name(name))),
            other => Err(EmitError::Unsupported {
                module: self.module.into(),
                what: format!("assignment to {other:?}"),
            }),
        }
    }

    /// Replaces loop variables inside index brackets.
    fn name(&self, name: &str) -> String {
        let mut name = name.replace(' ', "");
        for (variable, value) in &self.loops {
            name = name.replace(&format!("[{variable}]"), &format!("[{value}]"));
        }
        name
    }

    fn expression(&self, e: &Expr) -> Expr {
        let walk = |x: &Expr| Box::new(self.expression(x));
        match e {
            Expr::Signal(name) => match self.loops.iter().rev().find(|(v, _)| v == name) {
                Some((_, value)) => Expr::Literal(VerilogLiteral::from(*value)),
                None => Expr::Signal(self.name(name)),
            },
            Expr::Literal(l) => Expr::Literal(l.clone()),
            Expr::Cast(x, w) => Expr::Cast(walk(x), *w),
            Expr::Signed(x) => Expr::Signed(walk(x)),
            Expr::Unsigned(x) => Expr::Unsigned(walk(x)),
            Expr::Paren(x) => Expr::Paren(walk(x)),
            Expr::Binary(l, op, r) => Expr::Binary(walk(l), op.clone(), walk(r)),
            Expr::Unary(op, x) => Expr::Unary(op.clone(), walk(x)),
            Expr::Index(x, i) => Expr::Index(walk(x), walk(i)),
            Expr::Slice(x, w, o) => Expr::Slice(walk(x), *w, walk(o)),
            Expr::IndexReplace(x, i, v) => Expr::IndexReplace(walk(x), walk(i), walk(v)),
        }
    }
}

/// Which bits of a target a program assigns on every path, as a bit set.
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
