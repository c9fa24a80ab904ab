//! Survivors that are understood: `tools/mutation/explained.toml`.

use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{bail, Context};
use serde::{Deserialize, Serialize};

use crate::plan::{line_of, Block, Mutant};

/// Why a mutant survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It does the same as the original, whatever the inputs.
    Equivalent,
    /// It differs only where the block's contract leaves the choice, or where the difference cannot be seen at its ports.
    Accepted,
    /// The tests have a hole here.
    Open,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Self::Equivalent => "equivalent",
            Self::Accepted => "accepted",
            Self::Open => "open",
        })
    }
}

/// Why a mutant that survives is no hole in the tests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Explanation {
    pub block: String,
    /// The line of the Verilog, without the space around it.
    pub line: String,
    pub original: String,
    /// Empty for a dropped assignment.
    pub mutated: String,
    pub verdict: Verdict,
    pub reason: String,
}

impl Explanation {
    /// Whether it is about `mutant`.
    pub fn fits(&self, mutant: &Mutant) -> bool {
        self.block == mutant.block
            && self.line == mutant.source
            && self.original == mutant.original
            && self.mutated == mutant.mutated
    }

    /// Whether the block still has what it is about.
    fn is_of(&self, block: &Block) -> bool {
        block.sites.iter().any(|site| {
            site.mutated == self.mutated
                && block.text[site.span.clone()] == self.original
                && line_of(&block.text, site.span.start) == self.line
        })
    }
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    mutant: Vec<Explanation>,
}

/// Reads the explanations at `path`.
///
/// # Errors
/// When the file cannot be read, or is none.
pub fn read(path: &Path) -> anyhow::Result<Vec<Explanation>> {
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let file: File = toml::from_str(&text)
        .with_context(|| format!("{} is no file of explanations", path.display()))?;
    Ok(file.mutant)
}

/// Refuses explanations of what `blocks` no longer have. Those of other blocks are not looked at.
///
/// # Errors
/// Naming the first of them.
pub fn refuse_stale(explanations: &[Explanation], blocks: &[Block]) -> anyhow::Result<()> {
    for explanation in explanations {
        let block = blocks.iter().find(|block| block.name == explanation.block);
        if block.is_some_and(|block| !explanation.is_of(block)) {
            bail!(
                "the explanation of `{}` to `{}` in {} is stale: the line `{}` has no such mutant; remove it or take it anew",
                explanation.original,
                explanation.mutated,
                explanation.block,
                explanation.line
            );
        }
    }
    Ok(())
}
