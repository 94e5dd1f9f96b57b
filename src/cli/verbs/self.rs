//! `self version`: which colab-boot this is.

use serde::Serialize;

use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::SelfVerb;

#[derive(Serialize)]
struct OwnVersion<'a> {
    version: &'a str,
    /// Of the CUDA matrix.
    matrix: &'a str,
    /// `x86_64-linux-gnu`.
    platform: String,
}

pub(super) fn run(verb: &SelfVerb, session: &Session<'_>) -> Report {
    let SelfVerb::Version = verb;
    let libc = if cfg!(target_env = "musl") { "musl" } else { "gnu" };
    let platform = format!("{}-{}-{libc}", std::env::consts::ARCH, std::env::consts::OS);
    let own = OwnVersion { version: env!("CARGO_PKG_VERSION"), matrix: &session.matrix.version, platform };
    let text = format!("colab-boot {} (matrix {}, {})\n", own.version, own.matrix, own.platform);
    Report::new(&own, text)
}
