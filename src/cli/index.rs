//! The options about where packages come from.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::index::Limits;

/// Where packages come from.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Index")]
pub struct IndexOptions {
    /// The default package index, instead of the one that pip uses
    #[arg(long, value_name = "URL", env = "COLAB_BOOT_INDEX_URL", hide_env_values = true)]
    pub index_url: Option<String>,

    /// A folder of wheels to look into beside the index; may be repeated
    #[arg(long, value_name = "FOLDER", env = "COLAB_BOOT_FIND_LINKS", value_delimiter = ',')]
    pub find_links: Vec<PathBuf>,

    /// Set by `--wheelhouse`: nothing but the folders counts.
    #[arg(skip)]
    pub folders_only: bool,

    /// Use only what is in the cache
    #[arg(long, env = "COLAB_BOOT_OFFLINE", value_parser = clap::builder::FalseyValueParser::new())]
    pub offline: bool,

    /// Ask for listings and METADATA again, however fresh those in the cache are
    #[arg(long, conflicts_with = "offline")]
    pub refresh: bool,

    /// A host that may be asked without encryption; this machine itself always may; may be repeated
    #[arg(long, value_name = "HOST", env = "COLAB_BOOT_ALLOW_INSECURE_HOST", value_delimiter = ',')]
    pub allow_insecure_host: Vec<String>,

    /// The most requests that may be under way at once
    #[arg(long, value_name = "N", env = "COLAB_BOOT_CONNECTIONS", default_value_t = Limits::DEFAULT.connections, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub connections: u16,

    /// Ask the network for nothing after so long, in a solve and in a fetch; half a day unless said otherwise
    #[arg(long, value_name = "SECONDS", env = "COLAB_BOOT_NETWORK_TIMEOUT", default_value_t = Limits::DEFAULT.time.as_secs(), hide_default_value = true, value_parser = clap::value_parser!(u64).range(1..))]
    pub network_timeout: u64,

    /// Give up a solve after so long, and name the packages that are most in conflict
    #[arg(long, value_name = "SECONDS", env = "COLAB_BOOT_SOLVE_TIMEOUT", default_value_t = SOLVE, value_parser = clap::value_parser!(u64).range(1..))]
    pub solve_timeout: u64,
}

/// Seconds that a solve may take where nothing else is said.
const SOLVE: u64 = 600;

impl IndexOptions {
    /// How long a solve may take.
    pub fn solve_limit(&self) -> Duration {
        Duration::from_secs(if self.solve_timeout == 0 { SOLVE } else { self.solve_timeout })
    }

    /// What is asked of the network at most.
    pub fn limits(&self) -> Limits {
        Limits { connections: self.connections, time: Duration::from_secs(self.network_timeout) }
    }
}
