//! The variables of a profile: the line of the .pth file that sets them, and which of them can be set in a running
//! kernel.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::boot::notebook::{Facts, Loaded, Modules};
use crate::core::matrix::{Matrix, Read};
use crate::core::model::Sha256;

/// The variable by which a process knows that the file has spoken: the digest of what it has set.
const DIGEST: &str = "COLAB_BOOT_ENV";

/// The names that the file has set, now or earlier, for a later cell to ask about.
const NAMES: &str = "COLAB_BOOT_ENV_NAMES";

/// The line of the environment file, without its newline; `None` where the profile sets nothing. `earlier` are names
/// that it has set before.
///
/// The first Python of a process tree sets the variables and leaves their digest in `COLAB_BOOT_ENV`; its children see
/// the digest and leave alone what their caller gave them.
pub fn environment_line(variables: &BTreeMap<String, String>, earlier: &BTreeSet<String>) -> Option<String> {
    if variables.is_empty() {
        return None;
    }
    let all = with_marks(variables, earlier);
    let json = serde_json::to_string(&all).unwrap_or_default();
    let digest = &all[DIGEST];
    // Older Pythons read the file in the encoding of the locale.
    let ascii: String =
        json.chars().map(|c| if c.is_ascii() { c.to_string() } else { format!("\\u{:04x}", u32::from(c)) }).collect();
    Some(format!("import os; os.environ.get('{DIGEST}') == '{digest}' or os.environ.update({ascii})"))
}

/// `variables` with what tells child processes that they are set.
fn with_marks(variables: &BTreeMap<String, String>, earlier: &BTreeSet<String>) -> BTreeMap<String, String> {
    let json = serde_json::to_string(variables).unwrap_or_default();
    let mut all = variables.clone();
    all.insert(DIGEST.to_owned(), Sha256::of(json.as_bytes()).short());
    let names: BTreeSet<&String> = variables.keys().chain(earlier).collect();
    all.insert(NAMES.to_owned(), names.into_iter().cloned().collect::<Vec<_>>().join(","));
    all
}

/// What the environment file with this line sets, without its marks.
pub fn set_by(line: &str) -> BTreeMap<String, String> {
    let inside = line.split_once(".update(").and_then(|(_, rest)| rest.trim_end().strip_suffix(')'));
    let parsed: Option<BTreeMap<String, String>> = inside.and_then(|json| serde_json::from_str(json).ok());
    let mut variables = parsed.unwrap_or_default();
    variables.retain(|name, _| name != DIGEST && name != NAMES);
    variables
}

/// What becomes of a kernel's variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VariablesAfter {
    /// To be set in the running kernel, or taken out of it where there is no value.
    pub live: BTreeMap<String, Option<String>>,
    /// Why the kernel must restart for others.
    pub because: Vec<String>,
    /// Variables that only processes which start later will see.
    pub for_children: Vec<String>,
    /// Variables that the kernel has had as wanted, and has changed: they are set again, and what may have read the
    /// other value is loaded.
    pub changed: Vec<String>,
}

/// A variable that is not as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VariableChange {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

/// What differs between the variables `before` and `wanted`, by name.
pub(super) fn variable_changes(
    wanted: &BTreeMap<String, String>,
    before: &BTreeMap<String, String>,
) -> Vec<VariableChange> {
    let names: BTreeSet<&String> = wanted.keys().chain(before.keys()).collect();
    names
        .into_iter()
        .map(|name| VariableChange {
            name: name.clone(),
            from: before.get(name).cloned(),
            to: wanted.get(name).cloned(),
        })
        .filter(|change| change.from != change.to)
        .collect()
}

/// What the environment file has set.
#[derive(Clone, Copy)]
pub(super) struct Earlier<'a> {
    /// Now, before the plan.
    pub file: &'a BTreeMap<String, String>,
    /// At any time.
    pub ever: &'a BTreeMap<String, BTreeSet<String>>,
}

/// Judges what `wanted` means for a kernel that has `loaded`, where the environment file has set what is `earlier`.
pub(super) fn judge_environment(
    wanted: &BTreeMap<String, String>,
    earlier: Earlier<'_>,
    loaded: &Loaded,
    matrix: &Matrix,
) -> VariablesAfter {
    let mut judged = VariablesAfter::default();
    let facts = match &loaded.modules {
        Modules::Reported(facts) => Some(facts.as_ref()),
        _ => None,
    };
    // The kernel has started with the file, or was given what it says: whatever differs now, something in the kernel
    // has changed since, and would again after every restart.
    let digest = with_marks(wanted, &BTreeSet::new()).remove(DIGEST);
    let has_started_with_it = facts.and_then(|facts| facts.environment.get(DIGEST)).is_some_and(|mark| *mark == digest);
    for (name, value) in differing(wanted, earlier, facts) {
        let is_now = facts.and_then(|facts| facts.environment.get(name)).and_then(Option::as_ref);
        // A restart would bring it back: the server that starts the kernel has it.
        let comes_back = value.is_none() && is_now.is_some() && loaded.handed.get(name) == is_now;
        match (matrix.read_of(name), facts) {
            // Children of this kernel have it until it is taken out.
            (Some(Read::Start), Some(_)) if value.is_none() => drop(judged.live.insert(name.to_owned(), None)),
            (Some(Read::Start), None) if value.is_none() => {}
            (Some(Read::Start), _) => judged.for_children.push(name.to_owned()),
            (read, Some(facts)) if has_started_with_it || comes_back => {
                drop(judged.live.insert(name.to_owned(), value.cloned()));
                if !comes_back && too_late(name, read, facts).is_some() {
                    judged.changed.push(name.to_owned());
                }
            }
            (read, Some(facts)) => match too_late(name, read, facts) {
                None => drop(judged.live.insert(name.to_owned(), value.cloned())),
                Some(why) => judged.because.push(why),
            },
            // It is not set in the kernel; a variable that is read at every call does no harm until then.
            (Some(Read::Call), None) => {}
            (_, None) => judged.because.push(format!("the kernel's environment changes: {name}")),
        }
    }
    if !judged.live.is_empty() && judged.because.is_empty() {
        let names = earlier.ever.keys().cloned().collect();
        let marks = with_marks(wanted, &names).into_iter().filter(|(name, _)| name == DIGEST || name == NAMES);
        judged.live.extend(marks.map(|(name, value)| (name, Some(value))));
    }
    judged
}

/// The variables that are not as wanted: by the kernel's own values where it tells them, else by what the file had set.
fn differing<'a>(
    wanted: &'a BTreeMap<String, String>,
    Earlier { file: before, ever }: Earlier<'a>,
    facts: Option<&'a Facts>,
) -> Vec<(&'a str, Option<&'a String>)> {
    let is_set = |name: &String| match facts.and_then(|facts| facts.environment.get(name)) {
        Some(value) => value.as_ref(),
        None => before.get(name),
    };
    let changed = wanted
        .iter()
        .filter(|(name, value)| is_set(name) != Some(*value))
        .map(|(name, value)| (name.as_str(), Some(value)));
    // What the file had set and sets no more is taken out, unless the user has given it another value since.
    let left = before.iter().filter(|(name, value)| !wanted.contains_key(*name) && is_set(name) == Some(*value));
    // So is what an earlier file had set and something else has kept, such as a server that was started then.
    let is_kept = |(name, values): &(&String, &BTreeSet<String>)| {
        let value = facts.and_then(|facts| facts.environment.get(*name)).and_then(Option::as_ref);
        !wanted.contains_key(*name) && !before.contains_key(*name) && value.is_some_and(|value| values.contains(value))
    };
    let kept = ever.iter().filter(is_kept).map(|(name, _)| (name.as_str(), None));
    changed.chain(left.map(|(name, _)| (name.as_str(), None))).chain(kept).collect()
}

/// Why setting `name` in the kernel comes too late; `None` where it does not.
fn too_late(name: &str, read: Option<&Read>, facts: &Facts) -> Option<String> {
    let is_loaded = |module: &str| facts.modules.contains_key(module);
    match read {
        Some(Read::Call | Read::Start) => None,
        Some(Read::Load(module)) => {
            is_loaded(module).then(|| format!("`{name}` is read when {module} is imported, and it is already imported"))
        }
        Some(Read::First(module)) => {
            // CUDA itself says nothing; what uses it does.
            let users: Vec<&str> =
                if module == "cuda" { vec!["torch.cuda", "tensorflow", "jax", "cupy"] } else { vec![module] };
            let top = |user: &str| user.split('.').next().unwrap_or_default().to_owned();
            let may_be_used =
                |user: &&str| facts.initialised.get(*user).copied().unwrap_or_else(|| is_loaded(&top(user)));
            users.into_iter().find(may_be_used).map(|user| {
                format!("`{name}` is read when {user} first uses its device, and it may already have done so")
            })
        }
        None => Some(format!("`{name}` changes for the kernel; it is unknown when code reads it")),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::{Earlier, environment_line, judge_environment, set_by};
    use crate::boot::notebook::{Loaded, Modules, read_facts};
    use crate::core::matrix::Matrix;

    fn variables(all: &[(&str, &str)]) -> BTreeMap<String, String> {
        all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn the_file_says_what_it_sets() {
        let all = variables(&[("A", "1"), ("B", "it's \"quoted\"")]);
        let line = environment_line(&all, &BTreeSet::new()).expect("a line");
        assert!(line.contains("\"COLAB_BOOT_ENV_NAMES\":\"A,B\""), "{line}");
        assert_eq!(set_by(&line), all);
        assert_eq!(environment_line(&BTreeMap::new(), &BTreeSet::new()), None);
        assert!(set_by("import os").is_empty());
    }

    /// A variable of the profile, what the file had set before, the kernel's facts; what becomes of the variable.
    const CASES: &[(&str, &str, &str, Option<&str>, &str)] = &[
        ("read at every call", "TOKENIZERS_PARALLELISM=x", "", Some(r#"{"modules": {"tokenizers": {}}}"#), "live"),
        ("its reader is not loaded", "OMP_NUM_THREADS=2", "", Some(r#"{"modules": {"os": {}}}"#), "live"),
        ("its reader is loaded", "OMP_NUM_THREADS=2", "", Some(r#"{"modules": {"numpy": {}}}"#), "restart"),
        (
            "set already",
            "OMP_NUM_THREADS=2",
            "",
            Some(r#"{"modules": {"numpy": {}}, "environment": {"OMP_NUM_THREADS": "2"}}"#),
            "nothing",
        ),
        (
            "loaded, its device not in use",
            "XLA_PYTHON_CLIENT_PREALLOCATE=false",
            "",
            Some(r#"{"modules": {"jax": {}}, "initialised": {"jax": false}}"#),
            "live",
        ),
        (
            "its device is in use",
            "XLA_PYTHON_CLIENT_PREALLOCATE=false",
            "",
            Some(r#"{"modules": {"jax": {}}, "initialised": {"jax": true}}"#),
            "restart",
        ),
        ("it may be loaded or not", "CUDA_VISIBLE_DEVICES=0", "", Some(r#"{"modules": {"cupy": {}}}"#), "restart"),
        ("unknown to the table", "MY_OWN=1", "", Some(r#"{"modules": {"os": {}}}"#), "restart"),
        ("for child processes alone", "PYTHONHASHSEED=1", "", Some(r#"{"modules": {"os": {}}}"#), "children"),
        (
            "goes with the profile",
            "",
            "TOKENIZERS_PARALLELISM=x",
            Some(r#"{"modules": {"os": {}}, "environment": {"TOKENIZERS_PARALLELISM": "x"}}"#),
            "live",
        ),
        (
            "changed by the user since",
            "",
            "TOKENIZERS_PARALLELISM=x",
            Some(r#"{"modules": {"os": {}}, "environment": {"TOKENIZERS_PARALLELISM": "y"}}"#),
            "nothing",
        ),
        ("no kernel tells: read at every call", "TOKENIZERS_PARALLELISM=1", "", None, "nothing"),
        ("no kernel tells", "OMP_NUM_THREADS=2", "", None, "restart"),
        ("no kernel tells, and the file has it", "OMP_NUM_THREADS=2", "OMP_NUM_THREADS=2", None, "nothing"),
    ];

    #[test]
    fn what_a_kernel_changes_itself_is_no_reason_to_restart_it_again() {
        let matrix = Matrix::bundled().expect("the matrix");
        let wanted = variables(&[("FORCE_COLOR", "0")]);
        let line = environment_line(&wanted, &BTreeSet::new()).expect("a line");
        let digest = line.split('\'').nth(3).expect("a digest").to_owned();
        let facts = |mark: &str| {
            let text = format!(
                r#"{{"modules": {{"os": {{}}}}, "environment": {{"FORCE_COLOR": "1", "COLAB_BOOT_ENV": "{mark}"}}}}"#
            );
            Loaded { modules: Modules::Reported(Box::new(read_facts(&text).expect("facts"))), ..Loaded::default() }
        };
        let ever = BTreeMap::new();
        let earlier = Earlier { file: &wanted, ever: &ever };
        let fresh = judge_environment(&wanted, earlier, &facts(&digest), &matrix);
        assert!(fresh.because.is_empty() && fresh.live["FORCE_COLOR"].as_deref() == Some("0"), "{fresh:?}");
        assert_eq!(judge_environment(&wanted, earlier, &facts("another"), &matrix).because.len(), 1);
    }

    #[test]
    fn what_a_server_hands_down_is_taken_out_without_a_restart() {
        let matrix = Matrix::bundled().expect("the matrix");
        let ever = BTreeMap::from([("MY_FLAG".to_owned(), ["1", "2"].map(str::to_owned).into())]);
        let judged = |value: &str, handed: &[(&str, &str)]| {
            let text = format!(r#"{{"modules": {{"os": {{}}}}, "environment": {{"MY_FLAG": "{value}"}}}}"#);
            let modules = Modules::Reported(Box::new(read_facts(&text).expect("facts")));
            let loaded = Loaded { modules, handed: variables(handed), ..Loaded::default() };
            let (nothing, earlier) = (BTreeMap::new(), BTreeMap::new());
            judge_environment(&nothing, Earlier { file: &earlier, ever: &ever }, &loaded, &matrix)
        };
        let handed = judged("2", &[("MY_FLAG", "2")]);
        assert!(handed.because.is_empty() && handed.live["MY_FLAG"].is_none(), "{handed:?}");
        assert_eq!(judged("2", &[]).because.len(), 1, "a restart takes it out");
        assert!(judged("the user's own", &[]).live.is_empty());
    }

    #[test]
    fn a_variable_is_set_live_until_its_reader_has_read_it() {
        let matrix = Matrix::bundled().expect("the matrix");
        for (about, wanted, before, facts, becomes) in CASES {
            let modules =
                facts.map_or(Modules::Unknown, |text| Modules::Reported(Box::new(read_facts(text).expect(about))));
            let loaded = Loaded { modules, ..Loaded::default() };
            let one = |text: &str| text.split_once('=').map(|pair| variables(&[pair])).unwrap_or_default();
            let ever = BTreeMap::new();
            let judged = judge_environment(&one(wanted), Earlier { file: &one(before), ever: &ever }, &loaded, &matrix);
            let live = judged.live.keys().any(|name| !name.starts_with("COLAB_BOOT"));
            let seen = match (live, judged.because.is_empty(), judged.for_children.is_empty()) {
                (true, true, true) => "live",
                (false, false, true) => "restart",
                (false, true, false) => "children",
                (false, true, true) => "nothing",
                _ => "several",
            };
            assert_eq!(seen, *becomes, "{about}: {judged:?}");
        }
    }
}
