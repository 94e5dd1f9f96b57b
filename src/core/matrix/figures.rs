//! What probes hold their figures against (`figures.toml`).

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::core::matrix::{Amount, Gpus, parse};

/// The file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figures {
    limits: BTreeMap<String, Amount>,
    card: Vec<Card>,
}

/// What a card can do, by its data sheet.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Card {
    /// One of its names in `gpus.toml`.
    gpu: String,
    /// Bytes a second of its memory.
    pub bandwidth: Amount,
    /// 10^12 operations a second of dense matrix products.
    #[serde(default)]
    fp32: Option<f64>,
    #[serde(default)]
    tf32: Option<f64>,
    #[serde(default)]
    fp16: Option<f64>,
    #[serde(default)]
    bf16: Option<f64>,
    pub source: String,
}

impl Card {
    /// 10^12 operations a second in a number format; `None` where no figure is known.
    pub fn rate(&self, format: &str) -> Option<f64> {
        match format {
            "fp32" => self.fp32,
            "tf32" => self.tf32,
            "fp16" => self.fp16,
            "bf16" => self.bf16,
            _ => None,
        }
    }
}

impl Figures {
    /// The rows. Fails only if the file is wrong, which a test rules out.
    pub fn bundled() -> Result<&'static Self, String> {
        static BUNDLED: LazyLock<Result<Figures, String>> = LazyLock::new(|| parse("figures.toml"));
        BUNDLED.as_ref().map_err(Clone::clone)
    }

    /// The threshold called `name`; one that is not there is never reached, which a test rules out.
    pub fn limit(&self, name: &str) -> f64 {
        self.limits.get(name).map_or(f64::NAN, |amount| amount.0)
    }

    /// The card that the driver calls `name`.
    pub fn card(&self, gpus: &Gpus, name: &str) -> Option<&Card> {
        let row = gpus.find(name)?;
        self.card.iter().find(|card| row.names.contains(&card.gpu))
    }
}

#[cfg(test)]
mod tests {
    use super::Figures;
    use crate::core::matrix::Matrix;

    #[test]
    fn each_card_is_a_gpu_that_is_known_and_no_threshold_is_missing() {
        let (figures, matrix) = (Figures::bundled().expect("figures.toml"), Matrix::bundled().expect("the matrix"));
        for card in &figures.card {
            assert!(matrix.gpus.find(&card.gpu).is_some_and(|row| row.names.contains(&card.gpu)), "{}", card.gpu);
            assert!(card.source.len() > 10 && card.bandwidth.0 > 1e11, "{}", card.gpu);
        }
        for (name, gpu) in [("Tesla T4", "T4"), ("NVIDIA A100-SXM4-80GB", "A100-80GB"), ("NVIDIA H200", "H200")] {
            assert_eq!(figures.card(&matrix.gpus, name).map(|card| card.gpu.as_str()), Some(gpu), "{name}");
        }
        for name in [
            "largest-block",
            "product",
            "copy",
            "bus",
            "spread",
            "open-slow",
            "open-slowest",
            "read-slow",
            "many-names",
            "most-names",
            "gain",
        ] {
            assert!(figures.limit(name) > 0.0, "{name}");
        }
    }
}
