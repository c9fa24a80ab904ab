//! The signals of a module in front of ABC, by Yosys' names, which ABC's files have beside its own.

use std::collections::HashMap;
use std::fmt::Write;

use crate::borders::{Pin, Times};
use crate::cells::{BLOCK_RAM_START, LEVEL};
use crate::netlist::{File, RawBit, Wanted};
use crate::yosys::Choice;

/// What ABC hears of the world around the logic of a module.
#[derive(Clone, Copy)]
pub(crate) struct Hints<'a> {
    /// Modules outside of it that are block RAMs.
    pub block_rams: &'a [&'a str],
    /// Times at its borders, if they are known.
    pub times: Option<&'a Times>,
    /// How it chooses LUTs.
    pub choice: Choice,
}

impl Hints<'_> {
    /// Nothing.
    pub(crate) const NONE: Self = Self {
        block_rams: &[],
        times: None,
        choice: Choice::Usual,
    };

    pub(crate) const fn is_empty(&self) -> bool {
        self.block_rams.is_empty() && self.times.is_none()
    }
}

/// The times for `arrivals.awk`, from Yosys' JSON of the module `top` before ABC's logic is chosen.
pub(crate) fn times(json: &str, top: &str, hints: Hints<'_>) -> Result<String, String> {
    let mut file: File = serde_json::from_str(json).map_err(|e| e.to_string())?;
    let module = file.modules.remove(top).ok_or("the module is missing")?;
    let signals = Signals::of(&module);
    let mut text = String::from("# levels\n");
    let mut line = |what: &str, half: u32, pin: &Pin| {
        for name in signals.names(&module, pin) {
            let _ = writeln!(text, "{what} {} {name}", f64::from(half) / f64::from(LEVEL));
        }
    };
    match hints.times {
        Some(times) => {
            for (pin, time) in &times.arrivals {
                line("arrival", *time, pin);
            }
            for (pin, time) in &times.required {
                line("required", *time, pin);
            }
            let _ = writeln!(
                text,
                "period {}",
                f64::from(times.period) / f64::from(LEVEL)
            );
        }
        None => {
            for pin in outputs(&module, hints.block_rams) {
                line("arrival", BLOCK_RAM_START, &pin);
            }
        }
    }
    Ok(text)
}

/// All bits that come from instances of `kinds`.
fn outputs(module: &Wanted, kinds: &[&str]) -> Vec<Pin> {
    let cells = module.cells.iter();
    let cells = cells.filter(|(_, cell)| kinds.contains(&cell.kind.as_str()));
    let pins = cells.flat_map(|(name, cell)| {
        let outputs = cell.connections.iter();
        let outputs = outputs.filter(|(port, _)| cell.is_output(port));
        outputs.flat_map(move |(port, bits)| {
            (0..bits.len()).map(move |bit| Pin {
                cell: Some(name.clone()),
                port: port.clone(),
                bit,
            })
        })
    });
    pins.collect()
}

/// The names of each wire.
struct Signals<'a>(HashMap<u32, Vec<(&'a str, Option<usize>)>>);

impl<'a> Signals<'a> {
    fn of(module: &'a Wanted) -> Self {
        let mut names: HashMap<u32, Vec<_>> = HashMap::new();
        for (name, net) in &module.netnames {
            for (n, bit) in net.bits.iter().enumerate() {
                if let RawBit::Wire(wire) = bit {
                    let number = (net.bits.len() > 1).then_some(n);
                    names
                        .entry(*wire)
                        .or_default()
                        .push((name.as_str(), number));
                }
            }
        }
        Self(names)
    }

    /// The names of a bit as Yosys' log has them: one from the Verilog begins with `\\`, and a bit of a vector has its number.
    fn names(&self, module: &Wanted, pin: &Pin) -> Vec<String> {
        let bits = match &pin.cell {
            None => module.ports.get(&pin.port).map(|port| &port.bits),
            Some(cell) => {
                let cell = module.cells.get(cell);
                cell.and_then(|cell| cell.connections.get(&pin.port))
            }
        };
        let Some(RawBit::Wire(wire)) = bits.and_then(|bits| bits.get(pin.bit)) else {
            return vec![];
        };
        let known = self.0.get(wire).into_iter().flatten();
        let written = |&(name, bit): &(&str, Option<usize>)| {
            let mark = if name.starts_with('$') { "" } else { "\\" };
            match bit {
                None => format!("{mark}{name}"),
                Some(bit) => format!("{mark}{name} [{bit}]"),
            }
        };
        known.map(written).collect()
    }
}
