//! Lists of signers, and blocks of signatures, as a host may serve them: a verdict on each block, and nobody vouches by
//! accident.

#![no_main]

use colab_boot::golden::signed_text::split;
use colab_boot::golden::signers::{INDEX, Signers, vouching};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let at = data.iter().position(|byte| *byte == 0xff).unwrap_or(data.len());
    let (list, file) = data.split_at(at);
    let Ok(signers) = Signers::parse(&String::from_utf8_lossy(list)) else { return };
    let Ok(signed) = split(file.get(1..).unwrap_or_default()) else { return };
    let outcomes = signers.check(signed.text, &signed.blocks, INDEX, 1_795_392_000);
    assert_eq!(outcomes.len(), signed.blocks.len());
    assert!(vouching(&outcomes).len() <= signers.all.len());
});
