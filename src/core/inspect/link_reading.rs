//! Which members of a wheel say what it is linked against, and what follows from them. The bytes are fetched elsewhere:
//! in spans, for a wheel may have a hundred modules side by side.

use std::ops::Range;

use crate::core::inspect::inspection::is_cuda_library;
use crate::core::inspect::{Flow, Malformed, SharedObject, Unpacker};
use crate::core::model::contents::{Files, Member};
use crate::core::model::linking::{Linking, Object};

/// Members that are no further apart are read in one span, with what is between them.
const GAP: u64 = 256 << 10;

/// The least and the most that is kept of the beginning of a library.
const SMALL_HEAD: u64 = 32 << 20;
const LARGE_HEAD: u64 = 256 << 20;

/// One reading under way.
pub struct LinkReading<'a> {
    files: &'a Files,
    /// Members to read, in the order of the file.
    members: Vec<usize>,
    /// As much of the beginning of a library is kept; some have tables of 100 MB.
    head: u64,
    linking: Linking,
}

impl<'a> LinkReading<'a> {
    /// For a wheel of these files, of which at most `limit` packed bytes are read: Python's modules first, then small
    /// ones before large ones.
    pub fn new(files: &'a Files, limit: u64) -> Self {
        let sizes: Vec<(&str, u64)> =
            files.members.iter().map(|member| (member.path.as_str(), member.compressed)).collect();
        let (mut members, linking) = chosen(&sizes, limit);
        members.sort_by_key(|at| files.members[*at].offset);
        Self { files, members, head: (limit / 4).clamp(SMALL_HEAD, LARGE_HEAD), linking }
    }

    /// What to read: the spans of the file, each with what takes its bytes.
    pub fn spans(&self) -> Vec<Span<'a>> {
        let mut spans: Vec<Span<'a>> = Vec::new();
        for member in self.members.iter().map(|at| &self.files.members[*at]) {
            match spans.last_mut() {
                Some(last) if member.offset.saturating_sub(last.range.end) <= GAP => {
                    last.range.end = member.end.max(last.range.end);
                    last.open.push(member);
                }
                _ => spans.push(Span::of(member, self.head)),
            }
        }
        for span in &mut spans {
            span.open.reverse();
        }
        spans
    }

    /// Takes what a span came to.
    pub fn took(&mut self, span: Span<'a>) {
        for (path, outcome) in span.finish() {
            match outcome {
                Ok(object) => self.linking.objects.extend(object),
                Err(error) => self.linking.unread.push(format!("{path}: {error}")),
            }
        }
    }

    /// All that was found.
    pub fn finish(mut self) -> Linking {
        self.linking.objects.sort_by(|a, b| a.path.cmp(&b.path));
        self.linking
    }
}

/// Neighbouring members, read in one pass.
pub struct Span<'a> {
    /// Of the wheel.
    pub range: Range<u64>,
    at: u64,
    head: u64,
    /// Those still to come, the next one last.
    open: Vec<&'a Member>,
    current: Option<Current<'a>>,
    done: Vec<(String, Result<Option<Object>, Malformed>)>,
}

struct Current<'a> {
    member: &'a Member,
    unpacker: Unpacker<'a>,
    object: SharedObject,
}

impl<'a> Span<'a> {
    fn of(member: &'a Member, head: u64) -> Self {
        let range = member.offset..member.end;
        Self { at: range.start, range, head, open: vec![member], current: None, done: Vec::new() }
    }

    /// Takes the next bytes of the span.
    pub fn take(&mut self, mut bytes: &[u8]) -> Flow {
        while !bytes.is_empty() {
            let Some(mut current) = self.current.take().or_else(|| self.next()) else { return Flow::Enough };
            let skipped =
                usize::try_from(current.member.offset.saturating_sub(self.at)).unwrap_or(usize::MAX).min(bytes.len());
            self.at += skipped as u64;
            bytes = &bytes[skipped..];
            let left = usize::try_from(current.member.end.saturating_sub(self.at)).unwrap_or(usize::MAX);
            let (now, rest) = bytes.split_at(left.min(bytes.len()));
            self.at += now.len() as u64;
            bytes = rest;
            match current.unpacker.take(now, &mut current.object) {
                Err(error) => self.done.push((current.member.path.clone(), Err(error))),
                Ok(_) if self.at >= current.member.end => self.close(current),
                Ok(_) => self.current = Some(current),
            }
        }
        if self.open.is_empty() && self.current.is_none() { Flow::Enough } else { Flow::More }
    }

    /// The next member that can be unpacked.
    fn next(&mut self) -> Option<Current<'a>> {
        while let Some(member) = self.open.pop() {
            match Unpacker::new(member) {
                Ok(unpacker) => {
                    return Some(Current {
                        member,
                        unpacker,
                        object: SharedObject::with_head(&member.path, member.size, self.head),
                    });
                }
                Err(error) => self.done.push((member.path.clone(), Err(error))),
            }
        }
        None
    }

    fn close(&mut self, current: Current<'a>) {
        let Current { member, unpacker, object } = current;
        let outcome = unpacker.finish().and_then(|_| object.finish());
        self.done.push((member.path.clone(), outcome));
    }

    fn finish(mut self) -> Vec<(String, Result<Option<Object>, Malformed>)> {
        let left: Vec<&Member> =
            self.current.take().map(|current| current.member).into_iter().chain(self.open).collect();
        self.done.extend(left.into_iter().map(|member| {
            (member.path.clone(), Err(Malformed::new(member.offset, "it is after the end of the file")))
        }));
        self.done
    }
}

/// Which of `files`, paths with sizes in bytes, are read where `limit` bytes may be: all libraries but CUDA's own,
/// Python's modules first, then what they were built with, then what a repair tool put beside them; of each kind small
/// ones before large ones. Beside them what is known before: the names of all, and which are not read.
pub fn chosen(files: &[(&str, u64)], limit: u64) -> (Vec<usize>, Linking) {
    let name = |at: &usize| files[*at].0.rsplit('/').next().unwrap_or_default();
    let shared: Vec<usize> = (0..files.len()).filter(|at| is_shared_object(name(at))).collect();
    let mut linking = Linking { carries: shared.iter().map(|at| name(at).to_owned()).collect(), ..Linking::default() };
    let mut own: Vec<usize> = shared.into_iter().filter(|at| !is_cuda_library(files[*at].0)).collect();
    own.sort_by_key(|at| (is_copied(files[*at].0), !is_module(name(at)), files[*at].1));
    let mut left = limit;
    own.retain(|at| {
        let (path, size) = files[*at];
        let rest = left.checked_sub(size);
        left = rest.unwrap_or(left);
        if rest.is_none() {
            let (megabytes, most) = (size >> 20, limit >> 20);
            linking.unread.push(if size > limit {
                format!("{path} is {megabytes} MB, more than the limit of {most} MB")
            } else {
                format!("{path} was not read: its wheel has more than {most} MB of libraries, the limit for one wheel")
            });
        }
        rest.is_some()
    });
    (own, linking)
}

/// `x.so`, `libx.so.1`, `x.so.1.1.1k`.
fn is_shared_object(name: &str) -> bool {
    let Some((_, rest)) = name.split_once(".so") else { return false };
    let version = rest.strip_prefix('.').unwrap_or_default();
    rest.is_empty() || version.starts_with(|c: char| c.is_ascii_digit()) && !version.ends_with(".py")
}

/// Whether Python looks for a file of this name when a module is imported.
fn is_module(name: &str) -> bool {
    name.contains(".cpython-") || name.ends_with(".abi3.so") || !name.starts_with("lib")
}

/// Whether a repair tool such as auditwheel has copied it into the wheel.
fn is_copied(path: &str) -> bool {
    path.split('/').rev().skip(1).any(|folder| folder.ends_with(".libs"))
}
