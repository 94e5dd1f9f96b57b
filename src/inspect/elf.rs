//! The first bytes of an ELF file: enough to know that it is one, of which kind, and for which machine.

use crate::inspect::Malformed;
use crate::inspect::directory::u16_at;

/// Bytes of `e_ident`, `e_type` and `e_machine`.
pub(super) const HEAD: usize = 20;

const X86_64: u16 = 62;
const AARCH64: u16 = 183;

/// What the first [`HEAD`] bytes say: `true` for a 64-bit little-endian ELF file of a machine that CUDA has, `false` for anything
/// that is no ELF file at all.
pub(super) fn is_elf(head: &[u8]) -> Result<bool, Malformed> {
    if !head.starts_with(b"\x7fELF") {
        return Ok(false);
    }
    match (head.get(4), head.get(5)) {
        (Some(2), Some(1)) => {}
        (Some(_), Some(_)) => return Err(Malformed::new(4, "not a 64-bit little-endian ELF file")),
        _ => return Err(Malformed::new(head.len() as u64, "the ELF header is cut off")),
    }
    match u16_at(head, 18) {
        Some(X86_64 | AARCH64) => Ok(true),
        Some(other) => Err(Malformed::new(18, format!("ELF machine {other} has no CUDA"))),
        None => Err(Malformed::new(head.len() as u64, "the ELF header is cut off")),
    }
}
