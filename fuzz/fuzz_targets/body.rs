//! Bodies of replies, plain and compressed: whatever the bytes and however they are cut into pieces, an answer or a
//! reason, the same one, and no more than was allowed.

#![no_main]

use colab_boot::boot::index::unpack_body;
use libfuzzer_sys::fuzz_target;

const LIMIT: u64 = 1 << 20;
const ENCODINGS: [&str; 4] = ["gzip", "", "x-gzip", "br"];

fuzz_target!(|data: &[u8]| {
    let [kind, piece, body @ ..] = data else { return };
    let encoding = ENCODINGS[usize::from(*kind) % ENCODINGS.len()];
    let whole = unpack_body(encoding, [body], LIMIT);
    let parts = unpack_body(encoding, body.chunks(usize::from(*piece).max(1)), LIMIT);
    assert_eq!(whole.as_ref().ok(), parts.as_ref().ok());
    assert!(whole.is_ok_and(|bytes| bytes.len() as u64 <= LIMIT) || parts.is_err());
});
