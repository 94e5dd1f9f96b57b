//! Each check on a machine on which it fires, and on one on which it is silent (`tests/doctor/checks.toml`).

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::boot::machine::{Layout, Machine, Observed, PythonOrigin, RawDistribution, RawPython, Said, judge};
use crate::boot::notebook::{Facts, read_facts};
use crate::boot::profile::Fitness;
use crate::core::matrix::{Matrix, checks};
use crate::health::doctor::{Examination, JUDGES, Outcome, Plans, State, Vitals, examine};

const FIXTURES: &str = include_str!("../../../tests/doctor/checks.toml");

/// By the check's id: several machines, each with what is said; without words all is well.
const VARIANTS: &str = include_str!("../../../tests/doctor/variants.toml");

/// A machine with its user, as far as a check looks at it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
struct Fixture {
    vitals: Vitals,
    /// `name` → version.
    packages: BTreeMap<String, String>,
    debian: BTreeMap<String, String>,
    /// `NVIDIA L4, 8.9`
    gpus: Vec<String>,
    driver: String,
    colab: bool,
    /// Site-packages.
    site: String,
    search: Vec<String>,
    facts: Option<toml::Value>,
    plans: Wish,
    boot: String,
    compat: bool,
    /// What the finding must say; begins with the severity.
    says: Option<String>,
    #[serde(skip)]
    wish: Fitness,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
struct Wish {
    long: Option<f64>,
    workers: Option<u64>,
    batch: Option<u64>,
    precision: Option<String>,
    data: Vec<String>,
    missing: Vec<String>,
    needs: Vec<String>,
    after_crash: bool,
    applied_on: Option<String>,
}

impl Fixture {
    fn machine(&self, matrix: &Matrix) -> Machine {
        let said = |text: &str| Said {
            source: "fixture".to_owned(),
            text: Some(text.to_owned()),
            error: None,
            timed_out: false,
        };
        let site = std::path::PathBuf::from(&self.site);
        let (scripts, data) = ("/usr/bin".into(), "/usr".into());
        let layout = Layout { purelib: site.clone(), platlib: site, scripts, data, externally_managed: false };
        let python = RawPython {
            path: "/usr/bin/python3".into(),
            version: "3.12.1".to_owned(),
            implementation: "cpython".to_owned(),
            architecture: "x86_64".to_owned(),
            libc: "glibc 2.35".to_owned(),
            free_threaded: false,
            layout,
            prefix: "/usr".into(),
            stdlib: "/usr/lib/python3.12".into(),
            search: self.search.iter().map(Into::into).collect(),
            is_virtual: false,
            origin: PythonOrigin::default(),
            before_site: Vec::new(),
        };
        let distributions = self.packages.iter().map(|(name, version)| RawDistribution {
            name: name.clone(),
            version: version.clone(),
            folder: self.site.clone().into(),
            installer: "pip".to_owned(),
            direct: false,
            requires: Vec::new(),
            requires_python: String::new(),
        });
        let status = self
            .debian
            .iter()
            .map(|(name, version)| format!("Package: {name}\nStatus: install ok installed\nVersion: {version}\n\n"));
        let observed = Observed {
            schema: 1,
            driver: if self.driver.is_empty() { Vec::new() } else { vec![said(&self.driver)] },
            gpus: if self.gpus.is_empty() { Vec::new() } else { vec![said(&self.gpus.join("\n"))] },
            markers: if self.colab { vec!["/var/colab/hostname".to_owned()] } else { Vec::new() },
            debian: crate::boot::machine::Debian::of_status(status.collect()),
            boot_id: self.boot.clone(),
            python: Some(python),
            distributions: distributions.collect(),
            library_path: if self.compat { vec!["/usr/local/cuda/compat".to_owned()] } else { Vec::new() },
            ..Observed::default()
        };
        judge(&observed, matrix).0
    }

    fn facts(&self) -> Option<Facts> {
        let text = serde_json::to_string(self.facts.as_ref()?).expect("JSON");
        Some(read_facts(&text).expect("facts"))
    }

    fn examined(&self, matrix: &Matrix, id: &str) -> Outcome {
        let wish = self.plans.clone();
        let plans = Plans {
            long: wish.long,
            workers: wish.workers,
            batch: wish.batch,
            precision: wish.precision,
            data: wish.data,
            unread: Vec::new(),
            missing: Some(wish.missing),
            needs: wish.needs,
            after_crash: wish.after_crash,
            applied_on: wish.applied_on,
        };
        let (machine, facts) = (self.machine(matrix), self.facts());
        let (vitals, machine, facts, wish) = (&self.vitals, &machine, facts.as_ref(), &self.wish);
        let all = Examination { vitals, machine, facts, plans: &plans, matrix, wish, described: false };
        examine(&all, &|row| row.id.as_str() == id).expect("an answer").remove(0)
    }
}

#[test]
fn rows_and_judgements_are_the_same_checks() {
    let rows: Vec<&str> = checks().expect("rows").iter().map(|row| row.id.as_str()).collect();
    let judged: BTreeSet<&str> = JUDGES.iter().copied().flatten().map(|(code, _)| code.as_str()).collect();
    assert_eq!(rows.iter().copied().collect::<BTreeSet<_>>(), judged);
    assert_eq!(rows.len(), JUDGES.iter().map(|group| group.len()).sum::<usize>());
    // A threshold that a judgement asks for is one that its row has.
    let sources = [
        include_str!("ram.rs"),
        include_str!("workers.rs"),
        include_str!("device.rs"),
        include_str!("mapped.rs"),
        include_str!("loaded_builds.rs"),
        include_str!("vram.rs"),
        include_str!("storage.rs"),
        include_str!("tokens.rs"),
        include_str!("lifetime.rs"),
        include_str!("importing.rs"),
        include_str!("after_crash.rs"),
    ];
    for (group, source) in JUDGES.iter().flat_map(|group| sources.iter().map(move |source| (group, source))) {
        for (code, _) in *group {
            let name = format!("fn {}(", code.as_str().replace('-', "_"));
            let Some(at) = source.find(&name) else { continue };
            let body = &source[at..at + source[at..].find("\n}\n").expect("its end")];
            let row = checks().expect("rows").iter().find(|row| row.id == *code).expect("a row");
            let asked: BTreeSet<&str> =
                body.split("row.limit(\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
            assert_eq!(asked, row.limits.keys().map(String::as_str).collect(), "{code}");
        }
    }
}

/// What an outcome says, in small letters: a line for each finding.
fn said(outcome: &Outcome) -> String {
    let lines =
        outcome.findings.iter().map(|one| format!("{:?} {} {}", one.severity, one.message, one.notes.join("; ")));
    lines.collect::<Vec<_>>().join("\n").to_lowercase()
}

#[test]
fn every_check_fires_on_one_machine_and_is_silent_on_another() {
    let matrix = Matrix::bundled().expect("the matrix");
    let fixtures: BTreeMap<String, Fixture> = toml::from_str(FIXTURES).unwrap_or_else(|error| panic!("{error}"));
    let well = &fixtures["well"];
    let mut wrong = Vec::new();
    for row in checks().expect("rows") {
        let id = row.id.as_str();
        let quiet = fixtures.get(&format!("{id}-not")).unwrap_or(well).examined(&matrix, id);
        if quiet.state != State::Ok {
            wrong.push(format!("{id} is not silent: {:?} {}", quiet.state, quiet.said));
        }
        let Some(fixture) = fixtures.get(id) else {
            wrong.push(format!("{id} has no fixture"));
            continue;
        };
        let fired = fixture.examined(&matrix, id);
        let said = said(&fired);
        let wanted = fixture.says.as_deref().unwrap_or("nothing is wanted").to_lowercase();
        let (severity, words) = wanted.split_once(' ').expect("a severity and words");
        if fired.state != State::Finding || !said.starts_with(severity) || !said.contains(words) {
            wrong.push(format!("{id}: {:?} {said} | {}", fired.state, fired.said));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let known: BTreeSet<String> = checks().expect("rows").iter().map(|row| row.id.to_string()).collect();
    let strange: Vec<&String> = fixtures
        .keys()
        .filter(|name| *name != "well" && !known.contains(name.strip_suffix("-not").unwrap_or(name)))
        .collect();
    assert!(strange.is_empty(), "{strange:?}");
}

/// A machine of which nothing could be seen.
#[test]
fn nothing_seen_is_nothing_found() {
    let matrix = Matrix::bundled().expect("the matrix");
    let blank = Fixture::default();
    for row in checks().expect("rows") {
        let outcome = blank.examined(&matrix, row.id.as_str());
        let is_shm = row.id == crate::core::diag::Code::ShmSmall;
        assert!(outcome.findings.is_empty() || is_shm, "{}: {:?}", row.id, outcome.findings);
    }
}

#[test]
fn a_profile_moves_limits_and_leaves_checks_out() {
    let matrix = Matrix::bundled().expect("the matrix");
    let fixtures: BTreeMap<String, Fixture> = toml::from_str(FIXTURES).unwrap_or_else(|error| panic!("{error}"));
    let mut fixture = fixtures["disk-low"].clone();
    assert_eq!(fixture.examined(&matrix, "disk-low").state, State::Finding);
    let code = crate::core::diag::Code::DiskLow;
    let row = checks().expect("rows").iter().find(|row| row.id == code).expect("a row");
    let none = row.limits.iter().map(|(name, own)| (name.clone(), crate::core::matrix::Amount(0.0, own.1))).collect();
    fixture.wish.thresholds.insert(code, none);
    assert_eq!(fixture.examined(&matrix, "disk-low").state, State::Ok);
    fixture.wish.ignore.push(code);
    let left_out = fixture.examined(&matrix, "disk-low");
    assert_eq!((left_out.state, left_out.said.as_str()), (State::Skipped, "the profile disables it"));
}

/// Values that nvidia-smi could not read are not good ones.
#[test]
fn what_nvidia_smi_can_not_say_is_not_seen() {
    let matrix = Matrix::bundled().expect("the matrix");
    let fields = ["compute_mode", "mig.mode.current", "retired_pages.pending", "clocks_throttle_reasons.active"];
    for value in ["[Unknown Error]", "[GPU requires reset]", "", "words"] {
        let mut fixture = Fixture::default();
        let gpu = fields.iter().map(|field| ((*field).to_owned(), value.to_owned()));
        fixture.vitals.gpus = vec![gpu.collect()];
        for id in ["gpu-ecc", "gpu-throttled", "gpu-pcie-narrow", "gpu-mig", "gpu-exclusive", "vram-unattributed"] {
            let outcome = fixture.examined(&matrix, id);
            assert_eq!(outcome.state, State::Skipped, "{id} of {value}: {}", outcome.said);
        }
    }
}

/// Situations of one check that look unlike each other.
#[test]
fn one_cause_is_seen_in_every_form() {
    let matrix = Matrix::bundled().expect("the matrix");
    let all: BTreeMap<String, Vec<Fixture>> = toml::from_str(VARIANTS).unwrap_or_else(|error| panic!("{error}"));
    let mut wrong = Vec::new();
    for (id, variants) in &all {
        for (at, fixture) in variants.iter().enumerate() {
            let outcome = fixture.examined(&matrix, id);
            let said = said(&outcome);
            let fits = match &fixture.says {
                Some(words) => said.contains(&words.to_lowercase()),
                None => outcome.state == State::Ok,
            };
            if !fits {
                wrong.push(format!("{id} {at}: {:?} {said} {}", outcome.state, outcome.said));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What could not be compared is not called well, and what only begins like a library's package is none.
#[test]
fn libraries_are_judged_by_what_is_known() {
    let matrix = Matrix::bundled().expect("the matrix");
    let maps = |lines: &[&str]| -> String {
        lines.iter().enumerate().map(|(at, path)| format!("1-2 r-xp 0 0:1 {at} {path}\n")).collect()
    };
    let look = |id: &str, packages: &[(&str, &str)], mapped: &[&str]| {
        let mut fixture =
            Fixture { driver: "550.54.15".to_owned(), gpus: vec!["Tesla T4, 7.5".to_owned()], ..Fixture::default() };
        fixture.packages = packages.iter().map(|(name, version)| ((*name).to_owned(), (*version).to_owned())).collect();
        fixture.vitals.texts.insert("kernel/maps".to_owned(), maps(mapped));
        let outcome = fixture.examined(&matrix, id);
        (outcome.state, outcome.said)
    };
    let torch = "/v/site-packages/torch/lib/libtorch_cuda.so";
    let wheel = "/v/site-packages/nvidia/cudnn/lib/libcudnn.so.9";
    let frontend = ("nvidia-cudnn-frontend", "1.18.0");
    let (state, said) = look(
        "cudnn-below-build",
        &[("torch", "2.11.0+cu128"), ("nvidia-cudnn-cu12", "9.8.0"), frontend],
        &[torch, wheel],
    );
    assert!(state == State::Finding && said.contains("and 9.8.0 is loaded"), "{state:?} {said}");
    let (state, said) = look("cudnn-below-build", &[frontend], &["/usr/lib/libcudnn.so.7.1.0"]);
    assert_eq!(state, State::Skipped, "{said}");
    let (state, said) = look("driver-too-old", &[("nvidia-cuda-runtime", "99.0.1")], &[]);
    assert!(state == State::Skipped && said.contains("CUDA 99.0"), "{state:?} {said}");
}
