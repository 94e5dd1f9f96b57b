//! The index that a verb asks: which one, with which credentials, and what is solved with it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use url::Url;

use crate::boot::index::{
    Buildable, Builder, Cache, Client, Credentials, INDEX_VARIABLES, IndexSettings, Limits, Locations, Offline, Online,
    Scope, Traffic, Trust, find_links_name, is_open, locate_default, page, redact,
};
use crate::boot::lock::LockedTarget;
use crate::boot::machine::{Machine, Python, observe_python};
use crate::boot::profile::{Direct, Profile};
use crate::boot::resolve::{Elsewhere, Learned, Question, Resolution, Target, Unsolved, explain, resolve};
use crate::boot::retrieval::buildable;
use crate::boot::retrieval::pages::{page_of, pages_for};
use crate::boot::session::Session;
use crate::core::diag::{Failure, Kind, counted};
use crate::core::host::files;
use crate::core::host::mounts::{Look, must_be_folder};
use crate::core::model::catalog::Catalog;
use crate::core::model::version::range_of;
use crate::core::model::{PackageName, PythonFacts, Version};

/// How long the network is asked for the sake of a suggestion.
const FOR_A_HINT: Duration = Duration::from_secs(10);

/// A solve to be done.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    pub profile: &'a Profile,
    pub target: &'a Target,
    /// The target's machine.
    pub machine: &'a Machine,
    /// Versions to take where they fit.
    pub preferred: &'a BTreeMap<PackageName, Version>,
}

impl Session<'_> {
    /// The index addresses: the default index, and those of the profile.
    pub fn locations(
        &self,
        settings: &IndexSettings,
        profile: Option<&Profile>,
        python: Option<&Python>,
    ) -> Result<Locations, Failure> {
        let default = self.index_for(settings, profile, python)?;
        let of_profile = match profile {
            Some(profile) => Locations::new(default, profile).with_logins(self.environment),
            None => Locations::only(default),
        };
        of_profile.addresses().iter().try_for_each(|url| must_be_encrypted(url, settings))?;
        Ok(of_profile.beside(&find_links(settings)?).folders_only(settings.folders_only))
    }

    /// Names and addresses of the profile's indexes, and of the folders that the settings name.
    /// Of an index with several pages, that of the builds in `target`.
    pub fn indexes(
        &self,
        settings: &IndexSettings,
        profile: Option<&Profile>,
        target: &LockedTarget,
    ) -> Result<Vec<(String, Url)>, Failure> {
        let mut indexes = profile.map(|profile| profile.indexes.clone()).unwrap_or_default();
        if let Some(own) = indexes.iter_mut().find(|index| index.is_default && settings.index_url.is_some()) {
            own.url = self.default_index(settings, None)?;
        }
        let indexes = match page_of(&target.packages, &indexes) {
            Some(label) => page(indexes, &label, &self.matrix.indexes),
            None => indexes,
        };
        let explicit = indexes.into_iter();
        let explicit = explicit.map(|index| (index.name, index.url));
        let folders = find_links(settings)?.into_iter().enumerate().map(|(at, url)| (find_links_name(at), url));
        Ok(explicit.chain(folders).collect())
    }

    /// A client that knows what credentials there are for `addresses`.
    pub fn client(&self, addresses: &[Url], limits: Limits) -> Result<Client, Failure> {
        let client = Client::new(Credentials::collect(addresses, self.environment), limits, self.log.clone())?;
        Ok(client.noting_time(&self.paths, self.time()))
    }

    /// Which of `asked` the index at an address has, called by a name, for `python`.
    pub fn packages_on(
        &self,
        (name, url): (&str, Url),
        asked: &[PackageName],
        python: &PythonFacts,
        settings: &IndexSettings,
    ) -> Result<Vec<PackageName>, Failure> {
        must_be_encrypted(&url, settings)?;
        if settings.offline {
            return Err(Failure::world("--offline forbids asking it"));
        }
        let locations = Locations::only_named(name, url).with_logins(self.environment);
        let limits = Limits { time: settings.limits.time.min(FOR_A_HINT), ..settings.limits };
        let client = self.client(&locations.addresses(), limits)?;
        let scope = Scope::of(python).ok_or_else(|| Failure::bug("no marker environment"))?;
        let catalog = Online::new(&client, self.matrix, locations, scope, self.cache(settings));
        let listings = catalog.listings(asked)?;
        Ok(asked.iter().zip(listings).filter_map(|(name, listing)| listing.map(|_| name.clone())).collect())
    }

    /// `--index-url`, else the index that the profile has for everything, else that of pip on `python`.
    pub fn index_for(
        &self,
        settings: &IndexSettings,
        profile: Option<&Profile>,
        python: Option<&Python>,
    ) -> Result<Url, Failure> {
        let own = profile.and_then(Profile::default_index).filter(|_| settings.index_url.is_none());
        own.map_or_else(|| self.default_index(settings, python), |own| Ok(own.url.clone()))
    }

    /// `--index-url`, else what pip uses on the machine's own Python or, for a machine that is described, on one that
    /// is here.
    pub fn default_index(&self, settings: &IndexSettings, python: Option<&Python>) -> Result<Url, Failure> {
        let given = settings.index_url.as_ref().map(|text| (INDEX_VARIABLES[0].to_owned(), text.clone()));
        let mut environment = self.environment.clone();
        environment.extend(given);
        let named = INDEX_VARIABLES.iter().any(|name| environment.contains_key(*name));
        let own = python.filter(|python| python.path.as_ref().is_some_and(|path| path.is_there()));
        let own = own.and_then(|python| python.home.clone());
        let home = own.or_else(|| if named { None } else { observe_python(self.looker(None)).0?.home() });
        let url = locate_default(&environment, home.as_ref())?;
        must_be_encrypted(&url, settings).map(|()| url)
    }

    /// Solves what is asked. Also returns what went over the network.
    pub fn solve(&self, asked: Asked<'_>, settings: &IndexSettings) -> Result<(Resolution, Traffic), Failure> {
        self.ask(asked, settings, resolve)
    }

    /// Has `answer` answer what is asked, with the index or, offline, with the cache at hand. Also returns what went
    /// over the network.
    pub fn ask<T>(
        &self,
        asked: Asked<'_>,
        settings: &IndexSettings,
        answer: impl Fn(Question<'_>) -> Result<T, Unsolved>,
    ) -> Result<(T, Traffic), Failure> {
        let Asked { profile, target, machine, preferred } = asked;
        let locations = self.locations(settings, Some(profile), machine.python.as_ref())?;
        let mut scope = scope(profile, target)?;
        let has_sources = profile.wanted.iter().filter_map(|one| one.direct.as_ref()).any(Direct::is_source);
        if has_sources || matches!(&scope.buildable, Buildable::Named(names) if !names.is_empty()) {
            scope.builder = self.builder(machine, &locations);
        }
        for (name, version) in preferred {
            scope.preferred.entry(name.clone()).or_insert_with(|| (version.clone(), false));
        }
        let cache = self.cache(settings);
        self.log.detail(|| {
            format!("index: {}{}", redact(&locations.default), if settings.offline { " (cache only)" } else { "" })
        });
        let (started, limit) = (Instant::now(), settings.solve_limit);
        let is_over = || started.elapsed() >= limit;
        let learned = Learned::from_overlays(target.linked.values().flatten());
        let ask = |catalog: &dyn Catalog| {
            let learned = &learned;
            let matrix = self.matrix;
            let question = Question { profile, target, matrix, catalog, preferred, is_over: &is_over, learned };
            let tries = |elsewhere: &Elsewhere| self.answers(asked, elsewhere, settings);
            answer(question).map_err(|unsolved| refusal(unsolved, question, &tries))
        };
        let client = (!settings.offline).then(|| self.client(&locations.addresses(), settings.limits)).transpose()?;
        // Of an index with several pages the next one is asked where the best has no answer.
        let mut refused = None;
        for page in pages_for(profile, target, self.matrix)? {
            let locations = locations.clone();
            let locations = match &page {
                Some(label) => locations.page(label, &self.matrix.indexes),
                None => locations,
            };
            let (scope, cache) = (scope.clone(), cache.clone());
            let answered = match &client {
                Some(client) => ask(&Online::new(client, self.matrix, locations, scope, cache)),
                None => ask(&Offline::new(self.matrix, locations, scope, cache)),
            };
            match answered {
                Ok(answered) => return Ok((answered, self.traffic_of(client.as_ref()))),
                Err(failure) if failure.kind == Kind::Answer && page.is_some() => {
                    refused.get_or_insert(failure);
                }
                Err(failure) => return Err(failure),
            }
        }
        Err(refused.unwrap_or_else(|| Failure::bug("no page was asked")))
    }

    /// Whether there is an answer with a package from another index; `None` where that index can't be asked.
    fn answers(&self, asked: Asked<'_>, elsewhere: &Elsewhere, settings: &IndexSettings) -> Option<bool> {
        let Elsewhere { package, index, .. } = elsewhere;
        self.say(&format!("trying `{package}` from the index `{index}`"));
        let profile = asked.profile.with_index(package, index);
        let asked = Asked { profile: &profile, ..asked };
        let limits = Limits { time: settings.limits.time.min(FOR_A_HINT), ..settings.limits };
        let settings = IndexSettings { limits, ..settings.clone() };
        match self.ask(asked, &settings, resolve) {
            Ok(_) => Some(true),
            Err(failure) if failure.kind == Kind::Answer => Some(false),
            Err(_) => None,
        }
    }

    /// What went over the network.
    fn traffic_of(&self, client: Option<&Client>) -> Traffic {
        let Some(client) = client else { return Traffic::default() };
        let traffic = client.traffic();
        self.log.detail(|| {
            format!("{}, {} bytes read; the rest was in the cache", counted(traffic.requests, "request"), traffic.bytes)
        });
        traffic
    }

    /// The Python of `machine` for the metadata of a project, where it is on this machine.
    pub fn project_builder(
        &self,
        settings: &IndexSettings,
        profile: Option<&Profile>,
        machine: &Machine,
    ) -> Option<Builder> {
        self.builder(machine, &self.locations(settings, profile, machine.python.as_ref()).ok()?)
    }

    /// The machine's Python with the default index for what a build needs.
    fn builder(&self, machine: &Machine, locations: &Locations) -> Option<Builder> {
        let python = machine.python.as_ref()?.path.clone().filter(|path| path.is_there())?;
        let mut environment = self.environment.clone();
        if locations.default.scheme() != "file" {
            environment.insert("PIP_INDEX_URL".to_owned(), locations.default.to_string());
        }
        Some(Builder { python, environment })
    }

    /// The cache of listings, believed as far as `options` say.
    pub(super) fn cache(&self, settings: &IndexSettings) -> Cache {
        let trust = match (settings.offline, settings.refresh) {
            (true, _) => Trust::Always,
            (false, true) => Trust::Never,
            (false, false) => Trust::WhileFresh,
        };
        Cache::new(&self.paths.cache, self.now, trust)
    }
}

/// What a catalog is to be made for.
pub(super) fn scope(profile: &Profile, target: &Target) -> Result<Scope, Failure> {
    let scope = Scope::of(&target.python).ok_or_else(|| Failure::bug("no marker environment"))?;
    let preferred = target
        .installed
        .iter()
        .map(|(name, present)| (name.clone(), (present.version.clone(), present.requires.is_some())))
        .collect();
    let bounds = profile.constraints.iter().chain(&profile.overrides);
    Ok(Scope {
        as_of: profile.policy.as_of,
        buildable: buildable(&profile.policy),
        preferred,
        bounds: bounds.map(|bound| (bound.name.clone(), range_of(&bound.specifiers))).collect(),
        ..scope
    })
}

/// An error for an index over plain HTTP on another machine, unless the settings allow its host.
fn must_be_encrypted(url: &Url, settings: &IndexSettings) -> Result<(), Failure> {
    let allowed = url.host_str().is_some_and(|host| settings.allow_insecure_host.iter().any(|one| one == host));
    if allowed || !is_open(url) {
        return Ok(());
    }
    let message =
        format!("the index `{}` is not encrypted: anyone on the network path could change its answers", redact(url));
    Err(Failure::input(message).help("use https, or allow its host with --allow-insecure-host"))
}

/// The addresses of the folders that `--find-links` names.
pub fn find_links(settings: &IndexSettings) -> Result<Vec<Url>, Failure> {
    settings
        .find_links
        .iter()
        .map(|path| {
            let path = files::absolute(path)?;
            let option = if settings.folders_only { "--wheelhouse" } else { "--find-links" };
            must_be_folder(&path, &format!("{option}: there is no folder"))
                .map_err(|failure| failure.help("name a folder that contains wheels"))?;
            Url::from_directory_path(&path)
                .map_err(|()| Failure::bug("an absolute path could not be converted to a URL"))
        })
        .collect()
}

fn refusal(unsolved: Unsolved, question: Question<'_>, tries: &dyn Fn(&Elsewhere) -> Option<bool>) -> Failure {
    match unsolved {
        Unsolved::Failure(failure) => failure,
        Unsolved::Target(why) => Failure::bug(why),
        Unsolved::Conflict(conflict) => Failure::from_findings(Kind::Answer, vec![explain(&conflict, question, tries)]),
    }
}
