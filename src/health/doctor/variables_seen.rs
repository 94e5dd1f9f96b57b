//! Variables of this process that checks look at. Values are kept where they can't hold a secret, of others the names.

use std::path::Path;

use crate::core::diag::without_secrets;
use crate::core::host::mounts::{Look, must_be_there};
use crate::core::matrix::{is_between_words, is_judged, is_setting_word};
use crate::health::doctor::Vitals;
use crate::health::doctor::look_context::Sight;

/// Variables whose values are kept, beside those that `lock` judges; of those whose names begin so, as well.
const VARIABLES: &[&str] = &[
    "LD_LIBRARY_PATH",
    "CUDA_VISIBLE_DEVICES",
    "PYTORCH_CUDA_ALLOC_CONF",
    "PYTORCH_ALLOC_CONF",
    "PYTHONPATH",
    "PYTHONHASHSEED",
    "TF_FORCE_GPU_ALLOW_GROWTH",
    "TMPDIR",
    "TPU_ACCELERATOR_TYPE",
    "HF_HUB_ENABLE_HF_TRANSFER",
];
const VARIABLES_BEGIN: &[&str] = &["XLA_", "NCCL_", "TORCH_NCCL_", "OMP_", "MKL_", "OPENBLAS_"];
/// Of these the names alone are kept: values may hold an address with a password.
const NAMES_BEGIN: &[&str] = &["PIP_", "UV_"];

/// Variables that name a file or a folder with credentials.
pub(super) const CREDENTIAL_FILES: &[&str] = &[
    "GOOGLE_APPLICATION_CREDENTIALS",
    "AWS_SHARED_CREDENTIALS_FILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "HF_TOKEN_PATH",
    "KAGGLE_CONFIG_DIR",
    "NETRC",
];

fn begins(name: &str, all: &[&str]) -> bool {
    all.iter().any(|start| name.starts_with(start))
}

/// Whether the value of a variable is kept.
pub(super) fn is_kept(name: &str) -> bool {
    VARIABLES.contains(&name) || begins(name, VARIABLES_BEGIN) || is_judged(name)
}

/// Variables that name places: a judgement of a record from elsewhere needs them whole.
const PLACES: &[&str] = &["LD_LIBRARY_PATH", "PYTHONPATH", "TMPDIR"];

/// What a report shows of the value of the variable `name`: numbers, switches, places and the words that the matrix
/// knows of settings. Anything else may be a secret, and is three dots.
pub(super) fn value_in_report(name: &str, value: &str) -> String {
    if PLACES.contains(&name) {
        return value.to_owned();
    }
    let pieces = value.split_inclusive(is_between_words).map(|piece| {
        let word = piece.trim_end_matches(is_between_words);
        let is_plain = word.is_empty() || is_number(word) || is_setting_word(word.trim_start_matches('-'));
        if is_plain { piece.to_owned() } else { format!("…{}", &piece[word.len()..]) }
    });
    pieces.collect()
}

impl Vitals {
    /// What a report shows of it: values of variables that may be secrets are left out.
    #[must_use]
    pub fn in_report(mut self) -> Self {
        for (name, value) in self.environment.iter_mut().chain(&mut self.kernel_environment) {
            *value = value_in_report(name, value);
        }
        self
    }
}

/// A number, a size such as `512M`, a few of them such as `0-3`, or a version; too short for a secret.
fn is_number(word: &str) -> bool {
    word.len() <= 12
        && word.split(['-', '.']).all(|part| {
            part.trim_end_matches(|last: char| last.is_ascii_alphabetic()).parse::<u32>().is_ok()
                && part.trim_start_matches(|first: char| first.is_ascii_digit()).len() <= 2
        })
}

pub(super) fn variables(sight: &Sight<'_>, vitals: &mut Vitals) {
    for (name, value) in sight.environment {
        if is_kept(name) {
            vitals.environment.insert(name.clone(), without_secrets(value));
        } else if begins(name, NAMES_BEGIN) {
            vitals.environment.insert(name.clone(), String::new());
        }
        let names_file = ["PIP_CONSTRAINT", "UV_CONSTRAINT"].contains(&name.as_str());
        if names_file && value.split_whitespace().any(|path| !path.contains("://") && !Path::new(path).is_there()) {
            vitals.unread.insert(name.clone(), "missing".to_owned());
        }
        if CREDENTIAL_FILES.contains(&name.as_str())
            && !value.is_empty()
            && let Err(failure) = must_be_there(Path::new(value), "there is no")
        {
            vitals.unread.insert(name.clone(), failure.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_shows_what_is_known_of_a_value_and_nothing_else() {
        let cases = [
            ("XLA_FLAGS", "--xla_gpu_autotune_level=2 --xla_token=tok_abcdef123", "--xla_gpu_autotune_level=2 …=…"),
            (
                "PYTORCH_CUDA_ALLOC_CONF",
                "expandable_segments:True,secret_key:hidden123",
                "expandable_segments:True,…:…",
            ),
            (
                "PYTORCH_ALLOC_CONF",
                "backend:cudaMallocAsync,max_split_size_mb:512",
                "backend:cudaMallocAsync,max_split_size_mb:512",
            ),
            ("CUDA_VISIBLE_DEVICES", "0,1", "0,1"),
            ("OMP_NUM_THREADS", "8", "8"),
            ("OMP_PLACES", "0-3", "0-3"),
            ("PYTHONHASHSEED", "1234567890123456789", "…"),
            ("NCCL_DEBUG", "hunter2", "…"),
            ("LD_LIBRARY_PATH", "/usr/lib64-nvidia:/opt/x", "/usr/lib64-nvidia:/opt/x"),
            ("OMP_X", "", ""),
        ];
        for (name, value, shown) in cases {
            assert_eq!(value_in_report(name, value), shown, "{name}");
        }
    }
}
