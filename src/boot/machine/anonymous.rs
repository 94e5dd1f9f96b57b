//! A record that can be shown to anybody: no folder of a person, no name, no address. What plans and comparisons need
//! stays.

use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

use crate::boot::machine::raw::{Observed, Said};

/// Folders that every machine of a kind has.
const COMMON: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib64",
    "/etc",
    "/proc",
    "/sys",
    "/dev",
    "/var/lib",
    "/content",
    "/kaggle",
    "/opt/conda",
    "/databricks",
];

/// Where an interpreter's own folders begin, below a place that is somebody's.
const INNER: &[&str] = &["bin", "lib", "lib64", "include", "site-packages", "dist-packages"];

/// What writes INSTALLER; somebody's own tool may carry a name.
const KNOWN_INSTALLERS: &[&str] =
    &["", "pip", "uv", "conda", "poetry", "pdm", "hatch", "pixi", "rye", "debian", "colab-boot"];

/// The lines of os-release that are kept.
const SYSTEM: &[&str] = &["PRETTY_NAME=", "ID=", "VERSION_ID="];

/// The same place for the same folder, in the order in which they are met.
#[derive(Debug, Default)]
pub struct Neutral {
    prefix: PathBuf,
    met: Vec<PathBuf>,
}

impl Observed {
    /// The same machine with folders called `/python` and `/elsewhere/1`, and addresses left out.
    #[must_use]
    pub fn neutral(mut self) -> Self {
        let prefix = self.python.as_ref().map(|python| python.prefix.clone()).unwrap_or_default();
        let mut map = Neutral { prefix, met: Vec::new() };
        if let Some(python) = &mut self.python {
            let layout = &mut python.layout;
            for path in
                [&mut python.path, &mut layout.purelib, &mut layout.platlib, &mut layout.scripts, &mut layout.data]
                    .into_iter()
                    .chain([&mut python.prefix, &mut python.stdlib])
                    .chain(&mut python.search)
                    .chain(&mut python.before_site)
            {
                *path = map.path(path);
            }
        }
        for one in &mut self.distributions {
            one.folder = map.path(&one.folder);
            if !KNOWN_INSTALLERS.contains(&one.installer.as_str()) {
                "another".clone_into(&mut one.installer);
            }
            one.requires.iter_mut().for_each(|line| *line = without_address(line));
        }
        for folder in &mut self.library_path {
            *folder = map.path(Path::new(folder)).display().to_string();
        }
        let sources = [&mut self.driver, &mut self.gpus, &mut self.python_errors, &mut self.unreadable];
        for Said { source, error, .. } in sources.into_iter().flatten() {
            *source = map.text(source);
            *error = error.take().map(|error| map.text(&error));
        }
        let is_word =
            |text: &str| text.len() <= 64 && text.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
        for value in self.environment.values_mut().filter(|value| !is_word(value)) {
            "set".clone_into(value);
        }
        let kept = self.os_release.lines().filter(|line| SYSTEM.iter().any(|start| line.starts_with(start)));
        self.os_release = kept.map(|line| format!("{line}\n")).collect();
        self
    }
}

/// A text in which folders of a person are called by numbers.
pub fn neutral_text(text: &str) -> String {
    Neutral::default().text(text)
}

impl Neutral {
    fn path(&mut self, path: &Path) -> PathBuf {
        if path.as_os_str().is_empty() || !path.is_absolute() {
            return path.to_owned();
        }
        if let Ok(rest) = path.strip_prefix(&self.prefix)
            && self.prefix.components().count() > 1
            && !is_common(&self.prefix)
        {
            return Path::new("/python").join(rest);
        }
        if is_common(path) {
            return path.to_owned();
        }
        let parts: Vec<Component<'_>> = path.components().collect();
        let inner = |part: &Component<'_>| INNER.iter().any(|name| part.as_os_str() == *name);
        let at = parts.iter().position(inner).unwrap_or(parts.len());
        let outer: PathBuf = parts[..at].iter().collect();
        let number = self.met.iter().position(|one| *one == outer).unwrap_or_else(|| {
            self.met.push(outer);
            self.met.len() - 1
        });
        let inner: PathBuf = parts[at..].iter().collect();
        let place = PathBuf::from(format!("/elsewhere/{}", number + 1));
        if inner.as_os_str().is_empty() { place } else { place.join(inner) }
    }

    /// A text with every path in it called by a number.
    pub fn text(&mut self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest.find(|c: char| c.is_whitespace() || "'\"`,;:()=".contains(c)).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            if word.starts_with('/') {
                out.push_str(&self.path(Path::new(word)).display().to_string());
            } else {
                out.push_str(word);
            }
            let mark = after.chars().next().map_or(0, char::len_utf8);
            out.push_str(&after[..mark]);
            rest = &after[mark..];
        }
        without_people(&out)
    }
}

/// Addresses of people, and the names of their folders on Windows.
fn without_people(text: &str) -> String {
    static PEOPLE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?P<mail>[\w.+-]+@(?:[\w-]+\.)+[A-Za-z]{2,}\b)|(?P<home>[A-Za-z]:\\{1,2}Users\\{1,2})[^\\\s\x22']+",
        )
        .ok()
    });
    let Some(people) = PEOPLE.as_ref() else { return text.to_owned() };
    let without = |found: &regex::Captures<'_>| match found.name("home") {
        Some(home) => format!("{}someone", home.as_str()),
        None => "someone@…".to_owned(),
    };
    people.replace_all(text, without).into_owned()
}

/// Folders below which the names are somebody's, with the number of parts that are not: a Drive, a folder in memory.
const PERSONAL: [(&str, usize); 2] = [("/content/drive", 4), ("/dev/shm", 3)];

fn is_common(path: &Path) -> bool {
    let is_personal = |(folder, parts): &(&str, usize)| path.starts_with(folder) && path.components().count() > *parts;
    !PERSONAL.iter().any(is_personal) && COMMON.iter().any(|folder| path.starts_with(folder))
}

/// `name @ address; marker` as `name; marker`: what it asks for by version is not known.
fn without_address(line: &str) -> String {
    let Some((name, rest)) = line.split_once(" @ ").filter(|(_, rest)| rest.contains(":/")) else {
        return line.to_owned();
    };
    let marker = rest.split_once(" ;").map(|(_, marker)| format!(" ;{marker}")).unwrap_or_default();
    format!("{name}{marker}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boot::machine::{Layout, RawDistribution, RawPython};

    fn of_ada() -> Observed {
        let site = PathBuf::from("/home/ada/work/.venv/lib/python3.12/site-packages");
        let layout = Layout {
            purelib: site.clone(),
            platlib: site.clone(),
            scripts: "/home/ada/work/.venv/bin".into(),
            data: "/home/ada/work/.venv".into(),
            externally_managed: false,
        };
        let said = |source: &str, error: &str| Said {
            source: source.to_owned(),
            text: None,
            error: Some(error.to_owned()),
            timed_out: false,
        };
        let python = RawPython {
            path: "/home/ada/work/.venv/bin/python".into(),
            version: "3.12.1".into(),
            implementation: "cpython".into(),
            architecture: "x86_64".into(),
            libc: "glibc 2.36".into(),
            free_threaded: false,
            layout,
            prefix: "/home/ada/work/.venv".into(),
            stdlib: "/home/ada/.pyenv/versions/3.12.1/lib/python3.12".into(),
            search: vec!["/usr/lib/python3/dist-packages".into(), site.clone()],
            is_virtual: true,
            origin: crate::boot::machine::PythonOrigin::Path,
            before_site: vec!["/home/ada/.local/lib/python3.12/site-packages".into()],
        };
        let one = RawDistribution {
            name: "own".into(),
            version: "1".into(),
            folder: site.join("own-1.dist-info"),
            installer: "pip".into(),
            direct: false,
            requires: vec![
                "torch>=2".into(),
                "inner @ https://ada:pw@intern.example/inner.whl ; python_version > '3.8'".into(),
            ],
            requires_python: String::new(),
        };
        Observed {
            library_path: vec!["/usr/lib64-nvidia".into(), "/home/ada/cuda/lib64".into()],
            os_release: "PRETTY_NAME=\"Debian\"\nHOME_URL=\"https://debian.example\"\nID=debian\n".into(),
            environment: [
                ("A".to_owned(), "release-colab_2026".to_owned()),
                ("B".to_owned(), "http://host/ada".to_owned()),
            ]
            .into(),
            python: Some(python),
            python_errors: vec![said("/srv/ada/bin/python", "could not run `/srv/ada/bin/python -I`: gone")],
            distributions: vec![one],
            ..Observed::default()
        }
    }

    #[test]
    fn folders_names_and_addresses_go_and_the_system_s_own_stay() {
        let neutral = of_ada().neutral();
        let text = serde_json::to_string(&neutral).expect("JSON");
        for word in ["ada", "work", "intern.example", "http", "srv"] {
            assert!(!text.contains(word), "{word}: {text}");
        }
        let python = neutral.python.as_ref().expect("a Python");
        assert_eq!(python.layout.purelib, Path::new("/python/lib/python3.12/site-packages"));
        assert_eq!(python.search[0], Path::new("/usr/lib/python3/dist-packages"));
        assert_eq!(neutral.distributions[0].requires, ["torch>=2", "inner ; python_version > '3.8'"]);
        assert_eq!(neutral.python_errors[0].error.as_deref(), Some("could not run `/elsewhere/4/bin/python -I`: gone"));
        assert_eq!(neutral.library_path, ["/usr/lib64-nvidia", "/elsewhere/3/lib64"]);
        assert_eq!(neutral.clone().neutral(), neutral, "a second time changes nothing");
    }

    #[test]
    fn people_are_called_by_no_name() {
        for (text, said) in [
            ("mail ada.l@team.example.org now", "mail someone@… now"),
            ("torch@2.1.0 and git@host", "torch@2.1.0 and git@host"),
            (r"C:\Users\ada\x and C:\\Users\\ada\\x", r"C:\Users\someone\x and C:\\Users\\someone\\x"),
            ("/content/drive/MyDrive is mounted", "/content/drive/MyDrive is mounted"),
            ("/content/drive/MyDrive/Ada/set", "/elsewhere/1"),
            ("/content/set", "/content/set"),
            ("/dev/shm/ada/venv is in /dev/shm", "/elsewhere/1 is in /dev/shm"),
        ] {
            assert_eq!(neutral_text(text), said, "{text}");
        }
    }
}
