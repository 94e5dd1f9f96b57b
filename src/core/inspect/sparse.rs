//! A file of which only some parts are kept while it passes by: its beginning, its end, and ranges that turn out to
//! matter.

use std::ops::Range;

use object::ReadRef;

/// The parts that are kept of a file.
#[derive(Debug, Default)]
pub(super) struct Sparse {
    total: u64,
    /// Parts to keep, in the order of the file, and what has come of each.
    parts: Vec<(Range<u64>, Vec<u8>)>,
    at: u64,
}

impl Sparse {
    /// For a file of `total` bytes, of which the first `head` and the last `tail` are kept.
    pub(super) fn new(total: u64, head: u64, tail: u64) -> Self {
        let split = total.min(head);
        let end = total.saturating_sub(tail).max(split);
        let parts = [0..split, end..total].into_iter().filter(|range| !range.is_empty());
        let mut parts: Vec<_> = parts.map(|range| (range, Vec::new())).collect();
        if let [(first, _), (second, _)] = parts.as_slice()
            && first.end == second.start
        {
            parts = vec![(0..total, Vec::new())];
        }
        Self { total, parts, at: 0 }
    }

    /// Keeps `range` too, where it has not passed by.
    pub(super) fn keep(&mut self, range: Range<u64>) {
        let end = range.end.min(self.total);
        if range.start >= self.at
            && range.start < end
            && !self.parts.iter().any(|(kept, _)| kept.start <= range.start && end <= kept.end)
        {
            self.parts.push((range.start..end, Vec::new()));
        }
    }

    /// Bytes that have passed by.
    pub(super) fn passed(&self) -> u64 {
        self.at
    }

    pub(super) fn take(&mut self, bytes: &[u8]) {
        let here = self.at..self.at.saturating_add(bytes.len() as u64);
        for (range, kept) in &mut self.parts {
            let (start, end) = (range.start.max(here.start), range.end.min(here.end));
            if start < end {
                let index = |at: u64| usize::try_from(at - here.start).unwrap_or(bytes.len());
                kept.extend_from_slice(&bytes[index(start)..index(end)]);
            }
        }
        self.at = here.end;
    }
}

impl<'a> ReadRef<'a> for &'a Sparse {
    fn len(self) -> Result<u64, ()> {
        Ok(self.total)
    }

    fn read_bytes_at(self, offset: u64, size: u64) -> Result<&'a [u8], ()> {
        let end = offset.checked_add(size).ok_or(())?;
        self.parts
            .iter()
            .find_map(|(range, kept)| {
                let (start, end) = (offset.checked_sub(range.start)?, end.checked_sub(range.start)?);
                kept.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
            })
            .ok_or(())
    }

    fn read_bytes_at_until(self, range: Range<u64>, delimiter: u8) -> Result<&'a [u8], ()> {
        self.parts
            .iter()
            .find_map(|(kept_range, kept)| {
                let start = usize::try_from(range.start.checked_sub(kept_range.start)?).ok()?;
                let end = usize::try_from(range.end.checked_sub(kept_range.start)?).ok()?.min(kept.len());
                let bytes = kept.get(start..end)?;
                bytes.iter().position(|byte| *byte == delimiter).map(|at| &bytes[..at])
            })
            .ok_or(())
    }
}
