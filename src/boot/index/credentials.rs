//! Who we are to an index: the credentials in its address, netrc, and the `keyring` command. They go into one header of
//! a request and nowhere else: no lock, script, cache, message or log ever holds them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use url::Url;

use crate::core::host::{Invocation, files};

/// How long a keyring may take; one that asks the user something gets no answer.
const AT_MOST: Duration = Duration::from_secs(30);

/// A name and, mostly, a password.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Login {
    pub user: String,
    pub password: Option<String>,
}

/// What is known for the indexes of one run.
#[derive(Clone, Default)]
pub struct Credentials {
    /// Addresses of indexes, without their credentials, with them beside.
    indexes: Vec<(Url, Login)>,
    /// Hosts of netrc; an empty one is `default`.
    hosts: Vec<(String, Login)>,
}

impl Credentials {
    /// Those of `addresses`: their own, else netrc's (`NETRC`, `~/.netrc`), else those of the keyring, where the user
    /// has chosen it.
    pub fn collect(addresses: &[Url], environment: &BTreeMap<String, String>) -> Self {
        let hosts = match netrc_path(environment) {
            Some(path) => parse_netrc(&files::read_optional(&path).ok().flatten().unwrap_or_default()),
            None => Vec::new(),
        };
        let mut credentials = Self { indexes: Vec::new(), hosts };
        let keyring = uses_keyring(environment);
        for address in addresses {
            let own = login_of(address);
            let complete = own.as_ref().is_some_and(|login| login.password.is_some());
            let bare = without_login(address);
            let login = match own {
                own if complete || !keyring => own,
                None if credentials.of_host(&bare).is_some() => None,
                own => ask_keyring(&bare, own.as_ref(), environment).or(own),
            };
            credentials.indexes.extend(login.map(|login| (bare, login)));
        }
        credentials
    }

    /// The login for `url`: its own, that of the index it belongs to (pages name files without credentials, and pip
    /// sends them to the same origin too), or its host's in netrc.
    pub(super) fn login(&self, url: &Url) -> Option<Login> {
        let own = login_of(url);
        let whole = own.clone().filter(|login| login.password.is_some());
        whole.or_else(|| self.of_index(url).cloned()).or_else(|| self.of_host(url).cloned()).or(own)
    }

    /// That of the index whose path leads furthest towards `url`, of those on its host.
    fn of_index(&self, url: &Url) -> Option<&Login> {
        let whole = self.indexes.iter().filter(|(_, login)| login.password.is_some());
        let same = whole.filter(|(index, _)| index.origin() == url.origin());
        let shared = |index: &Url| index.path().bytes().zip(url.path().bytes()).take_while(|(a, b)| a == b).count();
        same.max_by_key(|(index, _)| shared(index)).map(|(_, login)| login)
    }

    fn of_host(&self, url: &Url) -> Option<&Login> {
        let host = url.host_str()?;
        let named = self.hosts.iter().find(|(name, _)| name == host);
        named.or_else(|| self.hosts.iter().find(|(name, _)| name.is_empty())).map(|(_, login)| login)
    }
}

fn login_of(url: &Url) -> Option<Login> {
    let some = !url.username().is_empty() || url.password().is_some();
    some.then(|| Login { user: decoded(url.username()), password: url.password().map(decoded) })
}

fn decoded(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// The address alone.
pub fn without_login(url: &Url) -> Url {
    let mut bare = url.clone();
    // Fails only for addresses without a host, which have no login either.
    let _ = bare.set_username("");
    let _ = bare.set_password(None);
    bare
}

fn netrc_path(environment: &BTreeMap<String, String>) -> Option<PathBuf> {
    let named = environment.get("NETRC").filter(|path| !path.is_empty()).map(PathBuf::from);
    named.or_else(|| environment.get("HOME").map(|home| PathBuf::from(home).join(".netrc")))
}

/// `machine HOST login USER password SECRET`, `default …`, over as many lines as one likes.
fn parse_netrc(text: &str) -> Vec<(String, Login)> {
    let mut hosts: Vec<(String, Login)> = Vec::new();
    let mut words = netrc_words(text).into_iter();
    while let Some(word) = words.next() {
        let empty = || Login { user: String::new(), password: None };
        let mut value = || words.next().map(|value| value.trim_matches('"').to_owned());
        match (word, hosts.last_mut()) {
            ("machine", _) => hosts.extend(value().map(|host| (host, empty()))),
            ("default", _) => hosts.push((String::new(), empty())),
            ("login", Some((_, login))) => login.user = value().unwrap_or_default(),
            ("password", Some((_, login))) => login.password = value(),
            ("account", _) => drop(value()),
            _ => {}
        }
    }
    hosts
}

/// The words of a netrc, without comments and macros.
fn netrc_words(text: &str) -> Vec<&str> {
    let mut words: Vec<&str> = Vec::new();
    let mut in_macro = false;
    for line in text.lines() {
        in_macro &= !line.trim().is_empty();
        if in_macro {
            continue;
        }
        for word in line.split_whitespace() {
            // A password may begin with `#`.
            let is_value = matches!(words.last(), Some(&("login" | "password" | "account")));
            if word == "macdef" {
                in_macro = true;
            }
            if in_macro || (word.starts_with('#') && !is_value) {
                break;
            }
            words.push(word);
        }
    }
    words
}

/// Whether the user has chosen the `keyring` command: our variable, uv's or pip's.
fn uses_keyring(environment: &BTreeMap<String, String>) -> bool {
    let chosen = ["COLAB_BOOT_KEYRING_PROVIDER", "UV_KEYRING_PROVIDER", "PIP_KEYRING_PROVIDER"]
        .iter()
        .find_map(|name| environment.get(*name));
    chosen.is_some_and(|provider| provider == "subprocess")
}

/// `keyring get ADDRESS USER`, then with the host alone, as uv asks; without a user `keyring --mode creds get ADDRESS`.
/// One that is not there or knows nothing is no fault: the index may need no credentials, and says so if it does.
fn ask_keyring(address: &Url, own: Option<&Login>, environment: &BTreeMap<String, String>) -> Option<Login> {
    let ask = |arguments: &[&str]| {
        let finished = Invocation::new("keyring", arguments, environment).output(AT_MOST).ok()?;
        let answer = finished.stdout.trim_end_matches(['\r', '\n']).to_owned();
        (finished.code == 0 && !answer.is_empty()).then_some(answer)
    };
    let host = address.host_str().unwrap_or_default();
    let Some(user) = own.map(|login| login.user.clone()) else {
        let answer = ask(&["--mode", "creds", "get", address.as_str()])?;
        let (user, password) = answer.split_once('\n')?;
        return Some(Login { user: user.trim_end().to_owned(), password: Some(password.to_owned()) });
    };
    for service in [address.as_str(), host] {
        if let Some(password) = ask(&["get", service, &user]) {
            return Some(Login { user, password: Some(password) });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{Credentials, parse_netrc};
    use url::Url;

    fn url(text: &str) -> Url {
        Url::parse(text).expect(text)
    }

    #[test]
    fn netrc_is_read_in_all_its_forms() {
        let text = "machine a.test login me password \"se#cret\" # why\nmachine\n  b.test login you\n  password x\n\
                    macdef init\nmachine c.test login no\n\ndefault login anonymous password p\n";
        let found: Vec<_> =
            parse_netrc(text).into_iter().map(|(host, login)| (host, login.user, login.password)).collect();
        let own =
            |host: &str, user: &str, password: &str| (host.to_owned(), user.to_owned(), Some(password.to_owned()));
        assert_eq!(found, [own("a.test", "me", "se#cret"), own("b.test", "you", "x"), own("", "anonymous", "p")]);
    }

    #[test]
    fn files_of_an_index_get_its_login_and_others_do_not() {
        let addresses = [url("https://u:p%40ss@a.test/one/simple"), url("https://v:q@a.test/two/simple")];
        let credentials = Credentials::collect(&addresses, &[].into());
        let of =
            |text: &str| credentials.login(&url(text)).map(|login| (login.user, login.password.unwrap_or_default()));
        assert_eq!(of("https://a.test/one/files/x.whl"), Some(("u".to_owned(), "p@ss".to_owned())));
        assert_eq!(of("https://a.test/two/files/x.whl"), Some(("v".to_owned(), "q".to_owned())));
        assert_eq!(of("https://b.test/one/x.whl"), None);
        assert_eq!(of("http://a.test/one/x.whl"), None);
    }
}
