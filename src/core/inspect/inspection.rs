//! Which members of a wheel to read, in which order, and what follows from them. The bytes are fetched elsewhere.

use std::collections::{BTreeSet, VecDeque};

use crate::core::inspect::fatbin::{NO_LIBRARY, Scanner};
use crate::core::inspect::strings::Search;
use crate::core::inspect::text::{BuildRecord, Collected, build_record};
use crate::core::inspect::{Code, Flow, Malformed, Sink};
use crate::core::matrix::{Matrix, Probe, is_like};
use crate::core::model::build::{ReadBasis, WheelBuild};
use crate::core::model::contents::{Files, Member};
use crate::core::model::{Architecture, CudaVersion, PackageName};

/// Containers whose lists are taken for the library's own: the first may be of a helper file, the second agrees with
/// the rest in all libraries compared (2026-11-21).
const CONTAINERS: usize = 2;

/// The same for a library of which nothing is known: some hold one container for each architecture.
const BLIND_CONTAINERS: usize = 64;

/// Packed bytes that are read of a library of which nothing is known.
const BLIND_LIMIT: u64 = 48 << 20;

/// Libraries that are tried in a wheel of which nothing is known.
const BLIND_TRIES: usize = 4;

const TEXT_LIMIT: u64 = 64 << 10;

/// What to inspect.
#[derive(Clone, Copy)]
pub struct InspectedWheel<'a> {
    pub package: &'a PackageName,
    pub files: &'a Files,
    pub matrix: &'a Matrix,
    /// Read fat binaries even where a text file says it all: only they tell the PTX ISA.
    pub thorough: bool,
}

/// A member to read, and what to read it with.
#[derive(Debug)]
pub struct Request {
    /// Its place in [`Files::members`].
    pub member: usize,
    /// Packed bytes after which to stop.
    pub limit: Option<u64>,
    reader: Reader,
}

#[derive(Debug)]
enum Reader {
    Text(Collected),
    List(Search<Vec<Architecture>>),
    Compiler(Search<String>),
    Code(Box<Scanner>),
}

impl Sink for Request {
    fn take(&mut self, bytes: &[u8]) -> Result<Flow, Malformed> {
        match &mut self.reader {
            Reader::Text(text) => text.take(bytes),
            Reader::List(list) => list.take(bytes),
            Reader::Compiler(compiler) => compiler.take(bytes),
            Reader::Code(scanner) => scanner.take(bytes),
        }
    }
}

/// One inspection under way.
pub struct Inspection<'a> {
    subject: InspectedWheel<'a>,
    probe: Option<&'a Probe>,
    /// Nothing says which of its libraries to read; `true` inside where there are more than are tried.
    blind: Option<bool>,
    /// Members still to be read; of `code`, the next is only read while nothing was found.
    open: VecDeque<Request>,
    code: VecDeque<usize>,
    record: BuildRecord,
    listed: Vec<Architecture>,
    found: Code,
    build: WheelBuild,
    methods: Vec<String>,
    basis: Option<ReadBasis>,
}

impl<'a> Inspection<'a> {
    pub fn new(subject: InspectedWheel<'a>) -> Self {
        let probe = subject.matrix.probe(subject.package);
        let mut inspection = Self {
            subject,
            probe,
            blind: None,
            open: VecDeque::new(),
            code: VecDeque::new(),
            record: BuildRecord::default(),
            listed: Vec::new(),
            found: Code::default(),
            build: WheelBuild { libraries: cuda_libraries(subject.files), ..WheelBuild::default() },
            methods: Vec::new(),
            basis: None,
        };
        inspection.plan();
        inspection
    }

    fn plan(&mut self) {
        let files = self.subject.files;
        let Some(probe) = self.probe else {
            return self.search();
        };
        let first = |pattern: &Option<String>| matching(files, pattern.as_ref()?).first().copied();
        let text = first(&probe.text).map(|member| (member, Reader::Text(Collected::new(TEXT_LIMIT))));
        let list = first(&probe.list).map(|member| (member, Reader::List(Search::for_architectures())));
        let reads = [text, list].into_iter().flatten();
        self.open.extend(reads.map(|(member, reader)| Request { member, limit: None, reader }));
        let mut compilers: Vec<usize> = probe.compiler.iter().flat_map(|pattern| matching(files, pattern)).collect();
        // `ptxas` before `ptxas-blackwell`.
        compilers.sort_by_key(|at| &files.members[*at].path);
        for member in compilers {
            self.open.push_back(Request { member, limit: None, reader: Reader::Compiler(Search::for_compiler()) });
        }
        let candidates = probe.code.iter().flat_map(|pattern| {
            let found = matching(files, pattern);
            if probe.all { found } else { found.into_iter().take(1).collect() }
        });
        self.code = candidates.collect();
        // A release may have moved its library.
        if self.code.is_empty() && !probe.code.is_empty() {
            self.search();
        }
    }

    /// Looks for libraries that may hold GPU code where nothing says which.
    fn search(&mut self) {
        let mut found = blind_candidates(self.subject.files);
        self.blind = Some(found.len() > BLIND_TRIES);
        found.truncate(BLIND_TRIES);
        self.code = found.into();
    }

    /// The next member to read; `None` when all is known.
    pub fn next_request(&mut self) -> Option<Request> {
        self.open.pop_front().or_else(|| self.next_code())
    }

    fn next_code(&mut self) -> Option<Request> {
        // Where nothing is known, libraries may be for one architecture each.
        let all = self.blind.is_some() || self.probe.is_some_and(|probe| probe.all);
        let whole = self.probe.is_some_and(|probe| probe.whole);
        let is_listed = !self.listed.is_empty() || !self.record.architectures.is_empty();
        if (is_listed && !self.subject.thorough) || (self.found.containers > 0 && !all) {
            return None;
        }
        let member = self.code.pop_front()?;
        let enough = if self.blind.is_some() { BLIND_CONTAINERS } else { CONTAINERS };
        let enough = (!whole).then_some(enough);
        let scanner = Scanner::new(self.subject.files.members[member].size, enough);
        let limit = self.blind.map(|_| BLIND_LIMIT);
        Some(Request { member, limit, reader: Reader::Code(Box::new(scanner)) })
    }

    /// Takes what reading `request` came to; `whole` where its member was read to the end.
    pub fn took(&mut self, request: Request, outcome: Result<bool, Malformed>) {
        let member = &self.subject.files.members[request.member];
        let mut fail = |error: &Malformed| self.build.unreadable.push(format!("{}: {error}", member.path));
        let whole = match outcome {
            Ok(whole) => whole,
            // A linker script may be called `.so`, too, and a library be for another machine.
            Err(error) if self.blind.is_some() && error.what == NO_LIBRARY => return,
            Err(error) => return fail(&error),
        };
        match request.reader {
            Reader::Text(text) => {
                self.record = build_record(&text.into_text());
                self.methods.push(member.path.clone());
            }
            Reader::List(list) => {
                self.listed = list.found.unwrap_or_default();
                self.methods.push(format!("architecture list in {}", member.path));
            }
            Reader::Compiler(compiler) => {
                self.build.compilers.extend(compiler.found);
                self.methods.push(format!("version of {}", member.path));
            }
            Reader::Code(scanner) => {
                let stopped = request.limit.filter(|_| !whole && scanner.code().containers == 0);
                // A file that ends inside a container is malformed only if it was read to its end.
                let code = if whole { scanner.finish() } else { Ok(scanner.code().clone()) };
                match code {
                    Ok(code) => self.add(&code, member, whole, stopped),
                    Err(error) => fail(&error),
                }
            }
        }
    }

    fn add(&mut self, code: &Code, member: &Member, whole: bool, stopped: Option<u64>) {
        let found = &mut self.found;
        for (from, to) in [(&code.sass, &mut found.sass), (&code.ptx, &mut found.ptx)] {
            for (architecture, count) in from {
                *to.entry(architecture.clone()).or_default() += count;
            }
        }
        for (number, count) in &code.lto {
            *found.lto.entry(*number).or_default() += count;
        }
        found.ptx_isa = found.ptx_isa.max(code.ptx_isa);
        found.containers += code.containers;
        self.methods.push(format!("fatbin headers of {}", member.path));
        let basis = match (whole, stopped) {
            (true, _) => ReadBasis::WholeMember,
            (false, Some(limit)) => ReadBasis::FirstBytes(limit),
            (false, None) => ReadBasis::FirstContainers(code.containers),
        };
        // Of several members the one that was read least decides.
        self.basis =
            Some(self.basis.map_or(basis, |known| if strength(basis) < strength(known) { basis } else { known }));
    }

    /// The build, with the CUDA version that follows from the PTX where nothing else tells it.
    pub fn finish(self) -> WheelBuild {
        let Self { subject, probe, blind, record, listed, found, mut build, methods, basis, .. } = self;
        let architectures = if listed.is_empty() { record.architectures } else { listed };
        let (ptx, sass): (Vec<_>, Vec<_>) = architectures.into_iter().partition(|architecture| architecture.ptx);
        let sass: BTreeSet<_> = sass.into_iter().chain(found.sass.into_keys()).collect();
        let ptx: BTreeSet<_> = ptx.into_iter().chain(found.ptx.into_keys()).collect();
        build.sass = sass.into_iter().collect();
        build.ptx = ptx.into_iter().collect();
        build.lto = found.lto.into_keys().map(|number| format!("lto_{number}")).collect();
        build.ptx_isa = found.ptx_isa;
        let several = probe.is_some_and(|probe| probe.all && !probe.whole);
        // clang emits an older PTX than its toolkit's own compiler would; and of several libraries each has its own.
        let nvcc = probe.is_none_or(|probe| !probe.clang) && !several;
        let by_isa = found.ptx_isa.filter(|_| nvcc).and_then(|isa| subject.matrix.toolkit_of_isa(isa));
        let compiler = build.compilers.first().and_then(|version| major_minor(version));
        build.cuda = record.cuda.as_deref().and_then(major_minor).or(by_isa).or(compiler);
        build.cudnn = record.cudnn;
        if let Some(toolkits) = (!build.compilers.is_empty()).then(|| compiled(subject.matrix, &build.compilers)) {
            build.sass = toolkits;
        }
        build.method = methods.join(" + ");
        build.searched = blind.is_some();
        build.basis = match basis {
            _ if !build.unreadable.is_empty() => ReadBasis::Unreadable,
            Some(ReadBasis::FirstContainers(_)) => ReadBasis::FirstContainers(found.containers),
            Some(ReadBasis::WholeMember) if blind == Some(true) => ReadBasis::FirstContainers(found.containers),
            Some(basis) => basis,
            None if build.method.is_empty() && probe.is_some() => ReadBasis::NotRead,
            None if build.method.is_empty() => ReadBasis::NoNativeCode,
            None => ReadBasis::WholeMember,
        };
        build
    }
}

/// How much a basis proves.
const fn strength(basis: ReadBasis) -> u8 {
    match basis {
        ReadBasis::Unreadable | ReadBasis::FirstBytes(_) => 0,
        ReadBasis::FirstContainers(_) => 1,
        ReadBasis::NoNativeCode | ReadBasis::NotRead | ReadBasis::WholeMember => 2,
    }
}

/// What the compilers that a wheel carries can make machine code for.
fn compiled(matrix: &Matrix, compilers: &[String]) -> Vec<Architecture> {
    let toolkits = compilers.iter().filter_map(|version| matrix.toolkit(major_minor(version)?));
    let all: BTreeSet<_> = toolkits.flat_map(|row| row.sm.iter().cloned()).collect();
    all.into_iter().collect()
}

/// `12.5` of `12.5.1`.
fn major_minor(version: &str) -> Option<CudaVersion> {
    let mut parts = version.split('.');
    Some(CudaVersion { major: parts.next()?.parse().ok()?, minor: parts.next()?.parse().ok()? })
}

/// The members whose path is like `pattern`, largest first.
fn matching(files: &Files, pattern: &str) -> Vec<usize> {
    let mut found: Vec<usize> =
        (0..files.members.len()).filter(|at| is_like(&files.members[*at].path, pattern)).collect();
    found.sort_by_key(|at| std::cmp::Reverse(files.members[*at].size));
    found
}

/// Libraries that may hold GPU code in a wheel of which nothing is known: named after CUDA first, then by size.
fn blind_candidates(files: &Files) -> Vec<usize> {
    // CUDA's own libraries, brought along, are for more GPUs than the code that calls them.
    let is_library = |path: &str| (path.ends_with(".so") || path.contains(".so.")) && !is_cuda_library(path);
    let named = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
        name.contains("cuda") || name.contains("gpu") || name.starts_with("_c")
    };
    let mut found: Vec<usize> = (0..files.members.len()).filter(|at| is_library(&files.members[*at].path)).collect();
    found.sort_by_key(|at| {
        let member = &files.members[*at];
        (!named(&member.path), std::cmp::Reverse(member.size))
    });
    found
}

/// File names of the CUDA libraries that a wheel carries itself.
fn cuda_libraries(files: &Files) -> Vec<String> {
    let carried = files.members.iter().filter(|member| is_cuda_library(&member.path));
    let names: BTreeSet<String> =
        carried.map(|member| member.path.rsplit('/').next().unwrap_or_default().to_owned()).collect();
    names.into_iter().collect()
}

pub(super) fn is_cuda_library(path: &str) -> bool {
    const STEMS: [&str; 19] = [
        "libcudart",
        "libcublas",
        "libcudnn",
        "libnccl",
        "libcufft",
        "libcurand",
        "libcusolver",
        "libcusparse",
        "libnvrtc",
        "libnvJitLink",
        "libnvjitlink",
        "libcupti",
        "libnvshmem",
        "libcufile",
        "libnvinfer",
        "libnvToolsExt",
        "libcudss",
        "libnvjpeg",
        "libnpp",
    ];
    let name = path.rsplit('/').next().unwrap_or_default();
    name.contains(".so") && STEMS.iter().any(|stem| name.starts_with(stem))
}
