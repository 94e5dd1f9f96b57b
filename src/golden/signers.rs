//! Who may sign: a file `allowed_signers` as OpenSSH reads it (ssh-keygen(1), ALLOWED SIGNERS), and the check of
//! signatures against it.

use std::collections::BTreeSet;

use jiff::civil::{Date, DateTime, Time};
use ssh_key::public::KeyData;
use ssh_key::{HashAlg, PublicKey, SshSig};

/// What index files are signed for; a signature for anything else is none.
pub const INDEX: &str = "colab-boot-golden@v1";
/// What a statement that an index is still current is signed for.
pub const FRESH: &str = "colab-boot-fresh@v1";

/// What a record of a verification is signed for, by the person who ran it.
pub const EVIDENCE: &str = "colab-boot-evidence@v1";

/// The most lines that are read.
const MOST: usize = 256;

/// What a key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It signs the index.
    Signer,
    /// It only confirms that the index is the current one: a key for CI.
    Ci,
}

/// The line of `allowed_signers` for a public key, `ssh-ed25519 AAAA… NAME`, with the rights of its `role`. A line that
/// says itself what its owner may do stays as it is.
pub fn signer_line(key: &str, role: Role) -> String {
    if Signers::parse(key).is_ok_and(|signers| signers.all.len() == 1) {
        return format!("{key}\n");
    }
    let mut words = key.split_whitespace();
    let (kind, body) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let who = words.next().unwrap_or("unnamed");
    let rights = match role {
        Role::Signer => format!("{INDEX},{FRESH}"),
        Role::Ci => FRESH.to_owned(),
    };
    format!("{who} namespaces=\"{rights}\" {kind} {body}\n")
}

/// One line: who, for what and how long, with which key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signer {
    pub principal: String,
    /// Empty: for anything.
    namespaces: BTreeSet<String>,
    valid_after: Option<DateTime>,
    valid_before: Option<DateTime>,
    key: PublicKey,
}

/// All of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signers {
    pub all: Vec<Signer>,
}

/// What became of one signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is right, and by somebody who may.
    Good { principal: String, fingerprint: String },
    /// Made with a key that is in no line.
    Unknown { fingerprint: String },
    /// The line of the key allows it no more, not yet, or not for this.
    NotAllowed { principal: String, why: String },
    /// It is of another text, for something else, or can't be read.
    Wrong(String),
    /// Of a key that is not Ed25519.
    OtherKind(String),
}

impl Signer {
    /// `SHA256:…`, as `ssh-keygen -lf` prints it.
    pub fn fingerprint(&self) -> String {
        self.key.fingerprint(HashAlg::Sha256).to_string()
    }

    /// Name and fingerprint, for people.
    pub fn shown(&self) -> String {
        format!("{} {}", self.principal, self.fingerprint())
    }

    /// The same with what the key is for and how long it is valid, `now` being seconds since 1970.
    pub fn described(&self, now: u64) -> String {
        let may = |namespace: &str| self.namespaces.is_empty() || self.namespaces.contains(namespace);
        let role = match (may(INDEX), may(FRESH)) {
            (true, _) => "signs the index",
            (false, true) => "only confirms that the index is current",
            (false, false) => "has no rights here",
        };
        let day = |moment: DateTime| moment.date().to_string();
        let now = at(now);
        let validity = match (self.valid_after, self.valid_before) {
            (_, Some(before)) if now > before => format!("; expired on {}", day(before)),
            (Some(after), _) if now < after => format!("; valid from {}", day(after)),
            (_, Some(before)) => format!("; valid until {}", day(before)),
            _ => String::new(),
        };
        format!("{} ({role}{validity})", self.shown())
    }

    /// Reads a line; `None` for one that says nothing.
    fn parse(line: &str) -> Result<Option<Self>, String> {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return Ok(None);
        }
        let (principal, rest) = line.split_once([' ', '\t']).ok_or("a line has a name and no key")?;
        if principal.contains(['*', '?', '!', ',', '"']) {
            return Err(format!("`{principal}` is a pattern, but each line must name one signer"));
        }
        let (options, key) = if is_key_type(rest.trim_start()) { ("", rest.trim_start()) } else { cut_options(rest)? };
        let mut signer = Self {
            principal: principal.to_owned(),
            namespaces: BTreeSet::new(),
            valid_after: None,
            valid_before: None,
            key: key_of(key)?,
        };
        for option in split_options(options)? {
            signer.take(&option)?;
        }
        Ok(Some(signer))
    }

    fn take(&mut self, option: &str) -> Result<(), String> {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        let value = value.trim_matches('"');
        let moment = || moment(value).ok_or_else(|| format!("`{value}` is not a date of the form YYYYMMDD"));
        match name.to_ascii_lowercase().as_str() {
            "namespaces" => self.namespaces = value.split(',').map(str::to_owned).collect(),
            "valid-after" => self.valid_after = Some(moment()?),
            "valid-before" => self.valid_before = Some(moment()?),
            "cert-authority" => return Err("certificates are not supported; list the keys themselves".to_owned()),
            _ => return Err(format!("`{name}` is not an option of a signer; separate options with commas only")),
        }
        Ok(())
    }

    /// Why the key may not sign for `namespace` at `now`.
    fn refusal(&self, namespace: &str, now: DateTime) -> Option<String> {
        if !self.namespaces.is_empty() && !self.namespaces.contains(namespace) {
            let for_what: Vec<&str> = self.namespaces.iter().map(String::as_str).collect();
            return Some(format!("the key is only for {}", for_what.join(", ")));
        }
        if self.valid_after.is_some_and(|after| now < after) {
            return Some("the key is not valid yet".to_owned());
        }
        let before = self.valid_before.filter(|before| now > *before)?;
        Some(format!("the key was valid until {}", before.date()))
    }
}

impl Signers {
    /// Reads the file. The first line that makes no sense is an error, with its number.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.contains('\r') || text.lines().count() > MOST {
            return Err("it has carriage returns, or more than 256 lines".to_owned());
        }
        let mut all = Vec::new();
        for (at, line) in text.lines().enumerate() {
            let signer = Signer::parse(line).map_err(|error| format!("line {}: {error}", at + 1))?;
            all.extend(signer);
        }
        Ok(Self { all })
    }

    /// From public keys alone, `ssh-ed25519 AAAA… alice@team`: the comment says whose it is.
    pub fn of_keys(keys: &[String]) -> Result<Self, String> {
        let signer = |line: &String| {
            let key = key_of(line.trim())?;
            let principal = key.comment().split_whitespace().next().unwrap_or("unnamed").to_owned();
            let (namespaces, valid_after, valid_before) = (BTreeSet::new(), None, None);
            Ok(Signer { principal, namespaces, valid_after, valid_before, key })
        };
        Ok(Self { all: keys.iter().map(signer).collect::<Result<_, String>>()? })
    }

    /// What became of each of `blocks`, signatures of `text` for `namespace`, at `now`, seconds since 1970.
    pub fn check(&self, text: &str, blocks: &[String], namespace: &str, now: u64) -> Vec<Outcome> {
        let now = at(now);
        blocks.iter().map(|block| self.check_one(text, block, namespace, now)).collect()
    }

    fn check_one(&self, text: &str, block: &str, namespace: &str, now: DateTime) -> Outcome {
        let key = match key_that_signed(text, block, namespace) {
            Ok(key) => key,
            Err(outcome) => return outcome,
        };
        let fingerprint = key.fingerprint(HashAlg::Sha256).to_string();
        let own = self.all.iter().filter(|signer| *signer.key.key_data() == key);
        let mut refused = None;
        for signer in own {
            let principal = signer.principal.clone();
            match signer.refusal(namespace, now) {
                None => return Outcome::Good { principal, fingerprint },
                Some(why) => refused = Some(Outcome::NotAllowed { principal, why }),
            }
        }
        refused.unwrap_or(Outcome::Unknown { fingerprint })
    }

    /// Who has signed the record `text`: the name that the list has for the key, or its fingerprint; why the signature
    /// is none. Anybody may say what they have seen.
    pub fn witness(&self, text: &str, block: &str) -> Result<String, String> {
        match self.check_one(text, block, EVIDENCE, at(0)) {
            Outcome::Good { principal, .. } | Outcome::NotAllowed { principal, .. } => Ok(principal),
            Outcome::Unknown { fingerprint } => Ok(fingerprint),
            Outcome::Wrong(why) | Outcome::OtherKind(why) => Err(why),
        }
    }

    /// The keys that may sign an index, as [`of_keys`](Self::of_keys) reads them.
    pub fn index_keys(&self) -> Vec<String> {
        self.of_index()
            .filter_map(|one| {
                let key = one.key.to_openssh().ok()?;
                let mut words = key.split_whitespace();
                Some(format!("{} {} {}", words.next()?, words.next()?, one.principal))
            })
            .collect()
    }

    /// All of them as [`Signer::described`] has it.
    pub fn described(&self, now: u64) -> Vec<String> {
        self.all.iter().map(|signer| signer.described(now)).collect()
    }

    /// Who can sign an index at `now`, seconds since 1970; two with one key count once.
    pub fn able(&self, now: u64) -> Vec<&Signer> {
        let mut keys = BTreeSet::new();
        let able = self.all.iter().filter(|signer| signer.refusal(INDEX, at(now)).is_none());
        able.filter(|signer| keys.insert(signer.fingerprint())).collect()
    }

    /// The fingerprints of the keys that may sign an index.
    pub fn index_fingerprints(&self) -> BTreeSet<String> {
        self.of_index().map(Signer::fingerprint).collect()
    }

    pub fn of_index(&self) -> impl Iterator<Item = &Signer> {
        self.all.iter().filter(|one| one.namespaces.is_empty() || one.namespaces.contains(INDEX))
    }

    /// Fingerprints, which say whether two sets of keys are the same whatever else their lines say.
    pub fn fingerprints(&self) -> BTreeSet<String> {
        self.all.iter().map(Signer::fingerprint).collect()
    }
}

/// The key that has made `block`, a signature of `text` for `namespace`, of any owner; otherwise what is wrong with it.
fn key_that_signed(text: &str, block: &str, namespace: &str) -> Result<KeyData, Outcome> {
    let signature = SshSig::from_pem(block)
        .map_err(|error| Outcome::OtherKind(format!("it can't be read ({error}); only Ed25519 is supported")))?;
    if !matches!(signature.public_key(), KeyData::Ed25519(_)) {
        return Err(Outcome::OtherKind("only Ed25519 is supported".to_owned()));
    }
    let key = PublicKey::from(signature.public_key().clone());
    if let Err(error) = key.verify(namespace, text.as_bytes(), &signature) {
        return Err(Outcome::Wrong(match error {
            ssh_key::Error::Namespace => format!("it was made for `{}`", signature.namespace()),
            _ => format!("it signs different content ({})", key.fingerprint(HashAlg::Sha256)),
        }));
    }
    Ok(signature.public_key().clone())
}

/// The fingerprints of the keys that have signed `text` as an index is signed.
pub fn keys_that_signed(text: &str, blocks: &[String]) -> BTreeSet<String> {
    let keys = blocks.iter().filter_map(|block| key_that_signed(text, block, INDEX).ok());
    keys.map(|key| key.fingerprint(HashAlg::Sha256).to_string()).collect()
}

/// The principals of good signatures; two with one key count once.
pub fn vouching(outcomes: &[Outcome]) -> Vec<String> {
    let mut keys = BTreeSet::new();
    let mut names = Vec::new();
    for outcome in outcomes {
        if let Outcome::Good { principal, fingerprint } = outcome
            && keys.insert(fingerprint.clone())
        {
            names.push(principal.clone());
        }
    }
    names
}

fn is_key_type(text: &str) -> bool {
    ["ssh-", "ecdsa-", "sk-"].iter().any(|start| text.starts_with(start))
}

fn key_of(text: &str) -> Result<PublicKey, String> {
    let kind = text.split_whitespace().next().unwrap_or_default();
    if kind != "ssh-ed25519" {
        return Err(format!("key type `{kind}`; only `ssh-ed25519` is supported"));
    }
    let key = PublicKey::from_openssh(text).map_err(|error| format!("the key can't be read: {error}"))?;
    match key.key_data() {
        KeyData::Ed25519(_) => Ok(key),
        _ => Err("the key has a different type than its line states".to_owned()),
    }
}

/// The options before a key, which may have spaces in quotes, and the key.
fn cut_options(text: &str) -> Result<(&str, &str), String> {
    let mut quoted = false;
    for (at, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            ' ' | '\t' if !quoted => return Ok((&text[..at], text[at..].trim_start())),
            _ => {}
        }
    }
    Err("a line has options and no key".to_owned())
}

fn split_options(text: &str) -> Result<Vec<String>, String> {
    let (mut quoted, mut options) = (false, vec![String::new()]);
    for c in text.chars() {
        match c {
            ',' if !quoted => options.push(String::new()),
            _ => {
                quoted ^= c == '"';
                options.last_mut().ok_or("not an option")?.push(c);
            }
        }
    }
    options.retain(|option| !option.is_empty());
    if quoted { Err("a quotation mark is not closed".to_owned()) } else { Ok(options) }
}

/// `YYYYMMDD`, or with `HHMM` or `HHMMSS`, with or without `Z`: taken for UTC.
fn moment(text: &str) -> Option<DateTime> {
    let digits = text.strip_suffix('Z').unwrap_or(text);
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let part = |from: usize, to: usize| digits.get(from..to).and_then(|part| part.parse::<i8>().ok());
    let date = Date::new(digits.get(..4)?.parse().ok()?, part(4, 6)?, part(6, 8)?).ok()?;
    let time = match digits.len() {
        8 => Time::midnight(),
        12 => Time::new(part(8, 10)?, part(10, 12)?, 0, 0).ok()?,
        14 => Time::new(part(8, 10)?, part(10, 12)?, part(12, 14)?, 0).ok()?,
        _ => return None,
    };
    Some(date.to_datetime(time))
}

/// The moment of `seconds` since 1970, in UTC.
fn at(seconds: u64) -> DateTime {
    let moment = i64::try_from(seconds).ok().and_then(|seconds| jiff::Timestamp::from_second(seconds).ok());
    moment.unwrap_or(jiff::Timestamp::MAX).to_zoned(jiff::tz::TimeZone::UTC).datetime()
}

#[cfg(test)]
mod tests {
    use super::{Signers, moment};

    const KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILagOJFgwaMNhBWQINinKOXmqS4Gh5NgxgriXwdOoINJ";

    #[test]
    fn lines_are_read_as_openssh_reads_them() {
        let text = format!(
            "# who\n\nalice@team {KEY} alice\nbob@team namespaces=\"a@v1,b@v1\",valid-before=\"20271231\" {KEY}\ncarol@team valid-after=20260101Z,valid-before=202701011530 {KEY}\n"
        );
        let signers = Signers::parse(&text).expect("signers");
        let names: Vec<&str> = signers.all.iter().map(|one| one.principal.as_str()).collect();
        assert_eq!(names, ["alice@team", "bob@team", "carol@team"]);
        assert_eq!(signers.fingerprints().len(), 1);
        assert_eq!(moment("202701011530").map(|at| at.to_string()).as_deref(), Some("2027-01-01T15:30:00"));
        assert_eq!((moment("20270230"), moment("2027"), moment("tomorrow")), (None, None, None));
    }

    #[test]
    fn a_line_that_makes_no_sense_is_named() {
        for (line, why) in [
            ("alice@team", "no key"),
            (&format!("*@team {KEY}"), "pattern"),
            (&format!("alice@team cert-authority {KEY}"), "certificates"),
            (&format!("alice@team namespaces=\"a\" valid-before=\"20270101\" {KEY}"), "type"),
            (&format!("alice@team colour=red {KEY}"), "not an option"),
            (&format!("alice@team valid-before=soon {KEY}"), "YYYYMMDD"),
            (&format!("alice@team namespaces=\"a {KEY}"), "no key"),
            ("alice@team ecdsa-sha2-nistp256 AAAA", "only `ssh-ed25519`"),
            ("alice@team ssh-ed25519 AAAA", "can't be read"),
        ] {
            let said = Signers::parse(&format!("# first\n{line}\n")).expect_err(line);
            assert!(said.starts_with("line 2: ") && said.contains(why), "{line}: {said}");
        }
    }
}
