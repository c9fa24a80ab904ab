//! The structure of a printed module, for passes that change its text later.

use std::collections::BTreeMap;

use crate::collect::{Instance, Signal};

/// The name of a module's clock.
pub(crate) const CLOCK: &str = "clock";

/// The clocked parts of a module.
#[derive(Clone, Debug)]
pub(crate) struct Skeleton {
    /// The module has an input [`CLOCK`].
    pub clocked: bool,
    /// For each clock in the module, the conditions under which its edge changes a register.
    pub changes: BTreeMap<String, Vec<String>>,
    /// The name of each instance, and its module.
    pub children: Vec<(String, String)>,
    /// The text for gated models, if the module is a hand-written primitive.
    pub gated: Option<GatedText>,
    /// The lines that replace those of a hand-written primitive where metastability is simulated.
    pub metastable: Option<String>,
    /// The lines that replace those of a hand-written primitive in a proof.
    pub proof: Option<String>,
}

/// Lines of a hand-written primitive for gated models.
#[derive(Clone, Debug)]
pub(crate) struct GatedText {
    pub lines: String,
    /// The lines replace the primitive's own lines. Otherwise they are added to them.
    pub replaces: bool,
}

impl Skeleton {
    pub(crate) fn of_kernel(
        instance: &Instance,
        kinds: &BTreeMap<String, String>,
        changes: BTreeMap<String, Vec<String>>,
    ) -> Self {
        let children = instance.children.iter().filter_map(|child| {
            let kind = kinds.get(&child.name)?;
            Some((instance_name(child), kind.clone()))
        });
        Self {
            clocked: is_clocked(instance),
            changes,
            children: children.collect(),
            gated: None,
            metastable: None,
            proof: None,
        }
    }

    pub(crate) fn of_primitive(
        instance: &Instance,
        gated: Option<GatedText>,
        metastable: Option<String>,
        proof: Option<String>,
    ) -> Self {
        Self {
            clocked: is_clocked(instance),
            changes: BTreeMap::new(),
            children: vec![],
            gated,
            metastable,
            proof,
        }
    }
}

/// Returns the Verilog name of an instance in its parent.
pub(crate) fn instance_name(child: &Instance) -> String {
    format!("u_{}", child.name.replace('$', "_"))
}

fn is_clocked(instance: &Instance) -> bool {
    let is_clock = |s: &Signal| s.kind.is_parameter() && s.name == CLOCK;
    instance.signals.iter().any(is_clock)
}
