//! A `let` of a kernel, and an argument of a helper function.
use std::cell::Cell;

use rust_hdl_core::ast::{VerilogExpression, VerilogStatement};
use rust_hdl_core::synth::Synth;

use crate::{synth_literal, Elaboration, Target};

/// How a local is read: one version of a wire, or an expression it merely names.
///
/// Locals are in static single assignment form: a reassignment makes a new version, so an expression built
/// earlier keeps meaning the value of its time.
pub struct Local {
    expression: VerilogExpression,
    width: usize,
    read: Cell<bool>,
}

impl Local {
    /// A new wire for the local `name`, `width` bits wide.
    pub fn wire(elaboration: &mut Elaboration, name: &str, width: usize) -> Self {
        Self {
            expression: VerilogExpression::Signal(elaboration.fresh(name)),
            width,
            read: Cell::new(false),
        }
    }

    /// A local that only names an expression (an index, say): no wire of its own.
    pub fn alias(expression: VerilogExpression) -> Self {
        Self {
            expression,
            width: 0,
            read: Cell::new(true),
        }
    }

    /// The expression that reads the current version.
    pub fn read(&self) -> VerilogExpression {
        self.read.set(true);
        self.expression.clone()
    }

    /// The current version as something to assign.
    pub fn target(&self) -> Target {
        Target::wire(self.expression.clone(), self.width)
    }

    /// Returns the version of this local for an overwrite of one of its fields. It is this version if no code has read it and the new field value
    /// does not read it (`reads_itself`). Otherwise it is a copy.
    pub fn field_version(
        &self,
        elaboration: &mut Elaboration,
        statements: &mut Vec<VerilogStatement>,
        name: &str,
        reads_itself: bool,
    ) -> Self {
        if !self.read.get() && !reads_itself {
            return Self {
                expression: self.expression.clone(),
                width: self.width,
                read: Cell::new(false),
            };
        }
        let copy = Local::wire(elaboration, name, self.width);
        statements.push(copy.target().assign(self.expression.clone()));
        copy
    }
}

/// An argument of an `#[hdl_fn]`: its Rust value (type, and value if it is a constant) and how hardware reads it.
pub struct Argument<T> {
    value: T,
    expression: Option<VerilogExpression>,
}

impl<T> Argument<T> {
    /// An argument known at elaboration.
    pub fn constant(value: T) -> Self {
        Self {
            value,
            expression: None,
        }
    }

    /// An argument that is a signal or computed from signals; `shape` gives its type only.
    pub fn hardware(shape: T, expression: VerilogExpression) -> Self {
        Self {
            value: shape,
            expression: Some(expression),
        }
    }

    /// The value of a plain Rust parameter (`usize`, ...) of `function`.
    ///
    /// # Panics
    /// If the caller passed a signal: the parameter shapes the hardware and must be known at elaboration.
    pub fn into_constant(self, function: &str, parameter: &str) -> T {
        assert!(
            self.expression.is_none(),
            "parameter `{parameter}` of `{function}` is a plain Rust value and must be known at elaboration; \
             pass a constant, or make the parameter a `Bits<N>`"
        );
        self.value
    }
}

impl<T: Synth> Argument<T> {
    /// The value (for its type), and the local by which the function body reads the argument.
    pub fn into_local(
        self,
        elaboration: &mut Elaboration,
        statements: &mut Vec<VerilogStatement>,
        name: &str,
    ) -> (T, Local) {
        let local = match self.expression {
            None => Local::alias(synth_literal(self.value)),
            Some(signal @ VerilogExpression::Signal(_)) => Local::alias(signal),
            Some(computed) => {
                let wire = Local::wire(elaboration, name, T::BITS);
                statements.push(wire.target().assign(computed));
                wire
            }
        };
        (self.value, local)
    }
}
