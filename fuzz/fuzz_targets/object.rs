//! Shared objects: whatever the bytes and however they arrive, what they ask for or a reason, the same one; and what
//! follows from it.

#![no_main]

use colab_boot::core::inspect::{SharedObject, Sink as _};
use colab_boot::core::model::linking::{Linking, Object};
use libfuzzer_sys::fuzz_target;

fn read(bytes: &[u8], piece: usize) -> Result<Option<Object>, String> {
    let mut object = SharedObject::with_head("x.so", bytes.len() as u64, 1 << 16);
    for part in bytes.chunks(piece.max(1)) {
        object.take(part).map_err(|error| error.to_string())?;
    }
    object.finish().map_err(|error| error.to_string())
}

fuzz_target!(|data: &[u8]| {
    let [piece, bytes @ ..] = data else { return };
    let whole = read(bytes, 4096);
    let parts = read(bytes, usize::from(*piece) + 4096);
    if let (Ok(Some(whole)), Ok(Some(parts))) = (&whole, &parts) {
        assert_eq!(whole.needed, parts.needed);
        let _ = Linking { objects: vec![whole.clone()], ..Linking::default() }.demands();
    }
});
