//! Zip directories and members: whatever the bytes, an answer or an error, and no more memory than the bytes announce
//! and hold.

#![no_main]

use colab_boot::core::inspect::{Collected, Unpacker, locate, read};
use libfuzzer_sys::fuzz_target;

const LIMIT: u64 = 1 << 20;

fuzz_target!(|data: &[u8]| {
    let Ok(place) = locate(data, data.len() as u64) else { return };
    let (start, end) = (place.range.start as usize, place.range.end as usize);
    let Ok(files) = read(&data[start..end], &place) else { return };
    assert!(files.members.len() * 46 <= end - start);
    for member in &files.members {
        assert!(member.offset < place.range.start && member.end <= place.range.start);
        let bytes = data.get(member.offset as usize..member.end as usize);
        let (Ok(mut unpacker), Some(bytes)) = (Unpacker::new(member), bytes) else {
            continue;
        };
        let mut sink = Collected::new(LIMIT);
        let whole = bytes.chunks(7).try_for_each(|chunk| unpacker.take(chunk, &mut sink).map(drop));
        let _ = whole.and_then(|()| unpacker.finish().map(drop));
    }
});
