//! Profiles: whatever the text, a profile or faults, each of which can be drawn.

#![no_main]

use std::path::Path;

use colab_boot::core::diag::Source;
use colab_boot::cli::output::{Style, render_finding};
use colab_boot::boot::profile::Profile;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let source = Source { name: "p.toml".into(), text: text.into() };
    match Profile::parse(&source, Path::new("/work")) {
        Ok(profile) => assert!(!profile.wanted.is_empty()),
        Err(faults) => {
            assert!(!faults.is_empty());
            for fault in &faults {
                assert!(render_finding(fault, Style { color: false, plain: true }).contains(fault.code.as_str()));
            }
        }
    }
});
