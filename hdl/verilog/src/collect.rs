//! Walks through a block and collects what the emitter needs: a tree of scopes with their signals and code.

use std::rc::Rc;

use rust_hdl::core::ast::{Verilog, VerilogLiteral};
use rust_hdl::core::atom::{Atom, AtomKind};
use rust_hdl::core::block::Block;
use rust_hdl::core::probe::Probe;
use rust_hdl::core::type_descriptor::{TypeDescriptor, TypeKind};

use crate::bundle::Bundle;
use crate::names;
use crate::record::Record;

/// A signal of a scope. A field of an interface has a flat name with `$` between its parts.
#[derive(Clone)]
pub(crate) struct Signal {
    pub name: String,
    /// The name that it gets in Verilog unless that name is already used.
    pub wanted: String,
    pub kind: AtomKind,
    pub width: usize,
    pub value: VerilogLiteral,
    pub enums: Vec<Enumeration>,
    /// The fields of a record; `None` for a plain signal.
    pub record: Option<Rc<Record>>,
    pub signed: bool,
}

/// An enumeration type with its values in order. A value is named `Type::Variant`.
#[derive(Clone, PartialEq)]
pub(crate) struct Enumeration {
    pub variants: Vec<String>,
    pub width: usize,
}

/// One instance of a block.
pub(crate) struct Instance {
    /// Name of the instance in its parent. `$` precedes array indices.
    pub name: String,
    /// Dotted path from the top module, for messages.
    pub path: String,
    pub signals: Vec<Signal>,
    pub bundles: Vec<Bundle>,
    pub code: Verilog,
    pub children: Vec<Instance>,
}

/// Elaborates `block` into a tree of instances.
pub(crate) fn collect<B: Block + ?Sized>(block: &B, name: &str) -> Instance {
    let mut collector = Collector::default();
    block.accept(name, &mut collector);
    collector.done.expect("a block visits its own scope")
}

#[derive(Default)]
struct Collector {
    open: Vec<Instance>,
    namespace: Vec<String>,
    // Namespaces that are open in the outer scope. They are put aside while a sub-block is visited.
    saved: Vec<Vec<String>>,
    done: Option<Instance>,
}

impl Probe for Collector {
    fn visit_start_scope(&mut self, name: &str, node: &dyn Block) {
        let path = match self.open.last() {
            Some(parent) => format!("{}.{}", parent.path, name.replace('$', ".")),
            None => name.to_string(),
        };
        let prefix = self.namespace.join("$");
        let name = if prefix.is_empty() {
            name.to_string()
        } else {
            format!("{prefix}${name}")
        };
        self.saved.push(std::mem::take(&mut self.namespace));
        self.open.push(Instance {
            name,
            path,
            signals: vec![],
            bundles: vec![],
            code: node.hdl(),
            children: vec![],
        });
    }

    fn visit_start_namespace(&mut self, name: &str, node: &dyn Block) {
        self.namespace.push(name.to_string());
        if let Some(scope) = self.open.last_mut() {
            let bundle = Bundle::of(self.namespace.join("$"), &node.hdl());
            scope.bundles.extend(bundle);
        }
    }

    fn visit_atom(&mut self, name: &str, atom: &dyn Atom) {
        let mut parts = self.namespace.clone();
        parts.push(name.to_string());
        let descriptor = atom.descriptor();
        let mut enums = vec![];
        enumerations(&descriptor, &mut enums);
        let name = parts.join("$");
        let signal = Signal {
            wanted: names::wanted(&name, atom.kind()),
            name,
            kind: atom.kind(),
            width: atom.bits(),
            value: atom.verilog(),
            enums,
            record: Record::of(&descriptor),
            signed: matches!(descriptor.kind, TypeKind::Signed(_)),
        };
        if let Some(scope) = self.open.last_mut() {
            scope.signals.push(signal);
        }
    }

    fn visit_end_namespace(&mut self, _name: &str, _node: &dyn Block) {
        self.namespace.pop();
    }

    fn visit_end_scope(&mut self, _name: &str, _node: &dyn Block) {
        let finished = self.open.pop().expect("scopes nest");
        self.namespace = self.saved.pop().expect("scopes nest");
        match self.open.last_mut() {
            Some(parent) => parent.children.push(finished),
            None => self.done = Some(finished),
        }
    }
}

fn enumerations(descriptor: &TypeDescriptor, out: &mut Vec<Enumeration>) {
    match &descriptor.kind {
        TypeKind::Enum(variants) => {
            let found = Enumeration {
                variants: variants.clone(),
                width: rust_hdl::prelude::clog2(variants.len()),
            };
            if !out.contains(&found) {
                out.push(found);
            }
        }
        TypeKind::Composite(fields) => fields.iter().for_each(|f| enumerations(&f.kind, out)),
        TypeKind::Bits(_) | TypeKind::Signed(_) => {}
    }
}
