//! Addresses as a profile may have them: it is shared, and who may read a place is no part of it.

use url::Url;

use crate::boot::index::without_login;

/// `address` without user and password; whether it had any. A user of `ssh` alone is no secret.
pub(super) fn shareable(address: &str) -> (String, bool) {
    match Url::parse(address) {
        Ok(url)
            if url.password().is_some()
                || !url.username().is_empty() && url.scheme().trim_start_matches("git+") != "ssh" =>
        {
            (without_login(&url).to_string(), true)
        }
        _ => (address.to_owned(), false),
    }
}

#[cfg(test)]
mod tests {
    use super::shareable;

    #[test]
    fn passwords_and_tokens_stay_behind() {
        for (address, bare, had) in [
            ("https://ada:pw@host.example/simple/", "https://host.example/simple/", true),
            ("https://token@host.example/x.git", "https://host.example/x.git", true),
            ("ssh://git@host.example/x.git", "ssh://git@host.example/x.git", false),
            ("ssh://git:pw@host.example/x.git", "ssh://host.example/x.git", true),
            ("git@host.example:x.git", "git@host.example:x.git", false),
            ("https://host.example/a b", "https://host.example/a b", false),
        ] {
            assert_eq!(shareable(address), (bare.to_owned(), had), "{address}");
        }
    }
}
