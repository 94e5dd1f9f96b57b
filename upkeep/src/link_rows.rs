//! Rows of `matrix/linking/`, read from wheels: of each package the first and the last release, and by halving those
//! where something changes.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::Outcome;
use crate::arguments::LinkingOptions;
use crate::releases::Releases;
use colab_boot::boot::session::Session;
use colab_boot::core::diag::{Code, Failure, Finding, Kind};
use colab_boot::core::host::files;
use colab_boot::core::inspect::{SharedObject, is_of_tensorflow, is_of_torch, symbol_hash};
use colab_boot::core::matrix::{LinkFile, LinkRow, Linkage, MinorSymbols};
use colab_boot::core::model::catalog::{Candidate, Catalog as _};
use colab_boot::core::model::{PackageName, Sha256, Version, WheelName};

/// Packed bytes of one wheel's libraries that are read for a row.
const LIMIT: u64 = 2 << 30;

/// Between releases that are alike, one of so many is read.
const STEP: usize = 12;

/// The oldest torch of which symbols are kept.
const OLDEST_TORCH: [u64; 2] = [2, 4];

/// As much of the beginning of torch's libraries is kept: their tables of symbols take up to 100 MB.
const TORCH_HEAD: u64 = 256 << 20;

/// The oldest TensorFlow of which symbols are read.
const OLDEST_TENSORFLOW: [u64; 2] = [2, 12];

/// The packages to read: those named, or all that `matrix/watch.toml` lists.
pub(crate) fn run(
    options: &LinkingOptions,
    session: &Session<'_>,
    releases: &Releases<'_>,
) -> Result<Outcome, Failure> {
    if options.symbols {
        let lines = read_symbols(&options.into, session, releases)?;
        return Ok(Outcome { lines, ..Outcome::default() });
    }
    let named = options.package.as_slice();
    let listed = if named.is_empty() { session.matrix.linked.as_slice() } else { named };
    let (mut lines, mut findings) = (Vec::new(), Vec::new());
    let tensorflow = OnceCell::new();
    for package in listed {
        match one(package, options.again, session, (releases, &tensorflow)) {
            Ok((file, read)) => {
                let path = options.into.join("linking").join(format!("{package}.toml"));
                files::write_whole(&path, file.to_text().map_err(Failure::bug)?.as_bytes())?;
                lines.push(format!("{package}: {} rows, {read} wheels read", file.rows.len()));
                session.say(lines.last().map_or("", String::as_str));
            }
            // One package that the index does not have, or a wheel that breaks off, is no reason to leave the others.
            Err(failure) if matches!(failure.kind, Kind::Answer | Kind::World) => {
                findings.push(Finding::warning(Code::AuditUnread, format!("{package}: {}", failure.message)));
            }
            Err(failure) => return Err(failure),
        }
    }
    Ok(Outcome { lines, findings, is_no: false })
}

/// The rows of one package, and how many wheels were read.
fn one(
    package: &PackageName,
    again: bool,
    session: &Session<'_>,
    (releases, tensorflow): (&Releases<'_>, &OnceCell<MinorSymbols>),
) -> Result<(LinkFile, usize), Failure> {
    let all: Vec<(Version, (Candidate, u64))> = releases.of(package, &Version::new([0]))?.into_iter().collect();
    let known = session.matrix.linkages.of(package).filter(|_| !again).cloned().unwrap_or_default();
    let symbols = MinorSymbols::bundled().map_err(Failure::bug)?;
    let mut run = Run { all: &all, releases, session, known, symbols, tensorflow, read: BTreeMap::new(), fetched: 0 };
    if let Some(last) = all.len().checked_sub(1) {
        run.halve(0, last)?;
    }
    Ok((LinkFile { rows: run.rows() }, run.fetched))
}

/// One package under way.
struct Run<'a> {
    all: &'a [(Version, (Candidate, u64))],
    releases: &'a Releases<'a>,
    session: &'a Session<'a>,
    known: LinkFile,
    symbols: MinorSymbols,
    /// Of TensorFlow's minors, once something asks for them.
    tensorflow: &'a OnceCell<MinorSymbols>,
    /// By place in `all`.
    read: BTreeMap<usize, (Sha256, Linkage)>,
    fetched: usize,
}

impl Run<'_> {
    /// Reads what tells the releases from `low` to `high` apart.
    fn halve(&mut self, low: usize, high: usize) -> Result<(), Failure> {
        let same = self.at(low)? == self.at(high)?;
        let apart = high - low;
        if apart < 2 || same && apart <= STEP {
            return Ok(());
        }
        let middle = usize::midpoint(low, high);
        self.halve(low, middle)?;
        self.halve(middle, high)
    }

    /// What the release at a place is linked against. What a row says of this very wheel is not read again.
    fn at(&mut self, place: usize) -> Result<Linkage, Failure> {
        if let Some((_, linkage)) = self.read.get(&place) {
            return Ok(linkage.clone());
        }
        let (version, (candidate, python)) = &self.all[place];
        let wheel: WheelName = candidate.file.parse().map_err(|_| Failure::answer(format!("`{}`", candidate.file)))?;
        let digest = candidate.identity();
        let known = self.known.row(version).filter(|row| row.read.get(version) == Some(&digest));
        let linkage = match known {
            Some(row) => row.linkage.clone(),
            None => {
                self.session.say(&format!("reading {} {version}", wheel.name));
                self.fetched += 1;
                let reader = self.releases.reader(*python, false)?;
                let linking = reader.catalog.linking_of(candidate, LIMIT)?;
                if let Some(unread) = linking.unread.first() {
                    return Err(Failure::answer(format!("{version}: {unread}")));
                }
                let demands = linking.demands();
                let mut linkage = Linkage::of(&demands, &wheel, &self.symbols);
                if !demands.tensorflow.is_empty() {
                    linkage.tensorflow = self.tensorflow()?.range(&[demands.tensorflow], true);
                }
                let requires = &reader.catalog.metadata(candidate)?.requires;
                linkage.numpy_parts = linkage.numpy_1
                    && !requires.iter().any(|one| one.name.as_ref() == "numpy" && one.extras.is_empty());
                linkage
            }
        };
        self.read.insert(place, (digest, linkage.clone()));
        Ok(linkage)
    }

    /// The symbols of TensorFlow's minors, read the first time.
    fn tensorflow(&self) -> Result<&MinorSymbols, Failure> {
        if let Some(known) = self.tensorflow.get() {
            return Ok(known);
        }
        let (names, _) = minors_of("tensorflow", OLDEST_TENSORFLOW, self.session, self.releases)?;
        let symbols = MinorSymbols::of(&names).map_err(Failure::bug)?;
        Ok(self.tensorflow.get_or_init(|| symbols))
    }

    /// What was read, neighbours that are alike in one row.
    fn rows(&self) -> Vec<LinkRow> {
        let mut rows: Vec<LinkRow> = Vec::new();
        for (place, (digest, linkage)) in &self.read {
            let version = &self.all[*place].0;
            match rows.last_mut().filter(|row| row.linkage == *linkage) {
                Some(row) => {
                    row.last = version.clone();
                    row.read.insert(version.clone(), *digest);
                }
                None => rows.push(LinkRow {
                    first: version.clone(),
                    last: version.clone(),
                    read: [(version.clone(), *digest)].into(),
                    linkage: linkage.clone(),
                }),
            }
        }
        rows
    }
}

/// Reads the symbols of the newest patch of each minor of torch, and writes `torch-symbols.bin`. Returns a line for
/// each.
fn read_symbols(folder: &Path, session: &Session<'_>, releases: &Releases<'_>) -> Result<Vec<String>, Failure> {
    let (names, lines) = minors_of("torch", OLDEST_TORCH, session, releases)?;
    let bytes = MinorSymbols::of(&names).and_then(|symbols| symbols.to_bytes()).map_err(Failure::bug)?;
    files::write_whole(&folder.join("torch-symbols.bin"), &bytes)?;
    Ok(lines)
}

/// Of each minor of `framework` from `oldest` on the names that its newest patch defines, by hash.
type NamesOfMinors = BTreeMap<(u8, u8), BTreeSet<u64>>;

/// Reads the symbols of the newest patch of each minor of a framework from `oldest` on, with a line for each.
fn minors_of(
    framework: &str,
    oldest: [u64; 2],
    session: &Session<'_>,
    releases: &Releases<'_>,
) -> Result<(NamesOfMinors, Vec<String>), Failure> {
    let package: PackageName = framework.parse().map_err(|_| Failure::bug("a framework is no name"))?;
    let minor = |version: &Version| {
        let mut parts = version.release().iter().map(|part| u8::try_from(*part).unwrap_or(u8::MAX));
        (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
    };
    let all = releases.of(&package, &Version::new(oldest))?;
    // Sorted by version: of each minor the newest patch stays.
    let newest: BTreeMap<(u8, u8), _> =
        all.iter().map(|(version, release)| (minor(version), (version, release))).collect();
    let (mut names, mut lines) = (BTreeMap::new(), Vec::new());
    for (minor, (version, (candidate, python))) in newest {
        session.say(&format!("reading {framework} {version}"));
        let found = symbols_of(candidate, *python, releases)?;
        lines.push(format!("{framework} {version}: {} names", found.len()));
        names.insert(minor, found);
    }
    Ok((names, lines))
}

/// The names of the C++ interface that the libraries of a torch or TensorFlow define, by hash.
fn symbols_of(candidate: &Candidate, python: u64, releases: &Releases<'_>) -> Result<BTreeSet<u64>, Failure> {
    let reader = releases.reader(python, false)?;
    let files = reader.catalog.files(std::slice::from_ref(candidate)).pop().flatten();
    let files = files.ok_or_else(|| Failure::answer(format!("`{}` can't be looked into", candidate.file)))?;
    let own = |path: &str| {
        let name = path.strip_prefix("torch/lib/").filter(|name| name.ends_with(".so"));
        name.is_some_and(|name| name.starts_with("libtorch") || name.starts_with("libc10"))
            || path.starts_with("tensorflow/libtensorflow_framework.so")
    };
    let is_of = |name: &String| is_of_torch(name) || is_of_tensorflow(name) && candidate.file.starts_with("tensorflow");
    let mut found = BTreeSet::new();
    for member in files.members.iter().filter(|member| own(&member.path)) {
        let mut object = SharedObject::with_head(&member.path, member.size, TORCH_HEAD);
        reader.catalog.read_member(candidate, member, &mut object)?;
        let names = object.defined().map_err(|error| Failure::answer(format!("{}: {error}", member.path)))?;
        found.extend(names.iter().filter(|name| is_of(name)).map(|name| symbol_hash(name)));
    }
    Ok(found)
}
