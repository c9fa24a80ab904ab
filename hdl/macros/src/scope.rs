//! Which names of a kernel are hardware, and how deep under run-time conditions the walk is.
use std::collections::HashMap;

use proc_macro2::Span;
use quote::format_ident;
use syn::{Ident, Result};

/// What a name bound inside the kernel stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Binding {
    /// A Rust value known at elaboration: loop variable, `let` of a constant.
    Constant,
    /// A value of a running circuit.
    Hardware {
        /// `let mut`.
        mutable: bool,
        /// How many hardware `if`/`match` surround its `let`.
        depth: usize,
        /// Width of the Rust integer type if the local is one (an index), and therefore has no wire.
        integer: Option<usize>,
    },
}

/// The bindings in force at one place of a kernel. Cloned for every nested block.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    bindings: HashMap<String, Binding>,
    /// How many hardware `if`/`match` surround this place.
    pub depth: usize,
    /// Whether this place computes the value of a `let` or assignment.
    value: bool,
}

impl Scope {
    /// Returns the scope of a block at this place that yields a value.
    pub fn inside_value(&self) -> Self {
        let mut inner = self.clone();
        inner.value = true;
        inner
    }

    /// Checks that signals may be driven here.
    pub fn check_may_drive(&self, span: Span) -> Result<()> {
        if self.value {
            return Err(syn::Error::new(
                span,
                "signals cannot be driven inside a block that yields a value (or in an #[hdl_fn]): drive them in a statement of the kernel",
            ));
        }
        Ok(())
    }

    /// Returns the scope of the body of a hardware condition at this place.
    pub fn deeper(&self) -> Self {
        let mut inner = self.clone();
        inner.depth += 1;
        inner
    }

    /// Adds or shadows a name.
    pub fn bind(&mut self, name: &Ident, binding: Binding) {
        self.bindings.insert(name.to_string(), binding);
    }

    /// The binding of a name, if it was bound in the kernel.
    pub fn get(&self, name: &Ident) -> Option<Binding> {
        self.bindings.get(&name.to_string()).copied()
    }

    /// Whether a name is a hardware local here.
    pub fn is_hardware(&self, name: &Ident) -> bool {
        matches!(self.get(name), Some(Binding::Hardware { .. }))
    }

    /// Checks that a local may be assigned here.
    pub fn check_assignable(&self, name: &Ident, span: Span) -> Result<()> {
        match self.get(name) {
            Some(Binding::Hardware { mutable: true, depth, integer: None }) if depth == self.depth => Ok(()),
            Some(Binding::Hardware { mutable: true, integer: None, .. }) => Err(syn::Error::new(
                span,
                format!("`{name}` is declared outside this hardware `if`/`match` and cannot be reassigned in it; \
                         use `let {name} = if c {{ a }} else {{ b }};`"),
            )),
            Some(Binding::Hardware { mutable: true, .. }) => Err(syn::Error::new(
                span,
                format!("`{name}` is a plain integer computed by hardware and cannot be reassigned; make it a `Bits<N>`"),
            )),
            _ => Err(syn::Error::new(
                span,
                format!("`{name}` is no `let mut` of this kernel that holds a hardware value; assign signals as `self.{name}.next = ...`"),
            )),
        }
    }
}

/// The variable of the generated code that holds the `Local` of a kernel's local.
pub fn handle(name: &Ident) -> Ident {
    format_ident!("__hdl_{}", name, span = name.span())
}
