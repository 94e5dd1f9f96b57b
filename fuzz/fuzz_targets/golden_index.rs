//! Indexes of golden repositories: whatever the bytes, an index or a reason; and what is written of one is read again
//! as the same.

#![no_main]

use colab_boot::golden::catalogue::Catalogue;
use colab_boot::golden::signed_text::{join, split};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(signed) = split(data) else { return };
    assert_eq!(join(signed.text, &signed.blocks).as_bytes(), data);
    let Ok(catalogue) = Catalogue::parse(signed.text) else { return };
    let text = catalogue.to_text().expect("a text");
    assert_eq!(Catalogue::parse(&text).as_ref(), Ok(&catalogue));
});
