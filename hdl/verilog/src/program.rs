//! Converts a kernel into the form that the emitter uses: loops are unrolled, links become assignments, and names are flat.

use std::collections::BTreeMap;

use rust_hdl::core::ast::{
    VerilogBlock, VerilogBlockOrConditional, VerilogExpression as Expr, VerilogLink,
    VerilogLiteral, VerilogStatement,
};

use crate::annotation;
use crate::error::EmitError;
use crate::names::flat;
use crate::statement::Statement;

/// A kernel: its statements, and the comments of its source.
#[derive(Default)]
pub(crate) struct Program {
    pub statements: Vec<Statement>,
    /// The path of the Rust type.
    pub type_path: Option<String>,
    /// Comment lines above the block.
    pub about: Vec<String>,
    /// Comment lines of each port, by its Rust name.
    pub ports: BTreeMap<String, Vec<String>>,
    /// Comment lines with the index of the statement below each one.
    pub notes: Vec<(usize, String)>,
}

impl Program {
    /// Converts a block. `#[hdl]` passes on the comments of the source as comments between the statements.
    pub(crate) fn of(block: &VerilogBlock, module: &str) -> Result<Self, EmitError> {
        let mut program = Self::default();
        let mut normaliser = Normaliser {
            module,
            loops: vec![],
        };
        for s in block {
            match s {
                VerilogStatement::Comment(text) => program.comment(text),
                other => normaliser.statement(other, &mut program.statements)?,
            }
        }
        Ok(program)
    }

    /// Returns the comment lines that stand above the module.
    pub(crate) fn about(&self) -> String {
        self.about
            .iter()
            .map(|text| annotation::line("", text))
            .collect()
    }

    fn comment(&mut self, text: &str) {
        let (kind, text) = text.split_once(' ').unwrap_or((text, ""));
        let line = || text.to_string();
        match kind {
            "@module" => self.type_path = Some(line()),
            "@about" => self.about.push(line()),
            "@note" => self.notes.push((self.statements.len(), line())),
            "@port" => {
                let (port, text) = text.split_once(' ').unwrap_or((text, ""));
                let lines = self.ports.entry(port.to_string()).or_default();
                lines.push(text.to_string());
            }
            _ => {}
        }
    }

    /// Sorts `targets` by the statement that assigns each one last, and returns that statement's index with each. The default of a register is its
    /// first assignment, so it does not count if a later stage assigns the register.
    pub(crate) fn in_order(&self, targets: &[String]) -> Vec<(usize, String)> {
        let mut last: BTreeMap<String, usize> = BTreeMap::new();
        for (at, statement) in self.statements.iter().enumerate() {
            let mut assigned = vec![];
            Statement::targets(std::slice::from_ref(statement), &mut assigned);
            last.extend(assigned.into_iter().map(|target| (target, at)));
        }
        let mut ordered: Vec<(usize, String)> =
            targets.iter().map(|t| (last[t], t.clone())).collect();
        ordered.sort_by_key(|(at, _)| *at);
        ordered
    }
}

/// Keeps track of the comments above stages while signals are printed. A comment applies to the statements down to the next comment.
pub(crate) struct Notes<'a> {
    left: std::iter::Peekable<std::slice::Iter<'a, (usize, String)>>,
}

impl<'a> Notes<'a> {
    pub(crate) fn of(program: &'a Program) -> Self {
        Self {
            left: program.notes.iter().peekable(),
        }
    }

    /// Returns the comment lines of statement `at`. Each comment is returned once. The statements must be passed in order.
    pub(crate) fn above(&mut self, at: usize) -> String {
        let mut passed = vec![];
        while let Some(note) = self.left.next_if(|(of, _)| *of <= at) {
            passed.push(note);
        }
        let nearest = passed.last().map(|(of, _)| *of);
        let of_nearest = passed.iter().filter(|(of, _)| Some(*of) == nearest);
        of_nearest
            .map(|(_, text)| annotation::line("  ", text))
            .collect()
    }
}

struct Normaliser<'a> {
    module: &'a str,
    loops: Vec<(String, usize)>,
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
            VerilogStatement::Comment(_) => {}
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

    /// Replaces the loop variables in index brackets by their values.
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
