//! The files that a command line names: which are read, and which are written.

use std::path::{Path, PathBuf};

use crate::boot::lock::lock_path;
use crate::cli::arguments::{
    AddOptions, AddPackagesOptions, ApplyOptions, Arguments, DoctorOptions, EditedOptions, ExportVerb, FetchOptions,
    GoldenCheckOptions, GoldenVerb, ListOptions, LockOptions, MachineOptions, MatrixVerb, PlanOptions,
    PolicySetOptions, PolicyVerb, PreviewOptions, ProbeVerb, PublishOptions, RemovePackagesOptions, RuntimeVerb,
    ScrubOptions, SignOptions, TreeOptions, TrustOptions, UpdateOptions, UpgradeOptions, Verb, WithdrawOptions,
};
use crate::core::host::destination::is_stdout;
use crate::golden::pin::PIN_FILE;

/// The files that a command reads and writes, as the user names them or by default.
#[derive(Debug, Default)]
pub struct NamedFiles {
    pub read: Vec<PathBuf>,
    pub written: Vec<PathBuf>,
    /// Written as well, with the folders above it.
    pub begun: Option<PathBuf>,
    /// Looked at, or written to.
    pub touched: Vec<PathBuf>,
    /// Folders of which the files are read.
    pub folders: Vec<PathBuf>,
    /// Those written that say what was found there.
    pub reports: Vec<PathBuf>,
}

impl Arguments {
    /// The files that this command reads and writes.
    pub fn named_files(&self) -> NamedFiles {
        let mut files = NamedFiles::default();
        files.written.extend(self.json.iter().chain(&self.html).cloned());
        files.reports.extend(self.json.iter().chain(&self.html).cloned());
        files.read.extend(self.matrix.iter().map(PathBuf::from));
        match &self.verb {
            Verb::Init(options) => {
                files.begun = Some(options.path().to_owned());
                files.read.extend(options.from().iter().filter(|from| !is_stdout(from)).cloned());
            }
            Verb::Fingerprint(options) | Verb::Status(options) => files.of_machine(&options.machine),
            Verb::Diff(options) => files.read.extend([&options.a].into_iter().chain(&options.b).map(PathBuf::from)),
            Verb::Lock(options) => files.of_lock(options),
            Verb::Add(AddPackagesOptions { edited, .. })
            | Verb::Remove(RemovePackagesOptions { edited, .. })
            | Verb::Upgrade(UpgradeOptions { edited, .. }) => files.of_edited(edited),
            Verb::Plan(PreviewOptions { plan: options, .. }) => {
                files.of_plan(options);
                files.read.push(lock_path(&options.profile, options.lock.as_ref()));
            }
            Verb::Apply(options) => files.of_apply(options),
            Verb::Run(options) => files.of_apply(&options.to_apply()),
            Verb::Tree(TreeOptions { profile, lock, .. }) => files.of_locked(profile, lock.as_ref()),
            Verb::Restore(options) => files.of_machine(&options.machine),
            Verb::Fetch(FetchOptions { lock, profile, .. }) => {
                files.read.extend([lock.clone(), profile.clone().unwrap_or_else(|| lock.with_extension("toml"))]);
            }
            Verb::Verify(options) => {
                files.of_machine(&options.machine);
                files.of_profile(&options.profile);
                files.read.push(lock_path(&options.profile, options.lock.as_ref()));
                files.written.extend(options.record.clone());
            }
            Verb::Golden(verb) => files.of_golden(verb),
            Verb::Export(verb) => files.of_export(verb),
            Verb::Forecast(options) => files.read.extend(options.profiles.iter().chain(&options.machine).cloned()),
            Verb::Runtime(RuntimeVerb::Import(options)) => files.read.push(options.source.clone()),
            Verb::Audit(options) => {
                files.of_machine(&options.machine);
                files.read.extend(options.target.as_ref().map(PathBuf::from));
            }
            Verb::Doctor(options) => files.of_doctor(options),
            Verb::Probe(ProbeVerb::Storage(options)) => files.touched.extend(options.paths.clone()),
            Verb::Stage(options) => files.of_folders(&[options.from.clone(), options.to.clone()]),
            Verb::Cache(_)
            | Verb::Completions(_)
            | Verb::Man(_)
            | Verb::Schema(_)
            | Verb::Own(_)
            | Verb::Record(_)
            | Verb::Probe(_)
            | Verb::Runtime(RuntimeVerb::List) => {}
            Verb::Scrub(options) => files.of_scrub(options),
            Verb::Explain(options) => {
                files.of_machine(&options.machine);
                options.profile.iter().for_each(|profile| files.of_locked(profile, options.lock.as_ref()));
            }
            Verb::Matrix(verb) => files.of_matrix(verb),
            Verb::InstallWheels(options) => files.read.extend(options.requirements.clone()),
        }
        files
    }
}

impl GoldenVerb {
    /// The folder of the repository, where one is named.
    fn place(&self) -> Option<PathBuf> {
        match self {
            Self::Init(_) => None,
            Self::Publish(PublishOptions { kept, .. })
            | Self::Sign(SignOptions { kept, .. })
            | Self::Withdraw(WithdrawOptions { kept, .. })
            | Self::Policy(PolicyVerb::Set(PolicySetOptions { kept, .. })) => kept.repo.clone(),
            Self::Check(GoldenCheckOptions { repo }) | Self::Policy(PolicyVerb::Show(GoldenCheckOptions { repo })) => {
                repo.clone()
            }
            Self::List(ListOptions { source, .. })
            | Self::Add(AddOptions { source, .. })
            | Self::Verify(AddOptions { source, .. })
            | Self::Update(UpdateOptions { source, .. }) => source.repo.as_ref().map(PathBuf::from),
            Self::Trust(TrustOptions { repo, .. }) => repo.as_ref().map(PathBuf::from),
        }
    }
}

impl NamedFiles {
    fn of_machine(&mut self, options: &MachineOptions) {
        self.read.extend(options.machine.clone());
        self.read.extend(options.kernel_modules.clone());
    }

    fn of_locked(&mut self, profile: &Path, lock: Option<&PathBuf>) {
        self.read.extend([profile.to_owned(), lock_path(profile, lock)]);
    }

    fn of_apply(&mut self, options: &ApplyOptions) {
        self.of_plan(&options.plan);
        let lock = lock_path(&options.plan.profile, options.plan.lock.as_ref());
        if options.plan.locked { self.read.push(lock) } else { self.written.push(lock) }
    }

    fn of_lock(&mut self, options: &LockOptions) {
        self.of_machine(&options.machine);
        self.read.push(options.profile.clone());
        let place = if options.check { &mut self.read } else { &mut self.written };
        place.push(lock_path(&options.profile, options.lock.as_ref()));
    }

    fn of_edited(&mut self, options: &EditedOptions) {
        self.of_machine(&options.machine);
        self.written.extend([options.profile.clone(), lock_path(&options.profile, options.lock.as_ref())]);
    }

    fn of_doctor(&mut self, options: &DoctorOptions) {
        self.of_machine(&options.machine);
        self.read.extend(options.profile.iter().chain(&options.log).cloned());
        let outputs = [&options.junit, &options.sarif, &options.bundle];
        self.written.extend(outputs.into_iter().flatten().cloned());
    }

    fn of_folders(&mut self, folders: &[PathBuf]) {
        self.touched.extend(folders.iter().cloned());
        self.folders.extend(folders.iter().cloned());
    }

    fn of_profile(&mut self, profile: &Path) {
        self.read.extend([profile.to_owned(), profile.with_file_name(PIN_FILE)]);
    }

    fn of_plan(&mut self, options: &PlanOptions) {
        self.of_machine(&options.machine);
        self.of_profile(&options.profile);
        self.written.extend(options.script.clone());
        self.folders.extend(options.index.find_links.clone());
    }

    fn of_scrub(&mut self, options: &ScrubOptions) {
        self.of_folders(&options.paths);
        self.read.extend(options.paths.clone());
        self.written.extend(options.sarif.clone());
        self.reports.extend(options.sarif.clone());
        let baseline = if options.update_baseline { &mut self.written } else { &mut self.read };
        baseline.extend(options.baseline.clone());
    }

    fn of_export(&mut self, verb: &ExportVerb) {
        let (profile, lock) = match (verb, verb.exported()) {
            (ExportVerb::Notebook(options), _) => (&options.profile, &options.lock),
            (_, Some(options)) => (&options.profile, &options.lock),
            (_, None) => return,
        };
        self.of_locked(profile, lock.as_ref());
        self.written.extend(verb.output().cloned());
        self.folders.extend(match verb {
            ExportVerb::Notebook(options) => Some(options.out.clone()),
            ExportVerb::Dockerfile(options) | ExportVerb::Devcontainer(options) => Some(options.out.clone()),
            _ => None,
        });
    }

    fn of_golden(&mut self, verb: &GoldenVerb) {
        self.folders.extend([PathBuf::from("."), PathBuf::from("golden-cells")]);
        self.folders.extend(verb.place());
        match verb {
            GoldenVerb::Publish(options) => {
                let locks = options.profiles.iter().map(|profile| lock_path(profile, None));
                self.read.extend(options.profiles.iter().cloned().chain(locks));
                self.read.extend(options.kept.key.iter().chain(&options.verified).chain(&options.binary).cloned());
            }
            GoldenVerb::Sign(options) => {
                let edits = &options.edits;
                self.read.extend(edits.add.iter().chain(&edits.add_ci_key).chain(&options.kept.key).cloned());
            }
            GoldenVerb::Withdraw(WithdrawOptions { kept, .. })
            | GoldenVerb::Policy(PolicyVerb::Set(PolicySetOptions { kept, .. })) => self.read.extend(kept.key.clone()),
            GoldenVerb::Init(options) => self.read.extend(options.signer.iter().chain(&options.ci_key).cloned()),
            _ => {}
        }
    }

    fn of_matrix(&mut self, verb: &MatrixVerb) {
        match verb {
            MatrixVerb::Inspect(options) => self.read.extend(options.specs.iter().map(PathBuf::from)),
            MatrixVerb::Show(_) => {}
        }
    }
}
