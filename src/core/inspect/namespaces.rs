//! Whose interface a symbol is of, by its mangled name.

use crate::core::model::Sha256;

/// Whether a symbol is of torch: of the C++ namespaces `at`, `c10` and `torch`, or of the stable C interface.
pub fn is_of_torch(name: &str) -> bool {
    if name.starts_with("aoti_torch_") || name.starts_with("torch_") {
        return true;
    }
    is_in(&["2at", "3c10", "5torch"], name)
}

/// Whether a symbol is of one of the C++ interfaces that `libtensorflow_framework.so` exports: TensorFlow's, and those
/// of Abseil and protobuf that are linked into it.
pub fn is_of_tensorflow(name: &str) -> bool {
    is_in(&["10tensorflow", "3tsl", "3xla", "4absl", "6google"], name)
}

/// Whether a mangled name is in one of `namespaces`, as the Itanium C++ ABI writes them.
fn is_in(namespaces: &[&str], name: &str) -> bool {
    let Some(rest) = name.strip_prefix("_Z") else { return false };
    let rest = ["TI", "TV", "TS", "GV"].iter().find_map(|kind| rest.strip_prefix(kind)).unwrap_or(rest);
    let Some(rest) = rest.strip_prefix('N') else { return false };
    let rest = rest.trim_start_matches(['K', 'V', 'R', 'O']);
    namespaces.iter().any(|namespace| rest.starts_with(namespace))
}

/// The first 40 bits of the sha256 of a mangled name.
pub fn symbol_hash(name: &str) -> u64 {
    Sha256::of(name.as_bytes()).first_40_bits()
}

#[cfg(test)]
mod tests {
    use super::{is_of_tensorflow, is_of_torch};

    #[test]
    fn torchs_namespaces_are_known_from_others() {
        for name in [
            "_ZN2at6Tensor4dataEv",
            "_ZNK3c1010TensorImpl4sizeEl",
            "_ZTIN5torch8autograd4NodeE",
            "_ZTVN3c105ErrorE",
            "aoti_torch_get_dim",
        ] {
            assert!(is_of_torch(name), "{name}");
        }
        for name in ["_ZN6attach3runEv", "_ZNSt6vectorIN2at6TensorEE", "at_exit", "_ZN7torchao3runEv"] {
            assert!(!is_of_torch(name), "{name}");
        }
        for name in ["_ZN4absl12lts_2025012714StatusD1Ev", "_ZNK10tensorflow8OpKernel4nameEv", "_ZTIN3tsl6thread4PoolE"]
        {
            assert!(is_of_tensorflow(name) && !is_of_torch(name), "{name}");
        }
        assert!(!is_of_tensorflow("_ZNSt6vectorIN4absl6StatusEE") && !is_of_tensorflow("_ZN11tensorflow27OpKernelE"));
    }
}
