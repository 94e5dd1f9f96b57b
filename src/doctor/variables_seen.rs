//! Variables of this process that checks look at. Values are kept where they can't hold a secret, of others the names.

use std::path::Path;

use crate::diag::without_secrets;
use crate::doctor::Vitals;
use crate::doctor::sight::Sight;
use crate::host::mounts::{Look, must_be_there};
use crate::matrix::is_judged;

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
