//! The index of a golden repository, `golden.toml`: every release with its files, its standing and what it was made
//! for. Generated, and the only file that is believed: what it does not name is not there.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde::Deserialize;

use crate::core::model::{PackageName, Sha256};
use crate::golden::calendar::Day;
use crate::golden::entry::{Evidence, Release, Standing};
use crate::golden::policy::Policy;

/// The format that this program writes, and the newest that it reads.
const FORMAT: u64 = 1;
/// The most that is read of an index, in bytes, and of its lists.
pub const LARGEST: u64 = 1 << 20;
const RELEASES: usize = 1000;
/// Numbers that JSON's readers keep exactly.
const HIGHEST: u64 = 1 << 53;

/// An index.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Catalogue {
    pub version: u64,
    /// Of the repository.
    pub name: PackageName,
    /// One more with every change.
    pub seq: u64,
    pub issued: Day,
    /// After that day a reader can't know what was withdrawn.
    pub fresh_until: Day,
    /// The colab-boot that can use it.
    pub tool: String,
    #[serde(default)]
    pub signers: Option<SignersRow>,
    #[serde(default)]
    pub policy: Policy,
    #[serde(default, rename = "release")]
    pub releases: Vec<Release>,
}

/// Who signs from now on.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SignersRow {
    /// As many have to sign.
    pub threshold: usize,
    /// Of the file `allowed_signers`.
    pub sha256: Sha256,
    /// The number of the last change of the signers, 0 where there was none.
    #[serde(default)]
    pub step: u64,
}

impl Catalogue {
    /// Reads the text of an index, without its signatures.
    pub fn parse(text: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Head {
            version: Option<u64>,
            tool: Option<String>,
        }
        if text.len() as u64 > LARGEST {
            return Err(format!("it is larger than {} MiB", LARGEST >> 20));
        }
        let head: Head = toml::from_str(text).map_err(|error| error.message().to_owned())?;
        let version = head.version.ok_or("it has no `version`: it is not the index of a golden repository")?;
        let tool = head.tool.unwrap_or_else(|| "a newer one".to_owned());
        if version != FORMAT {
            return Err(format!("it has format {version}, but this colab-boot reads {FORMAT}; use colab-boot {tool}"));
        }
        let mut catalogue: Self = toml::from_str(text).map_err(|error| error.message().to_owned())?;
        catalogue.releases.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
        catalogue.fault().map_or(Ok(catalogue), Err)
    }

    fn fault(&self) -> Option<String> {
        let own = semver::Version::parse(env!("CARGO_PKG_VERSION")).ok();
        let wanted = semver::VersionReq::parse(&self.tool).ok();
        if wanted.is_none_or(|wanted| !own.is_some_and(|own| wanted.matches(&own))) {
            return Some(format!("it needs colab-boot {}, this is {}", self.tool, env!("CARGO_PKG_VERSION")));
        }
        if self.releases.len() > RELEASES || self.seq > HIGHEST {
            return Some(format!("it has more than {RELEASES} releases, or its `seq` is invalid"));
        }
        let mut seen = BTreeSet::new();
        for release in &self.releases {
            if !seen.insert((&release.name, &release.version)) {
                return Some(format!("it lists `{}` twice", release.title()));
            }
            if let Some(fault) = release.fault() {
                return Some(format!("`{}`: {fault}", release.title()));
            }
        }
        None
    }

    /// As the file has it, without signatures: sorted, each release in an order of its own, so that a change is a short
    /// diff.
    pub fn to_text(&self) -> Result<String, String> {
        let mut text =
            "# Made by `colab-boot golden`. Change it with its commands: the text above the signatures is signed.\n"
                .to_owned();
        let _ = writeln!(text, "version = {}\nname = \"{}\"\nseq = {}", self.version, self.name, self.seq);
        let _ =
            writeln!(text, "issued = {}\nfresh-until = {}\ntool = \"{}\"", self.issued, self.fresh_until, self.tool);
        if let Some(SignersRow { threshold, sha256, step }) = &self.signers {
            let _ = writeln!(text, "\n[signers]\nthreshold = {threshold}\nsha256 = \"{sha256}\"");
            if *step > 0 {
                let _ = writeln!(text, "step = {step}");
            }
        }
        let Policy { per_framework, review, deprecate, expire, fresh, check } = &self.policy;
        let _ = writeln!(
            text,
            "\n[policy]\nper-framework = {per_framework}\nreview = \"{review}\"\ndeprecate = \"{deprecate}\""
        );
        let _ = writeln!(text, "expire = \"{expire}\"\nfresh = \"{fresh}\"");
        if !check.is_empty() {
            text.push_str("\n[policy.check]\n");
        }
        for (rule, level) in check {
            let _ = writeln!(text, "{} = \"{}\"", rule.name(), level.name());
        }
        let mut releases: Vec<&Release> = self.releases.iter().collect();
        releases.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
        for release in releases {
            text.push_str("\n[[release]]\n");
            write_release(&mut text, release).map_err(|error| error.to_string())?;
        }
        Ok(text)
    }

    /// As many have to sign it.
    pub fn threshold(&self) -> usize {
        self.signers.as_ref().map_or(1, |row| row.threshold)
    }

    /// The release that `title` means: `pytorch@2026.11.0`, or `pytorch` for its newest one that is current on `day`.
    pub fn find(&self, title: &str, day: Day) -> Option<&Release> {
        let (name, version) = title.split_once('@').map_or((title, None), |(name, version)| (name, Some(version)));
        let of_name = self.releases.iter().filter(|release| release.name.as_ref() == name);
        match version {
            Some(version) => of_name.clone().find(|release| release.version.to_string() == version),
            None => of_name
                .filter(|release| release.standing(day) == Standing::Current)
                .max_by(|a, b| a.version.cmp(&b.version)),
        }
    }
}

fn write_release(text: &mut String, release: &Release) -> Result<(), toml::ser::Error> {
    let table = toml::Table::try_from(release)?;
    for (key, value) in table {
        let value = match (key.as_str(), value) {
            ("published", _) => release.published.to_toml(),
            ("deprecate-on", other) => release.deprecate_on.map_or(other, Day::to_toml),
            ("expires", other) => release.expires.map_or(other, Day::to_toml),
            ("verified", _) => toml::Value::Array(release.verified.iter().map(evidence).collect()),
            (_, other) => other,
        };
        match value {
            toml::Value::Array(rows) if key == "files" || key == "verified" && !rows.is_empty() => {
                let rows: String = rows.iter().fold(String::new(), |rows, row| rows + &format!("  {row},\n"));
                let _ = writeln!(text, "{key} = [\n{rows}]");
            }
            value => drop(writeln!(text, "{key} = {value}")),
        }
    }
    Ok(())
}

fn evidence(evidence: &Evidence) -> toml::Value {
    let text = |value: &str| toml::Value::String(value.to_owned());
    let rows = [
        ("gpu", text(&evidence.gpu)),
        ("runtime", text(&evidence.runtime)),
        ("on", evidence.on.to_toml()),
        ("file", text(&evidence.file)),
    ];
    let by = evidence.by.as_ref().map(|by| ("by", text(by)));
    toml::Value::Table(rows.into_iter().chain(by).map(|(key, value)| (key.to_owned(), value)).collect())
}

#[cfg(test)]
mod tests {
    use super::Catalogue;
    use crate::golden::calendar::Day;
    use crate::golden::entry::Standing;

    const TEXT: &str = r#"
version = 1
name = "team-x"
seq = 42
issued = 2026-11-22
fresh-until = 2026-12-22
tool = ">=0.1.0"
[signers]
threshold = 2
sha256 = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
[[release]]
name = "pytorch"
version = "2026.11.0"
status = "current"
published = 2026-11-22
deprecate-on = 2027-03-22
expires = 2027-05-21
frameworks = { torch = "2.11.0" }
python = ["3.12"]
cuda = "12.8"
driver-floor = "525.60.13"
runtimes = ["colab-2026.07-gpu"]
gpus = { "7.5" = "native" }
download = 1432117043
packages = 55
files = [{ name = "pytorch.lock", size = 6892, sha256 = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb" }, { name = "verified-7.5.json", size = 9, sha256 = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb" }]
verified = [{ gpu = "7.5", runtime = "colab-2026.07", on = 2026-11-21, file = "verified-7.5.json" }]
"#;

    fn day(text: &str) -> Day {
        Day(text.parse().expect("a day"))
    }

    #[test]
    fn what_is_written_is_what_was_read() {
        let catalogue = Catalogue::parse(TEXT).expect("an index");
        let text = catalogue.to_text().expect("a text");
        assert_eq!(Catalogue::parse(&text).as_ref(), Ok(&catalogue), "{text}");
        assert_eq!(Catalogue::parse(&text).and_then(|again| again.to_text()).as_ref(), Ok(&text));
        assert!(text.contains("\npublished = 2026-11-22\n") && text.contains("on = 2026-11-21"), "{text}");
    }

    #[test]
    fn a_day_decides_what_a_release_is() {
        let mut catalogue = Catalogue::parse(TEXT).expect("an index");
        let release = &mut catalogue.releases[0];
        for (on, standing) in [
            ("2027-03-21", Standing::Current),
            ("2027-03-22", Standing::Deprecated),
            ("2027-05-20", Standing::Deprecated),
            ("2027-05-21", Standing::Expired),
        ] {
            assert_eq!(release.standing(day(on)), standing, "{on}");
        }
        release.status = crate::golden::entry::Status::Yanked;
        assert_eq!(release.standing(day("2026-11-22")), Standing::Yanked);
        assert!(catalogue.find("pytorch", day("2026-11-22")).is_none());
        assert!(catalogue.find("pytorch@2026.11.0", day("2026-11-22")).is_some());
    }

    #[test]
    fn an_index_that_can_not_be_meant_is_refused() {
        for (from, to, why) in [
            ("version = 1\n", "version = 2\n", "format 2"),
            ("version = 1\n", "", "no `version`"),
            ("pytorch.lock", "../pytorch.lock", "not a file of a release"),
            ("pytorch.lock", "pytorch.lock\\u0000", "not a file of a release"),
            ("pytorch.lock", "other.lock", "not a file of a release"),
            ("\"pytorch.lock\"", "\"verified-7.5.json\"", "twice"),
            ("name = \"pytorch\"", "name = \"../x\"", ""),
            ("status = \"current\"", "status = \"yanked\"", "no reason"),
            ("seq = 42", "seq = 18446744073709551615", ""),
            ("seq = 42", "seq = 9223372036854775807", "`seq` is invalid"),
            ("seq = 42", "seq = 42\ncolour = 1", "colour"),
            (">=0.1.0", ">=99", "needs colab-boot >=99"),
            (">=0.1.0", ">=0..10", "needs colab-boot"),
            ("file = \"verified-7.5.json\"", "file = \"verified-8.0.json\"", "not among its files"),
        ] {
            let said = Catalogue::parse(&TEXT.replacen(from, to, 1)).expect_err(why);
            assert!(said.contains(why), "{why}: {said}");
        }
        let twice = format!("{TEXT}{}", &TEXT[TEXT.find("[[release]]").expect("a release")..]);
        assert!(Catalogue::parse(&twice).expect_err("twice").contains("twice"));
    }
}
