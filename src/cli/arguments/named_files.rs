//! The files that a command line names: which are read, and which are written.

use std::path::{Path, PathBuf};

use crate::boot::lock::lock_path;
use crate::cli::arguments::{
    AddOptions, Arguments, DeprecateOptions, DiffOptions, GoldenCheckOptions, GoldenVerb, ListOptions, MachineOptions,
    MatrixVerb, PageOptions, PlanOptions, PreviewOptions, ProbeVerb, PublishOptions, ReleaseOptions, RuntimeVerb,
    ScrubOptions, SignOptions, SignersOptions, UpdateOptions, Verb, YankOptions,
};
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
        files.written.extend(self.json.clone());
        files.reports.extend(self.json.clone());
        files.read.extend(self.matrix.iter().map(PathBuf::from));
        match &self.verb {
            Verb::Init(options) => files.begun = Some(options.path.clone()),
            Verb::Fingerprint(options) | Verb::Status(options) => files.of_machine(&options.machine),
            Verb::Diff(options) => files.read.extend([&options.a].into_iter().chain(&options.b).map(PathBuf::from)),
            Verb::Lock(options) => {
                files.of_machine(&options.machine);
                files.read.push(options.profile.clone());
                let lock = lock_path(&options.profile, options.lock.as_ref());
                if options.check { files.read.push(lock) } else { files.written.push(lock) }
            }
            Verb::Plan(PreviewOptions { plan: options, .. }) => {
                files.of_plan(options);
                files.read.push(lock_path(&options.profile, options.lock.as_ref()));
            }
            Verb::Apply(options) => {
                files.of_plan(&options.plan);
                let lock = lock_path(&options.plan.profile, options.plan.lock.as_ref());
                if options.plan.locked { files.read.push(lock) } else { files.written.push(lock) }
            }
            Verb::Restore(options) => files.of_machine(&options.machine),
            Verb::Fetch(options) => {
                let profile = options.profile.clone().unwrap_or_else(|| options.lock.with_extension("toml"));
                files.read.extend([options.lock.clone(), profile]);
            }
            Verb::Verify(options) => {
                files.of_machine(&options.machine);
                files.of_profile(&options.profile);
                files.read.push(lock_path(&options.profile, options.lock.as_ref()));
                files.written.extend(options.record.clone());
            }
            Verb::Golden(verb) => files.of_golden(verb),
            Verb::Forecast(options) => files.read.extend(options.profiles.iter().chain(&options.machine).cloned()),
            Verb::Runtime(RuntimeVerb::Import(options)) => files.read.push(options.source.clone()),
            Verb::Audit(options) => {
                files.of_machine(&options.machine);
                files.read.extend(options.target.as_ref().map(PathBuf::from));
            }
            Verb::Doctor(options) => {
                files.of_machine(&options.machine);
                files.read.extend(options.profile.iter().chain(&options.log).cloned());
                let outputs = [&options.html, &options.junit, &options.sarif, &options.bundle];
                files.written.extend(outputs.into_iter().flatten().cloned());
            }
            Verb::Probe(ProbeVerb::Storage(options)) => files.touched.extend(options.paths.clone()),
            Verb::Stage(options) => files.of_folders(&[options.from.clone(), options.to.clone()]),
            Verb::Cache(_) | Verb::Record(_) | Verb::Probe(_) | Verb::Runtime(RuntimeVerb::List) => {}
            Verb::Scrub(options) => files.of_scrub(options),
            Verb::Explain(options) => {
                files.of_machine(&options.machine);
                files.read.extend(options.profile.clone());
                files.read.extend(options.profile.as_ref().map(|profile| lock_path(profile, options.lock.as_ref())));
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
            Self::Build(_) | Self::Init(_) => None,
            Self::Publish(PublishOptions { kept, .. })
            | Self::Sign(SignOptions { kept, .. })
            | Self::Signers(SignersOptions { kept, .. })
            | Self::Deprecate(DeprecateOptions { kept, .. })
            | Self::Yank(YankOptions { kept, .. })
            | Self::Renew(kept) => kept.repo.clone(),
            Self::Check(GoldenCheckOptions { repo, .. }) | Self::Page(PageOptions { repo, .. }) => repo.clone(),
            Self::List(ListOptions { source, .. })
            | Self::Search(ListOptions { source, .. })
            | Self::Show(ReleaseOptions { source, .. })
            | Self::Add(AddOptions { source, .. })
            | Self::Verify(AddOptions { source, .. })
            | Self::Update(UpdateOptions { source, .. })
            | Self::Diff(DiffOptions { source, .. }) => source.from.as_ref().map(PathBuf::from),
            Self::Trust(options) => Some(PathBuf::from(&options.from)),
        }
    }
}

impl NamedFiles {
    fn of_machine(&mut self, options: &MachineOptions) {
        self.read.extend(options.machine.clone());
        self.read.extend(options.kernel_modules.clone());
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

    fn of_golden(&mut self, verb: &GoldenVerb) {
        self.folders.extend([PathBuf::from("."), PathBuf::from("golden-cells")]);
        self.folders.extend(verb.place());
        match verb {
            GoldenVerb::Build(options) => {
                self.read.extend([options.profile.clone(), lock_path(&options.profile, options.lock.as_ref())]);
            }
            GoldenVerb::Publish(options) => {
                let locks = options.profiles.iter().map(|profile| lock_path(profile, None));
                self.read.extend(options.profiles.iter().cloned().chain(locks));
                self.read.extend(options.kept.key.iter().chain(&options.verified).chain(&options.binary).cloned());
            }
            GoldenVerb::Sign(SignOptions { kept, .. })
            | GoldenVerb::Deprecate(DeprecateOptions { kept, .. })
            | GoldenVerb::Yank(YankOptions { kept, .. })
            | GoldenVerb::Renew(kept) => self.read.extend(kept.key.clone()),
            GoldenVerb::Page(options) if !options.check => self.written.extend(options.out.clone()),
            GoldenVerb::Init(options) => self.read.extend(options.signer.clone()),
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
