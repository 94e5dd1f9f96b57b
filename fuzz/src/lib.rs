//! What the targets share.

use colab_boot::core::model::{Libc, PythonFacts};
use pep508_rs::MarkerEnvironment;

/// Markers of `CPython` 3.12 on Linux.
pub fn markers() -> MarkerEnvironment {
    let python = PythonFacts {
        version: "3.12.1".parse().expect("a version"),
        architecture: "x86_64".to_owned(),
        libc: Libc::Glibc(2, 35),
        free_threaded: false,
    };
    python.marker_environment().expect("an environment")
}
