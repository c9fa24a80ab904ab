//! Evaluates expressions whose value is known when the design is printed.

use num_bigint::BigUint;
use rust_hdl::core::ast::{VerilogExpression as Expr, VerilogOp as Op};

use crate::expression::Printer;
use crate::literal;
use crate::names::flat;

impl Printer<'_> {
    /// Returns the value of `e` if it is a constant that fits `width` bits.
    pub(crate) fn constant(&self, e: &Expr, width: usize) -> Option<BigUint> {
        let value = match e {
            Expr::Literal(l) => literal::parse(l).0,
            Expr::Cast(x, w) => self.constant(x, *w)?,
            Expr::Paren(x) => self.constant(x, width)?,
            Expr::Signal(name) => self.symbols.enum_value(&flat(name))?.0.into(),
            Expr::Binary(l, op, r) => {
                match (self.constant(l, usize::MAX), self.constant(r, usize::MAX)) {
                    (Some(l), Some(r)) => operation(&l, op, &r)?,
                    (Some(one), None) | (None, Some(one)) => dominated(&one, op)?,
                    (None, None) => return None,
                }
            }
            _ => return None,
        };
        (value.bits() as usize <= width).then_some(value)
    }
}

/// Returns the result of a comparison or bitwise operation on two constants. Returns `None` for an operation whose result depends on the width.
pub(crate) fn operation(l: &BigUint, op: &Op, r: &BigUint) -> Option<BigUint> {
    let truth = |t: bool| Some(BigUint::from(u32::from(t)));
    let is_true = |x: &BigUint| *x != BigUint::default();
    match op {
        Op::Eq => truth(l == r),
        Op::Ne => truth(l != r),
        Op::Lt => truth(l < r),
        Op::Le => truth(l <= r),
        Op::Gt => truth(l > r),
        Op::Ge => truth(l >= r),
        Op::LogicalAnd => truth(is_true(l) && is_true(r)),
        Op::LogicalOr => truth(is_true(l) || is_true(r)),
        Op::BitAnd => Some(l & r),
        Op::BitOr => Some(l | r),
        Op::BitXor => Some(l ^ r),
        Op::Add | Op::Sub | Op::Mul | Op::Shl | Op::Shr => None,
    }
}

/// Returns the result of an operation if the constant `one` on one side decides it, such as 0 in an AND.
fn dominated(one: &BigUint, op: &Op) -> Option<BigUint> {
    let zero = BigUint::default();
    match op {
        Op::LogicalAnd | Op::BitAnd if *one == zero => Some(zero),
        Op::LogicalOr if *one != zero => Some(BigUint::from(1u32)),
        _ => None,
    }
}

/// Returns the constant that leaves the other operand of an operation unchanged, on either side.
pub(crate) fn neutral(op: &Op) -> Option<u32> {
    match op {
        Op::BitOr | Op::BitXor | Op::LogicalOr => Some(0),
        Op::LogicalAnd => Some(1),
        _ => None,
    }
}
