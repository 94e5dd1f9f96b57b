//! The profile that `colab-boot init` writes. It is the documentation of the format, so a test reads it with every key
//! enabled.

/// The commented starter profile.
pub const STARTER: &str = include_str!("starter.toml");

/// What editors and validators know of a profile: a JSON Schema (2020-12). It is written by hand, as the reader is,
/// which places carets; a test holds both together.
pub const PROFILE_SCHEMA: &str = include_str!("profile.schema.json");
