//! What the matrix and NVIDIA's rules have against an environment. One finding a cause, however many packages share it.

use std::collections::{BTreeMap, BTreeSet};

use crate::boot::audit::missing_libraries::links;
use crate::boot::audit::unmet_requirements::requirements;
use crate::boot::audit::{Audited, Environment};
use crate::boot::resolve::never_imported;
use crate::core::diag::{Code, Finding, Severity, Subject, listed};
use crate::core::matrix::{Build, Matrix, Reason, check_driver, code_for};
use crate::core::model::contents::{Clash, Files, clashes};
use crate::core::model::{CudaVersion, DriverVersion, PackageName, Version};

/// Judges `environment`; errors come first.
pub fn judge(environment: &Environment, matrix: &Matrix) -> Vec<Finding> {
    let auditor = Auditor { environment, matrix };
    let mut findings = auditor.drivers();
    findings.extend(auditor.coverage());
    findings.extend(auditor.unknown());
    findings.extend(auditor.majors());
    findings.extend(requirements(environment, &environment.held));
    findings.extend(judge_families(environment, matrix));
    findings.extend(links(environment, matrix));
    findings.extend(auditor.collisions());
    findings.extend(auditor.duplicates());
    findings.extend(auditor.compat());
    findings.sort_by_key(|finding| match finding.severity {
        Severity::Error => 0,
        Severity::Warning => 1,
        Severity::Note => 2,
    });
    findings
}

/// What does not go together: requirements, families, libraries that frameworks were compiled against, files with two
/// owners.
fn judge_together(environment: &Environment, matrix: &Matrix) -> Vec<Finding> {
    let mut findings = requirements(environment, &environment.held);
    findings.extend(judge_families(environment, matrix));
    findings.extend(links(environment, matrix));
    findings.extend(Auditor { environment, matrix }.collisions());
    findings
}

/// The same for what a lock is about, whose packages `is_locked` knows. Errors are what a locked package itself lacks,
/// unless `lenient`; what others lack because of one is a warning. What else is wrong with an image is for a whole
/// audit to say.
pub fn judge_locked(
    environment: &Environment,
    matrix: &Matrix,
    is_locked: &dyn Fn(&PackageName) -> bool,
    lenient: bool,
) -> Vec<Finding> {
    let mut findings = judge_together(environment, matrix);
    let is_of_lock = |subject: &Subject| matches!(subject, Subject::Package { name, .. } if is_locked(name));
    findings.retain(|finding| finding.about.iter().chain(&finding.against).any(is_of_lock));
    for finding in &mut findings {
        // Of a file with two owners both are the worse for it.
        let is_shared = finding.code == Code::FilesCollide;
        if lenient || !is_shared && !finding.about.iter().any(is_of_lock) {
            finding.severity = finding.severity.max(Severity::Warning);
        }
    }
    findings
}

/// What is wrong between members of families, and with libraries that frameworks were compiled against.
pub fn judge_families(environment: &Environment, matrix: &Matrix) -> Vec<Finding> {
    let auditor = Auditor { environment, matrix };
    let mut findings = auditor.families();
    findings.extend(auditor.jax_plugins());
    findings.extend(auditor.old_libraries());
    findings
}

#[derive(Clone, Copy)]
pub(super) struct Auditor<'a> {
    environment: &'a Environment,
    pub(super) matrix: &'a Matrix,
}

impl<'a> Auditor<'a> {
    pub(super) fn held(self) -> impl Iterator<Item = &'a Audited> {
        self.environment.held.iter()
    }

    pub(super) fn version(self, name: &PackageName) -> Option<&'a Version> {
        self.held().find(|held| held.name == *name).map(|held| &held.version)
    }

    fn builds(self) -> impl Iterator<Item = (&'a Audited, &'a Build)> {
        self.held().filter_map(|held| Some((held, held.build.as_ref().filter(|build| build.is_gpu())?)))
    }

    /// Packages whose CUDA the driver cannot run, by CUDA major.
    fn drivers(self) -> Vec<Finding> {
        let hardware = &self.environment.hardware;
        let mut refused: BTreeMap<u32, (CudaVersion, Reason, Vec<Subject>)> = BTreeMap::new();
        for held in self.held() {
            let library = self.matrix.library_cuda(&held.name, &held.version).and_then(|library| library.exact);
            let built = held.build.as_ref().and_then(|build| build.cuda);
            let Some(cuda) = built.or(library) else { continue };
            if let Err(reason @ Reason::DriverTooOld { .. }) = check_driver(self.matrix, cuda, hardware) {
                let entry = refused.entry(cuda.major).or_insert((cuda, reason.clone(), Vec::new()));
                if entry.0 < cuda {
                    (entry.0, entry.1) = (cuda, reason);
                }
                entry.2.push(held.subject());
            }
        }
        // One for each package, so that each can be accepted; those of one CUDA major say the same.
        let findings = refused.into_values().flat_map(|(_, reason, packages)| {
            let finding = Finding::error(Code::DriverTooOld, reason.to_string());
            packages.into_iter().map(move |package| finding.clone().about(package))
        });
        findings.collect()
    }

    /// Builds without code for a GPU, and builds that the driver has to compile for one.
    fn coverage(self) -> Vec<Finding> {
        let hardware = &self.environment.hardware;
        let mut findings = Vec::new();
        for (held, build) in self.builds() {
            let mut refused = BTreeMap::new();
            let mut compiled = Vec::new();
            for gpu in &hardware.gpus {
                match code_for(self.matrix, build, hardware, gpu) {
                    Ok(true) => {}
                    Ok(false) => compiled.push(gpu.name.as_str()),
                    Err(reason) => drop(refused.insert(gpu.name.as_str(), reason.to_string())),
                }
            }
            let name = format!("{} {}", held.name, held.version);
            if !refused.is_empty() {
                let gpus: Vec<&str> = refused.keys().copied().collect();
                let message = format!("{name} does not run on {}", gpus.join(", "));
                let finding = Finding::error(Code::GpuNotCovered, message).about(held.subject());
                findings.push(refused.into_values().fold(finding, Finding::with_note));
            }
            if !compiled.is_empty() {
                let message =
                    format!("{name} has no machine code for {}: the driver compiles its kernels", compiled.join(", "));
                let finding = Finding::warning(Code::GpuPtxOnly, message).about(held.subject());
                findings.push(finding.with_note("the first launch of its kernels takes minutes"));
            }
        }
        findings
    }

    /// Releases of watched packages of which neither a row nor their wheel could tell anything.
    fn unknown(self) -> Option<Finding> {
        // Members of a family are built with its anchor, for the same GPUs; torchaudio says so no more since 2.11.
        let member =
            |held: &Audited| held.version.is_local() || self.matrix.family(&held.name, &held.version).is_some();
        let shown = |held: &Audited| {
            let why = held.doubt.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
            format!("{} {}{why}", held.name, held.version)
        };
        let unknown: Vec<&Audited> = self
            .held()
            .filter(|held| {
                held.build.is_none()
                    && (held.doubt.is_some() || (self.matrix.is_watched(&held.name, &held.version) && !member(held)))
            })
            .collect();
        let names: Vec<String> = unknown.iter().map(|held| shown(held)).collect();
        if names.is_empty() || self.environment.hardware.gpus.is_empty() {
            return None;
        }
        let message = format!("which GPUs {} builds run on is unknown", names.len());
        let finding = Finding::note(Code::BuildUnknown, message).with_note(listed(&names));
        Some(unknown.into_iter().fold(finding, |finding, held| finding.about(held.subject())))
    }

    /// Libraries of several CUDA majors: about those that are not of the major that most are of.
    fn majors(self) -> Option<Finding> {
        let mut majors: BTreeMap<u32, Vec<&Audited>> = BTreeMap::new();
        for held in self.held() {
            if let Some(library) = self.matrix.library_cuda(&held.name, &held.version) {
                majors.entry(library.major).or_default().push(held);
            }
        }
        if majors.len() < 2 {
            return None;
        }
        let usual = majors.iter().max_by_key(|(_, packages)| packages.len()).map(|(major, _)| *major);
        let named: Vec<String> = majors.keys().map(ToString::to_string).collect();
        let message = format!("libraries of CUDA {} in one environment", named.join(" and "));
        let mut finding = Finding::warning(Code::CudaMixedMajors, message);
        for (major, packages) in majors {
            let subjects: Vec<Subject> = packages.iter().map(|held| held.subject()).collect();
            let names: Vec<String> = subjects.iter().map(ToString::to_string).collect();
            finding = finding.with_note(format!("CUDA {major}: {}", listed(&names)));
            let place = if Some(major) == usual { &mut finding.against } else { &mut finding.about };
            place.extend(subjects);
        }
        Some(finding)
    }

    /// cuDNN and NCCL older than a framework was compiled against.
    fn old_libraries(self) -> Vec<Finding> {
        let mut findings = Vec::new();
        for (held, build) in self.builds() {
            let Some(cuda) = build.cuda else { continue };
            for (library, floor) in [("cudnn", &build.cudnn), ("nccl", &build.nccl)] {
                let name = format!("nvidia-{library}-cu{}", cuda.major).parse::<PackageName>().ok();
                let found = name.and_then(|name| Some((self.version(&name)?, name)));
                let Some(((version, name), floor)) = found.zip(floor.as_ref()) else {
                    continue;
                };
                if version < floor {
                    let message = format!("{name} {version} is older than {} {} needs", held.name, held.version);
                    let finding = Finding::error(Code::LibraryTooOld, message)
                        .about(held.subject())
                        .against(Subject::release(&name, version));
                    findings.push(finding.with_note(format!("it was compiled against {floor} or newer")));
                }
            }
        }
        findings
    }

    /// Paths with two owners: by the files that are known, else by the rows of the matrix.
    fn collisions(self) -> Vec<Finding> {
        let folders: BTreeSet<&Option<String>> = self.held().map(|held| &held.folder).collect();
        let mut findings = Vec::new();
        let mut paired = BTreeSet::new();
        for folder in folders {
            let in_folder = self.held().filter(|held| held.folder == *folder);
            let known: Vec<(&Audited, &Files)> =
                in_folder.filter_map(|held| Some((held, held.files.as_deref()?))).collect();
            let files: Vec<&Files> = known.iter().map(|(_, files)| *files).collect();
            for clash in clashes(&files).iter().filter(|clash| clash.is_serious()) {
                let (first, second) = (known[clash.first].0, known[clash.second].0);
                if first.name != second.name {
                    paired.extend([(&first.name, &second.name), (&second.name, &first.name)]);
                    let never = never_imported(&first.name, &second.name, clash);
                    findings.push(never.unwrap_or_else(|| overwritten_files(first, second, clash)));
                }
            }
        }
        findings.extend(self.known_pairs(&paired));
        self.matrix.without_handed_over(findings)
    }

    fn known_pairs(self, paired: &BTreeSet<(&PackageName, &PackageName)>) -> Vec<Finding> {
        let mut owners: BTreeMap<usize, Vec<&Audited>> = BTreeMap::new();
        for held in self.held() {
            for (at, _) in self.matrix.owned(&held.name, &held.version) {
                owners.entry(at).or_default().push(held);
            }
        }
        let mut findings = Vec::new();
        for (at, owners) in owners {
            let pairs = owners
                .iter()
                .enumerate()
                .flat_map(|(place, first)| owners[place + 1..].iter().map(move |second| (*first, *second)));
            // Where the files of both are known they have been compared.
            let open = pairs.filter(|(first, second)| {
                let compared = first.files.is_some() && second.files.is_some();
                let apart = first.name == second.name || first.folder != second.folder;
                !compared && !apart && !paired.contains(&(&first.name, &second.name))
            });
            findings.extend(open.map(|(first, second)| {
                let path = self.matrix.collisions[at].path.clone();
                let finding = collision(first, second, overwritten(first, second, "the same files"));
                finding.about(first.subject()).against(second.subject()).with_note(path)
            }));
        }
        findings
    }

    /// One name, several installations.
    fn duplicates(self) -> Vec<Finding> {
        let mut places: BTreeMap<&PackageName, Vec<&Audited>> = BTreeMap::new();
        for held in self.held() {
            places.entry(&held.name).or_default().push(held);
        }
        let mut findings = Vec::new();
        for (name, all) in places.into_iter().filter(|(_, all)| all.len() > 1) {
            if all.iter().any(|held| held.folder.is_none()) {
                // A list, not a disk: one version may be named again.
                let versions: BTreeSet<String> = all.iter().map(|held| held.version.to_string()).collect();
                if versions.len() > 1 {
                    let versions: Vec<String> = versions.into_iter().collect();
                    let message = format!("`{name}` is named with several versions: {}", versions.join(", "));
                    findings.push(Finding::error(Code::DuplicateDistribution, message).about(Subject::package(name)));
                }
                continue;
            }
            let folders: BTreeSet<&Option<String>> = all.iter().map(|held| &held.folder).collect();
            let versions: Vec<String> = all.iter().map(|held| held.version.to_string()).collect();
            let distinct: BTreeSet<&String> = versions.iter().collect();
            if folders.len() < all.len() {
                let message =
                    format!("`{name}` is installed {} times in one folder: {}", all.len(), versions.join(", "));
                let help = format!("run `pip uninstall {name}` until none is left, then install one version");
                let finding = Finding::error(Code::DuplicateDistribution, message).about(Subject::package(name));
                findings.push(finding.with_help(help));
            } else if distinct.len() > 1 {
                let message = format!("`{name}` is installed in {} folders: {}", all.len(), versions.join(", "));
                let note = "Python imports the first on its path; tools may report the others";
                let finding = Finding::note(Code::DuplicateDistribution, message).about(Subject::package(name));
                findings.push(finding.with_note(note));
            }
        }
        findings
    }

    /// Forward-compatibility packages older than the driver: loaded, they take its place and bring less.
    fn compat(self) -> Vec<Finding> {
        let Some(driver) = &self.environment.hardware.driver else {
            return Vec::new();
        };
        let compat = self.environment.debian.iter().filter(|(name, _)| name.starts_with("cuda-compat-"));
        let older = compat.filter_map(|(name, version)| {
            let own: DriverVersion = version.split('-').next()?.parse().ok()?;
            (own < *driver).then_some((name, own))
        });
        older
            .map(|(name, own)| {
                let message = format!("{name} ({own}) is older than the driver ({driver})");
                if self.environment.compat_in_use {
                    Finding::error(Code::CompatOld, message)
                        .with_note("its folder is on LD_LIBRARY_PATH: programs load the older libcuda")
                        .with_help("remove the folder `compat` from LD_LIBRARY_PATH")
                } else {
                    Finding::note(Code::CompatOld, message).with_note("harmless unless it is on LD_LIBRARY_PATH")
                }
            })
            .collect()
    }
}

/// The CUDA that a distribution was built for: by its label, by a row, or as its wheel said.
pub(super) fn cuda_of(held: &Audited) -> Option<CudaVersion> {
    CudaVersion::of_label(&held.version).or_else(|| held.build.as_ref().and_then(|build| build.cuda))
}

/// An error where shared libraries are among the files: then the wrong one is loaded.
fn overwritten_files(first: &Audited, second: &Audited, clash: &Clash) -> Finding {
    let libraries = clash.libraries();
    let message = overwritten(first, second, &clash.count());
    let paths: Vec<String> = libraries.iter().map(|path| (*path).clone()).collect();
    let finding = if libraries.is_empty() {
        Finding::warning(Code::FilesCollide, message).with_note(listed(&clash.paths))
    } else {
        collision(first, second, message).with_note(listed(&paths))
    };
    finding.about(first.subject()).against(second.subject())
}

/// That libraries have two owners: an error, but for two builds of one release.
fn collision(first: &Audited, second: &Audited, message: String) -> Finding {
    if are_variants(first, second) {
        let finding = Finding::warning(Code::FilesCollide, message);
        finding.with_note("they are builds of one version: what is installed last is used")
    } else {
        Finding::error(Code::FilesCollide, message)
    }
}

/// Whether they are two builds of one release: `opencv-python` and `opencv-python-headless`.
fn are_variants(first: &Audited, second: &Audited) -> bool {
    let (one, other) = (first.name.as_ref(), second.name.as_ref());
    let begins = |name: &str, with: &str| name.strip_prefix(with).is_some_and(|rest| rest.starts_with('-'));
    first.version == second.version && (begins(one, other) || begins(other, one))
}

fn overwritten(first: &Audited, second: &Audited, files: &str) -> String {
    let named = |held: &Audited| format!("{} {}", held.name, held.version);
    format!("{} and {} both own {files}, with different content", named(first), named(second))
}
