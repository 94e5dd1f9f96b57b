//! The profile that `colab-boot init` writes. It is the documentation of the format, so a test reads it with every key
//! enabled.

/// The commented starter profile.
pub const STARTER: &str = include_str!("starter.toml");
