//! The commands of a notebook, solved one after the other, as pip runs them: each on top of what those before it have
//! installed.

use crate::boot::audit::{Listed, RequiredLine};
use crate::boot::goal::{Request, Together};
use crate::boot::machine::{Installed, Recorded};
use crate::boot::seen::Seen;
use crate::boot::session::Session;
use crate::core::diag::{Failure, Finding};
use crate::core::model::{PackageName, Requirement};

impl Session<'_> {
    /// Solves what `listed`, read from a file called `name`, asks for on the target that was seen.
    pub fn solve_in_order(
        &self,
        (name, listed): (&str, &Listed),
        seen: &Seen,
        request: &Request,
    ) -> Result<Together, Failure> {
        let solve = |lines: &[&RequiredLine], constraints: &[Requirement], is_only: bool, seen: &Seen| {
            self.solve_lines((lines, constraints), (name, listed), (seen, is_only), request)
        };
        if listed.commands.is_empty() {
            let lines: Vec<&RequiredLine> = listed.asked.iter().collect();
            return solve(&lines, &listed.constraints, true, seen);
        }
        let mut changed = seen.clone();
        let mut all = Together { in_order: true, ..Together::default() };
        let is_only = listed.commands.len() == 1;
        let (mut is_whole, mut succeeded) = (true, true);
        for (number, command) in listed.commands.iter().enumerate() {
            if command.after.is_some_and(|wanted| wanted != succeeded) {
                continue;
            }
            changed.remove(&command.removes);
            all.remove(&command.removes, seen);
            let lines: Vec<&RequiredLine> = listed.asked.iter().filter(|line| line.command == number).collect();
            succeeded = !command.is_refused;
            if lines.is_empty() {
                continue;
            }
            let mut one = solve(&lines, &command.constraints, is_only, &changed)?;
            is_whole &= one.was_solved();
            succeeded &= one.hindered.is_empty();
            if !succeeded {
                // Pip installs all of it, or nothing.
                (one.picks, one.built) = (Some(Vec::new()), Vec::new());
                one.requires.clear();
            }
            changed.install(&one);
            all.follow(one, seen);
        }
        // Of the whole nothing can be said where a part was not solved.
        all.picks = all.picks.filter(|_| is_whole);
        Ok(all)
    }
}

impl Seen {
    /// Takes away what a command removes.
    fn remove(&mut self, names: &[PackageName]) {
        for name in names {
            self.machine.installed.remove(name);
        }
    }

    /// Puts there what a command would install.
    fn install(&mut self, solved: &Together) {
        for pick in solved.picks.iter().flatten().filter(|pick| !pick.present) {
            let lines =
                |requires: &Vec<Requirement>| Recorded::new(requires.iter().map(Requirement::written).collect());
            let one = Installed {
                version: pick.version.clone(),
                requires: solved.requires.get(&pick.name).map(lines),
                direct: false,
                location: None,
                installer: "pip".to_owned(),
            };
            self.machine.installed.insert(pick.name.clone(), one);
        }
    }
}

impl Together {
    /// Takes away what a command removes; `seen` is the machine before the first one.
    fn remove(&mut self, names: &[PackageName], seen: &Seen) {
        self.picks.iter_mut().for_each(|picks| picks.retain(|pick| !names.contains(&pick.name)));
        self.requires.retain(|name, _| !names.contains(name));
        let were = names.iter().filter(|name| seen.machine.installed.contains_key(*name));
        self.removed.extend(were.cloned());
    }

    /// Adds what the next command does; `seen` is the machine before the first one.
    fn follow(&mut self, next: Self, seen: &Seen) {
        let is_known = |finding: &Finding, known: &[Finding]| {
            known.iter().any(|one| one.code == finding.code && one.message == finding.message)
        };
        self.for_want_of_wheels = match (self.hindered.is_empty(), next.hindered.is_empty()) {
            (_, true) => self.for_want_of_wheels,
            (true, false) => next.for_want_of_wheels,
            (false, false) => self.for_want_of_wheels && next.for_want_of_wheels,
        };
        for finding in next.findings {
            if !is_known(&finding, &self.findings) {
                self.findings.push(finding);
            }
        }
        self.from_source = next.from_source;
        self.for_other_python = next.for_other_python;
        let picks = self.picks.get_or_insert_default();
        for mut pick in next.picks.into_iter().flatten() {
            self.removed.remove(&pick.name);
            match picks.iter_mut().find(|known| known.name == pick.name) {
                Some(known) if known.version == pick.version => {}
                known => {
                    let before = seen.machine.installed.get(&pick.name);
                    pick.present = before.is_some_and(|before| before.version == pick.version);
                    match known {
                        Some(known) => *known = pick,
                        None => picks.push(pick),
                    }
                }
            }
        }
        self.requires.extend(next.requires);
        self.hindered.extend(next.hindered);
        self.built.extend(next.built.into_iter().filter(|one| !self.built.contains(one)).collect::<Vec<_>>());
    }
}
