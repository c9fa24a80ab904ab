//! A tree of reset registers in a design.
//!
//! The reset of a card has ten thousand loads, more than one register drives in a cycle. The pass puts registers between the reset port and the modules, each
//! for a bounded number of loads. Every part of the design is behind one of them and no more: so all of it sees the reset exactly one cycle later than the
//! port, and nothing starts before its neighbours.
//!
//! A module with more loads than one register may have gets `reset` itself and has registers inside, which share its own logic and its smaller sub-modules.
//! A sub-module whose reset is more than that of its parent (such as `reset | link_down`) is left as it is, with everything below it.

use std::collections::{BTreeMap, BTreeSet};

use crate::bundle::Checks;
use crate::design::{Design, Module};
use crate::error::EmitError;
use crate::reset_use::{has_input, has_word, items, lone_reset, with_word, Item, Use, RESET};
use crate::skeleton::{GatedText, Skeleton, CLOCK};

/// What the registers are called, with a number behind.
const COPY: &str = "reset_copy_";
/// The module that is one of them.
const REGISTER: &str = "reset_copy";

impl Design {
    /// Returns this design with a register between its port `reset` and every `most` loads of it, estimated as the bits of the registers that it clears. The
    /// design behaves as before with a reset that comes one cycle later. A vector of more than `most` bits is split if its reset stands alone, and has one
    /// register otherwise.
    ///
    /// A register is a module of its own, and synthesis keeps it (`DONT_TOUCH`, and `keep_hierarchy` for Yosys): it would merge registers that are equal.
    ///
    /// # Errors
    /// [`EmitError::Unsupported`] if the top has no ports `reset` and `clock`, or a module uses the names of the registers.
    pub fn with_reset_tree(mut self, most: usize) -> Result<Self, EmitError> {
        let tree = Tree::of(&self, most);
        for module in &mut self.modules {
            let is_top = module.name == self.top;
            if !is_top && !tree.has_registers(&module.name) {
                continue;
            }
            let unsupported = |what: &str| EmitError::Unsupported {
                module: module.name.clone(),
                what: what.into(),
            };
            if module.plain.contains(COPY) || module.name == REGISTER {
                return Err(unsupported("a signal with the name of a copy of the reset"));
            }
            if !has_input(&module.plain, RESET) || !module.skeleton.clocked {
                return Err(unsupported("a reset tree without `reset` and `clock`"));
            }
            let copies = tree.planted(&module.plain, "").1;
            let about = format!("  // `{RESET}` one cycle later, each for at most {most} loads.\n");
            module.text = tree.planted(&module.text, &about).0;
            module.plain = tree.planted(&module.plain, "").0;
            // All copies are equal, so the conditions may look at one.
            for condition in module.skeleton.changes.values_mut().flatten() {
                *condition = with_word(condition, RESET, &format!("{COPY}0"));
            }
            let registers = (0..copies).map(|i| (format!("u_{COPY}{i}"), REGISTER.into()));
            module.skeleton.children.extend(registers);
        }
        self.modules.insert(0, register());
        Ok(self)
    }
}

/// The module of a register. It is set after configuration.
fn register() -> Module {
    let plain = format!(
        "`default_nettype none\n(* keep_hierarchy = \"yes\" *)\nmodule {REGISTER} (\n  input wire {CLOCK},\n  input wire {RESET},\n  output wire copy\n);\n\
         \x20 (* DONT_TOUCH = \"TRUE\" *) reg held = 1'b1;\n\
         \x20 always @(posedge {CLOCK}) begin\n    held <= {RESET};\n  end\n\
         \x20 assign copy = held;\n\
         endmodule\n`default_nettype wire\n"
    );
    let about = "// A register of a reset tree. It stays a module, so that synthesis does not merge it with its equals.\n";
    Module {
        name: REGISTER.into(),
        text: format!("{about}{plain}"),
        plain,
        checks: Checks::default(),
        skeleton: Skeleton {
            clocked: true,
            changes: BTreeMap::new(),
            children: vec![],
            gated: Some(GatedText {
                lines: format!("  assign gate_active = held != {RESET};\n"),
                replaces: false,
            }),
            metastable: None,
            proof: None,
        },
    }
}

/// What has registers, and how many loads the rest has.
struct Tree {
    most: usize,
    /// Loads of a module's reset, by the module's name.
    loads: BTreeMap<String, usize>,
    with_registers: BTreeSet<String>,
}

impl Tree {
    fn of(design: &Design, most: usize) -> Self {
        let mut loads: BTreeMap<String, usize> = BTreeMap::new();
        for module in &design.modules {
            let items = items(&module.plain);
            let of_item = |item: &Item| item.loads(&loads);
            let sum = items.iter().map(of_item).sum();
            loads.insert(module.name.clone(), sum);
        }
        // From the top down: what is below a module with a reset of its own has that reset too.
        let mut apart: BTreeSet<String> = BTreeSet::new();
        for module in design.modules.iter().rev() {
            let is_apart = apart.contains(&module.name);
            for item in items(&module.plain) {
                if let Use::Instance { kind, plain } = item.is {
                    if is_apart || !plain {
                        apart.insert(kind);
                    }
                }
            }
        }
        let is_wide = |module: &&Module| {
            let own = !module.skeleton.children.is_empty() || !module.skeleton.changes.is_empty();
            own && loads[&module.name] > most && !apart.contains(&module.name)
        };
        let wide = design.modules.iter().filter(is_wide);
        Self {
            most,
            with_registers: wide.map(|module| module.name.clone()).collect(),
            loads,
        }
    }

    fn has_registers(&self, module: &str) -> bool {
        self.with_registers.contains(module)
    }

    /// Returns the text of a module with registers, `about` above them, and how many they are.
    fn planted(&self, text: &str, about: &str) -> (String, usize) {
        let mut copies = 0;
        let mut free = 0;
        let mut take = |loads: usize| {
            if loads > free {
                copies += 1;
                free = self.most;
            }
            free = free.saturating_sub(loads);
            format!("{COPY}{}", copies - 1)
        };
        let mut body = String::new();
        for item in items(text) {
            let loads = item.loads(&self.loads).max(1);
            match &item.is {
                Use::None => body += &item.text,
                Use::Instance { plain: false, .. } if !has_word(&item.text, RESET) => {
                    body += &item.text;
                }
                Use::Instance { kind, .. } if self.has_registers(kind) => {
                    let own = format!(".{RESET}({RESET})");
                    let (before, after) = item.text.split_once(&own).expect("a reset");
                    let mut other = |text: &str| match has_word(text, RESET) {
                        true => with_word(text, RESET, &take(1)),
                        false => text.to_owned(),
                    };
                    body += &format!("{}{own}{}", other(before), other(after));
                }
                Use::Vector { width, clear } if *width > self.most => {
                    let mut cleared = String::new();
                    for low in (0..*width).step_by(self.most) {
                        let high = width.min(&(low + self.most)) - 1;
                        let copy = take(high + 1 - low);
                        cleared += &format!(
                            "    if ({copy}) begin\n      {clear}[{high}:{low}] = {}'h0;\n    end\n",
                            high + 1 - low
                        );
                    }
                    body += &item.text.replacen(&lone_reset(clear, *width), &cleared, 1);
                }
                _ => body += &with_word(&item.text, RESET, &take(loads)),
            }
        }
        let (head, rest) = body.split_once("\n);\n").expect("a module has ports");
        let mut registers = String::new();
        if copies > 0 {
            registers += about;
        }
        for i in 0..copies {
            registers += &format!(
                "  wire {COPY}{i};\n  {REGISTER} u_{COPY}{i} (\n    .{CLOCK}({CLOCK}),\n    .{RESET}({RESET}),\n    .copy({COPY}{i})\n  );\n"
            );
        }
        (format!("{head}\n);\n{registers}{rest}"), copies)
    }
}
