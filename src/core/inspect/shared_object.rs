//! One shared object, read in one pass over its bytes: what the dynamic linker will look at (`PT_DYNAMIC`, `.dynsym`,
//! `.gnu.version_r`), and the names inside it that NumPy's and CUDA's loaders go by.
//!
//! The tables are found by program headers, for section headers may be stripped. They stand near the beginning of what
//! a linker wrote, and at the end of what `patchelf` changed; both ends are kept, and what lies elsewhere is an error
//! that says so.

use std::collections::BTreeSet;

use memchr::memmem::Finder;
use object::elf::{self, FileHeader64, Sym64, Vernaux, Verneed};
use object::endian::LittleEndian;
use object::read::ReadRef as _;
use object::read::elf::{Dyn as _, FileHeader as _, ProgramHeader as _};

use crate::core::inspect::namespaces::{is_of_tensorflow, is_of_torch, symbol_hash};
use crate::core::inspect::sparse::Sparse;
use crate::core::inspect::{Flow, Malformed, Sink};
use crate::core::model::linking::{NumpyInterface, Object, SymbolVersion};

/// As much of both ends of a library is kept.
const HEAD: u64 = 32 << 20;
const TAIL: u64 = 4 << 20;

/// The most symbols and version records that are looked at: torch's largest library has 300,000.
const MOST: u64 = 4 << 20;

/// The longest name that is looked for in passing.
const OVERLAP: usize = 64;

type Header = FileHeader64<LittleEndian>;
type Fault = &'static str;

/// Reads a shared object as it arrives.
#[derive(Debug)]
pub struct SharedObject {
    path: String,
    kept: Sparse,
    names: Names,
    /// The largest segment that is kept.
    head: u64,
    /// Whether the ranges that its program headers name are kept.
    is_planned: bool,
}

impl SharedObject {
    /// For the member `path` of `total` bytes.
    pub fn new(path: &str, total: u64) -> Self {
        Self::with_head(path, total, HEAD)
    }

    /// The same, of which the first `head` bytes are kept.
    pub fn with_head(path: &str, total: u64, head: u64) -> Self {
        let kept = Sparse::new(total, head, TAIL);
        Self { path: path.to_owned(), kept, names: Names::default(), head, is_planned: false }
    }

    /// What it asks for, as far as it was read; `None` for what is no shared object of a 64-bit Linux.
    pub fn finish(self) -> Result<Option<Object>, Malformed> {
        let Ok(header) = Header::parse(&self.kept) else { return Ok(None) };
        if header.e_type.get(LittleEndian) != elf::ET_DYN {
            return Ok(None);
        }
        let mut object = Object { path: self.path, opens: self.names.opens, ..Object::default() };
        object.numpy = match (self.names.numpy_first, self.names.numpy_both) {
            (_, true) => Some(NumpyInterface::Both),
            (true, false) if self.names.numpy_abi => Some(NumpyInterface::First),
            (_, false) => None,
        };
        let tables = Tables { kept: &self.kept, header };
        tables.read(&mut object).map_err(|what| Malformed::new(0, what))?;
        object.opens.retain(|library| !object.needed.contains(library));
        Ok(Some(object))
    }

    /// The names of all symbols that it defines.
    pub fn defined(&self) -> Result<Vec<String>, Malformed> {
        let fail = |what| Malformed::new(0, what);
        let header = Header::parse(&self.kept).map_err(|_| fail("not an ELF file"))?;
        let tables = Tables { kept: &self.kept, header };
        let dynamic = tables.dynamic().map_err(fail)?.ok_or_else(|| fail("it has no dynamic section"))?;
        let mut names = Vec::new();
        let mut take = |symbol: &Sym64<LittleEndian>, name: &str| {
            if symbol.st_shndx.get(LittleEndian) != elf::SHN_UNDEF {
                names.push(name.to_owned());
            }
        };
        tables.symbols(&dynamic, &mut take).map_err(fail)?;
        Ok(names)
    }

    /// Has the dynamic section kept, wherever it is, and the smaller segments, once the program headers are here: a
    /// tool such as `patchelf` moves tables into a segment of their own.
    fn plan(&mut self) {
        if self.is_planned || self.kept.passed() < 4096 {
            return;
        }
        self.is_planned = true;
        let Ok(header) = Header::parse(&self.kept) else { return };
        let Ok(segments) = header.program_headers(LittleEndian, &self.kept) else { return };
        let matters = segments.iter().filter(|segment| {
            let size = segment.p_filesz(LittleEndian);
            match segment.p_type(LittleEndian) {
                elf::PT_DYNAMIC => size <= 1 << 20,
                elf::PT_LOAD => size <= self.head,
                _ => false,
            }
        });
        let mut ranges: Vec<(u64, u64)> = matters.map(|segment| segment.file_range(LittleEndian)).collect();
        // What lies in the beginning is kept already; of the rest small ones first.
        ranges.retain(|(start, size)| start.saturating_add(*size) > self.head);
        ranges.sort_by_key(|(_, size)| *size);
        let mut left = 2 * self.head;
        for (start, size) in ranges {
            let Some(rest) = left.checked_sub(size) else { continue };
            left = rest;
            self.kept.keep(start..start.saturating_add(size));
        }
    }
}

impl Sink for SharedObject {
    fn take(&mut self, bytes: &[u8]) -> Result<Flow, Malformed> {
        self.kept.take(bytes);
        self.names.take(bytes);
        self.plan();
        Ok(Flow::More)
    }
}

/// The entries of a dynamic section that are followed.
#[derive(Default)]
struct Dynamic {
    needed: Vec<u64>,
    soname: Option<u64>,
    strings: u64,
    symbols: u64,
    gnu_hash: Option<u64>,
    hash: Option<u64>,
    versions: Option<u64>,
}

struct Tables<'a> {
    kept: &'a Sparse,
    header: &'a Header,
}

impl<'a> Tables<'a> {
    fn read(&self, object: &mut Object) -> Result<(), Fault> {
        let Some(dynamic) = self.dynamic()? else { return Ok(()) };
        let text = |at: u64| self.text(dynamic.strings.checked_add(at).ok_or(OUTSIDE)?).map(str::to_owned);
        object.needed = dynamic.needed.iter().map(|at| text(*at)).collect::<Result<_, _>>()?;
        object.soname = dynamic.soname.map(text).transpose()?;
        self.versions(&dynamic, object)?;
        self.symbols(&dynamic, &mut |symbol, name| sort_symbol(symbol, name, object))
    }

    /// The file offset of an address in memory.
    fn offset(&self, address: u64) -> Result<u64, Fault> {
        let segments =
            self.header.program_headers(LittleEndian, self.kept).map_err(|_| "its program headers are damaged")?;
        let loaded = segments.iter().filter(|segment| segment.p_type(LittleEndian) == elf::PT_LOAD);
        let segment = loaded
            .into_iter()
            .find(|segment| {
                let (start, size) = (segment.p_vaddr(LittleEndian), segment.p_filesz(LittleEndian));
                address >= start && address - start < size
            })
            .ok_or("it refers to an address that it does not load")?;
        let offset = segment.p_offset(LittleEndian).checked_add(address - segment.p_vaddr(LittleEndian));
        offset.ok_or(OUTSIDE)
    }

    fn dynamic(&self) -> Result<Option<Dynamic>, Fault> {
        let segments =
            self.header.program_headers(LittleEndian, self.kept).map_err(|_| "its program headers are damaged")?;
        let Some(segment) = segments.iter().find(|segment| segment.p_type(LittleEndian) == elf::PT_DYNAMIC) else {
            return Ok(None);
        };
        let entries = segment.dynamic(LittleEndian, self.kept).map_err(|_| ELSEWHERE)?.unwrap_or_default();
        let mut dynamic = Dynamic::default();
        for entry in entries {
            let value = entry.d_val(LittleEndian);
            match entry.d_tag(LittleEndian) {
                elf::DT_NULL => break,
                elf::DT_NEEDED => dynamic.needed.push(value),
                elf::DT_SONAME => dynamic.soname = Some(value),
                elf::DT_STRTAB => dynamic.strings = value,
                elf::DT_SYMTAB => dynamic.symbols = value,
                elf::DT_GNU_HASH => dynamic.gnu_hash = Some(value),
                elf::DT_HASH => dynamic.hash = Some(value),
                elf::DT_VERNEED => dynamic.versions = Some(value),
                _ => {}
            }
        }
        Ok(Some(dynamic))
    }

    /// The text at an address.
    fn text(&self, address: u64) -> Result<&'a str, Fault> {
        let offset = self.offset(address)?;
        let bytes =
            self.kept.read_bytes_at_until(offset..offset.saturating_add(64 << 10), 0).map_err(|()| ELSEWHERE)?;
        std::str::from_utf8(bytes).map_err(|_| "a name in it is not valid UTF-8")
    }

    fn u32_at(&self, offset: u64) -> Result<u32, Fault> {
        let value = self.kept.read_at::<object::endian::U32<LittleEndian>>(offset).map_err(|()| ELSEWHERE)?;
        Ok(value.get(LittleEndian))
    }

    /// The newest of each name of `.gnu.version_r`.
    fn versions(&self, dynamic: &Dynamic, object: &mut Object) -> Result<(), Fault> {
        let Some(address) = dynamic.versions else { return Ok(()) };
        let (mut at, mut left) = (self.offset(address)?, MOST);
        loop {
            let record = self.kept.read_at::<Verneed<LittleEndian>>(at).map_err(|()| ELSEWHERE)?;
            let mut inner = at.saturating_add(u64::from(record.vn_aux.get(LittleEndian)));
            for _ in 0..record.vn_cnt.get(LittleEndian) {
                left = left.checked_sub(1).ok_or("its version list is not terminated")?;
                let one = self.kept.read_at::<Vernaux<LittleEndian>>(inner).map_err(|()| ELSEWHERE)?;
                let name = self.text(dynamic.strings.saturating_add(u64::from(one.vna_name.get(LittleEndian))))?;
                if let Some((name, version)) = SymbolVersion::split(name) {
                    let newest = object.versions.entry(name.to_owned()).or_insert_with(|| version.clone());
                    *newest = version.max(newest.clone());
                }
                inner = inner.saturating_add(u64::from(one.vna_next.get(LittleEndian)));
            }
            let next = record.vn_next.get(LittleEndian);
            if next == 0 {
                return Ok(());
            }
            left = left.checked_sub(1).ok_or("its version list is not terminated")?;
            at = at.saturating_add(u64::from(next));
        }
    }

    /// Goes over the dynamic symbols with their names.
    fn symbols(&self, dynamic: &Dynamic, take: &mut dyn FnMut(&Sym64<LittleEndian>, &str)) -> Result<(), Fault> {
        let count = self.symbol_count(dynamic)?;
        let mut offset = self.offset(dynamic.symbols)?;
        let strings = self.offset(dynamic.strings)?;
        let count = usize::try_from(count).map_err(|_| OUTSIDE)?;
        let symbols = self.kept.read_slice::<Sym64<LittleEndian>>(&mut offset, count).map_err(|()| ELSEWHERE)?;
        for symbol in symbols {
            let at = strings.saturating_add(u64::from(symbol.st_name.get(LittleEndian)));
            let bytes = self.kept.read_bytes_at_until(at..at.saturating_add(64 << 10), 0).map_err(|()| ELSEWHERE)?;
            if let Ok(name) = std::str::from_utf8(bytes) {
                take(symbol, name);
            }
        }
        Ok(())
    }

    /// How many symbols there are: no entry says it, the hash tables do.
    fn symbol_count(&self, dynamic: &Dynamic) -> Result<u64, Fault> {
        let count = match (dynamic.hash, dynamic.gnu_hash) {
            (Some(hash), _) => u64::from(self.u32_at(self.offset(hash)? + 4)?),
            (None, Some(hash)) => self.count_of_gnu_hash(self.offset(hash)?)?,
            (None, None) => 0,
        };
        if count > MOST { Err("its symbol list is not terminated") } else { Ok(count) }
    }

    /// `u32 buckets, base, bloom words, shift; u64 bloom[]; u32 buckets[]; u32 chain[]`: one more than the last symbol
    /// of the last chain.
    fn count_of_gnu_hash(&self, at: u64) -> Result<u64, Fault> {
        let word = |index: u64| self.u32_at(at.saturating_add(index * 4)).map(u64::from);
        let (buckets, base, bloom) = (word(0)?, word(1)?, word(2)?);
        let first = 4 + bloom * 2;
        let mut last = 0;
        for bucket in 0..buckets.min(MOST) {
            last = last.max(word(first + bucket)?);
        }
        if last < base {
            return Ok(base);
        }
        // The lowest bit of a hash says that its chain ends.
        while last < MOST && word(first + buckets + (last - base))? & 1 == 0 {
            last += 1;
        }
        Ok(last + 1)
    }
}

const ELSEWHERE: Fault = "its tables are in a part that was not read";
const OUTSIDE: Fault = "it refers to a position outside of the file";

/// The library of TensorFlow that custom ops are linked against; it carries Abseil's and protobuf's symbols, too.
const TENSORFLOW: &str = "libtensorflow_framework.so";

/// What a symbol says of the object.
fn sort_symbol(symbol: &Sym64<LittleEndian>, name: &str, object: &mut Object) {
    let is_undefined = symbol.st_shndx.get(LittleEndian) == elf::SHN_UNDEF;
    if !is_undefined {
        object.is_module |= name.starts_with("PyInit_");
    } else if symbol.st_bind() == elf::STB_WEAK {
        // It may stay undefined.
    } else if is_of_torch(name) {
        object.torch_cxx |= name.starts_with("_Z");
        object.torch.insert(symbol_hash(name));
    } else if is_of_tensorflow(name) && object.needed.iter().any(|one| one.starts_with(TENSORFLOW)) {
        object.tensorflow.insert(symbol_hash(name));
    }
}

/// Names inside an object, looked for as it passes by.
#[derive(Debug, Default)]
struct Names {
    /// The end of what has passed.
    before: Vec<u8>,
    numpy_first: bool,
    numpy_both: bool,
    /// A text with which another NumPy is refused at import: by `import_array`, or by Cython for types of another size.
    /// A library that looks NumPy up when it is used, as those of older pybind11 do, has neither.
    numpy_abi: bool,
    opens: BTreeSet<String>,
}

impl Names {
    fn take(&mut self, bytes: &[u8]) {
        let mut held = std::mem::take(&mut self.before);
        let begin = bytes.len().min(OVERLAP);
        held.extend_from_slice(&bytes[..begin]);
        self.search(&held);
        self.search(bytes);
        let drop = held.len().saturating_sub(OVERLAP);
        self.before =
            if bytes.len() >= OVERLAP { bytes[bytes.len() - OVERLAP..].to_vec() } else { held.split_off(drop) };
    }

    fn search(&mut self, bytes: &[u8]) {
        for at in Finder::new(b"numpy.").find_iter(bytes) {
            let rest = &bytes[at + 6..];
            self.numpy_first |= rest.starts_with(b"core.multiarray") || rest.starts_with(b"core._multiarray_umath");
            self.numpy_both |= rest.starts_with(b"_core");
        }
        let texts: [&[u8]; 2] = [b"compiled against ABI version", b"may indicate binary incompatibility"];
        self.numpy_abi = self.numpy_abi || texts.iter().any(|text| Finder::new(text).find(bytes).is_some());
        for at in Finder::new(b".so.").find_iter(bytes) {
            self.opens.extend(cuda_library_at(bytes, at));
        }
    }
}

/// `libcudart.so.12` of the bytes around its `.so.1`.
fn cuda_library_at(bytes: &[u8], at: usize) -> Option<String> {
    const STEMS: [&str; 9] =
        ["cudart", "cublas", "cublasLt", "cudnn", "cufft", "curand", "cusolver", "cusparse", "nccl"];
    let start = at - bytes[..at].iter().rev().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let stem = std::str::from_utf8(&bytes[start..at]).ok()?.strip_prefix("lib")?;
    let digits = bytes[at + 4..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    // A number that the piece cuts off is found with the next one.
    let number =
        std::str::from_utf8(bytes.get(at + 4..at + 4 + digits)?).ok().filter(|_| at + 4 + digits < bytes.len())?;
    STEMS.contains(&stem).then(|| format!("lib{stem}.so.{number}"))
}

#[cfg(test)]
mod tests {
    use super::Names;

    #[test]
    fn names_are_found_across_pieces() {
        let text = b"\0xx numpy.core._multiarray_umath\0 libcudart.so.12\0/usr/lib/libcublasLt.so.13\0libcudart.so\0 libz.so.1\0";
        for size in [1, 3, 7, 64, 200] {
            let mut names = Names::default();
            text.chunks(size).for_each(|piece| names.take(piece));
            let opens: Vec<&str> = names.opens.iter().map(String::as_str).collect();
            assert_eq!((names.numpy_first, names.numpy_both), (true, false), "{size}");
            assert_eq!(opens, ["libcublasLt.so.13", "libcudart.so.12"], "{size}");
        }
    }
}
