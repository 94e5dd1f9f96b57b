//! METADATA: whatever the text, an answer; a requirement that was read is read again from what it says of itself.

#![no_main]

use colab_boot::core::model::Requirement;
use colab_boot::core::model::metadata::Metadata;
use colab_boot::core::model::version::describe;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let metadata = Metadata::parse(text, None);
    for requirement in &metadata.requires {
        assert!(!describe(&requirement.range).is_empty());
        let again = format!("{} {}", requirement.name, requirement.specifiers);
        let again = Requirement::parse(again.trim()).expect(&again);
        assert_eq!(again.range, requirement.range);
    }
});
