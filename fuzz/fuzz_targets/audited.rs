//! The files of other tools that `audit` reads: whatever the text, an answer. The first byte chooses the kind of file.

#![no_main]

use colab_boot::boot::audit::{kind_of, read_lock_file, read_other, read_requirements};
use colab_boot::core::diag::Source;
use colab_boot_fuzz::markers;
use libfuzzer_sys::fuzz_target;

const NAMES: [&str; 4] = ["requirements.txt", "pyproject.toml", "environment.yml", "notebook.ipynb"];

fuzz_target!(|data: &[u8]| {
    let Some((kind, rest)) = data.split_first() else { return };
    let Ok(text) = std::str::from_utf8(rest) else { return };
    let source = Source { name: NAMES[usize::from(*kind) % NAMES.len()].into(), text: text.into() };
    let include = |_: &str| Ok("six==1.17.0\n".to_owned());
    let markers = markers();
    if let Some(kind) = kind_of(text) {
        let _ = read_lock_file(text, kind, &markers);
    }
    if read_other(&source, &markers, &include).is_none() {
        let _ = read_requirements(&source, &markers, &include);
    }
});
