//! The kinds of words that a phrase of `matrix/symptoms.toml` holds: a library, a symbol, a module, a version.

use serde::Serialize;

use crate::core::matrix::Matrix;
use crate::core::matrix::system::SystemLibraries;

/// A kind of word. In a row it stands in braces, in kebab case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Slot {
    /// `*`: anything within the line.
    Any,
    /// A shared object: `libx.so.1`, without its folder.
    Library,
    /// One of CUDA's ([`Matrix::sonames`]).
    CudaLibrary,
    /// One that a package of Debian or Ubuntu has.
    SystemLibrary,
    /// One of torch's own: `libtorch_cuda.so`, `libc10.so`.
    TorchLibrary,
    /// The name of a function or variable in a library, as the linker sees it.
    Symbol,
    /// One of torch's C++ names.
    TorchSymbol,
    /// One of TensorFlow's C++ names, or of what it carries: absl, tsl, protobuf.
    TensorflowSymbol,
    /// One of CPython's.
    PythonSymbol,
    /// `a.b.c`
    Module,
    /// `a.b` with at least one dot.
    Submodule,
    /// A Python name, a class, a function, an attribute.
    Name,
    /// A distribution as pip prints it.
    Package,
    /// `1.2.3`, perhaps with a local label.
    Version,
    /// Digits.
    Number,
}

impl Slot {
    const NAMED: [(&'static str, Self); 14] = [
        ("library", Self::Library),
        ("cuda-library", Self::CudaLibrary),
        ("system-library", Self::SystemLibrary),
        ("torch-library", Self::TorchLibrary),
        ("symbol", Self::Symbol),
        ("torch-symbol", Self::TorchSymbol),
        ("tensorflow-symbol", Self::TensorflowSymbol),
        ("python-symbol", Self::PythonSymbol),
        ("module", Self::Module),
        ("submodule", Self::Submodule),
        ("name", Self::Name),
        ("package", Self::Package),
        ("version", Self::Version),
        ("number", Self::Number),
    ];

    /// As it is written in braces.
    pub fn name(self) -> &'static str {
        Self::NAMED.iter().find(|(_, slot)| *slot == self).map_or("*", |(name, _)| name)
    }

    /// The slot at the start of `text`, and what follows; no slot where the brace is a plain one (`{{`). Fails for a
    /// kind that there isn't.
    pub(super) fn parse(text: &str) -> Result<(Option<Self>, &str), String> {
        if let Some(rest) = text.strip_prefix('*') {
            return Ok((Some(Self::Any), rest));
        }
        if let Some(rest) = text.strip_prefix("{{") {
            return Ok((None, rest));
        }
        let named = text.strip_prefix('{').and_then(|rest| rest.split_once('}'));
        named
            .and_then(|(name, rest)| Some((Some(Self::NAMED.iter().find(|(one, _)| *one == name)?.1), rest)))
            .ok_or_else(|| format!("`{text}` begins with no kind of word; a plain brace is written `{{{{`"))
    }

    /// What a phrase that names the kind says more than one with `*`.
    pub(super) const fn weight(self) -> usize {
        match self {
            Self::Any => 0,
            Self::CudaLibrary
            | Self::SystemLibrary
            | Self::TorchLibrary
            | Self::TorchSymbol
            | Self::TensorflowSymbol
            | Self::PythonSymbol => 4,
            Self::Submodule => 2,
            _ => 1,
        }
    }

    /// The word of this kind at the end of `text`.
    pub(super) fn word_before(self, text: &str) -> &str {
        let is_end = |c: char| c.is_whitespace() || "'\"`([=".contains(c);
        if self == Self::Any { text } else { text.rsplit(is_end).next().unwrap_or_default() }
    }

    /// The word of this kind at the start of `text`.
    pub(super) fn word_after(self, text: &str) -> &str {
        let is_end = |c: char| c.is_whitespace() || "'\"`)]},;".contains(c);
        if self == Self::Any {
            text
        } else {
            text.split(is_end).next().unwrap_or_default().trim_end_matches(['.', ':'])
        }
    }

    /// The word of this kind that `text` is, without quotes and folders; `None` where it is none.
    pub fn accept<'t>(self, text: &'t str, matrix: &Matrix) -> Option<&'t str> {
        if self == Self::Any {
            return Some(text);
        }
        let word = text.trim().trim_matches(['\'', '"', '`']);
        let file = word.rsplit('/').next().unwrap_or_default();
        let is_word = !word.is_empty() && word.len() <= 400 && !word.contains(char::is_whitespace);
        let is = |fits: bool, word: &'t str| (is_word && fits).then_some(word);
        let names_torch = || ["libtorch", "libc10", "libshm.so", "libcaffe2"].iter().any(|one| file.starts_with(one));
        match self {
            Self::Library => is(file.contains(".so") || file.ends_with(".dll"), file),
            Self::CudaLibrary => is(matrix.carrier_of(file).is_some(), file),
            Self::SystemLibrary => is(SystemLibraries::usual_package(file).is_some(), file),
            Self::TorchLibrary => is(names_torch(), file),
            Self::TorchSymbol => is(is_of_namespace(word, &["c10", "at", "torch", "caffe2"]), word),
            Self::TensorflowSymbol => {
                is(is_of_namespace(word, &["tensorflow", "absl", "tsl", "xla", "stream_executor"]), word)
            }
            Self::PythonSymbol => is(["Py", "_Py"].iter().any(|one| word.starts_with(one)), word),
            Self::Submodule => is(is_dotted(word) && word.contains('.'), word),
            Self::Module | Self::Name => is(is_dotted(word), word),
            Self::Package => is(word.starts_with(char::is_alphanumeric), word),
            Self::Version => is(word.starts_with(|c: char| c.is_ascii_digit()) || word.starts_with('v'), word),
            Self::Number => is(word.bytes().all(|byte| byte.is_ascii_digit()), word),
            Self::Symbol | Self::Any => is(true, word),
        }
    }
}

fn is_dotted(word: &str) -> bool {
    word.split('.').all(|part| {
        part.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && part.chars().all(|c| c.is_alphanumeric() || c == '_')
    })
}

/// Whether the C++ name `symbol` (Itanium ABI) has one of `namespaces` outermost, or at a type in it.
fn is_of_namespace(symbol: &str, namespaces: &[&str]) -> bool {
    symbol.starts_with("_Z") && namespaces.iter().any(|name| symbol.contains(&format!("{}{name}", name.len())))
}
