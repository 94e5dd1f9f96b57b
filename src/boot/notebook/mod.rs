//! The notebook's kernel: what it has loaded, as far as it can be known, and the Python that cells use to tell us and
//! to restart it.
//!
//! `facts` reads what the kernel says of itself, `maps` what Linux says of its libraries; [`Loaded`] is both. `observe`
//! is the only one that looks.

mod facts;
mod loaded;
mod maps;
mod observe;

pub use facts::{ChangedModule, CodeMatch, Facts, Module, TorchMemory, read_facts};
pub use loaded::{Loaded, Modules, Stale, Subject, is_in_module};
pub use maps::mapped_files;
pub use observe::{facts_of, is_alive, observe_loaded, process_clock, replaced_under};

/// Python that writes the kernel's facts, and that runs colab-boot in a kernel: modules of the extension `colab_boot`,
/// and parts of every cell.
pub const PARTS: [(&str, &str); 2] = [
    ("@FACTS@", include_str!("../../python/colab_boot/facts.py")),
    ("@KERNEL@", include_str!("../../python/colab_boot/kernel.py")),
];
