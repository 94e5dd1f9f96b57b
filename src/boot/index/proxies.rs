//! The proxies that the environment names. `reqwest` reads the variables itself; it passes over a proxy that it can't
//! use, and over `NO_PROXY=*` where the host is an address.

use reqwest::ClientBuilder;

use crate::core::diag::Failure;

/// Has what `builder` builds go through the proxies of the environment. A proxy of which the kind is not known is an
/// error: a request past it is one that it should have seen.
pub(super) fn through_proxies(builder: ClientBuilder) -> Result<ClientBuilder, Failure> {
    #[expect(clippy::disallowed_methods, reason = "`reqwest` looks there, too")]
    let first = |names: [&'static str; 2]| names.into_iter().find_map(|name| Some((name, std::env::var(name).ok()?)));
    let excepted = first(["NO_PROXY", "no_proxy"]).map(|(_, value)| value).unwrap_or_default();
    if excepted.split(',').any(|one| one.trim() == "*") {
        return Ok(builder.no_proxy());
    }
    let named = [["HTTP_PROXY", "http_proxy"], ["HTTPS_PROXY", "https_proxy"], ["ALL_PROXY", "all_proxy"]];
    for (variable, value) in named.into_iter().filter_map(first) {
        if let Some(scheme) = unknown_scheme(&value) {
            let said = format!("the proxy in {variable} has an unsupported scheme: `{scheme}`");
            let help = format!("use `http`, `https`, `socks4`, `socks5` or `socks5h`, or unset {variable}");
            return Err(Failure::input(said).help(help));
        }
    }
    Ok(builder)
}

/// The scheme of a proxy's address where it is none of those that are known. Without one it is HTTP.
fn unknown_scheme(address: &str) -> Option<&str> {
    let (scheme, _) = address.trim().split_once("://")?;
    let known = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"];
    (!known.iter().any(|one| one.eq_ignore_ascii_case(scheme))).then_some(scheme)
}
