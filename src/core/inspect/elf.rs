//! The first bytes of an ELF file: enough to know that it is one, of which kind, and for which machine.

use crate::core::inspect::directory::u16_at;

/// Bytes of `e_ident`, `e_type` and `e_machine`.
pub(super) const HEAD: usize = 20;

const X86_64: u16 = 62;
const AARCH64: u16 = 183;

/// Whether the first [`HEAD`] bytes are those of a 64-bit little-endian ELF file for a machine that CUDA has.
pub(super) fn is_elf(head: &[u8]) -> bool {
    head.starts_with(b"\x7fELF\x02\x01") && matches!(u16_at(head, 18), Some(X86_64 | AARCH64))
}
