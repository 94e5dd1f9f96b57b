//! Two texts inside binaries: the list of architectures that torch was compiled for, and the version of a CUDA
//! compiler.

use crate::core::inspect::{Flow, Malformed, Sink};
use crate::core::model::Architecture;

/// The longest text that is looked for; as much is kept over from one piece to the next.
const LONGEST: usize = 1024;

/// Looks for something in a binary as it arrives.
#[derive(Debug)]
pub(super) struct Search<T> {
    held: Vec<u8>,
    find: fn(&[u8]) -> Option<T>,
    pub found: Option<T>,
}

impl<T> Search<T> {
    fn new(find: fn(&[u8]) -> Option<T>) -> Self {
        Self { held: Vec::new(), find, found: None }
    }
}

impl Search<Vec<Architecture>> {
    /// For `sm_75 sm_80 … compute_90` ending in a zero byte, as torch's `CUDA_ARCH_FLAGS` puts it into
    /// `libtorch_python.so`.
    pub(super) fn for_architectures() -> Self {
        Self::new(architectures)
    }
}

impl Search<String> {
    /// For `Cuda compilation tools, release 12.9, V12.9.86`, as `ptxas --version` prints it.
    pub(super) fn for_compiler() -> Self {
        Self::new(compiler)
    }
}

impl<T> Sink for Search<T> {
    fn take(&mut self, bytes: &[u8]) -> Result<Flow, Malformed> {
        if self.found.is_none() {
            self.held.extend_from_slice(bytes);
            self.found = (self.find)(&self.held);
            let drop = self.held.len().saturating_sub(LONGEST);
            self.held.drain(..drop);
        }
        Ok(if self.found.is_none() { Flow::More } else { Flow::Enough })
    }
}

fn architectures(bytes: &[u8]) -> Option<Vec<Architecture>> {
    let texts = bytes.split(|byte| *byte == 0);
    // The last piece has no zero byte yet.
    let complete = texts.clone().count().saturating_sub(1);
    texts.take(complete).find_map(list)
}

/// The list that `text` ends with; compilers may lay it right behind another text. Two architectures or more: one alone
/// may be any message.
fn list(text: &[u8]) -> Option<Vec<Architecture>> {
    let text = &text[text.len().saturating_sub(LONGEST)..];
    let first = (0..text.len()).find(|at| text[*at..].starts_with(b"sm_") || text[*at..].starts_with(b"compute_"))?;
    let words = std::str::from_utf8(&text[first..]).ok()?.split(' ').filter(|word| !word.is_empty());
    let all: Result<Vec<Architecture>, _> = words.map(str::parse).collect();
    all.ok().filter(|all| all.len() > 1)
}

fn compiler(bytes: &[u8]) -> Option<String> {
    let key = b", release ";
    let mut rest = bytes;
    while let Some(at) = rest.windows(key.len()).position(|window| window == key) {
        rest = &rest[at + key.len()..];
        let text = String::from_utf8_lossy(&rest[..rest.len().min(64)]).into_owned();
        let version = text.split_once(", V").and_then(|(_, version)| {
            let end = version.find(|c: char| c != '.' && !c.is_ascii_digit())?;
            Some(version[..end].to_owned())
        });
        if version.as_ref().is_some_and(|version| version.matches('.').count() == 2) {
            return version;
        }
    }
    None
}
