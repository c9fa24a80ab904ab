//! Changed blocks, whose proofs have to fail.

use std::path::Path;

use anyhow::bail;
use hdl_verilog::Design;
use stellar_mutation::operator::{sites, Site};
use stellar_mutation::plan::line_of;
use stellar_mutation::syntax::modules;

use crate::problem::{Kind, Problem};
use crate::solve::{refute, Limits};
use crate::tools::Tools;

/// A change of the Verilog of a block.
pub struct Mutant {
    site: Site,
    /// The line that changes, the replaced text and the new text.
    pub what: String,
}

impl Mutant {
    /// Returns `text` with the change.
    pub fn apply(&self, mut text: String) -> String {
        text.replace_range(self.site.span.clone(), &self.site.mutated);
        text
    }
}

/// Returns every change of one operator, constant, condition or assignment of the block that `design` has properties of. The properties themselves stay.
///
/// # Errors
/// If the Verilog is not in the subset that the emitter writes.
pub fn of(design: &Design) -> anyhow::Result<Vec<Mutant>> {
    let (text, _) = design.formal_text();
    let mut found = vec![];
    for module in modules(&text)? {
        if is_property(design, &module.name) {
            continue;
        }
        for site in sites(&text, &module) {
            let old = &text[site.span.clone()];
            let new = if site.mutated.is_empty() {
                "nothing"
            } else {
                &site.mutated
            };
            let what = format!(
                "{}: {old} -> {new} in: {}",
                module.name,
                line_of(&text, site.span.start)
            );
            found.push(Mutant { site, what });
        }
    }
    Ok(found)
}

/// Modules of this crate are properties; all others belong to the block.
fn is_property(design: &Design, name: &str) -> bool {
    let module = design.modules.iter().find(|m| m.name == name);
    module.is_none_or(|m| m.text.contains("// Generated from hdl_proofs::"))
}

/// A prime, larger than the share of a block that one statement has.
const SPREAD: usize = 7_919;

/// Which properties a change makes fail.
#[derive(Debug, Default)]
pub struct Search {
    /// Property, and the first change found that makes it fail.
    pub failed: Vec<(String, String)>,
    /// Properties that hold for every change.
    pub blind: Vec<String>,
    /// Changes tried.
    pub tried: usize,
}

/// Tries the changes of `design` in turn until each property was seen to fail. `progress` is told the number of the change, and how many there are.
///
/// # Errors
/// If a program cannot be started, or Yosys accepts no changed block.
pub fn search(
    design: &Design,
    directory: &Path,
    tools: &Tools,
    limits: Limits,
    progress: &mut dyn FnMut(usize, usize),
) -> anyhow::Result<Search> {
    // What Yosys says of the unchanged block is an error; what it says of a changed one may be the change's doing, such as a loop.
    let unchanged = Problem::new(design, directory, tools, |text| text)?;
    let holds = unchanged.checks.iter().enumerate();
    let mut open: Vec<(usize, String)> = holds
        .filter(|(_, check)| check.kind == Kind::Holds)
        .map(|(i, check)| (i, check.name.clone()))
        .collect();
    let mut mutants = of(design)?;
    // Neighbours break the same properties, so take places that are far apart first.
    let count = mutants.len();
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|i| (i.wrapping_mul(SPREAD) % count, *i));
    let mut shuffled: Vec<Option<Mutant>> = mutants.drain(..).map(Some).collect();
    let mutants: Vec<Mutant> = order.iter().filter_map(|i| shuffled[*i].take()).collect();
    let mut found = Search::default();
    for (number, mutant) in mutants.iter().enumerate() {
        if open.is_empty() {
            break;
        }
        progress(number, mutants.len());
        let Ok(problem) = Problem::new(design, directory, tools, |text| mutant.apply(text)) else {
            continue;
        };
        found.tried += 1;
        for (index, property) in std::mem::take(&mut open) {
            if refute(&problem, index, limits, tools)? {
                found.failed.push((property, mutant.what.clone()));
            } else {
                open.push((index, property));
            }
        }
    }
    if found.tried == 0 {
        bail!("Yosys accepts no changed {}", design.top);
    }
    found.blind = open.into_iter().map(|(_, property)| property).collect();
    Ok(found)
}
