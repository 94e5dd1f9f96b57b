//! ELF and fat binary headers: whatever the bytes and however they are cut into pieces, an answer or an error, and the
//! same one.

#![no_main]

use colab_boot::core::inspect::{Code, Flow, Malformed, Scanner, Sink};
use libfuzzer_sys::fuzz_target;

fn scan(bytes: &[u8], piece: usize) -> Result<Code, Malformed> {
    let mut scanner = Scanner::new(bytes.len() as u64, None);
    for chunk in bytes.chunks(piece) {
        if scanner.take(chunk)? == Flow::Enough {
            break;
        }
    }
    scanner.finish()
}

fuzz_target!(|data: &[u8]| {
    let Some((first, bytes)) = data.split_first() else { return };
    let whole = scan(bytes, bytes.len().max(1));
    let parts = scan(bytes, usize::from(*first).max(1));
    assert_eq!(whole, parts);
    if let Err(error) = whole {
        assert!(error.offset <= bytes.len() as u64);
    }
});
