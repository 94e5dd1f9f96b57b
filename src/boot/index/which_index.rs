//! Which index serves which package. The default index is the one that pip uses on the target Python; no host is
//! written here.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use url::{Host, Url};

use crate::boot::index::credentials::without_login;
use crate::boot::index::pip;
use crate::boot::machine::Home;
use crate::boot::profile::{NamedIndex, Profile};
use crate::core::diag::Failure;
use crate::core::matrix::PublishedIndex;
use crate::core::model::PackageName;

/// The default index and the others.
#[derive(Clone, Debug)]
pub struct Locations {
    pub default: Url,
    /// What locks call it: `default`, or its name in the profile.
    default_name: String,
    named: Vec<NamedIndex>,
    bound: BTreeMap<PackageName, String>,
    /// Folders of wheels that are looked into beside an index, by name.
    folders: Vec<(String, Url)>,
    /// Nothing but the folders is asked, not even what the cache has of an index.
    pub(super) folders_only: bool,
}

/// The variable with a part of the login for the index `name`, such as `UV_INDEX_MY_HOUSE_USERNAME`.
pub(super) fn login_variable(prefix: &str, name: &str, what: &str) -> String {
    let name: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
    format!("{prefix}_{name}_{what}")
}

/// What locks call the folder that `--find-links` names, by its place among several.
pub fn find_links_name(at: usize) -> String {
    if at == 0 { "find-links".to_owned() } else { format!("find-links-{}", at + 1) }
}

impl Locations {
    /// The indexes of `profile` over the default index, which the profile may name.
    pub fn new(default: Url, profile: &Profile) -> Self {
        let of_profile = profile.indexes.iter().flat_map(|index| &index.packages).cloned();
        let wanted = profile.wanted.iter().map(|wanted| wanted.name.clone());
        let bound = of_profile.chain(wanted).filter_map(|name| {
            let index = profile.index_of(&name)?.to_owned();
            Some((name, index))
        });
        // A folder that is to serve nothing in particular is looked into for everything.
        let is_open =
            |index: &&NamedIndex| index.url.scheme() == "file" && index.packages.is_empty() && !index.is_default;
        let beside = profile.indexes.iter().filter(is_open).map(|index| (index.name.clone(), index.url.clone()));
        let mut named = profile.indexes.clone();
        let own = named.iter_mut().find(|index| index.is_default);
        let default_name = own.map_or_else(
            || "default".to_owned(),
            |own| {
                own.url = default.clone();
                own.name.clone()
            },
        );
        Self { default, default_name, bound: bound.collect(), named, folders: beside.collect(), folders_only: false }
    }

    /// The same with one page of each index that has several: that called `label`, at the address that `known` has for
    /// it.
    #[must_use]
    pub fn page(mut self, label: &str, known: &[PublishedIndex]) -> Self {
        self.named = page(self.named, label, known);
        self
    }

    /// The index called `name` alone.
    pub fn only_named(name: &str, url: Url) -> Self {
        let index =
            NamedIndex { name: name.to_owned(), url: url.clone(), packages: Vec::new(), is_default: true, page: None };
        Self { default_name: name.to_owned(), named: vec![index], ..Self::only(url) }
    }

    /// The default index alone.
    pub fn only(default: Url) -> Self {
        Self {
            default,
            default_name: "default".to_owned(),
            named: Vec::new(),
            bound: BTreeMap::new(),
            folders: Vec::new(),
            folders_only: false,
        }
    }

    /// The same with the logins that variables give for explicit indexes, by their names:
    /// `COLAB_BOOT_INDEX_NAME_USERNAME` and `…_PASSWORD`, or uv's `UV_INDEX_NAME_USERNAME`. One in the address counts
    /// more.
    #[must_use]
    pub fn with_logins(mut self, environment: &BTreeMap<String, String>) -> Self {
        for index in
            self.named.iter_mut().filter(|index| index.url.scheme() != "file" && index.url.username().is_empty())
        {
            let given = |what: &str| {
                let names = ["COLAB_BOOT_INDEX", "UV_INDEX"].map(|prefix| login_variable(prefix, &index.name, what));
                names.iter().find_map(|name| environment.get(name).filter(|text| !text.is_empty()))
            };
            let (user, password) = (given("USERNAME"), given("PASSWORD"));
            if user.is_some() || password.is_some() {
                // Fails only for addresses without a host.
                let _ = index.url.set_username(user.map_or("", String::as_str));
                let _ = index.url.set_password(password.map(String::as_str));
            }
        }
        self
    }

    /// The same with `folders` of wheels beside them.
    #[must_use]
    pub fn beside(mut self, folders: &[Url]) -> Self {
        self.folders.extend(folders.iter().enumerate().map(|(at, url)| (find_links_name(at), url.clone())));
        self
    }

    /// The same with nothing but the folders, where `only`.
    #[must_use]
    pub fn folders_only(mut self, only: bool) -> Self {
        self.folders_only = only;
        self
    }

    /// Every address that may be asked over the network.
    pub fn addresses(&self) -> Vec<Url> {
        let all = std::iter::once(&self.default).chain(self.named.iter().map(|index| &index.url));
        all.filter(|url| url.scheme() != "file").cloned().collect()
    }

    /// Folders to look into for `package`, with their names: where an explicit index serves it, only that one if it is
    /// a folder.
    pub(super) fn folders(&self, package: &PackageName) -> impl Iterator<Item = (&str, &Url)> {
        let (name, url) = self.responsible(package);
        let own = (url.scheme() == "file").then_some((name, url));
        let is_bound = self.bound.contains_key(package);
        let open = self.folders.iter().map(|(name, url)| (name.as_str(), url));
        let open = open.filter(move |_| !is_bound || self.folders_only);
        own.into_iter().chain(open)
    }

    /// Name and address of the only index that may serve `package`. An explicit index is never fallen through.
    pub fn responsible(&self, package: &PackageName) -> (&str, &Url) {
        let name = self.bound.get(package).unwrap_or(&self.default_name);
        let named = self.named.iter().find(|index| index.name == *name);
        named.map_or(("default", &self.default), |index| (index.name.as_str(), &index.url))
    }
}

/// `indexes`, of those with several pages that called `label` alone, at the address that `known` has for it.
pub fn page(mut indexes: Vec<NamedIndex>, label: &str, known: &[PublishedIndex]) -> Vec<NamedIndex> {
    indexes.retain(|index| index.page.as_deref().is_none_or(|page| page == label));
    for index in indexes.iter_mut().filter(|index| index.page.is_some()) {
        let row = known.iter().find(|row| row.name == index.name);
        if let Some(page) = row.and_then(|row| row.pages.iter().find(|page| page.label == label)) {
            index.url = page.address.clone();
        }
    }
    indexes
}

/// The address of `package`'s page on the index at `base` (PEP 503).
pub(super) fn page_address(base: &Url, package: &PackageName) -> Url {
    let mut address = base.clone();
    if let Ok(mut segments) = address.path_segments_mut() {
        segments.pop_if_empty().push(package.as_ref()).push("");
    }
    address
}

/// Whether a page or redirect at `from` may lead to `to`: not to files of this machine, not out of encryption, and not
/// from the internet into this machine or a private network, whose servers trust who asks from within. Only addresses
/// and `localhost` are looked at: where a name leads is the name server's word. Plain http is of this network already:
/// elsewhere the user has to allow it by name.
pub(super) fn may_lead(from: &Url, to: &Url) -> bool {
    let scheme = match from.scheme() {
        "https" => to.scheme() == "https",
        "http" => matches!(to.scheme(), "http" | "https"),
        other => to.scheme() == other,
    };
    let within = from.scheme() != "https" || from.host() == to.host() || is_private(from);
    scheme && (within || !is_private(to))
}

/// Whether `url` is of this machine or of a private network, by its address or as `localhost`.
fn is_private(url: &Url) -> bool {
    let v4 = |address: Ipv4Addr| {
        address.is_loopback() || address.is_private() || address.is_link_local() || address.is_unspecified()
    };
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => v4(address),
        Some(Host::Ipv6(address)) => {
            let local = address.is_loopback() || address.is_unique_local() || address.is_unicast_link_local();
            local || address.is_unspecified() || address.to_ipv4_mapped().is_some_and(v4)
        }
        None => false,
    }
}

/// Whether what `url` answers can be changed on the way: plain HTTP to another machine.
pub fn is_open(url: &Url) -> bool {
    let here = match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    url.scheme() == "http" && !here
}

/// Whether both are addresses of one index.
pub fn is_same_index(one: &Url, other: &Url) -> bool {
    let bare = |url: &Url| without_login(url).as_str().trim_end_matches('/').to_owned();
    bare(one) == bare(other)
}

/// `url` as it may be shown: without credentials and query.
pub fn redact(url: &Url) -> String {
    let mut shown = url.clone();
    let had_user = !shown.username().is_empty() || shown.password().is_some();
    let _ = shown.set_username(if had_user { "***" } else { "" });
    let _ = shown.set_password(None);
    shown.set_query(None);
    shown.set_fragment(None);
    shown.to_string()
}

/// The variables that name the default index, the first that is set before the others.
pub const INDEX_VARIABLES: [&str; 2] = ["COLAB_BOOT_INDEX_URL", "PIP_INDEX_URL"];

/// The index that pip uses on the Python at `home`: `COLAB_BOOT_INDEX_URL` and `PIP_INDEX_URL` first, then what pip's
/// own files say.
pub fn locate_default(environment: &BTreeMap<String, String>, home: Option<&Home>) -> Result<Url, Failure> {
    for name in INDEX_VARIABLES {
        if let Some(text) = environment.get(name).filter(|text| !text.is_empty()) {
            return parse(text, name);
        }
    }
    let unknown = |why: String| {
        Failure::world(format!("{why}, so the default package index is unknown"))
            .help("set --index-url, or --python to a Python that has pip")
    };
    let home = home.ok_or_else(|| unknown("no usable Python was found".to_owned()))?;
    let (index, file) = pip::index_of(environment, home)?
        .ok_or_else(|| unknown(format!("the Python in `{}` has no pip", home.prefix.display())))?;
    parse(&index, &format!("`{}`", file.display()))
}

const HELP: &str = "write the full URL of a simple index, such as `https://HOST/simple`";

fn parse(text: &str, origin: &str) -> Result<Url, Failure> {
    let url = Url::parse(text)
        .map_err(|error| Failure::input(format!("invalid index address from {origin}")).because(&error).help(HELP))?;
    if matches!(url.scheme(), "http" | "https") {
        return Ok(url);
    }
    Err(Failure::input(format!("the index address from {origin} is neither http nor https")).help(HELP))
}
