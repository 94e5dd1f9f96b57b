//! The variables of a profile for the releases of a lock: those of its preset and of its seed, and what is wrong with
//! them.

use std::collections::BTreeMap;

use crate::boot::lock::LockedTarget;
use crate::boot::plan::variable_faults::About;
use crate::boot::plan::xla_text::{flags_of, names_a_file};
use crate::boot::profile::Profile;
use crate::core::diag::{Code, Finding, Severity, counted};
use crate::core::matrix::{Determinism, Settings, is_between, settings};

/// What is set for a target.
#[derive(Clone, Debug, Default)]
pub struct Variables {
    pub all: BTreeMap<String, String>,
    /// Why, of those that the profile does not name itself.
    pub because: BTreeMap<String, String>,
    pub findings: Vec<Finding>,
}

/// The variables that `profile` means for `target`.
pub fn variables_for(profile: &Profile, target: &LockedTarget) -> Variables {
    // A bundled file that is wrong: a test rules it out.
    let Ok(rows) = settings() else { return Variables { all: profile.environment.clone(), ..Variables::default() } };
    let mut variables = Variables::default();
    preset(profile, target, rows, &mut variables);
    determinism(profile, target, rows, &mut variables);
    for (name, value) in &profile.environment {
        variables.because.remove(name);
        let own = value.clone();
        // Flags of the seed go with those of the profile.
        let added = variables.all.get(name).filter(|_| name == "XLA_FLAGS").map(|added| with_flag(&own, added));
        variables.all.insert(name.clone(), added.unwrap_or(own));
    }
    variables.findings.extend(said(profile, &variables));
    // What a preset or a seed has set is not the user's fault.
    let at = |code: Code, variable: &str, message: String| {
        let span = profile.environment_spans.get(variable)?;
        Some(Finding::error(code, message).at(&profile.source, span.clone(), ""))
    };
    let version = |name: &str| Some(&target.packages.iter().find(|one| one.name.as_ref() == name)?.version);
    let refused = About { all: &variables.all, version: &version, at: &at }.refusals(rows);
    variables.findings.extend(refused);
    variables
}

/// What the preset and the seed add, each with its reason.
fn said(profile: &Profile, variables: &Variables) -> Option<Finding> {
    let of = match (&profile.preset, profile.seed) {
        (Some(name), None) => format!("the preset `{name}` sets"),
        (Some(name), Some(_)) => format!("the preset `{name}` and the seed set"),
        (None, _) => "the seed sets".to_owned(),
    };
    let mut finding = Finding::note(Code::EnvPreset, format!("{of} {}", counted(variables.because.len(), "variable")));
    finding.notes = variables
        .because
        .iter()
        .map(|(name, why)| format!("{name}={} ({why})", variables.all.get(name).map_or("", String::as_str)))
        .collect();
    match &profile.preset {
        Some(name) if finding.notes.is_empty() => {
            let message = format!("the preset `{name}` sets nothing for these releases on this hardware");
            Some(Finding::note(Code::EnvPreset, message))
        }
        _ => (!finding.notes.is_empty()).then_some(finding),
    }
}

fn preset(profile: &Profile, target: &LockedTarget, rows: &Settings, variables: &mut Variables) {
    let Some(name) = &profile.preset else { return };
    let frameworks = ["torch", "tensorflow", "jax"];
    let there = frameworks.iter().filter(|name| target.packages.iter().any(|one| one.name.as_ref() == **name)).count();
    for row in rows.preset.iter().filter(|row| row.name == *name) {
        let Some(version) = target.version(&row.package) else { continue };
        let meant = is_between(version, row.from.as_ref(), row.before.as_ref())
            && (!row.gpu || target.cuda.is_some())
            && (!row.beside_others || there > 1);
        if meant {
            variables.all.insert(row.variable.clone(), row.value.clone());
            variables.because.insert(row.variable.clone(), format!("{}: {}", row.name, row.why));
        }
    }
}

fn determinism(profile: &Profile, target: &LockedTarget, rows: &Settings, variables: &mut Variables) {
    let Some(seed) = profile.seed else { return };
    // It acts on processes started later, never on a kernel that runs already.
    variables.all.insert("PYTHONHASHSEED".to_owned(), seed.to_string());
    variables.because.insert(
        "PYTHONHASHSEED".to_owned(),
        "the seed fixes the order of sets in processes that start later".to_owned(),
    );
    let mut finding = Finding::note(Code::DeterminismPartial, format!("determinism with the seed {seed} has limits"));
    let meant = rows.determinism.iter().filter(|row| {
        let version = target.version(&row.package);
        version.is_some_and(|version| is_between(version, row.from.as_ref(), row.before.as_ref()))
            && row.gpu.is_none_or(|gpu| gpu == target.cuda.is_some())
    });
    for row in meant {
        if let Some(own) = taken_back(profile, row) {
            finding.severity = Severity::Warning;
            finding
                .notes
                .push(format!("{}: not made deterministic, because the profile's own {own} has priority", row.package));
            continue;
        }
        let set = row.variable.clone().zip(row.value.clone());
        let flag = row.flag.as_ref().map(|flag| ("XLA_FLAGS".to_owned(), flag.clone()));
        for (name, value) in set.into_iter().chain(flag) {
            variables.because.insert(name.clone(), format!("the seed: makes {} deterministic", row.package));
            variables.all.insert(name, value);
        }
        finding
            .notes
            .push(format!("{}: repeatable on one machine with `{}`. Not covered: {}", row.package, row.call, row.not));
    }
    if !finding.notes.is_empty() {
        finding.help.push("`colab_boot_seed(seed)` in a golden notebook makes these calls; `colab-boot verify --deterministic` trains twice and compares".to_owned());
        variables.findings.push(finding);
    }
}

/// What the profile sets itself in place of what the seed would.
fn taken_back(profile: &Profile, row: &Determinism) -> Option<String> {
    let own = |name: &str| profile.environment.get(name);
    if let Some((name, value)) = row.variable.as_ref().zip(row.value.as_ref()) {
        return own(name)
            .filter(|own| *own != value && !row.also.contains(&own.to_lowercase()))
            .map(|own| format!("`{name}={own}`"));
    }
    let (flag, _) = flags_of(row.flag.as_ref()?);
    let own = own("XLA_FLAGS")?;
    if names_a_file(own) {
        return Some(format!("`XLA_FLAGS={own}`"));
    }
    // Of several the last counts.
    let (flags, _) = flags_of(own);
    let own = flags.into_iter().rfind(|own| flag.iter().any(|flag| flag.name == own.name))?;
    (!flag.iter().any(|flag| flag.is_same(&own))).then(|| format!("`{}`", own.text))
}

/// `flags` with `added` before them, unless it is among them: what follows a word without a dash is not read.
fn with_flag(flags: &str, added: &str) -> String {
    let ((own, _), (new, _)) = (flags_of(flags), flags_of(added));
    let has = own.iter().any(|own| new.iter().any(|new| new.name == own.name));
    if has { flags.to_owned() } else { format!("{added} {flags}").trim_end().to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boot::lock::{LockedFrom, LockedPackage};
    use crate::core::diag::Source;

    fn target(packages: &[(&str, &str)], cuda: bool) -> LockedTarget {
        let package = |(name, version): &(&str, &str)| LockedPackage {
            name: name.parse().expect("a name"),
            version: version.parse().expect("a version"),
            from: LockedFrom::ImageOnly("image".to_owned()),
            why: Vec::new(),
        };
        LockedTarget {
            name: "t".into(),
            runtime: None,
            python: "3.12.1".parse().expect("a version"),
            platform: "manylinux_2_28_x86_64".into(),
            cuda: cuda.then(|| "12.8".parse().expect("a CUDA")),
            driver_floor: None,
            gpus: Vec::new(),
            apt: Vec::new(),
            accept: Vec::new(),
            packages: packages.iter().map(package).collect(),
        }
    }

    fn judged(lines: &str, packages: &[(&str, &str)], cuda: bool) -> Variables {
        let text = format!("[profile]\nname='a'\nversion='1.0.0'\n[packages]\na='*'\n{lines}\n");
        let source = Source { name: "p.toml".into(), text: text.into() };
        let profile = Profile::parse(&source, std::path::Path::new("/")).unwrap_or_else(|faults| panic!("{faults:#?}"));
        variables_for(&profile, &target(packages, cuda))
    }

    /// Severity, code and message of what is wrong; notes about what was added are left out.
    fn said(lines: &str, packages: &[(&str, &str)]) -> Vec<String> {
        let variables = judged(lines, packages, true);
        variables
            .findings
            .iter()
            .filter(|one| !matches!(one.code, Code::EnvPreset | Code::DeterminismPartial))
            .map(|one| format!("{:?} {} {}", one.severity, one.code, one.message))
            .collect()
    }

    #[test]
    fn names_of_the_allocator_are_those_of_the_release() {
        let with = |names: &[&str], torch: &str| {
            let lines: String = names.iter().map(|name| format!("{name} = \"expandable_segments:True\"\n")).collect();
            said(&format!("[env]\n{lines}"), &[("torch", torch)])
        };
        let (old, new) = ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF");
        for torch in ["2.4.1", "2.8.0", "2.10.0+cu128", "2.11.0", "2.15.0"] {
            assert!(with(&[old], torch).is_empty(), "{torch}");
        }
        assert!(with(&[new], "2.8.0+cu128")[0].starts_with("Warning env-ignored"));
        assert!(with(&[new], "2.9.1")[0].contains("not for CUDA's"));
        assert!(with(&[old], "2.9.1")[0].starts_with("Note env-ignored"));
        assert!(with(&[old, new], "2.9.1").is_empty() && with(&[new], "2.10.0").is_empty());
        let two =
            "[env]\nPYTORCH_CUDA_ALLOC_CONF = \"backend:native\"\nPYTORCH_ALLOC_CONF = \"expandable_segments:True\"";
        assert!(said(two, &[("torch", "2.11.0")])[0].contains("have different values"));
        // Of a package that the lock does not have nothing is said.
        assert!(said("[env]\nPYTORCH_ALLOC_CONF = \"x\"", &[("jax", "0.7.2")]).is_empty());
    }

    /// Lines of `[env]`, with the package that reads them and how the finding begins.
    const VALUES: [(&str, &str, &str); 25] = [
        ("TF_FORCE_GPU_ALLOW_GROWTH = '1'", "tensorflow", "Warning env-ignored"),
        ("TF_FORCE_GPU_ALLOW_GROWTH = 'yes'", "numpy", ""),
        ("XLA_PYTHON_CLIENT_PREALLOCATE = 'FALSE'", "jaxlib", "Warning env-ignored"),
        ("XLA_PYTHON_CLIENT_PREALLOCATE = ''", "jaxlib", ""),
        ("XLA_CLIENT_MEM_FRACTION = ''\nXLA_PYTHON_CLIENT_MEM_FRACTION = '.5'", "jaxlib", ""),
        ("JAX_PLATFORMS = 'gpuu'", "jax", "Error env-refused"),
        ("JAX_PLATFORMS = 'cpu,CPU'", "jax", "Error env-refused"),
        ("JAX_PLATFORMS = 'cpu, gpu'", "jax", "Error env-refused"),
        ("JAX_PLATFORMS = 'cuda,cpu'", "jax", ""),
        ("JAX_PLATFORMS = ''", "jax", ""),
        ("JAX_PLATFORMS = 'neuron'", "jax", "Warning env-ignored"),
        ("JAX_ENABLE_X64 = 'maybe'", "jax", "Error env-refused"),
        ("JAX_ENABLE_X64 = 'Yes'", "jax", ""),
        ("JAX_ENABLE_X64 = 'maybe'", "torch", ""),
        ("JAX_TRANSFER_GUARD = 'Allow'", "jax", "Error env-refused"),
        ("XLA_PYTHON_CLIENT_MEM_FRACTION = '90'", "jaxlib", "Error env-refused"),
        ("XLA_PYTHON_CLIENT_MEM_FRACTION = '.90'", "jaxlib", ""),
        ("XLA_CLIENT_MEM_FRACTION = '0'", "jaxlib", "Error env-refused"),
        ("XLA_CLIENT_MEM_FRACTION = '4.0'\nTF_FORCE_UNIFIED_MEMORY = '1'", "jaxlib", ""),
        ("TF_GPU_ALLOCATOR = 'cuda_malloc_asink'", "tensorflow", "Warning env-ignored"),
        ("TF_GPU_ALLOCATOR = 'CUDA_MALLOC_ASYNC'", "tensorflow", "Warning env-ignored"),
        ("TF_GPU_ALLOCATOR = 'cuda_malloc_async'", "tensorflow", ""),
        ("OMP_NUM_THREADS = 'many'", "torch", "Warning env-ignored"),
        ("OMP_NUM_THREADS = '4, 2'", "torch", ""),
        ("KERAS_BACKEND = 'tf'", "keras", "Error env-refused"),
    ];

    #[test]
    fn what_ends_the_process_is_an_error() {
        let torch = |value: &str, version: &str| {
            said(&format!("[env]\nPYTORCH_CUDA_ALLOC_CONF = \"{value}\""), &[("torch", version)])
        };
        assert!(
            torch("backend:cudaMallocAsync,max_split_size_mb:128", "2.4.1")[0].contains("ignores `max_split_size_mb`")
        );
        assert!(torch("max_split_size_mb:128,expandable_segments:True", "2.4.1").is_empty());
        assert!(torch("per_process_memory_fraction:0.5", "2.8.0")[0].contains("which 2.10 introduced"));
        assert!(torch("per_process_memory_fraction:0.5", "2.10.0").is_empty());
        assert!(torch("expandable_segment:True", "2.11.0")[0].starts_with("Error env-refused"));
        let jax = |flags: &str, version: &str| {
            said(&format!("[env]\nXLA_FLAGS = \"{flags}\""), &[("jax", version), ("jaxlib", version)])
        };
        assert!(jax("--xla_gpu_autotune_level=0 --xla_cpu_enable_fast_math=false", "0.7.2").is_empty());
        assert!(jax("--xla_gpu_graph_level=0", "0.7.2")[0].starts_with("Error env-refused"));
        assert!(jax("--xla_gpu_of_tomorrow=1", "9.9.9")[0].starts_with("Warning env-refused"));
        for (value, said) in [
            ("roundup_power2_divisions:[256:1,512:2,>:4],max_split_size_mb:256,", ""),
            ("", ""),
            ("max_split_size_mb:abc", "does not accept `abc`: it needs a whole number"),
            ("max_split_size_mb", "has no value"),
            ("garbage_collection_threshold:2.0", "a number between 0 and 1"),
            ("backend:foo", "native or cudaMallocAsync"),
            ("expandable_segments:true", "True or False"),
        ] {
            let found = torch(value, "2.11.0");
            assert!(found.iter().all(|one| !said.is_empty() && one.contains(said)), "{value}: {found:?}");
            assert_eq!(found.is_empty(), said.is_empty(), "{value}");
        }
        for (flags, said) in [
            ("--xla_cpu_enable_fast_math --xla_force_host_platform_device_count=4 --xla_dump_to=/tmp/x", ""),
            ("/content/flags.txt", ""),
            ("  --xla_cpu_enable_fast_math=0", ""),
            ("xla_cpu_enable_fast_math=true", "as a file name"),
            ("   ", "as a file name"),
            ("-xla_cpu_enable_fast_math=1", "is not an XLA flag"),
            ("--xla_dump_to='/tmp/my dump' --xla_force_host_platform_device_count='3'", ""),
            ("--xla_cpu_enable_fast_math=1 of --xla_nope=2", "up to `of --xla_nope=2`"),
            ("--xla_force_host_platform_device_count=abc", "it needs a whole number"),
            ("--xla_force_host_platform_device_count 4", "it needs a whole number"),
            ("--xla_cpu_enable_fast_math=maybe", "true or false"),
            ("--xla_cpu_enable_fast_math=true,--xla_nope", "true or false"),
        ] {
            let found = jax(flags, "0.9.0");
            assert_eq!(found.is_empty(), said.is_empty(), "{flags}: {found:?}");
            assert!(said.is_empty() || found[0].contains(said), "{flags}: {found:?}");
        }
        for (line, package, wanted) in VALUES {
            let found = said(&format!("[env]\n{line}"), &[(package, "9.0")]);
            let fits = found.is_empty() == wanted.is_empty() && found.iter().all(|one| one.starts_with(wanted));
            assert!(fits, "{line}: {found:?}");
        }
        let both = "[env]\nXLA_CLIENT_MEM_FRACTION = \".5\"\nXLA_PYTHON_CLIENT_MEM_FRACTION = \".5\"";
        assert!(said(both, &[("jax", "0.9.0")])[0].starts_with("Error env-refused"));
        assert!(said("[env]\nTF_FORCE_GPU_ALLOW_GROWTH = \"ture\"", &[("tensorflow", "2.20.0")])[0].contains("`ture`"));
        assert!(
            said("[env]\nHF_HUB_ENABLE_HF_TRANSFER = \"1\"", &[("huggingface-hub", "1.2.0")])[0]
                .contains("env-ignored")
        );
    }

    #[test]
    fn presets_and_seeds_set_what_the_release_wants() {
        let set = |lines: &str, packages: &[(&str, &str)], cuda: bool| {
            let all = judged(lines, packages, cuda).all;
            all.into_iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>()
        };
        let preset = "[env]\npreset = \"training\"";
        let old = "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True";
        assert_eq!(set(preset, &[("torch", "2.11.0")], true), [old]);
        assert_eq!(set(preset, &[("torch", "2.9.1")], true), ["PYTORCH_ALLOC_CONF=expandable_segments:True", old]);
        assert!(set(preset, &[("torch", "2.11.0")], false).is_empty());
        assert!(set(preset, &[("jax", "0.9.0")], true).is_empty());
        let both = set(preset, &[("jax", "0.9.0"), ("tensorflow", "2.20.0")], true);
        assert_eq!(both, ["TF_FORCE_GPU_ALLOW_GROWTH=true", "XLA_PYTHON_CLIENT_PREALLOCATE=false"]);
        let own = format!("{preset}\nPYTORCH_CUDA_ALLOC_CONF = \"backend:cudaMallocAsync\"");
        assert_eq!(set(&own, &[("torch", "2.11.0")], true), ["PYTORCH_CUDA_ALLOC_CONF=backend:cudaMallocAsync"]);
        let seed = "[determinism]\nseed = 7";
        assert_eq!(set(seed, &[("torch", "2.9.1")], true), ["CUBLAS_WORKSPACE_CONFIG=:4096:8", "PYTHONHASHSEED=7"]);
        assert_eq!(set(seed, &[("torch", "2.10.0")], true), ["PYTHONHASHSEED=7"]);
        let jax = format!("[env]\nXLA_FLAGS = \"--xla_cpu_enable_fast_math=false\"\n{seed}");
        let flags = set(&jax, &[("jax", "0.9.0"), ("jaxlib", "0.9.0")], true);
        assert_eq!(flags[1], "XLA_FLAGS=--xla_gpu_exclude_nondeterministic_ops=true --xla_cpu_enable_fast_math=false");
        // What says the same in other words takes nothing back.
        for (own, packages) in [
            ("CUBLAS_WORKSPACE_CONFIG = \":16:8\"", ("torch", "2.9.1")),
            ("XLA_FLAGS = \"--xla_gpu_exclude_nondeterministic_ops=1\"", ("jax", "0.9.0")),
            ("XLA_FLAGS = \"--xla_dump_to='/tmp/a b' --xla_gpu_exclude_nondeterministic_ops\"", ("jax", "0.9.0")),
            ("TF_DETERMINISTIC_OPS = \"True\"", ("tensorflow", "2.20.0")),
        ] {
            let found = judged(&format!("[env]\n{own}\n{seed}"), &[packages], true).findings;
            let partial = found.iter().find(|one| one.code == Code::DeterminismPartial).expect("a word");
            assert!(partial.severity == Severity::Note && partial.notes[0].contains("repeatable"), "{partial:?}");
        }
        // A promise that the profile takes back is none.
        for (own, packages, said) in [
            ("CUBLAS_WORKSPACE_CONFIG = \":0:0\"", ("torch", "2.9.1"), "torch: not made deterministic"),
            (
                "XLA_FLAGS = \"--xla_gpu_exclude_nondeterministic_ops=false\"",
                ("jax", "0.9.0"),
                "jax: not made deterministic",
            ),
            ("XLA_FLAGS = \"/content/flags.txt\"", ("jax", "0.9.0"), "jax: not made deterministic"),
            ("TF_DETERMINISTIC_OPS = \"0\"", ("tensorflow", "2.20.0"), "tensorflow: not made deterministic"),
        ] {
            let found = judged(&format!("[env]\n{own}\n{seed}"), &[packages], true).findings;
            let partial = found.iter().find(|one| one.code == Code::DeterminismPartial).expect("a word");
            assert!(partial.severity == Severity::Warning && partial.notes[0].contains(said), "{partial:?}");
        }
        let nothing = judged(preset, &[("numpy", "2.3.0")], true).findings;
        assert!(nothing[0].message.contains("sets nothing for these releases"), "{nothing:?}");
        let notes = judged(seed, &[("torch", "2.9.1")], true).findings;
        assert!(
            notes
                .iter()
                .any(|one| one.code == Code::DeterminismPartial
                    && one.notes[0].contains("Not covered: other GPU models"))
        );
    }
}
