//! The result of a translation: modules in dependency order, and the ports of the top module.

use std::collections::BTreeMap;

use rust_hdl::core::atom::AtomKind;
use rust_hdl::core::block::Block;

use crate::annotation;
use crate::bundle::{Checks, FormalRule};
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
    /// The name in the Rust block. `$` separates an interface from its field.
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
    /// The text without comments, for simulation models.
    pub(crate) plain: String,
    /// The checks of its bundles, which follow the module's text.
    pub(crate) checks: Checks,
    pub(crate) skeleton: Skeleton,
}

impl Module {
    /// Returns `text` of the module with the checks of its bundles.
    fn checked(&self, text: &str) -> String {
        let end = text.rfind(END).expect("a module ends");
        let checks = self.checks.simulated();
        format!("{}{}{}", &text[..end], checks, &text[end..])
    }

    /// Returns the module's text up to the end of its ports, what is below them, and what follows its last line.
    fn parts(&self) -> (&str, &str, &str) {
        let (head, rest) = self.plain.split_once("\n);\n").expect("a module has ports");
        let (body, end) = rest.rsplit_once("endmodule").expect("a module ends");
        (head, body, end)
    }

    /// Returns the module's text with `lines` in the place of everything below its ports.
    pub(crate) fn with_lines(&self, lines: &str) -> String {
        let (head, _, end) = self.parts();
        format!("{head}\n);\n{lines}endmodule{end}")
    }

    /// Returns the module's text with `lines` for simulation, and what it has below its ports for synthesis.
    fn simulated_as(&self, lines: &str) -> String {
        let (_, body, _) = self.parts();
        self.with_lines(&format!("`ifdef SYNTHESIS\n{body}`else\n{lines}`endif\n"))
    }
}

/// A translated design. Sub-modules come first and the top module last.
#[derive(Clone, Debug)]
pub struct Design {
    pub top: String,
    pub modules: Vec<Module>,
    pub ports: Vec<Port>,
}

impl Design {
    /// Returns all modules as one source text with comments.
    pub fn text(&self) -> String {
        let modules: Vec<&str> = self.modules.iter().map(|m| m.text.as_str()).collect();
        modules.join("\n")
    }

    /// Returns all modules as one source text without comments.
    pub fn plain_text(&self) -> String {
        plain(&self.modules)
    }

    /// Returns the text for simulation models, which has no comments and contains the checks of the bundles.
    pub fn model_text(&self) -> String {
        let modules: Vec<String> = self.modules.iter().map(|m| m.checked(&m.plain)).collect();
        modules.join("\n")
    }

    /// Returns [`Self::model_text`] with the primitives replaced that simulate metastability: a synchroniser then takes some of the bits that have just
    /// changed, and the old value of the others. The choice is random, and `+metastability=N` seeds it. Synthesis of this text takes the hardware.
    pub fn metastable_text(&self) -> String {
        let modules: Vec<String> = (self.modules.iter())
            .map(|m| match &m.skeleton.metastable {
                Some(lines) => m.checked(&m.simulated_as(lines)),
                None => m.checked(&m.plain),
            })
            .collect();
        modules.join("\n")
    }

    /// Returns the text for a proof, which has no comments, and the rules of the top module's bundles. The top module has an output for each of them.
    /// Primitives between two clocks have text of their own, with free choices where the hardware is not predictable (`docs/formal.md`).
    pub fn formal_text(&self) -> (String, Vec<FormalRule>) {
        let mut texts: Vec<String> = (self.modules.iter())
            .map(|m| match &m.skeleton.proof {
                Some(lines) => m.with_lines(lines),
                None => m.plain.clone(),
            })
            .collect();
        let (Some(top), Some(text)) = (self.modules.last(), texts.last_mut()) else {
            return (String::new(), vec![]);
        };
        let (checks, rules) = top.checks.formal();
        let end = text.rfind(END).expect("a module ends");
        text.insert_str(end, &checks);
        let ports: String = rules
            .iter()
            .map(|rule| format!("\n  output wire {},", rule.port))
            .collect();
        let head = format!("module {} (", top.name);
        let begin = text.find(&head).expect("a module begins") + head.len();
        text.insert_str(begin, &ports);
        (texts.join("\n"), rules)
    }
}

/// The last line of a module.
const END: &str = "endmodule\n";

fn plain(modules: &[Module]) -> String {
    let modules: Vec<&str> = modules.iter().map(|m| m.plain.as_str()).collect();
    modules.join("\n")
}

/// Translates `block`. The top module is named after the Rust type.
pub fn emit<B: Block>(block: &B) -> Result<Design, EmitError> {
    translate(&collect(block, "top"), None)
}

/// Translates `block`. The top module is named `top`.
pub fn emit_as<B: Block>(block: &B, top: &str) -> Result<Design, EmitError> {
    translate(&collect(block, top), Some(top))
}

/// Translates `block` without its outputs `hidden`, which become internal signals. Synthesis then removes the logic that drives only them.
///
/// # Errors
/// [`EmitError::UnknownSignal`] if a name is not an output.
pub fn emit_hiding<B: Block>(block: &B, hidden: &[&str]) -> Result<Design, EmitError> {
    translate(&hiding(collect(block, "top"), hidden)?, None)
}

/// Does what [`emit_hiding`] does. The top module is named `top`.
///
/// # Errors
/// [`EmitError::UnknownSignal`] if a name is not an output.
pub fn emit_top<B: Block>(block: &B, top: &str, hidden: &[&str]) -> Result<Design, EmitError> {
    translate(&hiding(collect(block, "top"), hidden)?, Some(top))
}

fn hiding(mut instance: Instance, hidden: &[&str]) -> Result<Instance, EmitError> {
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
    Ok(instance)
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

/// Collects several blocks in one source text. Module names are unique in it, and a module that several blocks use appears once.
#[derive(Default)]
pub struct Emitter {
    modules: Vec<Module>,
    /// For each module body without its name, the name under which it was emitted.
    by_body: BTreeMap<String, String>,
    names: Scope,
}

impl Emitter {
    /// Translates `block` and everything below it. Returns the name of its module.
    ///
    /// # Errors
    /// [`EmitError`] if something cannot be translated.
    pub fn add<B: Block>(&mut self, block: &B) -> Result<String, EmitError> {
        self.add_instance(&collect(block, "top"), None)
    }

    /// Does what [`Self::add`] does. The module is named `name`, or after it if there is one of that name.
    ///
    /// # Errors
    /// [`EmitError`] if something cannot be translated.
    pub fn add_as<B: Block>(&mut self, block: &B, name: &str) -> Result<String, EmitError> {
        let name = self.names.claim(name);
        self.add_instance(&collect(block, "top"), Some(&name))
    }

    /// Returns everything translated so far as one source text without comments.
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
        // With `default_nettype none`, an undeclared name is an error instead of a one-bit wire. The end of the file restores the default for the
        // files that follow.
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
