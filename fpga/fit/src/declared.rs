//! The memories that a design declares, without a synthesis: whether a card can fit a device at all.

use std::collections::BTreeMap;

use crate::design::Division;
use crate::source::{Memory, Module, Sources};
use crate::{Area, FitError};

/// Memories of one module that is used in several places.
#[derive(Clone, PartialEq, Debug)]
pub struct Declared {
    /// Instance path, with `*` in the place of numbers: `u_transmit.u_requester.u_engines_*.u_core.u_spray.u_rows`.
    pub path: String,
    /// One of them.
    pub memory: Memory,
    /// How many there are.
    pub count: u64,
    /// Block RAMs and UltraRAMs of all of them.
    pub area: Area,
}

/// The memories of `top` and what is below it that are block RAM or UltraRAM, the largest share of a device first. What synthesis removes because nobody reads it is among them.
///
/// # Errors
/// [`FitError::NoModule`] if `top` is not among the modules.
pub fn declared(modules: &[Module], top: &str) -> Result<Vec<Declared>, FitError> {
    let sources = Sources::new(modules, Division::default());
    sources.text(top)?;
    let mut counts = BTreeMap::new();
    walk(&sources, top, "", &mut counts);
    let row = |((path, memory), count): ((String, Memory), u64)| {
        let mut area = Area::default();
        match memory.style.as_str() {
            "ultra" => area.uram = count * memory.ultra_rams(),
            "block" => area.bram = count as f64 * memory.block_rams(),
            _ => return None,
        }
        Some(Declared {
            path,
            memory,
            count,
            area,
        })
    };
    let mut rows: Vec<Declared> = counts.into_iter().filter_map(row).collect();
    // An UltraRAM is rarer than a block RAM, and holds eight times as much.
    let weight = |row: &Declared| 8.0 * row.area.uram as f64 + row.area.bram;
    rows.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
    Ok(rows)
}

fn walk(sources: &Sources, module: &str, path: &str, counts: &mut BTreeMap<(String, Memory), u64>) {
    for memory in sources.memories(module) {
        // The groups of a deep memory differ in their number.
        let name = without_numbers(&memory.name);
        let key = (path.to_owned(), Memory { name, ..memory });
        *counts.entry(key).or_default() += 1;
    }
    for (instance, kind) in sources.children(module) {
        let instance = without_numbers(instance);
        let below = match path {
            "" => instance,
            _ => format!("{path}.{instance}"),
        };
        walk(sources, kind, &below, counts);
    }
}

/// `u_engines_1` as `u_engines_*`.
fn without_numbers(name: &str) -> String {
    let mut out = String::new();
    for letter in name.chars() {
        match letter {
            '0'..='9' if out.ends_with('*') => {}
            '0'..='9' => out.push('*'),
            _ => out.push(letter),
        }
    }
    out
}

/// Block RAMs and UltraRAMs of all of them.
pub fn total(declared: &[Declared]) -> Area {
    let mut total = Area::default();
    declared.iter().for_each(|row| total.add(&row.area));
    total
}
