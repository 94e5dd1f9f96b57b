//! The commands of a notebook, solved one after the other, as pip runs them: each on top of what those before it have
//! installed.

use crate::boot::audit::{Listed, RequiredLine};
use crate::boot::goal::{Request, Together};
use crate::boot::machine::{Installed, Recorded};
use crate::boot::seen::Seen;
use crate::boot::session::Session;
use crate::core::diag::{Failure, Finding};
use crate::core::model::Requirement;

impl Session<'_> {
    /// Solves what `listed`, read from a file called `name`, asks for on the target that was seen.
    pub fn solve_in_order(
        &self,
        (name, listed): (&str, &Listed),
        seen: &Seen,
        request: &Request,
    ) -> Result<Together, Failure> {
        let commands: Vec<&[RequiredLine]> = listed.asked.chunk_by(|a, b| a.command == b.command).collect();
        let [first, later @ ..] = commands.as_slice() else {
            return self.solve_lines(&[], (name, listed), (seen, true), request);
        };
        let solve = |lines: &[RequiredLine], seen: &Seen| {
            let lines: Vec<&RequiredLine> = lines.iter().collect();
            self.solve_lines(&lines, (name, listed), (seen, later.is_empty()), request)
        };
        let mut all = solve(first, seen)?;
        if later.is_empty() {
            return Ok(all);
        }
        let mut is_whole = all.was_solved();
        let mut changed = seen.clone();
        changed.install(&all);
        for lines in later {
            let one = solve(lines, &changed)?;
            is_whole &= one.was_solved();
            changed.install(&one);
            all.follow(one, seen);
        }
        // Of the whole nothing can be said where a part was not solved.
        all.picks = all.picks.filter(|_| is_whole);
        Ok(all)
    }
}

impl Seen {
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
        let picks = self.picks.get_or_insert_default();
        for mut pick in next.picks.into_iter().flatten() {
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
