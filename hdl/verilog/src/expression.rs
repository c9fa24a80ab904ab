//! Prints expressions. Operator precedence and widths are those of Rust.

use std::collections::BTreeMap;
use std::rc::Rc;

use num_bigint::BigUint;
use rust_hdl::core::ast::{VerilogExpression as Expr, VerilogOp as Op, VerilogOpUnary as UnaryOp};

use crate::constant;
use crate::error::EmitError;
use crate::literal;
use crate::names::flat;
use crate::record::{self, Record};
use crate::symbols::Symbols;

/// A printed expression.
#[derive(Clone)]
pub(crate) struct Typed {
    pub text: String,
    /// Width in bits. `None` for an unsized literal, whose width follows from the other operand.
    pub width: Option<usize>,
    /// The text is an identifier, so Verilog allows a select from it.
    identifier: bool,
    value: Option<BigUint>,
    /// The fields of a record; `None` for a plain vector.
    record: Option<Rc<Record>>,
}

/// A wire that the printer adds, because Verilog cannot select from an expression.
pub(crate) struct Wire {
    pub name: String,
    pub width: usize,
    pub text: String,
}

/// Prints the expressions of one module.
pub(crate) struct Printer<'a> {
    pub module: &'a str,
    pub symbols: &'a mut Symbols,
    pub wires: Vec<Wire>,
    known: BTreeMap<String, String>,
    /// The enumeration values that have to be declared. The key is the flat name, the value is (identifier, value, width).
    pub enums: BTreeMap<String, (String, u64, usize)>,
}

impl<'a> Printer<'a> {
    pub(crate) fn new(module: &'a str, symbols: &'a mut Symbols) -> Self {
        Printer {
            module,
            symbols,
            wires: vec![],
            known: BTreeMap::new(),
            enums: BTreeMap::new(),
        }
    }

    /// Prints `e` with exactly `width` bits.
    pub(crate) fn sized(
        &mut self,
        e: &Expr,
        width: usize,
        what: &str,
    ) -> Result<String, EmitError> {
        let typed = self.typed(e)?;
        self.fit(typed, width, what)
    }

    fn fit(&mut self, t: Typed, width: usize, what: &str) -> Result<String, EmitError> {
        match (t.width, &t.value) {
            (None, Some(value)) => {
                if value.bits() as usize > width {
                    return Err(EmitError::LiteralTooWide {
                        module: self.module.into(),
                        literal: value.to_string(),
                        width,
                    });
                }
                Ok(literal::sized(value, width))
            }
            (Some(w), _) if w == width => Ok(t.text),
            (w, _) => Err(EmitError::Width {
                module: self.module.into(),
                what: what.into(),
                left: width,
                right: w.unwrap_or(0),
            }),
        }
    }

    /// Prints `e` with its own width.
    pub(crate) fn typed(&mut self, e: &Expr) -> Result<Typed, EmitError> {
        match e {
            Expr::Signal(name) => self.signal(name),
            Expr::Literal(l) => {
                let (value, width) = literal::parse(l);
                // A `bool` has one bit. An integer literal takes the width of the other operand.
                let width = (width == 1).then_some(1);
                Ok(Typed {
                    text: width.map_or_else(|| value.to_string(), |w| literal::sized(&value, w)),
                    width,
                    identifier: false,
                    value: Some(value),
                    record: None,
                })
            }
            Expr::Paren(x) | Expr::Unsigned(x) => self.typed(x),
            Expr::Signed(_) => Err(self.unsupported("signed arithmetic")),
            Expr::Cast(x, width) => self.cast(x, *width),
            Expr::Binary(l, op, r) => self.binary(l, op, r),
            Expr::Unary(op, x) => self.unary(op, x),
            Expr::Index(x, i) => self.index(x, i),
            Expr::Slice(x, width, offset) => self.slice(x, *width, offset),
            Expr::IndexReplace(x, i, v) => self.index_replace(x, i, v),
        }
    }

    /// Returns the width of `e`. Wires that printing it would add are discarded.
    pub(crate) fn width_of(&mut self, e: &Expr) -> Result<usize, EmitError> {
        let typed = self.typed(e)?;
        typed.width.ok_or_else(|| EmitError::UnsizedLiteral {
            module: self.module.into(),
            literal: typed.text,
        })
    }

    fn signal(&mut self, name: &str) -> Result<Typed, EmitError> {
        let key = flat(name);
        if let Some(s) = self.symbols.get(&key) {
            let record = s.record.clone();
            return Ok(Typed {
                record,
                ..identifier(s.verilog.clone(), s.width)
            });
        }
        if let Some((value, width)) = self.symbols.enum_value(&key) {
            let name = match self.enums.get(&key) {
                Some((name, _, _)) => name.clone(),
                None => {
                    let name = self.symbols.scope.claim(&key);
                    self.enums.insert(key, (name.clone(), value, width));
                    name
                }
            };
            return Ok(Typed {
                text: name,
                width: Some(width),
                identifier: false,
                value: None,
                record: None,
            });
        }
        Err(EmitError::UnknownSignal {
            module: self.module.into(),
            name: name.to_string(),
        })
    }

    fn cast(&mut self, x: &Expr, width: usize) -> Result<Typed, EmitError> {
        let t = self.typed(x)?;
        let Some(w) = t.width else {
            let value = t.value.clone();
            let text = self.fit(t, width, "cast")?;
            return Ok(Typed {
                value,
                ..compound(text, width)
            });
        };
        Ok(match w.cmp(&width) {
            std::cmp::Ordering::Equal => t,
            std::cmp::Ordering::Less => compound(
                format!(
                    "{{{}, {}}}",
                    literal::sized(&BigUint::default(), width - w),
                    t.text
                ),
                width,
            ),
            std::cmp::Ordering::Greater => self.select(t, w, width, 0),
        })
    }

    fn select(&mut self, t: Typed, from: usize, width: usize, low: usize) -> Typed {
        if from == width {
            return t;
        }
        let record = t.record.clone();
        let name = self.named(t, from);
        Typed {
            record: record.as_ref().and_then(|r| r.part(low, width)),
            ..compound(record::part(&name, low, width, record.as_deref()), width)
        }
    }

    /// Returns an identifier for `t`. If `t` is not an identifier, a wire is added for it.
    fn named(&mut self, t: Typed, width: usize) -> String {
        if t.identifier {
            return t.text;
        }
        if let Some(name) = self.known.get(&t.text) {
            return name.clone();
        }
        let name = self.symbols.scope.claim("part");
        self.known.insert(t.text.clone(), name.clone());
        self.wires.push(Wire {
            name: name.clone(),
            width,
            text: t.text,
        });
        name
    }

    fn binary(&mut self, l: &Expr, op: &Op, r: &Expr) -> Result<Typed, EmitError> {
        let (lt, rt) = (self.typed(l)?, self.typed(r)?);
        let symbol = match op {
            Op::Add => "+",
            Op::Sub => "-",
            Op::Mul => "*",
            Op::LogicalAnd => "&&",
            Op::LogicalOr => "||",
            Op::BitXor => "^",
            Op::BitAnd => "&",
            Op::BitOr => "|",
            Op::Shl => "<<",
            Op::Shr => ">>",
            Op::Eq => "==",
            Op::Lt => "<",
            Op::Le => "<=",
            Op::Ne => "!=",
            Op::Ge => ">=",
            Op::Gt => ">",
        };
        if matches!(op, Op::Shl | Op::Shr) {
            let width = self.own_width(&lt)?;
            let out = |by: &BigUint| *by >= BigUint::from(width);
            if rt.value.as_ref().is_some_and(out) {
                return Ok(zero(width));
            }
            return Ok(compound(
                format!("({} {symbol} {})", lt.text, rt.text),
                width,
            ));
        }
        let comparison = matches!(op, Op::Eq | Op::Lt | Op::Le | Op::Ne | Op::Ge | Op::Gt);
        let logical = matches!(op, Op::LogicalAnd | Op::LogicalOr);
        if let (Some(l), Some(r), true) = (&lt.value, &rt.value, comparison || logical) {
            let value = constant::operation(l, op, r);
            return Ok(Typed {
                text: literal::sized(value.as_ref().expect("a truth value"), 1),
                value,
                ..compound(String::new(), 1)
            });
        }
        let width = match (lt.width, rt.width) {
            (Some(w), _) | (None, Some(w)) => w,
            (None, None) => {
                return Err(EmitError::UnsizedLiteral {
                    module: self.module.into(),
                    literal: format!("{} {symbol} {}", lt.text, rt.text),
                })
            }
        };
        if let Some(neutral) = constant::neutral(op) {
            let is_neutral = |t: &Typed| t.value == Some(BigUint::from(neutral));
            match (is_neutral(&lt), is_neutral(&rt)) {
                (_, true) if lt.width == Some(width) => return Ok(lt),
                (true, _) if rt.width == Some(width) => return Ok(rt),
                _ => {}
            }
        }
        let what = format!("{} {symbol} {}", lt.text, rt.text);
        let (lt, rt) = (self.fit(lt, width, &what)?, self.fit(rt, width, &what)?);
        if matches!(op, Op::Mul) {
            // rust-hdl's product has the full width, the sum of both operands' widths.
            let zeros = literal::sized(&BigUint::default(), width);
            let text = format!("({{{zeros}, {lt}}} * {{{zeros}, {rt}}})");
            return Ok(compound(text, 2 * width));
        }
        Ok(compound(
            format!("({lt} {symbol} {rt})"),
            if comparison || logical { 1 } else { width },
        ))
    }

    fn own_width(&self, t: &Typed) -> Result<usize, EmitError> {
        t.width.ok_or_else(|| EmitError::UnsizedLiteral {
            module: self.module.into(),
            literal: t.text.clone(),
        })
    }

    fn unary(&mut self, op: &UnaryOp, x: &Expr) -> Result<Typed, EmitError> {
        let t = self.typed(x)?;
        let width = self.own_width(&t)?;
        let (symbol, width) = match op {
            UnaryOp::Not => ("~", width),
            UnaryOp::Neg => ("-", width),
            UnaryOp::All => ("&", 1),
            UnaryOp::Any => ("|", 1),
            UnaryOp::Xor => ("^", 1),
        };
        Ok(compound(format!("({symbol}{})", t.text), width))
    }

    fn index(&mut self, x: &Expr, i: &Expr) -> Result<Typed, EmitError> {
        self.slice(x, 1, i)
    }

    fn slice(&mut self, x: &Expr, width: usize, offset: &Expr) -> Result<Typed, EmitError> {
        let at = self.typed(offset)?;
        if let Some(low) = &at.value {
            let low = low.to_u32_digits().first().copied().unwrap_or(0) as usize;
            // A constant part of a constant part is printed as one part of the whole vector.
            if let Expr::Slice(inner, inner_width, inner_offset) = strip(x) {
                let inner_at = self.typed(inner_offset)?;
                if let Some(base) = &inner_at.value {
                    self.check_range("a part", low, width, *inner_width)?;
                    let base = base.to_u32_digits().first().copied().unwrap_or(0) as usize;
                    let folded = Expr::Literal(((base + low) as u64).into());
                    return self.slice(inner, width, &folded);
                }
            }
            let t = self.typed(x)?;
            let from = self.own_width(&t)?;
            self.check_range(&t.text.clone(), low, width, from)?;
            return Ok(self.select(t, from, width, low));
        }
        let t = self.typed(x)?;
        let from = self.own_width(&t)?;
        if from == 1 {
            return Ok(t);
        }
        if width > 1 {
            // Beyond the end of the vector, rust-hdl shifts zeros in, whereas Verilog's `+:` would give unknown bits.
            let shifted = compound(format!("({} >> {})", t.text, at.text), from);
            return Ok(self.select(shifted, from, width, 0));
        }
        let name = self.named(t, from);
        // The index is printed with exactly the bits that the vector's length needs, so that all tools agree on its width.
        let needed = rust_hdl::prelude::clog2(from).max(1);
        let index = self.cast(offset, needed)?.text;
        Ok(compound(format!("{name}[{index}]"), width))
    }

    fn check_range(
        &self,
        signal: &str,
        low: usize,
        width: usize,
        from: usize,
    ) -> Result<(), EmitError> {
        if low + width > from {
            return Err(EmitError::OutOfRange {
                module: self.module.into(),
                signal: signal.to_string(),
                high: low + width - 1,
                low,
                width: from,
            });
        }
        Ok(())
    }

    fn index_replace(&mut self, x: &Expr, i: &Expr, v: &Expr) -> Result<Typed, EmitError> {
        let t = self.typed(x)?;
        let width = self.own_width(&t)?;
        let at = self.typed(i)?.text;
        let bit = self.sized(v, 1, "replace_bit")?;
        let one = literal::sized(&BigUint::from(1u32), width);
        let spread = if width == 1 {
            bit
        } else {
            format!(
                "{{{}, {bit}}}",
                literal::sized(&BigUint::default(), width - 1)
            )
        };
        Ok(compound(
            format!("(({} & (~({one} << {at}))) | ({spread} << {at}))", t.text),
            width,
        ))
    }

    fn unsupported(&self, what: &str) -> EmitError {
        EmitError::Unsupported {
            module: self.module.into(),
            what: what.into(),
        }
    }
}

/// Returns `text` without a pair of parentheses around the whole of it.
pub(crate) fn bare(text: &str) -> &str {
    let Some(inner) = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) else {
        return text;
    };
    let mut depth = 0i32;
    for c in inner.chars() {
        depth += i32::from(c == '(') - i32::from(c == ')');
        if depth < 0 {
            return text;
        }
    }
    inner
}

fn strip(e: &Expr) -> &Expr {
    match e {
        Expr::Paren(x) => strip(x),
        other => other,
    }
}

fn identifier(text: String, width: usize) -> Typed {
    Typed {
        text,
        width: Some(width),
        identifier: true,
        value: None,
        record: None,
    }
}

fn zero(width: usize) -> Typed {
    let value = BigUint::default();
    Typed {
        text: literal::sized(&value, width),
        value: Some(value),
        ..compound(String::new(), width)
    }
}

fn compound(text: String, width: usize) -> Typed {
    Typed {
        text,
        width: Some(width),
        identifier: false,
        value: None,
        record: None,
    }
}
