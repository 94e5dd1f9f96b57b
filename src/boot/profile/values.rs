//! The values of a profile, one function each: what is accepted, and how to say what is not.

use std::path::Path;
use std::str::FromStr;

use pep440_rs::{VersionSpecifier, VersionSpecifiers};
use semver::Version;
use url::Url;

use crate::boot::profile::CudaWish;
use crate::boot::profile::package_origin::beside;

/// `*` and the empty text mean any version; a bare version such as `2.10` is an exact pin.
pub(super) fn specifiers(text: &str) -> Result<VersionSpecifiers, &'static str> {
    let text = text.trim();
    if text.is_empty() || text == "*" {
        return Ok(VersionSpecifiers::empty());
    }
    let bare = text.starts_with(|first: char| first.is_ascii_digit());
    let parsed = if bare {
        VersionSpecifier::from_str(&format!("=={text}")).map(VersionSpecifiers::from).ok()
    } else {
        VersionSpecifiers::from_str(text).ok()
    };
    parsed.ok_or("write `*`, or PEP 440 specifiers such as `2.10.*` or `>=2,<3`")
}

/// Of a profile that states none.
pub(super) const NO_VERSION: Version = Version::new(0, 0, 0);

/// A version of a profile: a semantic one, or one that lacks its last numbers or begins with `v` or zeros, as in `1`,
/// `v2.1` and `2026.07`.
pub(super) fn semantic_version(text: &str) -> Result<Version, semver::Error> {
    let bare = text.trim().trim_start_matches('v');
    let (numbers, rest) = bare.split_at(bare.find(['-', '+']).unwrap_or(bare.len()));
    let without_zeros = |number: &str| {
        let short = number.trim_start_matches('0');
        if short.is_empty() && !number.is_empty() { "0".to_owned() } else { short.to_owned() }
    };
    let mut numbers: Vec<String> = numbers.split('.').map(without_zeros).collect();
    while numbers.len() < 3 && numbers.iter().all(|number| !number.is_empty()) {
        numbers.push("0".to_owned());
    }
    Version::parse(&format!("{}{rest}", numbers.join(".")))
}

/// Whether an address holds credentials, which then must not be repeated anywhere.
pub(super) fn has_credentials(text: &str) -> bool {
    Url::parse(text).map_or_else(|_| text.contains('@'), |url| !url.username().is_empty() || url.password().is_some())
}

pub(super) fn web_address(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| error.to_string())?;
    if !matches!(url.scheme(), "https" | "http") {
        return Err("only https and http are supported".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("credentials do not belong in a profile".to_owned());
    }
    Ok(url)
}

/// A folder, from where the profile lies; whether it exists is another machine's business.
pub(super) fn wheel_folder(from: &Path, text: &str) -> Result<Url, &'static str> {
    Url::from_directory_path(beside(from, text)?).map_err(|()| "the path can't be converted to a URL")
}

/// What installs or replaces the NVIDIA driver, which belongs to the host.
const DRIVERS: &[&str] =
    &["cuda-drivers", "nvidia-driver", "nvidia-kernel", "nvidia-dkms", "libnvidia-compute", "libcuda1"];

/// Debian policy 5.6.1; a trailing `-` would mean removal to apt-get and a `+` is allowed in names such as `g++`.
pub fn debian_name(text: &str) -> Result<String, &'static str> {
    let mut characters = text.chars();
    let first = characters.next().is_some_and(|first| first.is_ascii_lowercase() || first.is_ascii_digit());
    if !first
        || !characters.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '+' | '-' | '.'))
        || !(2..=127).contains(&text.len())
        || text.ends_with('-')
    {
        return Err("Debian names are lower-case letters, digits, `+`, `-` and `.`");
    }
    if DRIVERS.iter().any(|driver| text.starts_with(driver)) {
        return Err("a driver can't be installed inside a notebook; the host provides it");
    }
    Ok(text.to_owned())
}

/// The name that snapshot services give a moment of their archive.
pub(super) fn snapshot_id(text: &str) -> Result<String, &'static str> {
    let (digits, marks) = (text.len() == 16, [(8, 'T'), (15, 'Z')]);
    (digits
        && text.chars().enumerate().all(|(at, c)| {
            marks.iter().find(|(place, _)| *place == at).map_or(c.is_ascii_digit(), |(_, mark)| c == *mark)
        }))
    .then(|| text.to_owned())
    .ok_or("write date and time (UTC) as the snapshot services do, such as `20261101T000000Z`")
}

/// Variables that would change how tools find or load code: not for a profile to set.
const RESERVED: &[&str] = &[
    "LD_",
    "PYTHON",
    "__PYVENV_",
    "PIP_",
    "UV_",
    "APT_",
    "DPKG_",
    "GIT_",
    "SSL_",
    "REQUESTS_CA_",
    "COLAB_",
    "BASH_",
    "JPY_",
];

/// Whether a profile may set a variable to `value`: what JSON, Python and a shell write in one way alone.
pub(super) fn variable_value(value: &str) -> Result<(), &'static str> {
    // Beyond the basic plane, JSON and Python write one character in two ways.
    let fits = |c: char| c == ' ' || c.is_ascii_graphic() || c.is_alphanumeric() && c <= '\u{ffff}';
    let is_fit = value.chars().all(fits) && value.len() <= 1024;
    is_fit.then_some(()).ok_or("use printable ASCII and letters of any script, at most 1024 bytes long")
}

/// Why a profile can't set the variable `name` to `value`.
pub fn variable_fault(name: &str, value: &str) -> Option<&'static str> {
    variable_name(name).and_then(|_| variable_value(value)).err()
}

pub(super) fn variable_name(text: &str) -> Result<String, &'static str> {
    let head = text.starts_with(|first: char| first.is_ascii_uppercase() || first == '_');
    let body = text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    if !head || !body || text.len() > 64 {
        return Err("names of variables are upper-case letters, digits and `_`");
    }
    if text == "PYTHONHASHSEED" {
        return Err("`[determinism] seed` sets it");
    }
    let exact = ["PATH", "HOME", "IFS", "ENV", "SHELL", "USER", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"];
    if exact.contains(&text) || RESERVED.iter().any(|prefix| text.starts_with(prefix)) {
        return Err("a profile must not set it: it changes how programs and libraries are found");
    }
    Ok(text.to_owned())
}

pub(super) fn one_of<T: Copy>(text: &str, choices: &[(&str, T)]) -> Result<T, String> {
    choices.iter().find(|(name, _)| *name == text).map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<String> = choices.iter().map(|(name, _)| format!("`{name}`")).collect();
        format!("write {}", names.join(" or "))
    })
}

pub(super) fn cuda_wish(text: &str) -> Result<CudaWish, &'static str> {
    match text {
        "auto" => Ok(CudaWish::Auto),
        "cpu" => Ok(CudaWish::Cpu),
        _ => text
            .parse()
            .map(CudaWish::Exact)
            .or_else(|_| text.parse().map(CudaWish::Major))
            .map_err(|_| "write `auto`, `cpu`, a major such as `12`, or a version such as `12.8`"),
    }
}

pub(super) fn python_minor(text: &str) -> Result<(u64, u64), &'static str> {
    let pair = text.split_once('.').and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
    pair.filter(|(major, _)| *major == 3).ok_or("write major and minor, such as `3.12`")
}
