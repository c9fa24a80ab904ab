//! The cells of one netlist, counted for a table.

use std::collections::BTreeMap;

use tabled::Tabled;

/// How many cells of each kind a netlist has.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Cells(BTreeMap<String, usize>);

impl<'a> FromIterator<&'a str> for Cells {
    /// Counts cells by the names of their kinds.
    fn from_iter<I: IntoIterator<Item = &'a str>>(kinds: I) -> Self {
        let mut count = BTreeMap::new();
        for kind in kinds {
            *count.entry(kind.to_owned()).or_default() += 1;
        }
        Self(count)
    }
}

/// Columns of a table of netlists. Shift registers are no LUTs here, and memories of LUTs have a column of their own.
#[derive(Tabled, Clone, Copy, Default, PartialEq, Debug)]
pub struct Counts {
    /// LUTs as logic.
    #[tabled(rename = "LUTs")]
    pub luts: usize,
    /// Flip-flops.
    #[tabled(rename = "FFs")]
    pub flip_flops: usize,
    /// Block RAMs of 36 Kbit; one of 18 Kbit is a half.
    #[tabled(rename = "BRAM36")]
    pub block_rams: f64,
    /// UltraRAMs, as Yosys packs them.
    #[tabled(rename = "URAM")]
    pub ultra_rams: usize,
    /// Memories of LUTs, in cells of whatever size.
    #[tabled(rename = "LUT RAM")]
    pub lut_rams: usize,
}

impl Cells {
    /// The kinds of cells.
    pub fn kinds(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Cells whose kind begins with `prefix`.
    pub fn of(&self, prefix: &str) -> usize {
        let counted = self.0.iter().filter(|(kind, _)| kind.starts_with(prefix));
        counted.map(|(_, count)| count).sum()
    }

    /// The columns of a table.
    pub fn counts(&self) -> Counts {
        Counts {
            luts: self.of("LUT"),
            flip_flops: self.of("FD"),
            block_rams: self.of("RAMB36") as f64 + self.of("RAMB18") as f64 / 2.0,
            ultra_rams: self.of("URAM"),
            lut_rams: self.of("RAM") - self.of("RAMB"),
        }
    }
}
