//! Which mutants a campaign runs: some of each block, chosen by a seed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::Context;
use rand::seq::SliceRandom;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::discovery::Test;
use crate::operator::{sites, Operator, Site};
use crate::schema::{instrument, Chosen};
use crate::syntax::{modules, Module};

/// What the emitter writes above a module: the Rust type it comes from.
const HEADER: &str = "// Generated from ";

/// The Verilog of a model.
pub struct Model {
    pub name: String,
    pub text: String,
    pub modules: Vec<Module>,
}

/// A hardware block: one Rust type, in the form that most tests build.
pub struct Block {
    /// Path of the type, without its parameters.
    pub name: String,
    /// The text of the module.
    pub text: String,
    /// The models that have it.
    pub models: BTreeSet<String>,
    /// Changes of the module; places count from the beginning of `text`.
    pub sites: Vec<Site>,
}

impl Block {
    /// Whether it belongs to the crate `package`.
    pub fn is_of(&self, package: &str) -> bool {
        is_of(&self.name, package)
    }
}

/// A mutant of a campaign.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mutant {
    pub number: u32,
    pub block: String,
    /// Line in the module, from 1.
    pub line: usize,
    /// The text of that line.
    pub source: String,
    pub operator: Operator,
    pub original: String,
    pub mutated: String,
    /// Index in the block's sites.
    pub site: usize,
}

impl Mutant {
    /// What is the same in every campaign.
    pub fn key(&self) -> (&str, usize, &str, &str) {
        (&self.block, self.line, &self.original, &self.mutated)
    }
}

/// Reads the models in the overlay `directory` that `tests` build.
///
/// # Errors
/// When a file cannot be read, or its Verilog is none that the emitter writes.
pub fn models(directory: &Path, tests: &[Test]) -> anyhow::Result<Vec<Model>> {
    let names: BTreeSet<&String> = tests.iter().flat_map(|test| &test.models).collect();
    let mut found = vec![];
    for name in names {
        let path = directory.join(format!("{name}.v"));
        let text =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let modules = modules(&text).with_context(|| path.display().to_string())?;
        found.push(Model {
            name: name.clone(),
            text,
            modules,
        });
    }
    Ok(found)
}

/// The Rust type that a module comes from, without its parameters.
fn type_of(text: &str, module: &Module) -> Option<String> {
    let above = &text[..module.span.start];
    let header = above.rfind(HEADER)?;
    // Another module's header has `endmodule` behind it.
    let rest = &above[header + HEADER.len()..];
    let path = rest.lines().next()?;
    let path = path.split('<').next()?;
    (!rest.contains("endmodule") && path.contains("::")).then(|| path.to_owned())
}

/// Forms of a block, which differ in its parameters: text of the module, to the models that have it and the changes there are.
type Forms = BTreeMap<String, (BTreeSet<String>, Vec<Site>)>;

/// The blocks in `models`, by name.
pub fn blocks(models: &[Model], tests: &[Test]) -> Vec<Block> {
    let mut blocks: BTreeMap<String, Forms> = BTreeMap::new();
    for model in models {
        for module in &model.modules {
            let Some(name) = type_of(&model.text, module) else {
                continue;
            };
            let text = model.text[module.span.clone()].to_owned();
            let form = blocks.entry(name).or_default().entry(text);
            let (users, _) =
                form.or_insert_with(|| (BTreeSet::new(), relative_sites(model, module)));
            users.insert(model.name.clone());
        }
    }
    let users = |models: &BTreeSet<String>, block: &str| {
        let own = tests.iter().filter(|test| is_owner(test, block));
        own.filter(|test| !test.models.is_disjoint(models)).count()
    };
    blocks
        .into_iter()
        .filter_map(|(name, forms)| {
            let (text, (models, sites)) = forms
                .into_iter()
                .max_by_key(|(_, (models, _))| users(models, &name))?;
            Some(Block {
                name,
                text,
                models,
                sites,
            })
        })
        .filter(|block| !block.sites.is_empty())
        .collect()
}

fn relative_sites(model: &Model, module: &Module) -> Vec<Site> {
    let base = module.span.start;
    let all = sites(&model.text, module).into_iter();
    all.map(|site| Site {
        span: site.span.start - base..site.span.end - base,
        ..site
    })
    .collect()
}

/// Whether the block of this name belongs to the crate `package`.
fn is_of(block: &str, package: &str) -> bool {
    block.split("::").next() == Some(&package.replace('-', "_"))
}

/// Whether a test belongs to the crate of a block.
fn is_owner(test: &Test, block: &str) -> bool {
    is_of(block, &test.program.package)
}

/// Returns the tests that can find a mutant of `block`: the tests of its own crate that build it, or, if there are none, those of other crates.
pub fn tests_of<'a>(block: &Block, tests: &'a [Test]) -> Vec<&'a Test> {
    let building: Vec<&Test> = tests
        .iter()
        .filter(|test| !test.models.is_disjoint(&block.models))
        .collect();
    let own: Vec<&Test> = building
        .iter()
        .copied()
        .filter(|test| is_owner(test, &block.name))
        .collect();
    if own.is_empty() {
        building
    } else {
        own
    }
}

/// Chooses `count` mutants of each block: operators in turn, places at random by the seed.
pub fn choose(blocks: &[Block], count: usize, seed: u64) -> Vec<Mutant> {
    let mut mutants = vec![];
    for block in blocks {
        for site in choose_sites(block, count, seed) {
            let at = &block.sites[site];
            let line = block.text[..at.span.start].lines().count().max(1);
            mutants.push(Mutant {
                number: mutants.len() as u32 + 1,
                block: block.name.clone(),
                line,
                source: line_of(&block.text, at.span.start),
                operator: at.operator,
                original: block.text[at.span.clone()].to_owned(),
                mutated: at.mutated.clone(),
                site,
            });
        }
    }
    mutants
}

/// The line of `text` that position `at` is in, without the space around it.
pub fn line_of(text: &str, at: usize) -> String {
    let begin = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let end = text[at..]
        .find('\n')
        .map_or(text.len(), |newline| at + newline);
    text[begin..end].trim().to_owned()
}

fn choose_sites(block: &Block, count: usize, seed: u64) -> Vec<usize> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    // The random stream depends on the block's name, so a new block does not change the mutants of others.
    let mix = |all: u64, byte| all.wrapping_mul(131).wrapping_add(u64::from(byte));
    rng.set_stream(block.name.bytes().fold(0, mix));
    let mut by_operator: BTreeMap<Operator, Vec<usize>> = BTreeMap::new();
    for (index, site) in block.sites.iter().enumerate() {
        by_operator.entry(site.operator).or_default().push(index);
    }
    let mut groups: Vec<Vec<usize>> = by_operator.into_values().collect();
    groups.iter_mut().for_each(|group| group.shuffle(&mut rng));
    groups.shuffle(&mut rng);
    let mut chosen = vec![];
    while chosen.len() < count && groups.iter().any(|group| !group.is_empty()) {
        chosen.extend(groups.iter_mut().filter_map(Vec::pop));
    }
    chosen.truncate(count);
    chosen.sort_unstable();
    chosen
}

/// Writes, beside each model that has one of `mutants`, the text with them, and returns how many models that are.
///
/// # Errors
/// When a file cannot be written.
pub fn write_instrumented(
    directory: &Path,
    models: &[Model],
    blocks: &[Block],
    mutants: &[Mutant],
) -> anyhow::Result<usize> {
    let mut written = 0;
    for model in models {
        let path = directory.join(format!("{}.instead", model.name));
        let text = instrumented(model, blocks, mutants);
        if text == model.text {
            if path.exists() {
                fs::remove_file(&path)?;
            }
            continue;
        }
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        written += 1;
    }
    Ok(written)
}

fn instrumented(model: &Model, blocks: &[Block], mutants: &[Mutant]) -> String {
    // Places in the whole text, kept while the mutants point to them.
    let mut placed: Vec<(&Module, Vec<(u32, Site)>)> = vec![];
    for module in &model.modules {
        let base = module.span.start;
        let text = &model.text[module.span.clone()];
        for block in blocks.iter().filter(|block| block.text == text) {
            let own = mutants.iter().filter(|m| m.block == block.name);
            let sites = own.map(|m| {
                let site = &block.sites[m.site];
                let span = site.span.start + base..site.span.end + base;
                (
                    m.number,
                    Site {
                        span,
                        ..site.clone()
                    },
                )
            });
            placed.push((module, sites.collect()));
        }
    }
    let chosen: Vec<(&Module, Vec<Chosen>)> = placed
        .iter()
        .map(|(module, sites)| {
            let chosen = sites.iter().map(|(number, site)| Chosen {
                number: *number,
                site,
            });
            (*module, chosen.collect())
        })
        .collect();
    instrument(&model.text, &chosen)
}
