//! The product: modules in dependency order, and the ports of the top.

use std::collections::BTreeMap;

use rust_hdl::core::atom::AtomKind;
use rust_hdl::core::block::Block;

use crate::annotation;
use crate::collect::{collect, Instance};
use crate::error::EmitError;
use crate::module;
use crate::names::{self, Scope};
use crate::skeleton::Skeleton;

/// Direction of a port of the top module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PortDirection {
    Input,
    Output,
}

/// A port of the top module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Port {
    pub name: String,
    /// Its name in the Rust block; the field of an interface stands behind `$`.
    pub source: String,
    /// Width in bits.
    pub width: usize,
    pub direction: PortDirection,
}

/// One Verilog module.
#[derive(Clone, Debug)]
pub struct Module {
    pub name: String,
    /// The text for readers, with comments.
    pub text: String,
    /// The same without comments, for simulation models.
    pub(crate) plain: String,
    /// What simulation checks of its bundles, behind the module's text.
    pub(crate) checks: String,
    pub(crate) skeleton: Skeleton,
}

/// A translated design: sub-modules first, the top last.
#[derive(Clone, Debug)]
pub struct Design {
    pub top: String,
    pub modules: Vec<Module>,
    pub ports: Vec<Port>,
}

impl Design {
    /// All modules as one source text, with comments.
    pub fn text(&self) -> String {
        let modules: Vec<&str> = self.modules.iter().map(|m| m.text.as_str()).collect();
        modules.join("\n")
    }

    /// The text without comments.
    pub fn plain_text(&self) -> String {
        plain(&self.modules)
    }

    /// The text of simulation models: without comments, and with what simulation checks of the bundles.
    pub fn model_text(&self) -> String {
        let checked = |m: &Module| {
            let end = m.plain.rfind(END).expect("a module ends");
            format!("{}{}{}", &m.plain[..end], m.checks, &m.plain[end..])
        };
        let modules: Vec<String> = self.modules.iter().map(checked).collect();
        modules.join("\n")
    }
}

/// Ends a module.
const END: &str = "endmodule\n";

fn plain(modules: &[Module]) -> String {
    let modules: Vec<&str> = modules.iter().map(|m| m.plain.as_str()).collect();
    modules.join("\n")
}

/// Translates `block`; the top module is named after its Rust type.
pub fn emit<B: Block>(block: &B) -> Result<Design, EmitError> {
    translate(&collect(block, "top"), None)
}

/// Translates `block` with `top` as the name of the top module.
pub fn emit_as<B: Block>(block: &B, top: &str) -> Result<Design, EmitError> {
    translate(&collect(block, top), Some(top))
}

/// Translates `block` without its outputs `hidden`, which become internal signals: synthesis then removes logic that drives only them.
///
/// # Errors
/// [`EmitError::UnknownSignal`] for a name that is no output.
pub fn emit_hiding<B: Block>(block: &B, hidden: &[&str]) -> Result<Design, EmitError> {
    let mut instance = collect(block, "top");
    for name in hidden {
        let output = instance
            .signals
            .iter_mut()
            .find(|s| s.wanted == *name && s.kind == AtomKind::OutputParameter);
        let unknown = || EmitError::UnknownSignal {
            module: instance.path.clone(),
            name: (*name).into(),
        };
        output.ok_or_else(unknown)?.kind = AtomKind::LocalSignal;
    }
    translate(&instance, None)
}

fn translate(instance: &Instance, top: Option<&str>) -> Result<Design, EmitError> {
    let mut emitter = Emitter::default();
    if let Some(top) = top {
        emitter.names.claim(top);
    }
    let name = emitter.add_instance(instance, top)?;
    let mut ports: Vec<Port> = vec![];
    let names = names::of_signals(instance.signals.iter().map(|s| s.wanted.as_str()));
    for (s, name) in instance.signals.iter().zip(names) {
        let direction = match s.kind {
            AtomKind::InputParameter => PortDirection::Input,
            AtomKind::OutputParameter | AtomKind::OutputPassthrough => PortDirection::Output,
            _ => continue,
        };
        ports.push(Port {
            name,
            source: s.name.clone(),
            width: s.width,
            direction,
        });
    }
    Ok(Design {
        top: name,
        modules: emitter.modules,
        ports,
    })
}

/// Several blocks for one source text: no two modules of it have the same name, and a module that blocks share is in it once.
#[derive(Default)]
pub struct Emitter {
    modules: Vec<Module>,
    /// Module body without its name, to the name it was emitted under.
    by_body: BTreeMap<String, String>,
    names: Scope,
}

impl Emitter {
    /// Translates `block` and everything below it; the name of its module.
    ///
    /// # Errors
    /// [`EmitError`] for what cannot be translated.
    pub fn add<B: Block>(&mut self, block: &B) -> Result<String, EmitError> {
        self.add_instance(&collect(block, "top"), None)
    }

    /// Everything translated so far as one source text, without comments.
    pub fn text(&self) -> String {
        plain(&self.modules)
    }

    fn add_instance(
        &mut self,
        instance: &Instance,
        forced: Option<&str>,
    ) -> Result<String, EmitError> {
        let mut kinds = BTreeMap::new();
        for child in &instance.children {
            if module::register_init(child).is_none() {
                let kind = self.add_instance(child, None)?;
                kinds.insert(child.name.clone(), kind);
            }
        }
        let body = module::print(instance, &kinds)?;
        let plain = annotation::plain(&body.text);
        if forced.is_none() {
            if let Some(name) = self.by_body.get(&plain) {
                return Ok(name.clone());
            }
        }
        let name = match forced {
            Some(name) => name.to_string(),
            None => self.names.claim(&body.wanted_name),
        };
        // An undeclared name is an error, not a wire of one bit; other files keep the rule they were written for.
        let file = format!(
            "`default_nettype none\n{}module {name} {}{END}`default_nettype wire\n",
            body.header, body.text
        );
        self.modules.push(Module {
            name: name.clone(),
            text: annotation::shown(&file),
            plain: annotation::plain(&file),
            checks: body.checks,
            skeleton: body.skeleton,
        });
        self.by_body.insert(plain, name.clone());
        Ok(name)
    }
}
