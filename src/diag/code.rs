//! The codes of findings. A published code is never reused. `colab-boot explain CODE` prints [`Code::explanation`].

use std::fmt::{Display, Formatter, Result as FmtResult};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! codes {
    ($($name:ident = $text:literal: $explanation:literal,)*) => {
        /// A stable, kebab-case name of what is wrong.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code { $($name),* }

        impl Code {
            /// Every code, in the order of the list.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text),* }
            }

            /// What it means, why it matters and what to do, in a short paragraph.
            pub const fn explanation(self) -> &'static str {
                match self { $(Self::$name => $explanation),* }
            }
        }
    };
}

codes! {
    ProfileSyntax = "profile-syntax": "The profile is not valid TOML. Nothing else can be checked before it is; the caret stands where the parser gave up.",
    ProfileUnknownKey = "profile-unknown-key": "The profile has a key that the format does not know. Unknown keys are errors so that a misspelt `breakage` can't silently mean the default. `colab-boot init` writes a profile with every key.",
    ProfileMissingKey = "profile-missing-key": "A key that every profile needs is absent. A profile needs `[profile]` with `name` and `version`, and at least one package in `[frameworks]` or `[packages]`.",
    ProfileWrongType = "profile-wrong-type": "A value has another type than the key takes, for example a number where a text belongs.",
    ProfileBadValue = "profile-bad-value": "A value has the right type but can't be used: a name that is no PEP 503 name, a specifier that is not PEP 440, a marker that is not PEP 508, an apt name that is no Debian name, a variable that must not be set from a profile.",
    ProfileConflict = "profile-conflict": "Two keys of the profile contradict each other, for example the same package in `[frameworks]` and `[packages]`, or an `index` that no `[[index]]` defines.",
    MachineUnreadable = "machine-unreadable": "A source of facts about the machine could not be read or made no sense. It was passed over and the next source was tried; where none is left, the fact can be given by a flag.",
    MachineNoGpu = "machine-no-gpu": "No NVIDIA GPU was found. CUDA wheels install without one and their frameworks run on the CPU. In a notebook, choose a GPU runtime; on a laptop, name the target with --runtime and --gpu.",
    MachineNotPlanned = "machine-not-planned": "The machine is not the one that the lock was made for: another Python, an older C library, a GPU or driver outside what was assumed.",
    DriverTooOld = "driver-too-old": "The NVIDIA driver is older than the CUDA runtime of the chosen wheels allows. A driver can't be updated from inside a notebook; choose wheels of an older CUDA major, or a runtime with a newer driver. Floors: CUDA 11 needs 450.80.02, CUDA 12 needs 525.60.13, CUDA 13 needs 580.65.06 (NVIDIA, minor-version compatibility).",
    DriverAssumed = "driver-assumed": "A GPU was named without its driver, and none could be seen. It is judged with the oldest driver in use that runs the GPU, so that what is chosen runs with newer ones, too. Give the driver with --driver to have the newest CUDA that it runs.",
    GpuNotCovered = "gpu-not-covered": "The wheel has no machine code for this GPU, and no PTX that its driver could compile. At run time this is `no kernel image is available for execution on the device`. Choose an older release that still had this architecture, or another GPU.",
    GpuUnknown = "gpu-unknown": "The GPU is not in the bundled matrix and its compute capability could not be read, so whether wheels have code for it is unknown. Give the capability with --gpu, for example `--gpu 8.9`.",
    GpuPtxOnly = "gpu-ptx-only": "The wheel has only PTX for this GPU. It runs, but the driver compiles every kernel when it is first launched, which takes minutes for a framework and is cached on this machine alone (CUDA_CACHE_PATH). The driver's compiler must know the PTX's ISA; an older one refuses it.",
    BuildUnknown = "build-unknown": "Neither the bundled matrix nor the wheel itself could tell for which GPUs a package was built, so nothing was checked about it. With the index at hand the wheel is read; `colab-boot matrix inspect NAME==VERSION` shows what it says.",
    FilesCollide = "files-collide": "Two distributions own the same path with different content. Installers say nothing: the one installed later overwrites the other's file, and removing either takes the file from both. With shared libraries the wrong one is then loaded. Choose releases of the same CUDA major, or leave one of the two out.",
    LinkingUnread = "linking-unread": "A wheel has compiled code that the matrix has no row for, and what it is linked against could not be read: it is larger than a solve reads, or the index could not be asked. Nothing is refused on account of it; `colab-boot matrix inspect` reads it whole.",
    FilesUnchecked = "files-unchecked": "The zip directories of some wheels could not be read (offline, or a server that does not send parts of files), so that collisions of their files with others are not known.",
    CudaMixedMajors = "cuda-mixed-majors": "The profile's packages need libraries of two CUDA majors. They overwrite each other's files (`libcudnn.so.9`, `libnccl.so.2`) and double the download. Align the frameworks, or set `one-cuda-major = false` to have it anyway.",
    RequirementBroken = "requirement-broken": "An installed distribution requires another one, or a version of it, or a Python, that is not here: what `pip check` finds. It may fail when it is imported, or later. Install what it asks for, or another release of it.",
    FamilyBroken = "family-broken": "A package stands beside another release of its family than it was built against: torchvision, torchaudio and their like load torch's libraries and break where these changed (`operator torchvision::nms does not exist`, undefined symbols). Install the release that belongs to it.",
    LibraryTooOld = "library-too-old": "A framework was compiled against a newer cuDNN or NCCL than the one that is installed. It may refuse to start, or run without the GPU. Install at least the version that it asks for.",
    LibraryMissing = "library-missing": "A package is linked against a CUDA library that nothing in the environment carries, though its METADATA does not ask for it: a build for CUDA 13 beside the libraries of CUDA 12. It can't be imported (`libcudart.so.13: cannot open shared object file`), or it falls back to the CPU without a word. Choose a release that was built for the CUDA that is there.",
    SystemLibraryMissing = "system-library-missing": "The compiled code of a package is linked against a library of the system that is not here: no wheel carries it, and the loader's folders don't have it. The import ends in `cannot open shared object file`. A Debian package brings it; `colab-boot plan --add-apt` writes it into the profile's `[apt]`, which is installed before any wheel.",
    DuplicateDistribution = "duplicate-distribution": "One distribution is installed more than once. In one folder that is the trace of an interrupted installation: files of both are mixed. In several folders the first on Python's path is used.",
    CompatOld = "compat-old": "A cuda-compat package holds an older libcuda than the driver. On the library path it takes the driver's place, and what the driver can do more is lost. Forward compatibility is for drivers that are older than the package.",
    AuditOpen = "audit-open": "Requirements without an exact version, and distributions from elsewhere than an index, were not judged: which wheel they mean is not written down. A lock or the output of `pip freeze` says more.",
    AuditRefused = "audit-refused": "Installers refuse lines of the file, or a file that it names can't be read. The other lines were judged.",
    AuditUnread = "audit-unread": "The index has no wheel of this version for the target, so nothing about it could be read.",
    ResolveConflict = "resolve-conflict": "No set of wheels satisfies the profile on this target. The message is the shortest chain of reasons found; the help lists changes that were solved and do work.",
    ResolveUnknownPackage = "resolve-unknown-package": "No index that may serve this package has it. Check the spelling; a package of a private index needs an `[[index]]` that lists it.",
    ResolveNoWheel = "resolve-no-wheel": "The package exists, but has no wheel for this Python and platform. colab-boot never builds from source: builds in a notebook take an hour or fail.",
    ResolvePrerelease = "resolve-prerelease": "A pre-release was chosen: because no stable version satisfies the requirements, as pip and uv do; or because the profile names it or allows any. Set `prereleases = \"explicit\"` to refuse.",
    ResolveYanked = "resolve-yanked": "The pinned release was yanked by its authors. It was taken because the profile pins it exactly.",
    ResolveVariantsSkipped = "resolve-variants-skipped": "The index offers wheel variants (PEP 817 and 825, drafts). They were left out; the plain wheels were used.",
    ResolveSkipped = "resolve-skipped": "Releases or files were passed over because their metadata or names can't be parsed, as pip and uv pass over them too. What they repair (`>=4.0.*`, a missing comma) is repaired here as well.",
    ResolveExtraUnknown = "resolve-extra-unknown": "A package is asked for with an extra that the chosen release does not have; what the extra would have brought is not there. pip and uv warn and go on, and so do we; only where the extra is one for GPUs (`cuda12`, `gpu`) a release without it is no answer. Write the extra as the release has it, or leave it out.",
    ResolveHeldBack = "resolve-held-back": "A newer major version of a package exists for this Python, and something in the answer asks for an older one. That is often right; where it is not, a newer release of what holds it, or leaving that out, frees it. Name the package in the profile with the version that you want, and the error says what stands against it.",
    ResolveFromSource = "resolve-from-source": "No wheel fits, and the profile lets this package be built from source (`wheels-only = false`, `build`). The source is pinned by its digest; what its build downloads and runs is not. The build happens after the apt packages are installed, and needs the network.",
    LockWeak = "lock-weak": "Of a file, the index gives an MD5 or a SHA-1 alone. The file that was read for the lock has that digest, and the lock has its SHA-256; but others can be made that have the same MD5 or SHA-1.",
    LockUnhashed = "lock-unhashed": "The lock holds a file without a digest: the index gave none, and the file could not be read to take one. Nothing would prove what is installed, so nothing is.",
    WheelMalformed = "wheel-malformed": "A wheel has parts that make no sense: a zip directory, a library or a fat binary that is cut off or contradicts itself; the note gives the offset. It may be damaged on its way, or made by a tool that does not follow the formats. Nothing is concluded from such a part. A wheel that says that it is another distribution, or has files that can't be installed and removed again, is not installed.",
    MatrixBehind = "matrix-behind": "The index has releases of watched packages that the matrix has no row for. `colab-boot matrix refresh` reads their wheels.",
    MatrixWrong = "matrix-wrong": "A row of the matrix says something else than the wheel that it was made from. Rows are not edited by hand: read the wheel again with `colab-boot matrix refresh --again`.",
    CacheUnusable = "cache-unusable": "The cache folder can't be used. Nothing depends on it but speed: everything is fetched anew, and wheels that an apply needs must go somewhere else. One that belongs to another user, or that others may write to, is not read: what lies in it decides what is installed. Name another folder with COLAB_BOOT_CACHE_DIR.",
    LockMissing = "lock-missing": "This command works from a lock and found none. `colab-boot lock PROFILE` writes it.",
    LockStale = "lock-stale": "The lock was made from another text of the profile, or by another matrix, or for another target. `colab-boot lock PROFILE` makes it anew.",
    LockFuture = "lock-future": "The lock was written by a newer colab-boot in a format that this one does not know. Use that version or make the lock anew.",
    LockMalformed = "lock-malformed": "The lock can't be read. Locks are written by `colab-boot lock` and not by hand; make it anew.",
    MetadataDiffers = "metadata-differs": "A downloaded wheel has another METADATA than the one that the lock was solved with, though its bytes are the locked ones: an index that shows other requirements than its wheels have can leave packages out, or bring others in. Nothing is changed. Ask who runs the index, then make the lock anew.",
    WheelOverwrites = "wheel-overwrites": "A wheel would write over what is not its own: a file that belongs to no package, the interpreter, the files of its virtual environment, or a folder elsewhere that a link in site-packages leads to. Nothing is changed. Move the file away, or write `overwrite = \"keep-aside\"` in `[policy]`: `apply` then keeps it, and it comes back when the package goes. Remove the link, or choose another release of the package.",
    FilesEdited = "files-edited": "A file of an installed package was changed since it was installed, and the package is about to be replaced or removed. `apply` and `restore` keep the changed file in the state folder first, and say where. A change that is to stay belongs in a fork of the package, or in your own code.",
    FilesLeft = "files-left": "In the folders of a package that was removed there are files that no package has put there: somebody's own, or what a program wrote while it ran. They stay. Python may still import such a folder; remove it where nothing in it is needed.",
    PlanBreakage = "plan-breakage": "An installed package requires something that the plan would change. Nothing is done until the profile satisfies it too, or says `breakage = \"warn\"`.",
    PlanBlind = "plan-blind": "The bundled description of a runtime records versions, not requirements, so packages of the image that the plan would break can't be named. On the machine itself `plan` and `apply` see them.",
    PlanProtected = "plan-protected": "The profile can only be satisfied by another version of a package that the notebook kernel itself runs on. Moving it can take the session down, so it is refused.",
    PlanAptSkipped = "plan-apt-skipped": "The profile asks for Debian packages that are not installed, and this machine has no apt-get, or we are not root. The step is skipped; what loads their libraries may fail. Run as root, or have the packages installed.",
    ApplyFailed = "apply-failed": "A step of the install script failed. The steps before it are done and will be recognised; run the same command again when the cause is removed.",
    StartBroken = "start-broken": "After the install Python did not start any more: a new wheel brings files that run when it starts (`sitecustomize.py`, `*.pth`), and one of them fails. They were moved aside, for a Python that does not start can't be put right from a notebook. Choose another release of the package.",
    FetchOverBudget = "fetch-over-budget": "The wheels of the lock take more than the budget that was given. Nothing was fetched. Raise the budget, or fetch fewer targets.",
    DiskFull = "disk-full": "There is not enough free disk space for the wheels and for what they unpack to. Nothing was changed.",
    RestartPending = "restart-pending": "Packages that the kernel has loaded were replaced. Until the kernel restarts, Python mixes old code in memory with new files on disk. Restart it once, then run the cell again.",
    ForeignChange = "foreign-change": "A package that colab-boot installed was changed by another tool: a cell further down, a start-up script, pip. `apply` reinstalls the locked version, and the kernel restarts once more if it has loaded the other. Remove what changes it, or ask for that version in the profile.",
    KernelShadowed = "kernel-shadowed": "Python finds an older copy of a package before the one that is locked: in the user's own site-packages (`pip install --user`), in a folder on PYTHONPATH, or beside the notebook. Restarting does not help, for every kernel looks there first. Remove that copy, or unset PYTHONPATH.",
    EnvironmentAtStart = "environment-at-start": "The profile sets a variable that is read when a process starts. A notebook server hands its own environment to each kernel, so a restart would not change it for the kernel; processes that the kernel starts have it.",
    PlanPruneKept = "plan-prune-kept": "Something that colab-boot installed is no longer wanted and stays all the same: another installed package needs it, or what was there before it can't be had from an index. `[policy] prune = false` keeps all of it.",
    VerifyFiles = "verify-files": "Installed files differ from the wheels in the lock: changed, missing, or left over. An installer that was interrupted, or a later `pip install`, does this. `colab-boot apply` repairs it.",
    VerifyDebian = "verify-debian": "A Debian package that the lock names is not installed: it was removed since the apply, or the step was skipped for want of root. Libraries that wheels load from it are missing.",
    VerifyEnvironment = "verify-environment": "The profile sets variables that this kernel, or the environment file, does not have. A kernel reads the file when it starts, and the cell that applies sets those that a running kernel can still be given.",
    VerifySmoke = "verify-smoke": "A framework did not pass its smoke test in a process of its own. Its last lines are shown.",
    VerifyImport = "verify-import": "A package with compiled code could not be imported in a process of its own. Where its code does not fit what is here (a library that is missing, another NumPy or torch, an older glibc) it is an error, and the help names what is known; where a module itself objects it is a warning.",
    VerifyNoGpu = "verify-no-gpu": "The frameworks work, on the CPU: this machine has no GPU, so nothing can be said about CUDA here.",
    VerifyGpuUnused = "verify-gpu-unused": "The machine has a GPU but the framework does not use it. This is the silent failure; the details name the build and what it saw.",
    VerifyKernelOld = "verify-kernel-old": "The kernel is older than the apply: it may still run code that has been replaced. Restart it.",
    GoldenUnreadable = "golden-unreadable": "The index of a golden repository, `golden.toml`, is no index that this program reads: it was cut off, something stands behind its signatures, a key is not known, or its format is newer. What it names could mean something else, so that nothing of it is used.",
    GoldenUnsigned = "golden-unsigned": "Nobody vouches for this golden repository: its index has no signature, or nobody is trusted here. What it names is checked against its digests, but who changed the index last is not known. `colab-boot golden trust` pins the keys of those who may sign.",
    GoldenThreshold = "golden-threshold": "The index of a golden repository is not signed by as many as have to sign. Either somebody who may not has changed it, or its keys have changed since they were pinned here. Nothing of it is used; ask its keepers, by another way than the repository.",
    GoldenKeysUnpinned = "golden-keys-unpinned": "`golden trust` has pinned fewer keys than the repository names. An index that the other keys have signed is refused, though enough have signed it. Pin all keys, once their fingerprints are confirmed.",
    GoldenSignerUnknown = "golden-signer-unknown": "A signature of the index is of a key that is not trusted here, or of another text. There are enough others, so that the index is used.",
    GoldenSignerExpired = "golden-signer-expired": "A signature of the index is of a key whose line in `allowed_signers` does not allow it: it has ended, has not begun, or is for something else. There are enough others, so that the index is used.",
    GoldenRolledBack = "golden-rolled-back": "The index of a golden repository has a lower number than one that was seen before, or the same number and another content. A cache may hand out an old one; so may somebody who wants a release back that was withdrawn. Nothing of it is used.",
    GoldenStale = "golden-stale": "The index of a golden repository says until when it is fresh, and that day is past: what was withdrawn since is not known. Its keepers renew it with `colab-boot golden renew`.",
    GoldenDeprecated = "golden-deprecated": "This release of a golden profile is deprecated: it works, and another one should be taken before it expires. The message says why, until when, and what replaces it.",
    GoldenExpired = "golden-expired": "This release of a golden profile has expired: nobody looks after it any more, and new notebooks don't get it. The message says what replaces it.",
    GoldenYanked = "golden-yanked": "This release of a golden profile was withdrawn, for it is broken or unsafe; the message says why. Unlike a yanked release of an index it stops those who have pinned it, for a notebook runs far more often than it is locked. `--allow-yanked` runs it all the same.",
    GoldenNoBinary = "golden-no-binary": "The cells of a release do not say where colab-boot comes from. They take it from PATH or COLAB_BOOT_BINARY alone, and end with an error in a notebook that has neither. Publish the release with `--binary FILE`, `--binary-url` or `--wheel`, so that its cells download a pinned colab-boot.",
    GoldenFileDiffers = "golden-file-differs": "A file of a golden repository is not the one that its index names: another size or digest, or it is not there. Somebody has changed it, git has changed its line ends, or it is a pointer of Git LFS.",
    GoldenLineEnds = "golden-line-ends": "A file of a golden repository has carriage returns: git changes line ends here (`core.autocrlf`), which changes digests and signatures. The repository needs `* -text` in its `.gitattributes`; check it out anew.",
    GoldenNewer = "golden-newer": "The golden repository has a newer current release than the one that is pinned. `colab-boot golden update` shows the difference and takes it.",
    GoldenUnchecked = "golden-unchecked": "The golden repository could not be asked, so that nothing is known of what was withdrawn. What is pinned is as good as before.",
    GoldenCadence = "golden-cadence": "The golden repository does not keep the cadence that its own policy promises: too many current releases of a framework, a release without a replacement, evidence that is too old, a runtime that no release was made for, an index that is soon stale.",
    GoldenRepublished = "golden-republished": "A version of a golden profile that was published once is not published again with another content: somebody may have pinned it. Give the profile a new version.",
    GoldenSecret = "golden-secret": "What was to be published holds a password or a token. A golden repository is read by everybody who has its address.",
    RamLow = "ram-low": "Little memory is left below the limit that counts: that of the machine, or of the container's control group, file cache not counted. A notebook VM has no swap: what asks for more is killed, and the front end says no more than that the session crashed.",
    RamLimitHidden = "ram-limit-hidden": "A control group allows this kernel less memory than the machine has. `free` and most libraries show the machine's.",
    RamPressure = "ram-pressure": "Processes stand still because memory is being freed (PSI, `memory.pressure`). It comes before a kill, and explains training that stalls.",
    KernelPeak = "kernel-peak": "The kernel's highest use of memory so far came near the limit. The next larger batch may end it.",
    KernelThreads = "kernel-threads": "The control group has nearly as many threads as it allows: `can't start new thread` comes next.",
    ShmLeftover = "shm-leftover": "Segments in /dev/shm belong to processes that are gone. They hold memory until somebody removes them.",
    KernelMany = "kernel-many": "Several notebook kernels share this machine's memory. Each keeps what it has loaded until it is shut down.",
    KernelRestarts = "kernel-restarts": "The notebook server has restarted a kernel that died. Its log says when, not why.",
    LargeAllocLog = "large-alloc-log": "The notebook's log has a very large allocation before a restart.",
    ChildKilledOom = "child-killed-oom": "The kernel of the operating system has killed a process of this control group for memory since it was made. Where the notebook's kernel lives on it was a child of it: a `!command`, a worker of a loader.",
    GpuAbsent = "gpu-absent": "The environment is made for CUDA and there is no NVIDIA driver: frameworks run on the CPU, and say so once or not at all.",
    GpuLost = "gpu-lost": "The device files are there and the driver's tool can't reach it: the container has lost the GPU while it ran.",
    NvmlMismatch = "nvml-mismatch": "The library of the driver and the driver in the kernel of the operating system have two versions.",
    DriverUserInstalled = "driver-user-installed": "Debian packages of a driver are installed in a container that gets its driver from its host. They lead to error 803, or to a driver that is not the one that runs.",
    CompatOnPath = "compat-on-path": "A folder of CUDA's forward compatibility is found before the driver's own library, and the driver does not need it: errors 803 and 804.",
    DriverPathMissing = "driver-path-missing": "The driver's library is on the machine, and the loader does not know its folder: `libcuda.so: cannot open shared object file`, mostly from Triton.",
    GpuEcc = "gpu-ecc": "The GPU reports memory errors that were not corrected, or rows that wait to be replaced. Results may be wrong, and kernels fail.",
    GpuThrottled = "gpu-throttled": "The GPU runs slower than it can: heat, or a power brake. It is not the program.",
    GpuPcieNarrow = "gpu-pcie-narrow": "The GPU is connected by fewer PCIe lanes than it has. Idle links sleep, so that this counts under load alone.",
    GpuMig = "gpu-mig": "The GPU is a slice of a larger one (MIG). Its memory and its speed are those of the slice.",
    GpuExclusive = "gpu-exclusive": "The GPU serves one process alone (compute mode), and everybody else gets error 46.",
    GpuVisibleEnv = "gpu-visible-env": "CUDA_VISIBLE_DEVICES hides the GPU from this process. Frameworks say that there is none.",
    PrecisionMissing = "precision-missing": "The GPU has no units for this number format: it is emulated slowly, or refused.",
    LoadedTwice = "loaded-twice": "The kernel has mapped two copies of one library, from two places. Which one a call reaches depends on the order of imports: crashes, `undefined symbol`, wrong numbers.",
    LoadedMixedCudnn = "loaded-mixed-cudnn": "Parts of cuDNN were mapped from different folders. They must be of one version.",
    CudnnBelowBuild = "cudnn-below-build": "The cuDNN that the kernel has loaded is older than the one that a framework was built with, or of another major. torch then stops with `cuDNN version incompatibility`, JAX with `Outdated cuDNN installation found`.",
    LoadedDeleted = "loaded-deleted": "The kernel has mapped libraries that were replaced or removed on the disk since. What is imported next does not fit them.",
    LoadedNotWheel = "loaded-not-wheel": "A CUDA library of the system was loaded in place of the one that the framework brought. It works on one machine and not on the next.",
    LibraryKnownBad = "library-known-bad": "A library of this version is known to compute wrongly or to fail on this GPU.",
    LdLibraryPath = "ld-library-path": "LD_LIBRARY_PATH has folders that hide what wheels bring, or that are not there.",
    OpenmpTwo = "openmp-two": "Two OpenMP runtimes are loaded. Each starts threads of its own, and forks may hang.",
    FrameworkCpuBuild = "framework-cpu-build": "A framework is installed in its build for the CPU, and there is a GPU: it is silently unused.",
    JaxPluginMismatch = "jax-plugin-mismatch": "jax, jaxlib and the CUDA plugins have different versions. JAX then leaves the GPU alone, with a warning.",
    VramLow = "vram-low": "Little of the GPU's memory is free. What asks for more fails with `out of memory`.",
    VramHeldKernel = "vram-held-kernel": "The framework in this kernel keeps memory that nothing in it uses: its cache.",
    VramFragmented = "vram-fragmented": "The framework's cache is cut into pieces: `out of memory` though enough is reserved.",
    VramOrphan = "vram-orphan": "Processes that do not belong to the kernel have the GPU open: workers of a kernel that is gone, or another notebook.",
    VramPreallocated = "vram-preallocated": "TensorFlow or JAX takes most of the GPU's memory at its first operation, and another framework wants some.",
    ShmSmall = "shm-small": "Workers of data loaders pass batches through /dev/shm, and it is small: bus errors, `unable to allocate shared memory`.",
    WorkersTooMany = "workers-too-many": "More workers than CPUs that count: they stand in each other's way.",
    CpuQuotaHidden = "cpu-quota-hidden": "A control group allows fewer CPUs than the machine shows. Libraries start a thread for each that they see.",
    ForkAfterThreads = "fork-after-threads": "The kernel has initialised CUDA, or has loaded JAX, and starts workers by fork: `Cannot re-initialize CUDA in forked subprocess`, or a worker that never answers.",
    NofileLow = "nofile-low": "Few files may be open at once, or nearly all that may be are. Workers of data loaders need one for each batch that they pass.",
    MemlockLow = "memlock-low": "Little memory may be locked, which NCCL and others need between GPUs.",
    CpuFlags = "cpu-flags": "The CPU lacks instructions that wheels are built with: `Illegal instruction`.",
    MaxMapCount = "max-map-count": "The kernel has nearly as many mappings as the operating system allows: `mmap failed` with memory to spare.",
    DiskLow = "disk-low": "Little room is left on a disk: half-written checkpoints, installs that fail.",
    DataMissing = "data-missing": "A folder that the profile's `[doctor] data` names is not there: a mount that was not made, or a copy that was not brought.",
    DataRemote = "data-remote": "The data lies on a network or on FUSE: each file that is opened costs a round trip, and the GPU waits.",
    DriveTimeout = "drive-timeout": "Google Drive did not answer in time. Folders with very many entries are the usual reason.",
    DriveQuota = "drive-quota": "Google Drive refuses more reads for now: `Input/output error` in the middle of a run.",
    DriveFull = "drive-full": "Google Drive is full: what is written there vanishes. Drive accepts it first, and drops it later.",
    DriveStale = "drive-stale": "Google Drive is mounted, but its program does not run: every access fails or blocks.",
    MountHangs = "mount-hangs": "The server of a mount does not answer. A program that touches a file there blocks and cannot be killed, not even with SIGKILL. Unmount it with `umount -l`, then mount it again. colab-boot asks each remote mount through a child process first, and never touches one that does not answer within two seconds.",
    MountDead = "mount-dead": "The server of a mount is gone (`Transport endpoint is not connected`, a stale file handle): every access fails. Unmount it with `umount -l`, then mount it again.",
    EnvOnRemote = "env-on-remote": "The Python environment lies on a network or on FUSE: imports take minutes.",
    TmpInRam = "tmp-in-ram": "The folder for temporary files is in memory and holds much: what is unpacked there counts as RAM.",
    CheckpointEphemeral = "checkpoint-ephemeral": "The newest checkpoint lies on a disk that goes with the VM, and no place that lasts has one.",
    StaleModule = "stale-module": "The kernel has a module in memory in another version than is installed now.",
    ShadowedModule = "shadowed-module": "A file of yours has the name of a module and is found before it: `partially initialized module`, `has no attribute`.",
    PathOrder = "path-order": "Python looks in another folder before the environment's own, or in one that is not there.",
    DuplicateInstall = "duplicate-install": "A distribution is installed twice in one place. Which one counts depends on the order of a folder.",
    StaleBytecode = "stale-bytecode": "A compiled file is older than its source and Python runs it all the same: it has the source's second and size, or is never compared with it (PEP 552).",
    MixedApt = "mixed-apt": "A Python package is installed by Debian and by pip, in two versions.",
    PipEnv = "pip-env": "Settings of pip or uv lead elsewhere than the profile says. What is installed by hand then comes from there.",
    UserActions = "user-actions": "Packages were installed by hand since the last apply. The environment may not be what was locked.",
    EnvNotRead = "env-not-read": "A variable was set after the module that reads it was imported: it has no effect.",
    TokenExpires = "token-expires": "A credential ends before the work does, and nothing renews it: `401` after hours of training.",
    SecretReadable = "secret-readable": "A file with a credential can be read by other users of this machine.",
    SecretInWorkdir = "secret-in-workdir": "A file with a credential lies where it is zipped, committed or copied along.",
    SecretInEnvironmentFile = "secret-in-environment-file": "The profile's variables hold something that looks like a credential. Every Python of the environment reads it, and so does everybody who has the profile.",
    AdcUserLongRun = "adc-user-long-run": "Google credentials are those of a person. Sessions of people are ended by their organisation, a service account's are not.",
    SessionAge = "session-age": "The machine has been up for about as long as the service lets one run.",
    VmNew = "vm-new": "The machine has started anew since the last apply. What was installed and loaded before is not there.",
    HashseedLate = "hashseed-late": "PYTHONHASHSEED was set after the kernel had started: the order of its sets is random all the same.",
    TpuBusy = "tpu-busy": "Another process holds the TPU. A TPU has one owner at a time; everybody else is refused.",
    TpuTf = "tpu-tf": "TensorFlow takes the TPU while it is imported. JAX and torch_xla in the same kernel, or in another one, then find none.",
    ClockSkew = "clock-skew": "The clock of this machine differs from that of a server that colab-boot has asked. Tokens are refused right after a login (`401`, `invalid_grant: token used too early`), and certificates are not valid yet, or not any more.",
    TpuCudaWheels = "tpu-cuda-wheels": "CUDA's libraries are installed on a machine with a TPU: gigabytes for nothing.",
    SecretFound = "secret-found": "A text holds what looks like a password, a key or a token: by its own form, or by the name that it is given to. Everybody who has the file has the secret; taking it out does not take it back: revoke it.",
    KernelKilledOom = "kernel-killed-oom": "The operating system has killed the kernel for memory. The front end says that the session crashed; the recorder saw the signal, and the counter of kills that grew.",
    KernelKilledSignal = "kernel-killed-signal": "Somebody has ended the kernel: a person, a script, or the notebook server when it restarts one. Nothing was killed for memory at that time.",
    KernelNativeCrash = "kernel-native-crash": "Native code in the kernel has crashed. The newest frame of Python says which call it was in; the package is that of its file. `verify` holds its files against what was installed, and `doctor loaded` looks for libraries that are there twice.",
    KernelExited = "kernel-exited": "The kernel has ended itself: exit(), os._exit(), or a shutdown that somebody asked for.",
    KernelUnseen = "kernel-unseen": "A kernel has ended, and nobody has seen how: no recorder watched it, the recorder had ended before, or the notebook server took the exit status first. What the machine counted (`child-killed-oom`) and the server's log may say more.",
    RecorderOff = "recorder-off": "No recorder watches the notebook's kernel, so that nobody will know how it ended. Golden cells start one; `colab-boot record --start` does by hand.",
    StorageSlow = "storage-slow": "A folder hands out samples more slowly than the work needs, or takes more than a millisecond to open a file: the GPU waits for data. Measured by `colab-boot probe storage`. Copy the data to a disk of this machine (`colab-boot stage`), and pack small files.",
    FolderTooBig = "folder-too-big": "A folder on the network has so many names that listing it takes minutes or times out; Google Drive gives up after two. Spread it over subfolders, or pack it into tar files (`colab-boot stage --shards`).",
    VramLargestBlock = "vram-largest-block": "The driver gives no block that comes near to what it calls free: somebody holds memory in pieces, or a part of the card is set aside. A large tensor fails with `out of memory` although nvidia-smi shows room.",
    GpuSlow = "gpu-slow": "Copies or matrix products run well below what the card's data sheet promises: it is throttled, shared, or damaged. Measured by `colab-boot probe gpu` with large matrices, so that small launches are not the cause.",
    GpuWrong = "gpu-wrong": "What was copied to the GPU and back was changed on the way: memory or link is broken, and results are not to be trusted. Take another machine.",
    GpuBusy = "gpu-busy": "Somebody works on the GPU now. A measurement would disturb them, and their next allocation could fail while it holds memory.",
    CudaInit = "cuda-init": "The driver's library does not start (cuInit): no GPU that is visible, two versions of the driver, cuda-compat on a card that does not allow it, or a driver in a bad state. No framework can use the GPU then.",
    NcclPeer = "nccl-peer": "An all-reduce over the GPUs of this machine failed, hung or gave a wrong sum, or some of them can't read each other's memory. Training on several GPUs hangs at its first step, ends in `ncclSystemError`, or is slow.",
    StageIncomplete = "stage-incomplete": "Some files could not be brought: they could not be read, changed while they were read, or the disk did not take them. All others are whole and in their places; the same command goes on with the rest.",
    StageSkipped = "stage-skipped": "Links and devices were left out. A link may lead anywhere, also out of the source; where its target is wanted, name it as a source of its own.",
    PthBroken = "pth-broken": "Python prints a complaint each time it starts, mostly because a line of a `.pth` file in site-packages can't be run. Programs that start Python and read what it prints are confused by it, and what the line was for does not happen.",
    VramUnattributed = "vram-unattributed": "The GPU's memory is in use, and no process that can be seen here has the GPU open. The driver knows no containers: it counts the processes of its host. Somebody else on the same card has it, or a process of a container that is gone.",
    DriveUnflushed = "drive-unflushed": "Large files were written to Google Drive within the last minutes. Drive's program acknowledges a file before it is uploaded, so that what was written last is lost with the machine unless it is flushed.",
    GpuChanged = "gpu-changed": "Another GPU is here than was before, of a kind that ran as well. What was measured, compiled for one card (PTX, autotuning) or sized for its memory is to be looked at again.",
    TokenMissing = "token-missing": "The work needs a service (`[doctor] needs` in the profile), and no credential of it is here, neither in a variable nor in the usual files; or a variable names a file of credentials that is missing. Downloads end in 401 or in `Cannot access gated repo`, and logs are not sent.",
    PluginCheck = "plugin-check": "A check that another package brings, or a `[[doctor.check]]` of the profile, has found something. What it means, its authors know; the message names the check.",
    ScrubUnread = "scrub-unread": "A file could not be looked into, or what was found in it could not be taken out: it can't be read, is no text, or is in another encoding than UTF-8. Whether it holds a secret is not known, so the answer is no.",
    VerifyTpuUnused = "verify-tpu-unused": "The machine has a TPU, and the framework computed on the CPU: libtpu is not installed, is of another release than JAX wants, or another process holds the device, which has one owner at a time.",
    VerifyNotDeterministic = "verify-not-deterministic": "A small training was run twice from one seed, each in a process of its own, and the results differ; or there was no framework to train. Two runs that agree are the only proof that a setting works on this machine.",
    EnvPreset = "env-preset": "Variables that `[env] preset` and `[determinism]` add for the releases that the lock has, each with its reason. What the profile sets itself counts before them.",
    EnvIgnored = "env-ignored": "A variable, of `[env]` or of the kernel, has no effect with the releases that are locked or installed. They use another name, have dropped it, or do not know its value. The help names what works.",
    EnvRefused = "env-refused": "A variable, of `[env]` or of the kernel, has a value or an option that a locked or installed release does not know, or that contradicts another. Some end the process without a traceback: an unknown flag in XLA_FLAGS does so at the first use of JAX.",
    DeterminismPartial = "determinism-partial": "`[determinism]` makes runs repeat on one machine with one set of releases. Other GPU models, drivers, numbers of workers and custom kernels are beyond what any setting can promise; the notes say so for each framework.",
    NothingApplied = "nothing-applied": "There is no marker on this machine: colab-boot has applied nothing here, or the machine is new since then.",
}

impl Code {
    /// The code with this name.
    pub fn find(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.as_str() == text)
    }
}

impl Display for Code {
    fn fmt(&self, f: &mut Formatter<'_>) -> FmtResult {
        f.pad(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::find(&text).ok_or_else(|| D::Error::custom(format!("there is no code `{text}`")))
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
