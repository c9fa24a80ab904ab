//! Configurations from files.

use thiserror::Error;

use super::{ConfigError, FabricConfig};
use crate::validate::validate;

/// A configuration file that describes no fabric.
#[derive(Debug, Error)]
pub enum ConfigFileError {
    /// It is not TOML, or a key or a value has the wrong name or type.
    #[error("{file}: {source}; docs/pcie.md lists the keys")]
    Text {
        /// Name of the file.
        file: String,
        /// Line, key and reason.
        source: Box<toml::de::Error>,
    },
    /// A value breaks a rule.
    #[error("{file}: {source}")]
    Value {
        /// Name of the file.
        file: String,
        /// The rule.
        source: ConfigError,
    },
}

impl FabricConfig {
    /// The configuration in `text`, which is TOML with the fields of this type as keys. `file` is its name in errors.
    ///
    /// # Errors
    /// [`ConfigFileError`], also for a text that describes a fabric which cannot be built.
    pub fn from_toml(file: &str, text: &str) -> Result<Self, ConfigFileError> {
        let file = file.to_owned();
        let config: Self = match toml::from_str(text) {
            Ok(config) => config,
            Err(source) => {
                let source = Box::new(source);
                return Err(ConfigFileError::Text { file, source });
            }
        };
        match validate(&config) {
            Ok(()) => Ok(config),
            Err(source) => Err(ConfigFileError::Value { file, source }),
        }
    }
}
