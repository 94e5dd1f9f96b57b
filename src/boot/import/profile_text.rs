//! The profile that asks for what other files ask for.

use std::collections::BTreeMap;
use std::fmt::{Display, Write};

use pep440_rs::VersionSpecifier;

use crate::boot::audit::{Listed, ListedIndex, RequiredLine};
use crate::boot::import::asked_indexes::{IndexTables, KnownIndexes, is_folder};
use crate::boot::import::asked_packages::{AskedPackage, Wishes, ask};
use crate::boot::import::conda::{CondaLine, of_conda};
use crate::boot::import::shareable_address::shareable;
use crate::boot::import::unread_settings::instead_of;
use crate::boot::profile::{AskedLine, variable_fault};
use crate::core::diag::{Code, Failure, Finding, counted, without_secrets};
use crate::core::matrix::Matrix;
use crate::core::model::day::moment_in;
use crate::core::model::version::is_cpu_build;
use crate::core::model::{CudaVersion, PackageName, PythonFacts, Requirement};
use crate::core::secrets::scan;

/// Who gives the password of an index, and of another address: a profile is shared.
const OF_INDEX: &str = "a profile is shared: `COLAB_BOOT_INDEX_NAME_USERNAME` and `COLAB_BOOT_INDEX_NAME_PASSWORD`, with the \
                        name of the index, or `~/.netrc` give it";
const OF_PLACE: &str = "a profile is shared: `~/.netrc`, or for a repository git's credential helper, gives it";

/// A profile, and what of the files is not in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    pub text: String,
    /// How many packages it names.
    pub packages: usize,
    /// Each line that could not be taken over, with the reason.
    pub left_out: Vec<String>,
}

impl Imported {
    /// A warning with each line that is not in the profile.
    pub fn not_taken_over(&self) -> Option<Finding> {
        let message =
            format!("{} not taken over; the profile lists them as comments", counted(self.left_out.len(), "line"));
        let finding = Finding::warning(Code::ImportIncomplete, message);
        (!self.left_out.is_empty()).then(|| self.left_out.iter().cloned().fold(finding, Finding::with_note))
    }
}

/// The first tables of a profile.
pub struct ProfileHead<'a> {
    pub name: &'a str,
    /// The notebook image that it is for.
    pub runtime: Option<&'a str>,
}

/// Reads a line of a file that names a folder, a file or a repository; the error says why it can't.
pub(super) type PlaceReader<'a> = &'a dyn Fn(&str, &str) -> Result<AskedLine, String>;

/// The path of a folder that a file names, for the profile.
pub(super) type FolderReader<'a> = &'a dyn Fn(&str, &str) -> Result<String, Failure>;

/// What files are read with.
pub(super) struct World<'a> {
    pub python: &'a PythonFacts,
    pub matrix: &'a Matrix,
    pub indexes: &'a dyn KnownIndexes,
}

/// The profile that asks for what is `listed` in files, each with its name.
pub(super) fn imported(
    head: &ProfileHead<'_>,
    listed: &[(String, Listed)],
    world: &World<'_>,
    (placed, folder): (PlaceReader<'_>, FolderReader<'_>),
) -> Imported {
    let mut all = Collected::default();
    for (file, listed) in listed {
        all.take_asked(file, listed, world.python);
        all.take_others(file, listed, placed);
        all.take_settings(file, listed);
    }
    let asked = all.wishes.iter().filter(|(_, wish)| wish.place.is_empty());
    let asked: Vec<PackageName> = asked.map(|(name, _)| name.clone()).collect();
    for (file, listed) in listed {
        all.take_indexes(file, listed, (&asked, world.indexes), folder);
    }
    if let Some((file, _)) = listed.iter().find(|(_, listed)| listed.forbids_indexes)
        && !all.indexes.forbid_others()
    {
        all.leave(file, "--no-index", "no file names a folder of wheels: write its `path` in the `[[index]]`");
    }
    written(head, all, world.matrix)
}

/// What files ask for.
#[derive(Default)]
pub(super) struct Collected {
    pub(super) wishes: Wishes,
    constraints: Wishes,
    overrides: Wishes,
    variables: BTreeMap<String, String>,
    indexes: IndexTables,
    /// A file asks for versions before their release (`--pre`).
    prereleases: bool,
    /// Files that were uploaded later do not count.
    as_of: Option<String>,
    left_out: Vec<String>,
}

impl Collected {
    pub(super) fn leave(&mut self, file: &str, line: impl Display, why: &str) {
        self.left_out.push(without_secrets(&format!("{file}: {line}: {why}")));
    }

    /// `address` as a profile has it: the password of `what` is left out, and `why` says who else may give it.
    fn address(&mut self, file: &str, address: &str, (what, why): (&str, &str)) -> String {
        let (bare, had) = shareable(address);
        if had {
            self.leave(file, format!("the password in the address of {what}"), why);
        }
        bare
    }

    /// What is asked of an index, or of conda.
    fn take_asked(&mut self, file: &str, listed: &Listed, python: &PythonFacts) {
        for line in &listed.asked {
            self.prereleases |= line.manner.pre;
            let public = line.public().requirement;
            if public.specifiers != line.requirement.specifiers {
                let of_cuda = |one: &VersionSpecifier| {
                    CudaVersion::of_label(one.version()).is_some() || is_cpu_build(one.version())
                };
                let why = if line.requirement.specifiers.iter().any(of_cuda) {
                    "colab-boot chooses the build for the CUDA of the target"
                } else {
                    "an index has no builds with labels of one's own: give its wheel by `path` or `url`"
                };
                self.leave(file, format!("the label of `{}`", line.requirement.written()), why);
            }
            // Of the commands of a notebook, the last has the last word.
            if !listed.commands.is_empty() && !public.specifiers.is_empty() {
                self.wishes.entry(public.name.clone()).or_default().specifiers.clear();
            }
            ask(&mut self.wishes, &public, line.marker.as_deref());
        }
        if listed.named.iter().any(|named| !named.hashes.is_empty() || !named.files.is_empty()) {
            self.leave(file, "the digests", "the lock pins the files that it chooses with digests of its own");
        }
        for named in listed.named.iter().filter(|_| listed.asked.is_empty()) {
            let wish = self.wishes.entry(named.name.clone()).or_default();
            wish.specifiers = vec![format!("=={}", named.version.clone().without_local())];
        }
        let alone = listed.asked.iter().filter(|line| line.manner.alone).map(|line| line.requirement.name.as_ref());
        let alone: Vec<&str> = alone.collect();
        if !alone.is_empty() {
            self.leave(file, format!("`--no-deps` of {}", alone.join(", ")), "what they require is installed, too");
        }
        self.take_conda(file, &listed.conda, python);
        for line in listed.inapplicable.iter().map(RequiredLine::public) {
            if line.requirement.url.is_none() && !self.wishes.contains_key(&line.requirement.name) {
                ask(&mut self.wishes, &line.requirement, line.marker.as_deref());
            } else {
                let text = format!("`{}; {}`", line.requirement.written(), line.marker.unwrap_or_default());
                self.leave(file, text, "its marker does not hold for this Python");
            }
        }
        let of_commands = listed.commands.iter().flat_map(|command| &command.constraints);
        let constraints: Vec<&Requirement> = listed.constraints.iter().chain(of_commands).collect();
        let overrides: Vec<&Requirement> = listed.overrides.iter().collect();
        for (all, bounds) in [(&mut self.constraints, constraints), (&mut self.overrides, overrides)] {
            for one in bounds {
                // A bound has no extras.
                all.entry(one.name.clone()).or_default().add(std::iter::empty(), &one.specifiers);
            }
        }
    }

    /// What is asked of conda.
    fn take_conda(&mut self, file: &str, lines: &[String], python: &PythonFacts) {
        let mut unknown = Vec::new();
        for line in lines {
            match of_conda(line, python) {
                CondaLine::Asked(name, specifiers) => {
                    self.wishes.entry(name).or_default().add(std::iter::empty(), &specifiers);
                }
                CondaLine::Met => {}
                CondaLine::Unknown => unknown.push(line.as_str()),
                CondaLine::LeftOut(why) => self.leave(file, format!("{line} (conda)"), &why),
            }
        }
        if !unknown.is_empty() {
            let why = "an index may have other packages of these names; \
                       `colab-boot add NAME==VERSION` adds one that you know";
            self.leave(file, format!("{} (conda)", unknown.join(", ")), why);
        }
    }

    /// How the tool of the file chooses, and the variables that it sets.
    fn take_settings(&mut self, file: &str, listed: &Listed) {
        for (name, value) in &listed.variables {
            let line = format!("the variable {name}");
            let secret = || scan(&format!("{name}={value}")).map_or(true, |secrets| !secrets.is_empty());
            if let Some(why) = variable_fault(name, value) {
                self.leave(file, line, why);
            } else if secret() {
                self.leave(file, line, "its value looks like a secret, and a profile is shared");
            } else {
                self.variables.insert(name.clone(), value.clone());
            }
        }
        match listed.as_of.as_deref() {
            Some(moment) if is_moment(moment) => self.as_of = Some(moment.to_owned()),
            Some(other) => {
                let line = format!("[tool.uv] exclude-newer = \"{other}\"");
                self.leave(file, line, "`as-of` in `[policy]` takes a date");
            }
            None => {}
        }
        for line in &listed.unread {
            self.leave(file, line, instead_of(line));
        }
    }

    /// The indexes that are named, some of which have packages of `asked`.
    fn take_indexes(
        &mut self,
        file: &str,
        listed: &Listed,
        (asked, indexes): (&[PackageName], &dyn KnownIndexes),
        folder: FolderReader<'_>,
    ) {
        for index in &listed.indexes {
            let shown = format!("the index `{}`", index.url);
            let url = if is_folder(&index.url) || index.url.starts_with("file:") {
                match folder(file, &index.url) {
                    Ok(path) => path,
                    Err(failure) => {
                        self.leave(file, shown, &failure.to_string());
                        continue;
                    }
                }
            } else {
                self.address(file, &index.url, (index.name.as_deref().unwrap_or("the index"), OF_INDEX))
            };
            if let Some(why) = self.indexes.add(&ListedIndex { url, ..index.clone() }, asked, indexes) {
                self.leave(file, shown, &why);
            }
        }
    }

    /// What comes from elsewhere, and what can't be taken over.
    fn take_others(&mut self, file: &str, listed: &Listed, placed: PlaceReader<'_>) {
        for line in listed.elsewhere.iter().chain(&listed.wheel_lines) {
            match placed(file, line) {
                Ok(AskedLine { name, mut place, extras, marker, .. }) => {
                    for (_, value) in place.iter_mut().filter(|(key, _)| ["git", "url"].contains(key)) {
                        *value = self.address(file, value, (name.as_ref(), OF_PLACE));
                    }
                    self.wishes.insert(name, AskedPackage { extras, specifiers: Vec::new(), place, marker });
                }
                Err(why) => self.leave(file, line, &why),
            }
        }
        for line in &listed.refused {
            self.leave(file, line, "installers refuse it");
        }
        for line in &listed.open {
            let is_choice =
                ["[", "extra ", "group "].iter().any(|start| line.starts_with(start)) || line.ends_with(')');
            if is_choice {
                self.leave(file, format!("the packages of `{line}`"), "add what you use of them");
            } else {
                self.leave(file, line, "it is missing here, or known only when it runs");
            }
        }
        for line in &listed.others {
            let has = |programs: &[&str]| line.split_whitespace().any(|word| programs.contains(&word));
            let why = if has(&["apt", "apt-get"]) {
                "write its packages to `[apt]`"
            } else if has(&["conda", "mamba", "micromamba"]) {
                "packages of conda are installed from the index: `colab-boot add` takes their names"
            } else if has(&["pip", "pip3"]) {
                "`apply` replaces and removes what is in the way"
            } else {
                "`colab-boot add` takes names of packages, and `--from` the file that this one installs from"
            };
            self.leave(file, line, why);
        }
        if let Some(python) = &listed.other_python {
            self.leave(file, format!("`requires-python = {python}`"), "this Python does not satisfy it");
        }
    }
}

/// Whether both TOML and a profile take `text` for a day or a moment.
fn is_moment(text: &str) -> bool {
    moment_in(text).is_some() && text.parse::<toml::value::Datetime>().is_ok()
}

/// The profile that asks for `all`.
pub(super) fn written(head: &ProfileHead<'_>, all: Collected, matrix: &Matrix) -> Imported {
    let Collected { wishes, constraints, overrides, variables, indexes, prereleases, as_of, left_out } = all;
    let mut text = String::from("# A colab-boot profile; `colab-boot init -` prints one with every key explained.\n");
    for line in &left_out {
        let _ = writeln!(text, "# not taken over: {}", line.replace(char::is_control, " "));
    }
    let name = toml::Value::from(head.name);
    let _ = write!(text, "\n[profile]\nname = {name}\nversion = \"0.1.0\"\n\n[target]\ncuda = \"auto\"\n");
    if let Some(runtime) = head.runtime {
        let _ = writeln!(text, "runtimes = [{}]", toml::Value::from(runtime));
    }
    let (frameworks, packages): (Wishes, Wishes) = wishes.into_iter().partition(|(name, _)| matrix.is_framework(name));
    let count = frameworks.len() + packages.len();
    let tables =
        [("frameworks", frameworks), ("packages", packages), ("constraints", constraints), ("overrides", overrides)];
    for (table, all) in tables {
        if all.is_empty() {
            continue;
        }
        let _ = write!(text, "\n[{table}]\n");
        for (name, wish) in all {
            let _ = writeln!(text, "{name} = {}", wish.line(name.clone()).value());
        }
    }
    let quoted = |text: &str| toml::Value::from(text).to_string();
    if !variables.is_empty() {
        text.push_str("\n[env]\n");
    }
    for (name, value) in variables {
        let _ = writeln!(text, "{name} = {}", quoted(&value));
    }
    indexes.write(&mut text);
    if prereleases || as_of.is_some() {
        text.push_str("\n[policy]\n");
    }
    if prereleases {
        text.push_str("prereleases = \"allow\"\n");
    }
    if let Some(moment) = as_of {
        let _ = writeln!(text, "as-of = {moment}");
    }
    Imported { text, packages: count, left_out }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boot::import::asked_indexes::IndexKind;
    use crate::core::model::Libc;

    struct Unasked;

    impl KnownIndexes for Unasked {
        fn kind(&self, _: &str) -> IndexKind {
            IndexKind::Other
        }

        fn packages(&self, _: &str, _: &str, _: &[PackageName]) -> Result<Vec<PackageName>, String> {
            Err("nothing is asked".to_owned())
        }
    }

    #[test]
    fn what_a_file_asks_for_is_in_the_profile_and_the_rest_is_said() {
        let text = "--pre\ntorch==2.10.0+cu128\nuvicorn[standard]>=0.30,<1\nuvicorn\n-e ../lib\n\
                    --index-url https://x.example/\nnumpy\npywin32>=3; sys_platform == 'win32'\n";
        let python = PythonFacts {
            version: "3.12.3".parse().expect("a version"),
            architecture: "x86_64".to_owned(),
            libc: Libc::Glibc(2, 35),
            free_threaded: false,
        };
        let source = crate::core::diag::Source { name: "r.txt".into(), text: text.into() };
        let markers = python.marker_environment().expect("an environment");
        let listed = crate::boot::audit::read_requirements(&source, &markers, &|_| Err("none".to_owned()));
        let matrix = Matrix::bundled().expect("a matrix");
        let head = ProfileHead { name: "demo", runtime: None };
        let world = World { python: &python, matrix: &matrix, indexes: &Unasked };
        let (placed, folder): (PlaceReader<'_>, FolderReader<'_>) =
            (&|_, _| Err("no place".to_owned()), &|_, path| Ok(path.to_owned()));
        let made = imported(&head, &[("r.txt".to_owned(), listed)], &world, (placed, folder));
        assert!(made.text.contains("torch = \"==2.10.0\"\n"), "{}", made.text);
        assert!(
            made.text.contains("uvicorn = { version = \">=0.30,<1\", extras = [\"standard\"] }\n"),
            "{}",
            made.text
        );
        assert!(made.text.contains("numpy = \"*\"\n"), "{}", made.text);
        let elsewhere = "pywin32 = { version = \">=3\", marker = \"sys_platform == 'win32'\" }\n";
        assert!(made.text.contains(elsewhere), "{}", made.text);
        assert!(made.text.contains("url = \"https://x.example/\"\ndefault = true\n"), "{}", made.text);
        assert_eq!((made.packages, made.left_out.len()), (4, 2), "{:?}", made.left_out);
        let table: toml::Table = made.text.parse().expect("TOML");
        assert_eq!(table["profile"]["name"].as_str(), Some("demo"));
        assert_eq!(table["policy"]["prereleases"].as_str(), Some("allow"));
    }
}
