//! Simulation modes: the ways in which Verilog becomes a model.

use std::env;
use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

use thiserror::Error;

/// The way in which Verilog becomes a model. Every mode gives the same outputs in every cycle. The modes differ in speed, and in how much the Verilog
/// and the C++ are changed (`docs/decisions/0004-gated-models.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SimMode {
    /// Verilator translates the Verilog as it was emitted, and nothing rewrites its C++. Waves and coverage need this mode.
    Plain,
    /// Each part of the design has its own clock, and gets an edge only if that changes a register in it. This mode works with any version of
    /// Verilator.
    Gated,
    /// A gated model whose C++ is rewritten, so that code runs only when something that it reads has changed. This mode needs Verilator
    /// [`sim_on_change::VERILATOR`].
    OnChange,
}

/// The error for a name that is not a mode.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no simulation mode `{0}`: use plain, gated or on-change")]
pub struct UnknownMode(pub String);

/// The environment variable [`SimMode::VARIABLE`] contains something that is not a mode.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("environment variable {variable}: {unknown}", variable = SimMode::VARIABLE)]
pub struct ModeVariableError {
    /// Content of the variable.
    pub unknown: UnknownMode,
}

/// The mode that the program has chosen for the whole process.
static CHOSEN: OnceLock<SimMode> = OnceLock::new();

impl SimMode {
    /// Every mode, from the one with the fewest changes to the fastest.
    pub const ALL: [Self; 3] = [Self::Plain, Self::Gated, Self::OnChange];
    /// The environment variable that names the mode of a process that does not choose one itself.
    pub const VARIABLE: &'static str = "STELLAR_SIM_MODE";

    /// The name of the mode on command lines and in [`Self::VARIABLE`].
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Gated => "gated",
            Self::OnChange => "on-change",
        }
    }

    /// Sets the mode of this process. It must be called before the first model is built.
    ///
    /// # Panics
    /// If another mode was chosen before.
    pub fn choose(self) {
        let chosen = *CHOSEN.get_or_init(|| self);
        assert_eq!(chosen, self, "the simulation mode is chosen once");
    }

    /// Returns the mode that [`Self::choose`] set, else the one that [`Self::VARIABLE`] names, else `None`.
    ///
    /// # Errors
    /// [`ModeVariableError`] if the variable contains something else.
    pub fn chosen() -> Result<Option<Self>, ModeVariableError> {
        if let Some(&mode) = CHOSEN.get() {
            return Ok(Some(mode));
        }
        let text = env::var_os(Self::VARIABLE).unwrap_or_default();
        Self::from_variable(&text.to_string_lossy())
    }

    fn from_variable(text: &str) -> Result<Option<Self>, ModeVariableError> {
        if text.is_empty() {
            return Ok(None);
        }
        let mode = text.parse().map(Some);
        mode.map_err(|unknown| ModeVariableError { unknown })
    }
}

impl fmt::Display for SimMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for SimMode {
    type Err = UnknownMode;

    fn from_str(text: &str) -> Result<Self, UnknownMode> {
        let mode = Self::ALL.into_iter().find(|mode| mode.name() == text);
        mode.ok_or_else(|| UnknownMode(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_found_by_their_names() {
        for mode in SimMode::ALL {
            assert_eq!(mode.to_string().parse(), Ok(mode));
        }
        let error = "fast".parse::<SimMode>().unwrap_err();
        let expected = "there is no simulation mode `fast`: use plain, gated or on-change";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn the_variable_may_be_empty_but_not_wrong() {
        assert_eq!(SimMode::from_variable(""), Ok(None));
        assert_eq!(SimMode::from_variable("plain"), Ok(Some(SimMode::Plain)));
        let error = SimMode::from_variable("Plain").unwrap_err().to_string();
        assert!(error.starts_with("environment variable STELLAR_SIM_MODE: there is no"));
    }
}
