//! `tree`: which package of a lock needs which.

use crate::boot::lock::{LockedTarget, dependencies, lock_path};
use crate::boot::session::Session;
use crate::boot::verdict::Report;
use crate::cli::arguments::TreeOptions;
use crate::cli::output::render_tree;
use crate::core::diag::{Failure, nearest};

pub(super) fn run(options: &TreeOptions, session: &Session<'_>) -> Result<Report, Failure> {
    let place = lock_path(&options.profile, options.lock.as_ref());
    let (profile, lock) = session.with_fresh_lock(&options.profile, &place)?;
    let is_meant = |target: &&LockedTarget| options.target.as_ref().is_none_or(|name| target.name == *name);
    let target = lock.targets.iter().find(is_meant).ok_or_else(|| {
        let names: Vec<&str> = lock.targets.iter().map(|target| target.name.as_str()).collect();
        Failure::input("the lock has no such target").help(format!("its targets: {}", names.join(", ")))
    })?;
    let graph = dependencies(target, options.invert.is_some());
    let roots = match &options.invert {
        None => target.packages.iter().filter(|package| package.is_asked_for()).map(|package| &package.name).collect(),
        Some(name) if target.package(name).is_some() => vec![name],
        Some(name) => {
            let failure = Failure::answer(format!("`{name}` is not in the lock"));
            let names = target.packages.iter().map(|package| package.name.as_ref());
            return Err(match nearest(names, name.as_ref()) {
                Some(meant) => failure.help(format!("did you mean `{meant}`?")),
                None => failure,
            });
        }
    };
    let title = format!("{} on {}", profile.title(), target.name);
    let text = render_tree(&title, target, &roots, &graph);
    Ok(Report::new(&graph, text))
}
