//! Credentials: when they end, who can read them, where they lie. Never what they are.

use crate::core::diag::{Code, counted};
use crate::health::doctor::importing::HERE;
use crate::health::doctor::observe::CLEAN;
use crate::health::doctor::variables_seen::CREDENTIAL_FILES;
use crate::health::doctor::{Answer, Case, Credential, Hit, Judge, float};

pub(super) const CHECKS: &[(Code, Judge)] = &[
    (Code::TokenExpires, token_expires),
    (Code::TokenMissing, token_missing),
    (Code::SecretReadable, secret_readable),
    (Code::SecretInWorkdir, secret_in_workdir),
    (Code::SecretInEnvironmentFile, secret_in_environment_file),
    (Code::AdcUserLongRun, adc_user_long_run),
];

const NONE: &str = "no credential was found in the usual places";

/// What is planned where nobody says it, in seconds: as long as a VM of Colab lives.
const USUAL: f64 = 12.0 * 3600.0;

fn title(one: &Credential) -> String {
    format!("{} ({})", one.service, one.place)
}

fn token_expires(case: &Case<'_>) -> Answer {
    let all: Vec<&Credential> = case.vitals.credentials.iter().filter(|one| one.expires.is_some()).collect();
    if all.is_empty() {
        return Answer::Unseen("no credential states when it expires".to_owned());
    }
    let long = case.plans.long.unwrap_or(USUAL);
    let mut hits = Vec::new();
    for one in &all {
        let left = float(one.expires.unwrap_or_default()) - float(case.vitals.now);
        if one.renewed {
            continue;
        }
        if left < 0.0 {
            hits.push(Hit::error(format!("{} ended {} ago", title(one), hours(-left))));
        } else if left <= long {
            hits.push(Hit::warning(format!(
                "{} expires in {}, and {} are planned",
                title(one),
                hours(left),
                hours(long)
            )));
        }
    }
    if hits.is_empty() {
        Answer::Fine(format!("{} checked: none expires before the work ends", counted(all.len(), "credential")))
    } else {
        Answer::Found(hits)
    }
}

fn hours(seconds: f64) -> String {
    format!("{:.1} hours", seconds / 3600.0)
}

fn token_missing(case: &Case<'_>) -> Answer {
    let needs = &case.plans.needs;
    let lost = CREDENTIAL_FILES.iter().filter_map(|name| Some((name, case.vitals.unread.get(*name)?)));
    let lost: Vec<String> = lost.map(|(name, why)| format!("{name}: {why}")).collect();
    if !lost.is_empty() {
        return Hit::warning("credentials of a service are missing").seen_all(lost).into();
    }
    if needs.is_empty() {
        return Answer::Unseen("the profile lists no services: `[doctor] needs`".to_owned());
    }
    let (there, missing): (Vec<&String>, Vec<&String>) =
        needs.iter().partition(|service| case.vitals.credentials.iter().any(|one| one.service == **service));
    let list = |all: &[&String]| all.iter().map(|one| one.as_str()).collect::<Vec<_>>().join(", ");
    if missing.is_empty() {
        return Answer::Fine(format!("credentials found: {}", list(&there)));
    }
    Hit::warning(format!("no credentials of {}", list(&missing))).into()
}

fn secret_readable(case: &Case<'_>) -> Answer {
    let files: Vec<&Credential> = case.vitals.credentials.iter().filter(|one| one.mode.is_some()).collect();
    if files.is_empty() {
        return Answer::Unseen(NONE.to_owned());
    }
    let open = files.iter().filter(|one| one.mode.is_some_and(|mode| mode & 0o077 != 0));
    let open: Vec<String> =
        open.map(|one| format!("{}, mode {:o}", one.place, one.mode.unwrap_or_default() & 0o777)).collect();
    if open.is_empty() {
        return Answer::Fine(format!("{}, readable by the owner only", counted(files.len(), "file")));
    }
    Hit::warning("other users can read credentials").seen_all(open).into()
}

fn secret_in_workdir(case: &Case<'_>) -> Answer {
    let inside: Vec<&Credential> = case.vitals.credentials.iter().filter(|one| one.in_work).collect();
    if inside.is_empty() && !case.vitals.folders.contains_key(HERE) {
        return Answer::Unseen("the folder of the notebook can't be read".to_owned());
    }
    if inside.is_empty() {
        return Answer::Fine("no credentials in the working folder".to_owned());
    }
    let shown = inside.iter().map(|one| title(one));
    let in_git = inside.iter().any(|one| one.in_git);
    let hit = if in_git {
        Hit::error("a credential file is in a git work tree and is not ignored")
    } else {
        Hit::warning("credentials are in a folder that may be committed or copied")
    };
    hit.seen_all(shown).into()
}

fn secret_in_environment_file(case: &Case<'_>) -> Answer {
    let Some(text) = case.vitals.text("environment-file") else {
        return Answer::Unseen("colab-boot set no variables in this environment".to_owned());
    };
    if text == CLEAN {
        return Answer::Fine("no credentials among the variables".to_owned());
    }
    Hit::error("the variables of the profile contain a credential").into()
}

fn adc_user_long_run(case: &Case<'_>) -> Answer {
    let user = case.vitals.credentials.iter().find(|one| one.kind.as_deref() == Some("authorized_user"));
    let Some(user) = user else { return Answer::Unseen("no user credentials for Google Cloud".to_owned()) };
    match case.plans.long {
        Some(long) if long >= case.row.limit("long") => {
            Hit::note(format!("{} are user credentials", title(user))).into()
        }
        _ => Answer::Fine("valid for this session; `--for 8h` checks for longer".to_owned()),
    }
}
