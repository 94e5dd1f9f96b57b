//! Requirements and their markers: whatever the text, an answer; what is read strictly is read leniently as the same.

#![no_main]

use colab_boot::core::model::Requirement;
use colab_boot_fuzz::markers;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let extra = "gpu".parse().ok();
    let strict = Requirement::parse_strictly(text);
    let Ok(requirement) = Requirement::parse(text) else {
        assert!(strict.is_err(), "{text}");
        return;
    };
    let _ = (requirement.applies(&markers(), None), requirement.applies(&markers(), extra.as_ref()));
    if let Ok(strict) = strict {
        assert_eq!((strict.name, strict.range), (requirement.name, requirement.range), "{text}");
    }
});
