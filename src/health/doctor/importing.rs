//! What Python imports: other files than meant, other versions than installed, variables that nobody reads any more.

use std::collections::BTreeMap;

use crate::boot::notebook::{ChangedModule, CodeMatch};
use crate::core::diag::{Code, counted};
use crate::core::matrix::Read;
use crate::core::model::Version;
use crate::health::doctor::workers::NO_FACTS;
use crate::health::doctor::{Answer, Case, Hit, Judge};

pub(super) const CHECKS: &[(Code, Judge)] = &[
    (Code::StaleModule, stale_module),
    (Code::ShadowedModule, shadowed_module),
    (Code::PathOrder, path_order),
    (Code::PthBroken, pth_broken),
    (Code::DuplicateInstall, duplicate_install),
    (Code::StaleBytecode, stale_bytecode),
    (Code::MixedApt, mixed_apt),
    (Code::PipEnv, pip_env),
    (Code::UserActions, user_actions),
    (Code::EnvNotRead, env_not_read),
];

/// The folder of the user's own files, as [`crate::health::doctor::Vitals::folders`] has it.
pub(super) const HERE: &str = "here";

fn stale_module(case: &Case<'_>) -> Answer {
    let Some(facts) = case.facts else { return Answer::Unseen(NO_FACTS.to_owned()) };
    if let Some(changed) = &facts.changed {
        return changed_modules(case, facts.names.len(), changed);
    }
    let mut stale = Vec::new();
    for (module, loaded) in facts.modules.iter().filter(|(name, _)| !name.contains('.')) {
        let Some(in_memory) = loaded.version.as_deref().and_then(|text| text.parse::<Version>().ok()) else { continue };
        let name = module.replace('_', "-");
        // Only where module and distribution have one name, and the file lies where that is installed.
        let Some((name, one)) = case.machine.installed.iter().find(|(known, _)| known.as_ref() == name) else {
            continue;
        };
        let differs = in_memory.clone().without_local() != one.version.clone().without_local();
        if differs
            && one
                .location
                .as_deref()
                .is_some_and(|folder| loaded.file.as_ref().is_some_and(|file| file.starts_with(folder)))
        {
            stale.push(format!("{name} {in_memory} is loaded, but {} is installed", one.version));
        }
    }
    if stale.is_empty() {
        return Answer::Fine(format!("{} compared with the installed files", counted(facts.modules.len(), "module")));
    }
    Hit::error("the kernel has loaded different versions than the installed ones").seen_all(stale).into()
}

/// What the kernel itself says of its modules, as `apply` and `verify` judge it.
fn changed_modules(case: &Case<'_>, compared: usize, changed: &[ChangedModule]) -> Answer {
    let layout = case.machine.python.as_ref().and_then(|python| python.layout.as_ref());
    let is_installed = |one: &&ChangedModule| {
        layout.is_none_or(|layout| layout.folders().iter().any(|folder| one.file.starts_with(folder)))
    };
    let of = |code: CodeMatch| -> Vec<String> {
        let found = changed.iter().filter(is_installed).filter(|one| one.code == code);
        found.map(|one| format!("`{}`: {}", one.name, one.why)).collect()
    };
    let (differs, unknown) = (of(CodeMatch::Differs), of(CodeMatch::Unknown));
    if !differs.is_empty() {
        return Hit::error("the kernel has loaded code that differs from the installed files").seen_all(differs).into();
    }
    if !unknown.is_empty() {
        let message = "modules changed on disk after the kernel loaded them, and are not known to be the same";
        return Hit::warning(message).seen_all(unknown).into();
    }
    Answer::Fine(format!("{} compared with the installed files", counted(compared, "module")))
}

fn shadowed_module(case: &Case<'_>) -> Answer {
    let Some(names) = case.vitals.folders.get(HERE) else {
        return Answer::Unseen("the folder of the notebook can't be read".to_owned());
    };
    let standard = case.vitals.folders.get("stdlib").map(Vec::as_slice).unwrap_or_default();
    let installed: Vec<&String> = case.vitals.folders.get("modules").into_iter().flatten().collect();
    let module = |name: &str| name.strip_suffix(".py").or_else(|| name.strip_suffix('/')).map(str::to_owned);
    let is_taken = |name: &str| {
        standard.iter().any(|other| module(other).as_deref() == Some(name))
            || installed.iter().any(|other| *other == name)
    };
    let found = names.iter().filter(|name| module(name).is_some_and(|name| is_taken(&name) && name != "__pycache__"));
    let found: Vec<String> =
        found.map(|name| format!("{name} in {}", case.vitals.text("cwd").unwrap_or("the working folder"))).collect();
    if found.is_empty() {
        return Answer::Fine("no file in this folder has the name of a module".to_owned());
    }
    Hit::error("files in this folder shadow installed modules").seen_all(found).into()
}

/// What Python says of itself when it starts, by the name that the vitals have for it.
pub(super) const START: &str = "python/start";

fn pth_broken(case: &Case<'_>) -> Answer {
    match case.vitals.text(START) {
        None => Answer::Unseen("no Python is known here, or it did not start within two seconds".to_owned()),
        Some(text) if text.trim().is_empty() => Answer::Fine("Python starts without errors".to_owned()),
        Some(text) => {
            let lines = text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned);
            Hit::warning("Python prints an error each time it starts").seen_all(lines).into()
        }
    }
}

fn path_order(case: &Case<'_>) -> Answer {
    let python = case.machine.python.as_ref();
    let Some(layout) = python.and_then(|python| python.layout.as_ref()) else {
        return Answer::Unseen("no Python was found".to_owned());
    };
    let kernel = case.facts.map(|facts| facts.path.clone()).unwrap_or_default();
    let home = python.and_then(|python| python.home.as_ref());
    let search = if kernel.is_empty() { home.map(|home| home.search.clone()).unwrap_or_default() } else { kernel };
    let own = search.iter().position(|entry| *entry == layout.purelib);
    let has_packages = case.vitals.folders.get("distributions").is_some_and(|names| !names.is_empty());
    if own.is_none() && !search.is_empty() && has_packages {
        let site = layout.purelib.display();
        return Hit::error(format!("`{site}` is not on `sys.path`: packages in it can't be imported")).into();
    }
    let before: Vec<String> = search
        .iter()
        .take(own.unwrap_or_default())
        .filter(|entry| {
            (entry.ends_with("site-packages") || entry.ends_with("dist-packages")) && **entry != layout.platlib
        })
        .map(|entry| entry.display().to_string())
        .collect();
    let path = case.vitals.environment.get("PYTHONPATH").map(String::as_str).unwrap_or_default();
    let path = path.split(':').filter(|entry| !entry.is_empty()).map(|entry| format!("PYTHONPATH has {entry}"));
    let found: Vec<String> = before.into_iter().chain(path).collect();
    if found.is_empty() {
        return Answer::Fine("the environment's packages come first".to_owned());
    }
    Hit::warning("Python searches other folders before the environment's packages").seen_all(found).into()
}

fn duplicate_install(case: &Case<'_>) -> Answer {
    let Some(names) = case.vitals.folders.get("distributions") else {
        return Answer::Unseen("no Python was found".to_owned());
    };
    let mut by_name: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for entry in names {
        let Some((name, version)) = entry.rsplit_once(".dist-info").and_then(|(stem, _)| stem.rsplit_once('-')) else {
            continue;
        };
        by_name.entry(name.to_lowercase().replace(['_', '.'], "-")).or_default().push(version.to_owned());
    }
    let twice = by_name.iter().filter(|(_, versions)| versions.len() > 1);
    let twice: Vec<String> = twice.map(|(name, versions)| format!("{name}: {}", versions.join(" and "))).collect();
    if twice.is_empty() {
        return Answer::Fine(format!("{}, each once", counted(by_name.len(), "distribution")));
    }
    Hit::error("distributions are installed twice").seen_all(twice).into()
}

fn stale_bytecode(case: &Case<'_>) -> Answer {
    let (stale, unread) = (&case.vitals.stale_bytecode, case.vitals.unread_bytecode);
    match (stale.is_empty(), unread) {
        (true, 0) => Answer::Fine("no outdated compiled file was found".to_owned()),
        (true, unread) => Answer::Unseen(format!("{} not compared with the source", counted(unread, "compiled file"))),
        (false, _) => Hit::warning("Python uses outdated compiled files").seen_all(stale.clone()).into(),
    }
}

fn mixed_apt(case: &Case<'_>) -> Answer {
    let home = case.machine.python.as_ref().and_then(|python| python.home.as_ref());
    let sees = home.is_some_and(|home| home.search.iter().any(|entry| entry.ends_with("python3/dist-packages")));
    if !sees {
        return Answer::Fine("this Python does not use Debian's packages".to_owned());
    }
    let debian = case.machine.debian.packages();
    let upstream = |version: &str| {
        let version = version.split_once(':').map_or(version, |(_, rest)| rest);
        version.rsplit_once('-').map_or(version, |(upstream, _)| upstream).to_owned()
    };
    let of_pip = case
        .machine
        .installed
        .iter()
        .filter(|(_, one)| !one.location.as_ref().is_some_and(|folder| folder.starts_with("/usr/lib/python3")));
    let both = of_pip.filter_map(|(name, one)| {
        let version = upstream(debian.get(&format!("python3-{name}"))?);
        (version != one.version.clone().without_local().to_string())
            .then(|| format!("{name}: {version} by Debian, {} by pip", one.version))
    });
    let both: Vec<String> = both.collect();
    if both.is_empty() {
        return Answer::Fine("no package is installed by both Debian and pip".to_owned());
    }
    Hit::note("packages are installed by Debian and by pip").seen_all(both).into()
}

fn pip_env(case: &Case<'_>) -> Answer {
    let moves = |name: &str| {
        let index =
            ["INDEX_URL", "EXTRA_INDEX_URL", "FIND_LINKS", "NO_INDEX", "CONSTRAINT", "REQUIREMENT", "TARGET", "PREFIX"];
        let index = index.iter().chain(&["USER", "DEFAULT_INDEX", "INDEX", "OVERRIDE", "PYTHON"]);
        name.strip_prefix("PIP_")
            .or_else(|| name.strip_prefix("UV_"))
            .is_some_and(|rest| index.clone().any(|one| *one == rest))
    };
    let set: Vec<String> = case.vitals.environment.keys().filter(|name| moves(name)).cloned().collect();
    let missing = ["PIP_CONSTRAINT", "UV_CONSTRAINT"].into_iter().filter(|name| case.vitals.unread.contains_key(*name));
    let missing: Vec<String> = missing.map(|name| format!("{name} names a missing file")).collect();
    if !missing.is_empty() {
        return Hit::warning("pip or uv will fail").seen_all(missing).into();
    }
    if set.is_empty() {
        return Answer::Fine("no setting changes the index of pip or uv".to_owned());
    }
    Hit::note("settings of pip or uv select another index").seen_all(set).into()
}

fn user_actions(case: &Case<'_>) -> Answer {
    let logs = ["/var/log/apt/history.log", "/var/log/pip.log"];
    if case.machine.host.kind != "colab" {
        return Answer::Unseen("only Colab starts each machine with empty install logs".to_owned());
    }
    let commands = logs.iter().filter_map(|path| case.vitals.text(path)).flat_map(str::lines);
    let commands = commands.filter_map(|line| line.strip_prefix("Commandline: "));
    let commands: Vec<String> = commands.map(str::to_owned).collect();
    if commands.is_empty() {
        return Answer::Fine("no packages were installed by hand".to_owned());
    }
    Hit::note(format!("{} by hand", counted(commands.len(), "install"))).seen_all(commands).into()
}

fn env_not_read(case: &Case<'_>) -> Answer {
    let Some(facts) = case.facts else { return Answer::Unseen(NO_FACTS.to_owned()) };
    let started = case.vitals.text("kernel/variables").map(|text| text.lines().collect::<Vec<_>>());
    let Some(started) = started else {
        return Answer::Unseen("the environment of the kernel's process can't be read".to_owned());
    };
    let late = facts.environment.iter().filter(|(name, value)| value.is_some() && !started.contains(&name.as_str()));
    let read = late.filter_map(|(name, _)| match case.matrix.read_of(name)? {
        Read::Load(module) if facts.modules.contains_key(module.as_str()) => {
            Some(format!("{name} is read when {module} is imported, and it is already imported"))
        }
        Read::Start => Some(format!("{name} is read when the process starts")),
        _ => None,
    });
    let read: Vec<String> = read.collect();
    if read.is_empty() {
        return Answer::Fine("all variables take effect".to_owned());
    }
    // The cell sets variables before the import; what is in memory since may have read them.
    Hit::note("variables were set after the start of the kernel").seen_all(read).into()
}
