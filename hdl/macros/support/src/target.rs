//! The left side of an assignment.
use rust_hdl_core::ast::{VerilogExpression, VerilogStatement};

/// A signal or wire, or a slice (struct field, or field of a field) of one.
#[derive(Clone)]
pub struct Target {
    base: VerilogExpression,
    part: Part,
}

#[derive(Clone)]
enum Part {
    /// A declared signal: its width is the block's business.
    Signal,
    /// A wire made from a `let`, of this width in bits: assigned values are cast to it.
    Wire(usize),
    /// A field: width and offset in bits.
    Field { width: usize, offset: usize },
}

impl Target {
    /// A declared signal, by its flattened name.
    pub fn signal(name: String) -> Self {
        Self {
            base: VerilogExpression::Signal(name),
            part: Part::Signal,
        }
    }

    pub(crate) fn wire(base: VerilogExpression, width: usize) -> Self {
        Self {
            base,
            part: Part::Wire(width),
        }
    }

    /// Returns the field of this target that has `width` bits and starts at bit `offset`.
    pub fn field(&self, width: usize, offset: usize) -> Self {
        let outer = match self.part {
            Part::Field { offset, .. } => offset,
            Part::Signal | Part::Wire(_) => 0,
        };
        Self {
            base: self.base.clone(),
            part: Part::Field {
                width,
                offset: outer + offset,
            },
        }
    }

    /// The statement that assigns `value` to this target.
    pub fn assign(&self, value: VerilogExpression) -> VerilogStatement {
        match self.part {
            Part::Signal => VerilogStatement::Assignment(self.base.clone(), value),
            Part::Wire(width) => {
                let value = match value {
                    cast @ VerilogExpression::Cast(_, inner) if inner == width => cast,
                    other => VerilogExpression::Cast(Box::new(other), width),
                };
                VerilogStatement::Assignment(self.base.clone(), value)
            }
            Part::Field { width, offset } => VerilogStatement::SliceAssignment {
                base: self.base.clone(),
                width,
                offset: VerilogExpression::Literal(offset.into()),
                replacement: value,
            },
        }
    }

    /// The statement that clears this target, `width` bits wide.
    pub fn clear(&self, width: usize) -> VerilogStatement {
        self.assign(VerilogExpression::Cast(
            Box::new(VerilogExpression::Literal(false.into())),
            width,
        ))
    }
}
