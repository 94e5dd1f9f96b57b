//! The options about where packages come from.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::boot::index::{IndexSettings, Limits, SOLVE_LIMIT};

/// Where packages come from.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Index")]
pub struct IndexOptions {
    /// The URL of the default package index [default: the one that pip uses]
    #[arg(long, value_name = "URL", env = "COLAB_BOOT_INDEX_URL", hide_env_values = true)]
    pub index_url: Option<String>,

    /// Search this folder for wheels in addition to the index; may be repeated
    #[arg(long, value_name = "FOLDER", env = "COLAB_BOOT_FIND_LINKS", value_delimiter = ',')]
    pub find_links: Vec<PathBuf>,

    /// Use only cached files; send no requests
    #[arg(long, env = "COLAB_BOOT_OFFLINE", value_parser = clap::builder::FalseyValueParser::new())]
    pub offline: bool,

    /// Ignore cached listings and METADATA, and request them again
    #[arg(long, conflicts_with = "offline")]
    pub refresh: bool,

    /// Allow plain HTTP to this host; may be repeated (always allowed for this machine)
    #[arg(long, value_name = "HOST", env = "COLAB_BOOT_ALLOW_INSECURE_HOST", value_delimiter = ',')]
    pub allow_insecure_host: Vec<String>,

    /// Limit the number of concurrent requests
    #[arg(long, value_name = "N", env = "COLAB_BOOT_CONNECTIONS")]
    #[arg(default_value_t = Limits::DEFAULT.connections, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub connections: u16,

    /// Stop network requests after this many seconds [default: 43200]
    #[arg(long, value_name = "SECONDS", env = "COLAB_BOOT_NETWORK_TIMEOUT", hide_default_value = true)]
    #[arg(default_value_t = Limits::DEFAULT.time.as_secs(), value_parser = clap::value_parser!(u64).range(1..))]
    pub network_timeout: u64,

    /// Stop resolving after this many seconds and report the packages in conflict
    #[arg(long, value_name = "SECONDS", env = "COLAB_BOOT_SOLVE_TIMEOUT")]
    #[arg(default_value_t = SOLVE_LIMIT.as_secs(), value_parser = clap::value_parser!(u64).range(1..))]
    pub solve_timeout: u64,
}

impl IndexOptions {
    /// What they mean.
    pub fn settings(&self) -> IndexSettings {
        IndexSettings {
            index_url: self.index_url.clone(),
            find_links: self.find_links.clone(),
            folders_only: false,
            offline: self.offline,
            refresh: self.refresh,
            allow_insecure_host: self.allow_insecure_host.clone(),
            limits: Limits { connections: self.connections, time: Duration::from_secs(self.network_timeout) },
            solve_limit: Duration::from_secs(self.solve_timeout),
        }
    }
}
