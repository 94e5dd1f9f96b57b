//! When environment variables are read (`environment.toml`).

use serde::{Deserialize, Deserializer};

use crate::core::matrix::Matrix;

/// A row: variables that are read at the same moment.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variable {
    /// `JAX_*` is every name that begins so.
    pub names: Vec<String>,
    pub read: Read,
    pub source: String,
}

/// The moment at which a variable is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Read {
    /// At every call.
    Call,
    /// When this module is imported.
    Load(String),
    /// When this module first uses its device: `torch.cuda`, `tensorflow`, `jax`, or `cuda` for any of them.
    First(String),
    /// When the process starts.
    Start,
}

impl<'de> Deserialize<'de> for Read {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match text.split_once(':') {
            None if text == "call" => Ok(Self::Call),
            None if text == "start" => Ok(Self::Start),
            Some(("load", module)) => Ok(Self::Load(module.to_owned())),
            Some(("first", module)) => Ok(Self::First(module.to_owned())),
            _ => Err(serde::de::Error::custom(format!("`{text}` is not call, start, load:MODULE or first:MODULE"))),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EnvironmentFile {
    pub variable: Vec<Variable>,
}

impl Matrix {
    /// When `name` is read; `None` for a variable that no row names.
    pub fn read_of(&self, name: &str) -> Option<&Read> {
        self.variables
            .iter()
            .find(|row| {
                row.names.iter().any(|pattern| match pattern.strip_suffix('*') {
                    Some(start) => name.starts_with(start),
                    None => name == pattern,
                })
            })
            .map(|row| &row.read)
    }
}

#[cfg(test)]
mod tests {
    use super::Read;
    use crate::core::matrix::Matrix;

    #[test]
    fn the_first_row_that_fits_counts() {
        let matrix = Matrix::bundled().expect("the matrix");
        for (name, read) in [
            ("TOKENIZERS_PARALLELISM", Some(Read::Call)),
            ("OMP_NUM_THREADS", Some(Read::Load("numpy".into()))),
            ("OMP_SCHEDULE", Some(Read::Load("torch".into()))),
            ("TF_FORCE_GPU_ALLOW_GROWTH", Some(Read::First("tensorflow".into()))),
            ("TF_CPP_MIN_LOG_LEVEL", Some(Read::Load("tensorflow".into()))),
            ("XLA_PYTHON_CLIENT_PREALLOCATE", Some(Read::First("jax".into()))),
            ("PYTHONHASHSEED", Some(Read::Start)),
            ("MY_OWN", None),
        ] {
            assert_eq!(matrix.read_of(name), read.as_ref(), "{name}");
        }
        assert!(matrix.variables.iter().all(|row| row.source.len() > 20));
    }
}
