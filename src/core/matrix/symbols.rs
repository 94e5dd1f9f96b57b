//! Which minor release of torch has which symbols: `matrix/torch-symbols.bin`, of the names of torch's C++ and stable C
//! interfaces that some minors have and others don't. What all have says nothing, and is left out.
//!
//! ```text
//! u8 number of minors   for each: u8 major, u8 minor
//! for each name, by hash: 5 bytes of its sha256
//! u16 (big endian), a bit for each minor that has it, the first the lowest
//! ```

use std::collections::{BTreeMap, BTreeSet};

use crate::core::model::Version;

static BUNDLED: &[u8] = include_bytes!("../../../matrix/torch-symbols.bin");

const ROW: usize = 7;

/// The most minors that a row has bits for.
const MOST: usize = 16;

/// The table.
#[derive(Clone, Debug)]
pub struct MinorSymbols {
    /// Oldest first.
    minors: Vec<(u8, u8)>,
    rows: std::borrow::Cow<'static, [u8]>,
}

impl MinorSymbols {
    /// Reads the bundled table. Fails only if the file is wrong, which a test rules out.
    pub fn bundled() -> Result<Self, String> {
        Self::parse(BUNDLED)
    }

    fn parse(bytes: &'static [u8]) -> Result<Self, String> {
        let (count, rest) = bytes.split_first().ok_or("matrix/torch-symbols.bin is empty")?;
        let (minors, rows) =
            rest.split_at_checked(2 * usize::from(*count)).ok_or("matrix/torch-symbols.bin is cut off")?;
        if rows.len() % ROW != 0 {
            return Err("matrix/torch-symbols.bin is cut off".to_owned());
        }
        Ok(Self { minors: minors.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect(), rows: rows.into() })
    }

    /// The table of minors whose names, by hash, are known. More minors than a row has bits for are an error.
    pub fn of(names: &BTreeMap<(u8, u8), BTreeSet<u64>>) -> Result<Self, String> {
        if names.len() > MOST {
            return Err(format!("a row has bits for {MOST} minors"));
        }
        let mut masks: BTreeMap<u64, u16> = BTreeMap::new();
        for (at, names) in names.values().enumerate() {
            for name in names {
                *masks.entry(*name).or_default() |= 1 << at;
            }
        }
        let all = u16::try_from((1_u32 << names.len()) - 1).map_err(|error| error.to_string())?;
        let mut rows = Vec::new();
        for (name, mask) in masks.into_iter().filter(|(_, mask)| *mask != all) {
            rows.extend_from_slice(&name.to_be_bytes()[3..]);
            rows.extend_from_slice(&mask.to_be_bytes());
        }
        Ok(Self { minors: names.keys().copied().collect(), rows: rows.into() })
    }

    /// The table as a file has it. Fails for more minors than a byte counts.
    pub fn to_bytes(&self) -> Result<Vec<u8>, String> {
        let mut bytes = vec![u8::try_from(self.minors.len()).map_err(|error| error.to_string())?];
        bytes.extend(self.minors.iter().flat_map(|(major, minor)| [*major, *minor]));
        bytes.extend_from_slice(&self.rows);
        Ok(bytes)
    }

    /// The minors that have a name; `None` where all do, or none.
    fn mask(&self, name: u64) -> Option<u16> {
        let key = &name.to_be_bytes()[3..];
        let row = |at: usize| &self.rows[at * ROW..(at + 1) * ROW];
        let (mut low, mut high) = (0, self.rows.len() / ROW);
        while low < high {
            let middle = usize::midpoint(low, high);
            match row(middle)[..5].cmp(key) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Some(u16::from_be_bytes([row(middle)[5], row(middle)[6]])),
            }
        }
        None
    }

    /// The releases of a framework that have all names of one of `demands`, as specifiers; `None` where every known
    /// one does. Of the C++ interface (`cxx`), what the newest known minor does not have is not expected of later
    /// ones.
    pub fn range(&self, demands: &[BTreeSet<u64>], cxx: bool) -> Option<String> {
        let all = u16::try_from((1_u32 << self.minors.len()) - 1).ok()?;
        let fits = |names: &BTreeSet<u64>| {
            names.iter().filter_map(|name| self.mask(*name)).fold(all, |fits, mask| fits & mask)
        };
        let fits = demands.iter().map(fits).reduce(|one, other| one | other)?;
        if fits == all {
            return None;
        }
        let has = |at: usize| fits & 1 << at != 0;
        let text = |at: usize| self.minors.get(at).map(|(major, minor)| format!("{major}.{minor}"));
        let known: Vec<usize> = (0..self.minors.len()).filter(|at| has(*at)).collect();
        let (Some(first), Some(last)) = (known.first(), known.last()) else {
            // For an older or a newer one than is known.
            let (oldest, newest) = (text(0)?, text(self.minors.len() - 1)?);
            return Some(if cxx { format!("<{oldest}") } else { format!(">{newest},!={newest}.*") });
        };
        let mut parts = Vec::new();
        if *first > 0 {
            parts.push(format!(">={}", text(*first)?));
        }
        parts.extend((*first..*last).filter(|at| !has(*at)).filter_map(|at| Some(format!("!={}.*", text(at)?))));
        if let Some(next) = text(last + 1).filter(|_| cxx || *last + 1 < self.minors.len()) {
            parts.push(format!("<{next}"));
        }
        Some(parts.join(","))
    }

    /// The minors that are known, oldest first.
    pub fn minors(&self) -> Vec<Version> {
        self.minors.iter().map(|(major, minor)| Version::new([u64::from(*major), u64::from(*minor)])).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::MinorSymbols;

    fn symbols() -> MinorSymbols {
        let names: BTreeMap<(u8, u8), BTreeSet<u64>> =
            [((2, 8), [1, 2, 10].into()), ((2, 9), [1, 2, 3, 10].into()), ((2, 10), [1, 3, 4, 10].into())].into();
        let made = MinorSymbols::of(&names).expect("a table");
        let bytes = made.to_bytes().expect("a file");
        let parsed = MinorSymbols::parse(Box::leak(bytes.into_boxed_slice())).expect("the table");
        assert_eq!((&made.minors, &made.rows), (&parsed.minors, &parsed.rows));
        made
    }

    #[test]
    fn what_a_library_asks_for_says_which_torch_it_fits() {
        let symbols = symbols();
        let range = |names: &[u64], cxx: bool| symbols.range(&[names.iter().copied().collect()], cxx);
        assert_eq!(range(&[1, 10], true), None, "all have it");
        assert_eq!(range(&[99], true), None, "a name that none has is not torch's");
        assert_eq!(range(&[2], true).as_deref(), Some("<2.10"));
        assert_eq!(range(&[3], true).as_deref(), Some(">=2.9"));
        assert_eq!(range(&[2, 3], true).as_deref(), Some(">=2.9,<2.10"));
        assert_eq!(range(&[4], false).as_deref(), Some(">=2.10"));
        assert_eq!(range(&[2, 4], true).as_deref(), Some("<2.8"));
        let either = [[2].into(), [4].into()];
        assert_eq!(symbols.range(&either, true), None, "one of two parts is enough");
    }

    #[test]
    fn the_bundled_table_is_whole() {
        let bundled = MinorSymbols::bundled().expect("a table");
        assert!(bundled.minors().is_sorted() && bundled.minors().len() > 5);
        assert!(bundled.rows.chunks_exact(super::ROW).is_sorted_by(|a, b| a[..5] < b[..5]));
    }
}
