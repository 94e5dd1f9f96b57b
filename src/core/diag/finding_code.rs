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
    ProfileSyntax = "profile-syntax": "The profile is not valid TOML, so nothing else was checked. The caret marks where parsing stopped.",
    ProfileUnknownKey = "profile-unknown-key": "The profile has an unknown key. Unknown keys are errors, so that a misspelled `breakage` is not silently ignored. `colab-boot init` writes a profile with every key.",
    ProfileMissingKey = "profile-missing-key": "The profile lacks a required key. A profile needs at least one package in `[frameworks]` or `[packages]`.",
    ProfileWrongType = "profile-wrong-type": "A value has the wrong type for its key, for example a number instead of a string.",
    ProfileBadValue = "profile-bad-value": "A value has the right type but is invalid. Package names follow PEP 503, specifiers PEP 440 and markers PEP 508. Debian package names must be valid, too. A profile must not set variables that change how programs and libraries are found.",
    ProfileConflict = "profile-conflict": "Two keys of the profile contradict each other, for example the same package in `[frameworks]` and `[packages]`, or an `index` that no `[[index]]` defines.",
    MachineUnreadable = "machine-unreadable": "A source of facts about the machine could not be read or parsed. It was skipped and the next source was tried. If none is left, set the fact with an option.",
    MachineNoGpu = "machine-no-gpu": "No NVIDIA GPU was found. CUDA wheels install without one and their frameworks run on the CPU. In a notebook, choose a GPU runtime; on a laptop, set the target with --runtime and --gpu.",
    MachineNotPlanned = "machine-not-planned": "The lock was made for a different machine: another Python, an older C library, or a GPU or driver outside the range of its targets.",
    DriverTooOld = "driver-too-old": "The NVIDIA driver is too old for the CUDA runtime of the chosen wheels. A driver cannot be updated from inside a notebook. Choose wheels of an older CUDA major version, or a runtime with a newer driver. Minimum drivers: CUDA 11 needs 450.80.02, CUDA 12 needs 525.60.13, CUDA 13 needs 580.65.06 (NVIDIA, minor-version compatibility).",
    DriverAssumed = "driver-assumed": "A GPU was named without its driver, and no driver was detected. The oldest driver in use that supports the GPU is assumed, so the result also runs with newer ones. Set the driver with --driver to get the newest CUDA that it supports.",
    GpuNotCovered = "gpu-not-covered": "The wheel has no machine code for this GPU, and no PTX that the driver could compile. At run time this fails with `no kernel image is available for execution on the device`. Choose an older release that still supports this architecture, or another GPU.",
    GpuUnknown = "gpu-unknown": "The GPU is not in the bundled matrix and its compute capability could not be read, so it is unknown whether wheels support it. Set the capability with --gpu, for example `--gpu 8.9`.",
    GpuPtxOnly = "gpu-ptx-only": "The wheel has only PTX for this GPU. It runs, but the driver compiles every kernel at its first launch. For a framework this takes minutes, and the result is cached on this machine only (CUDA_CACHE_PATH). The driver must support the ISA version of the PTX; an older driver rejects it.",
    BuildUnknown = "build-unknown": "Neither the bundled matrix nor the wheel itself states which GPUs a package was built for, so this was not checked. With network access the wheel is read. `colab-boot matrix inspect NAME==VERSION` shows what it contains.",
    FilesCollide = "files-collide": "Two distributions install different files at the same path. Installers do not report this: the second one overwrites the first one's file, and uninstalling either removes it for both. With shared libraries, the wrong one is loaded. Choose releases of the same CUDA major version, or remove one of the two. The code also covers a module that two packages have in different files, such as `mod.py` and `mod/__init__.py`. Python then imports the folder and never the file.",
    LinkingUnread = "linking-unread": "The matrix has no row for the compiled code of a wheel, and its linked libraries could not be read. The wheel is too large to read while resolving, or the index did not answer. Nothing is refused because of this. `colab-boot matrix inspect` reads the whole wheel.",
    FilesUnchecked = "files-unchecked": "The file lists of some wheels could not be read (offline, or a server without range requests), so collisions with their files are unknown.",
    CudaMixedMajors = "cuda-mixed-majors": "The profile's packages need libraries of two CUDA major versions. These overwrite each other's files (`libcudnn.so.9`, `libnccl.so.2`) and double the download. Align the frameworks, or set `one-cuda-major = false` to allow it.",
    RequirementBroken = "requirement-broken": "A requirement of an installed distribution is not met: another distribution, a version of it, or a Python version (as `pip check` reports). The distribution may fail on import or later. Install what it requires, or choose another release of it.",
    FamilyBroken = "family-broken": "A package is installed beside a release of its family that it was not built against. torchvision, torchaudio and similar packages load torch's libraries and break when these change (`operator torchvision::nms does not exist`, undefined symbols). Install the matching release.",
    LibraryTooOld = "library-too-old": "A framework was compiled against a newer cuDNN or NCCL than the installed one. It may refuse to start, or run without the GPU. Install at least the version that it requires.",
    LibraryMissing = "library-missing": "A package is linked against a CUDA library that no installed package provides, although its METADATA does not require it. An example is a build for CUDA 13 beside the libraries of CUDA 12. The import fails (`libcudart.so.13: cannot open shared object file`), or it silently falls back to the CPU. Choose a release that was built for the installed CUDA.",
    SystemLibraryMissing = "system-library-missing": "The compiled code of a package needs a system library that no wheel contains and that is not installed. The import fails with `cannot open shared object file`. A Debian package provides it: `colab-boot plan --add-apt` adds it to the profile's `[apt]`, which is installed before the wheels.",
    DuplicateDistribution = "duplicate-distribution": "A distribution is installed more than once. In one folder, this is the result of an interrupted installation: files of both versions are mixed. In several folders, the first one on Python's path is used.",
    CompatOld = "compat-old": "A cuda-compat package contains an older libcuda than the driver. If it is on the library path, it replaces the driver's library and newer features are lost. Forward compatibility is for drivers that are older than the package.",
    ImportIncomplete = "import-incomplete": "`init --from` made a profile of other files, and some of their lines are not in it. The profile lists each as a comment with the reason: a folder or a repository in place of a release, an index, a label such as `+cu128`, an option of an installer.",
    ExportOwnSource = "export-own-source": "The export needs a file with a digest for each package, but a package comes from a folder, a repository or a file of the profile. Build a wheel of it once, and name that with `url` and `sha256`, or put it on an index of your own.",
    ExportImageOnly = "export-image-only": "The export needs a file for each package, but a package of the target is available only from its notebook image, such as Colab's build of torch. Lock for a target without packages: `runtimes = [\"bare-3.12\"]` in `[target]`, then `colab-boot lock`.",
    AuditOpen = "audit-open": "Requirements without an exact version, and distributions that are not from an index, were not checked, because it is unknown which wheel they mean. Use a lock or the output of `pip freeze`.",
    AuditRefused = "audit-refused": "Installers reject some lines of the file, or a file that it includes cannot be read. The other lines were checked.",
    AuditMissing = "audit-missing": "The index has other releases of this package, but not this version. Installers fail on it.",
    AuditHash = "audit-hash": "The digests of the line do not match the index's wheel for the target. Installers reject it: the wheel was replaced, or the digests are for another platform.",
    AuditUnread = "audit-unread": "The index has no wheel of this version for the target, so it could not be checked.",
    ResolveConflict = "resolve-conflict": "No set of wheels satisfies the profile on this target. The message shows the shortest chain of reasons. The help lists changes that were resolved and work.",
    ResolveUnknownPackage = "resolve-unknown-package": "No index that may provide this package has it. Check the spelling. A package of a private index needs an `[[index]]` that lists it.",
    ResolveNoWheel = "resolve-no-wheel": "The package exists but has no wheel for this Python and platform. colab-boot does not build from source by default, because builds in a notebook take long or fail.",
    ResolvePrerelease = "resolve-prerelease": "A pre-release was chosen, because no stable version satisfies the requirements (as in pip and uv), or because the profile names it or allows pre-releases. Set `prereleases = \"explicit\"` to refuse it.",
    ResolveYanked = "resolve-yanked": "The pinned release was yanked by its authors. It was used because the profile pins it exactly.",
    ResolveVariantsSkipped = "resolve-variants-skipped": "The index offers wheel variants (PEP 817 and 825, drafts). They were ignored; the plain wheels were used.",
    ResolveSkipped = "resolve-skipped": "Releases or files were skipped because their metadata or names cannot be parsed; pip and uv skip them, too. Common mistakes that pip and uv repair (`>=4.0.*`, a missing comma) are repaired here as well.",
    ResolveExtraUnknown = "resolve-extra-unknown": "The chosen release does not have a requested extra, so the packages of the extra are not installed. pip and uv also warn and continue. A release is rejected only if a GPU extra (`cuda12`, `gpu`) is missing. Correct the name of the extra, or remove it.",
    ResolveHeldBack = "resolve-held-back": "For this Python there is a newer release of a package that the profile names, or a newer major version of another one. Another package requires an older one, or the newer release does not run here. Often this is correct. Otherwise update or remove the package that requires the older release. To see the conflict, pin the version that you want in the profile.",
    ResolveFromSource = "resolve-from-source": "No wheel fits, and the profile allows building this package from source (`wheels-only = false`, `build`). The source is pinned by digest; what its build downloads and runs is not. It is built after the apt packages are installed, and needs the network.",
    ResolveTwoSources = "resolve-two-sources": "A folder of wheels and an index have different releases under one name. The newest one that satisfies the requirements is chosen, whichever has it. If the folder's package is your own, anybody can publish a newer release with its name on a public index, and it would be installed (dependency confusion). Name the place that the package comes from: `path`, or an `[[index]]` for the folder with `packages`.",
    LockWeak = "lock-weak": "The index provides only an MD5 or SHA-1 digest for a file. The file that was read for the lock matches it, and the lock contains its SHA-256. However, other files with the same MD5 or SHA-1 can be created.",
    LockUnhashed = "lock-unhashed": "The lock contains a file without a digest: the index provided none, and the file could not be read to compute one. It is not installed, because it could not be verified.",
    WheelMalformed = "wheel-malformed": "Parts of a wheel are invalid: a zip directory, a library or a fat binary is truncated or contradicts itself. The note shows the offset. The wheel may be damaged, or made by a tool that does not follow the formats. Invalid parts are not used. A wheel is rejected if it names another distribution, or has files that cannot be installed and removed cleanly.",
    CacheUnusable = "cache-unusable": "The cache folder cannot be used. It only affects speed: everything is downloaded again. A cache folder that belongs to another user, or that others may write to, is not read, because its content decides what is installed. Set another folder with COLAB_BOOT_CACHE_DIR.",
    LockMissing = "lock-missing": "This command needs a lock, and there is none. `colab-boot lock PROFILE` writes it.",
    LockStale = "lock-stale": "The profile changed after it was locked, or the lock was made with another matrix or for another target. Run `colab-boot lock PROFILE` to update it.",
    LockFuture = "lock-future": "The lock was written by a newer colab-boot in an unknown format. Use that version, or run `colab-boot lock PROFILE` again.",
    LockMalformed = "lock-malformed": "The lock cannot be read. Locks are written by `colab-boot lock`, not by hand. Run it again.",
    MetadataDiffers = "metadata-differs": "A downloaded wheel has different METADATA than the index showed when the lock was made, although its bytes match the lock. Such an index can omit requirements or add others. Nothing was changed. Ask the operator of the index, then lock again.",
    WheelOverwrites = "wheel-overwrites": "A wheel would overwrite a file that it does not own. The file belongs to no package, to the interpreter or to its virtual environment, or a link in site-packages points to its folder. Nothing was changed. Move the file away, or set `overwrite = \"keep-aside\"` in `[policy]`: `apply` then keeps the file and restores it when the package is removed. Remove the link, or choose another release of the package.",
    FilesEdited = "files-edited": "A file of an installed package was edited, and the package is about to be replaced or removed. `apply` and `restore` first copy the edited file to the state folder and print its path. For a permanent change, use a fork of the package or your own code.",
    FilesMissing = "files-missing": "An installed package lists modules or libraries that do not exist: somebody deleted them, or an installer was interrupted. Importing them fails. `audit` looks whether they exist; `colab-boot verify` and `apply` compare the content of locked packages, too. Images that delete tests to save space lack files that nothing imports.",
    FilesLeft = "files-left": "The folders of a removed package contain files that the package did not install: your own, or files that a program wrote. They were kept. Python may still import such a folder; delete it if you do not need it.",
    PlanBreakage = "plan-breakage": "The plan would break a requirement of an installed package. Nothing is done until the profile satisfies it, too, or sets `breakage = \"warn\"`.",
    FilesRewritten = "files-rewritten": "A start-up file of the environment (a `.pth` file, `sitecustomize.py`) changes a file of a package whenever Python starts, so no repair lasts. Company images do this to add their certificates to `certifi/cacert.pem`. The changed file is kept, and the verdict mentions it.",
    RuntimeOutdated = "runtime-outdated": "The description of this notebook image is more than 30 days old, and the service changes the image every few weeks. Versions on the machine may differ from the planned ones. The service does not change images with a date in their name.",
    RuntimeUnread = "runtime-unread": "A file in the folder of imported notebook images does not describe an image, so `--runtime` does not know it. Delete it, or write it again with `colab-boot runtime import`.",
    PlanBlind = "plan-blind": "The requirements of these packages of a described image are unknown, because no index has a wheel of their versions. Run `colab-boot plan` on the machine itself to see whether it would break them. Requirements of other packages are from the index. Builds with a label (`+cu128`) use those of the public release, with the image's own CUDA libraries.",
    PlanProtected = "plan-protected": "The profile requires another version of a package that the notebook kernel itself uses. Replacing it can end the session, so it is refused.",
    PlanAptSkipped = "plan-apt-skipped": "The profile requires Debian packages that are not installed, and this machine has no apt-get, or you are not root. The step is skipped; packages that load their libraries may fail. Run as root, or install the packages another way.",
    ApplyFailed = "apply-failed": "A step of the install script failed. Earlier steps are done and are not repeated. Fix the cause and run the same command again.",
    StartBroken = "start-broken": "Python did not start after the install: a new wheel has files that run at startup (`sitecustomize.py`, `*.pth`), and one of them fails. They were moved aside, because a broken Python cannot be repaired from a notebook. Choose another release of the package.",
    FetchOverBudget = "fetch-over-budget": "The wheels of the lock exceed the given budget. Nothing was downloaded. Raise the budget, or select fewer targets.",
    DiskFull = "disk-full": "There is not enough free disk space for the wheels and their unpacked files. Nothing was changed.",
    RestoreDiffers = "restore-differs": "A package is back at its version from before the first apply, but with different files. The index has another build of it, or an edited file could not be kept. To get the earlier files, reinstall the package from its original source.",
    RestartPending = "restart-pending": "Packages that the kernel has loaded were replaced. Until the kernel restarts, Python mixes old code in memory with new files on disk. Restart the kernel once, then run the cell again.",
    ForeignChange = "foreign-change": "A package that colab-boot installed was changed by another tool: a later cell, a startup script, or pip. `apply` reinstalls the locked version, and the kernel restarts once more if it has loaded the other version. Remove the cell that changes it, or pin that version in the profile.",
    KernelShadowed = "kernel-shadowed": "Python finds another copy of a package before the locked one. The copy is in the user's own site-packages (`pip install --user`), in a folder on PYTHONPATH, or beside the notebook. A restart does not help, because every kernel searches there first. Remove that copy, or unset PYTHONPATH.",
    EnvironmentChanged = "environment-changed": "Code in the kernel changed a variable after the kernel received it from the profile. A boot cell sets it again. Modules that read it in between may keep the other value until the kernel restarts. Remove the line that changes it, or set the value in `[env]`.",
    EnvironmentAtStart = "environment-at-start": "The profile sets a variable that is read when a process starts. A notebook server passes its own environment to each kernel, so a restart would not change it for the kernel. Processes that the kernel starts have it.",
    PlanPruneKept = "plan-prune-kept": "A package that colab-boot installed is no longer required but is kept. Another installed package needs it, or no index has its earlier version. `[policy] prune = false` keeps all such packages.",
    VerifyFiles = "verify-files": "Installed files differ from the wheels in the lock: changed, missing, or left over. Causes are an interrupted installer or a later `pip install`. `colab-boot apply` repairs them.",
    VerifyDebian = "verify-debian": "A Debian package in the lock is not installed: it was removed after the apply, or skipped without root. Libraries that wheels load from it are missing.",
    VerifyEnvironment = "verify-environment": "Variables of the profile are missing in this kernel or in the environment file. A kernel reads the file when it starts. The boot cell sets the variables that a running kernel can still use.",
    VerifySmoke = "verify-smoke": "A framework failed its smoke test in a separate process. Its last lines of output are shown.",
    VerifyImport = "verify-import": "A package that the profile names, or one with compiled code, could not be imported in a separate process. The finding is an error if the profile names the package, or if its code does not fit the environment (a missing library, another NumPy or torch, an older glibc); the help shows what is known. For another package it is a warning. `[[accept]]` turns it into a note.",
    VerifyNoGpu = "verify-no-gpu": "The frameworks work on the CPU. This machine has no GPU, so CUDA was not tested.",
    VerifyGpuUnused = "verify-gpu-unused": "The machine has a GPU, but the framework does not use it. Frameworks do not report this by themselves. The details show the build and what it detected.",
    VerifyKernelOld = "verify-kernel-old": "The kernel started before the apply and may still run replaced code. Restart it.",
    GoldenUnreadable = "golden-unreadable": "The index of a golden repository, `golden.toml`, cannot be read. It is truncated, has content after its signatures, has an unknown key, or has a newer format. The index is not used, because part of it is not understood.",
    GoldenUnsigned = "golden-unsigned": "The index of this golden repository has no trusted signature: it is unsigned, or no keys are pinned here. The files match the digests of the index, but it is unknown who changed the index last. `colab-boot golden trust` pins the keys of its signers.",
    GoldenThreshold = "golden-threshold": "The index of a golden repository has too few trusted signatures. Either it was changed without permission, or its keys changed after they were pinned here. The index is not used. Ask its maintainers through a channel other than the repository.",
    GoldenKeysUnpinned = "golden-keys-unpinned": "`golden trust` has pinned fewer keys than the repository lists. An index that is signed by the other keys is refused, even with enough signatures. Pin all keys after confirming their fingerprints.",
    GoldenSignersChanged = "golden-signers-changed": "The signers of a golden repository changed after their keys were pinned, in the cell or here. Enough of the earlier signers have signed each change, so the index is used. The notes list the keys.",
    GoldenSignerUnknown = "golden-signer-unknown": "An index signature is from an untrusted key, or covers different content. Enough other signatures are valid, so the index is used.",
    GoldenSignerExpired = "golden-signer-expired": "An index signature is from a key that its line in `allowed_signers` does not allow. The key has expired, is not valid yet, or is for another purpose. Enough other signatures are valid, so the index is used.",
    GoldenRolledBack = "golden-rolled-back": "The index of a golden repository has a lower sequence number than one seen before, or the same number with different content. The cause may be an outdated cache, or an attempt to bring back a withdrawn release. The index is not used.",
    GoldenStale = "golden-stale": "The index of a golden repository is past its freshness date, so later withdrawals are unknown. After 30 more days it is an error for those who use a release. Its maintainers extend the date with `colab-boot golden sign --renew`; `--allow-stale` continues.",
    GoldenDeprecated = "golden-deprecated": "This release of a golden profile is deprecated: it works, but should be replaced before it expires. The message shows why, until when, and its replacement.",
    GoldenExpired = "golden-expired": "This release of a golden profile has expired: it is no longer maintained, and new notebooks do not get it. The message shows its replacement.",
    GoldenYanked = "golden-yanked": "This release of a golden profile was withdrawn because it is broken or unsafe; the message shows why. Unlike a yanked release of a package index, it is refused even if it is pinned: notebooks run far more often than they are locked. `--allow-yanked` runs it anyway.",
    GoldenNoBinary = "golden-no-binary": "The cells of a release do not state where to download colab-boot. They only use PATH or COLAB_BOOT_BINARY, and fail in a notebook that has neither. Publish the release with `--binary FILE`, `--binary-url` or `--wheel`, so that its cells download a pinned colab-boot.",
    GoldenFileDiffers = "golden-file-differs": "A file of a golden repository does not match its index: it has another size or digest, or is missing. It was changed, git converted its line endings, or it is a pointer of Git LFS.",
    GoldenLineEnds = "golden-line-ends": "A file of a golden repository has carriage returns: git converts line endings here (`core.autocrlf`), which changes digests and signatures. Add `* -text` to the `.gitattributes` of the repository and check it out again.",
    GoldenNewer = "golden-newer": "The golden repository has a newer current release than the pinned one. `colab-boot golden update` shows the difference and installs it.",
    GoldenUnchecked = "golden-unchecked": "The golden repository could not be reached, so withdrawals are unknown. The pinned release itself is unchanged.",
    GoldenCadence = "golden-cadence": "The golden repository does not meet its own policy. It has too many current releases of a framework, outdated verification records, or an index that is nearly outdated. Or a release lacks a replacement, or a runtime lacks a release.",
    GoldenRepublished = "golden-republished": "This version of a golden profile is already published with different content. Published releases are immutable, because users may have pinned them. Choose a new version.",
    GoldenSecret = "golden-secret": "The files to publish contain a password or a token. Everyone who has the address of a golden repository can read it.",
    RamLow = "ram-low": "Little memory is left below the limit of the machine or of the container's control group (file cache not counted). A notebook VM has no swap: a process that needs more is killed, and the front end only reports that the session crashed.",
    RamLimitHidden = "ram-limit-hidden": "A control group limits this kernel to less memory than the machine has. `free` and most libraries show the memory of the machine.",
    RamPressure = "ram-pressure": "Processes are stalled while memory is being reclaimed (PSI, `memory.pressure`). This slows down training and precedes an out-of-memory kill.",
    KernelPeak = "kernel-peak": "The kernel's peak memory use came close to the limit. A larger batch may exceed it.",
    KernelThreads = "kernel-threads": "The control group is close to its limit of threads. The next error is `can't start new thread`.",
    ShmLeftover = "shm-leftover": "Segments in /dev/shm belong to processes that have ended. They use memory until they are deleted.",
    KernelMany = "kernel-many": "Several notebook kernels share the memory of this machine. Each keeps its data until it is shut down.",
    KernelRestarts = "kernel-restarts": "The notebook server restarted a kernel that died. Its log shows when, but not why.",
    LargeAllocLog = "large-alloc-log": "The notebook's log shows a very large allocation before a restart.",
    ChildKilledOom = "child-killed-oom": "The operating system killed a process of this control group because memory ran out. If the notebook's kernel is still running, it was a child process: a `!command`, or a data loader worker.",
    GpuAbsent = "gpu-absent": "The environment is built for CUDA, but there is no NVIDIA driver. Frameworks run on the CPU and report it once or not at all.",
    GpuLost = "gpu-lost": "The device files exist, but the driver's tool cannot reach the GPU: the container lost it while running.",
    NvmlMismatch = "nvml-mismatch": "The driver's library and the driver in the operating system's kernel have different versions.",
    DriverUserInstalled = "driver-user-installed": "Debian packages of a driver are installed in a container that uses the driver of its host. This causes error 803, or loads the wrong driver.",
    CompatOnPath = "compat-on-path": "A folder of CUDA forward compatibility comes before the driver's own library, and this driver does not need it. This causes errors 803 and 804.",
    DriverPathMissing = "driver-path-missing": "The driver's library exists, but the loader does not search its folder: `libcuda.so: cannot open shared object file`, usually from Triton.",
    GpuEcc = "gpu-ecc": "The GPU reports uncorrected memory errors, or rows that are waiting for replacement. Results may be wrong, and kernels may fail.",
    GpuThrottled = "gpu-throttled": "The GPU runs below its normal clock because of heat or a power limit.",
    GpuPcieNarrow = "gpu-pcie-narrow": "The GPU uses fewer PCIe lanes than it has. Idle links are reduced to save power, so this matters under load only.",
    GpuMig = "gpu-mig": "The GPU is in MIG mode: this is a slice of a larger GPU, with only part of its memory and speed.",
    GpuExclusive = "gpu-exclusive": "The GPU is in exclusive-process mode: a second process fails with error 46.",
    GpuVisibleEnv = "gpu-visible-env": "CUDA_VISIBLE_DEVICES hides the GPU from this process. Frameworks report that there is no GPU.",
    PrecisionMissing = "precision-missing": "The GPU has no hardware for this number format: it is emulated slowly, or rejected.",
    LoadedTwice = "loaded-twice": "The kernel has loaded two copies of a library from different folders. The order of imports decides which one is called. This causes crashes, `undefined symbol` errors and wrong numbers.",
    LoadedMixedCudnn = "loaded-mixed-cudnn": "Parts of cuDNN were loaded from different folders. They must have the same version.",
    CudnnBelowBuild = "cudnn-below-build": "The loaded cuDNN is older than the one that a framework was built with, or has a different major version. torch then fails with `cuDNN version incompatibility`, JAX with `Outdated cuDNN installation found`.",
    LoadedDeleted = "loaded-deleted": "The kernel has loaded libraries that were since replaced or removed on disk. Modules that are imported now do not fit them.",
    LoadedNotWheel = "loaded-not-wheel": "A CUDA library of the system was loaded instead of the one in the framework's wheel. It may work on this machine and fail on another.",
    LibraryKnownBad = "library-known-bad": "This version of a library is known to compute wrong results or to fail on this GPU.",
    LdLibraryPath = "ld-library-path": "LD_LIBRARY_PATH has folders that hide the libraries of wheels, or that do not exist.",
    OpenmpTwo = "openmp-two": "Two OpenMP runtimes are loaded. Each starts its own threads, and forked processes may hang.",
    FrameworkCpuBuild = "framework-cpu-build": "A framework runs on the CPU although there is a GPU: it is a CPU build, or the package with its CUDA part is missing. Frameworks do not report this by themselves.",
    JaxPluginMismatch = "jax-plugin-mismatch": "jax, jaxlib and the CUDA plugins have different versions. JAX then does not use the GPU and only prints a warning.",
    VramLow = "vram-low": "Little GPU memory is free. Larger allocations fail with `out of memory`.",
    VramHeldKernel = "vram-held-kernel": "The framework in this kernel keeps unused GPU memory in its cache.",
    VramFragmented = "vram-fragmented": "The framework's GPU memory cache is fragmented: allocations fail with `out of memory` although enough memory is reserved.",
    VramOrphan = "vram-orphan": "Processes outside this kernel use the GPU: workers of a kernel that has ended, or another notebook.",
    VramPreallocated = "vram-preallocated": "TensorFlow or JAX reserves most of the GPU memory at its first operation, and another framework needs some.",
    ShmSmall = "shm-small": "Data loader workers pass batches through /dev/shm, which is small. This causes bus errors and `unable to allocate shared memory`.",
    WorkersTooMany = "workers-too-many": "There are more workers than usable CPUs. They slow each other down.",
    CpuQuotaHidden = "cpu-quota-hidden": "A control group allows fewer CPUs than the machine shows. Libraries start one thread per visible CPU.",
    ForkAfterThreads = "fork-after-threads": "The kernel has initialized CUDA or loaded JAX, and starts workers by fork. This causes `Cannot re-initialize CUDA in forked subprocess`, or a worker that hangs.",
    NofileLow = "nofile-low": "The limit of open files is low, or nearly reached. Data loader workers need one for each batch that they pass.",
    MemlockLow = "memlock-low": "The limit of locked memory is low. NCCL and other libraries need it to communicate between GPUs.",
    CpuFlags = "cpu-flags": "The CPU lacks instructions that wheels are built with: `Illegal instruction`.",
    MaxMapCount = "max-map-count": "The kernel has nearly as many memory mappings as the operating system allows. The next error is `mmap failed`, although memory is free.",
    DiskLow = "disk-low": "Little disk space is left. Checkpoints may be incomplete, and installs may fail.",
    DataMissing = "data-missing": "A folder of the profile's `[doctor] data` does not exist: it was not mounted, or not copied yet.",
    DataRemote = "data-remote": "The data is on a network or FUSE file system: opening each file costs a round trip, while the GPU waits.",
    DriveTimeout = "drive-timeout": "Google Drive did not answer in time. The usual cause is a folder with very many entries.",
    DriveQuota = "drive-quota": "The quota of Google Drive is reached: reads fail with `Input/output error`. Retry later.",
    DriveFull = "drive-full": "Google Drive is full: it accepts new files first and discards them later.",
    DriveStale = "drive-stale": "Google Drive is mounted, but its process is not running: every access fails or blocks.",
    MountHangs = "mount-hangs": "The server of a mount does not answer. A program that accesses it blocks and cannot be killed, not even with SIGKILL. Unmount it with `umount -l`, then mount it again. colab-boot tests each remote mount in a child process first, and does not access one that does not answer within two seconds.",
    MountDead = "mount-dead": "The server of a mount has ended (`Transport endpoint is not connected`, a stale file handle): every access fails. Unmount it with `umount -l`, then mount it again.",
    EnvOnRemote = "env-on-remote": "The Python environment is on a network or FUSE file system: imports take minutes.",
    TmpInRam = "tmp-in-ram": "The folder for temporary files is in memory and contains large files, which count as RAM.",
    CheckpointEphemeral = "checkpoint-ephemeral": "The newest checkpoint is on a disk that is deleted with the VM, and no persistent folder has a copy.",
    StaleModule = "stale-module": "The kernel has loaded another version of a module than the installed one.",
    ShadowedModule = "shadowed-module": "One of your files has the name of a module and is found first. This causes `partially initialized module` and `has no attribute` errors.",
    PathOrder = "path-order": "Python's path has a missing folder, or one that comes before the environment's own.",
    DuplicateInstall = "duplicate-install": "A distribution is installed twice in one folder. The order of the folder's entries decides which one is used.",
    StaleBytecode = "stale-bytecode": "A compiled file is older than its source, but Python runs it. The file records the same time (in seconds) and size as the source, or is never compared with it (PEP 552).",
    MixedApt = "mixed-apt": "A Python package is installed by Debian and by pip, in different versions.",
    PipEnv = "pip-env": "Settings of pip or uv select a different index than the profile. Packages that you install manually come from there.",
    UserActions = "user-actions": "Packages were installed by hand since the last apply. The environment may differ from the lock.",
    EnvNotRead = "env-not-read": "A variable was set after the module that reads it was imported, so it has no effect.",
    TokenExpires = "token-expires": "A credential expires before the work ends, and nothing renews it: `401` after hours of training.",
    SecretReadable = "secret-readable": "Other users of this machine can read a file with a credential.",
    SecretInWorkdir = "secret-in-workdir": "A file with a credential is in a folder that is zipped, committed or copied.",
    SecretInEnvironmentFile = "secret-in-environment-file": "The profile's variables contain a value that looks like a credential. Every Python of the environment reads it, and so can everyone who has the profile.",
    AdcUserLongRun = "adc-user-long-run": "The Google credentials are user credentials. Organizations can end sessions of users, but not those of service accounts.",
    SessionAge = "session-age": "The machine has been running for about as long as the service allows.",
    VmNew = "vm-new": "The machine was restarted since the last apply. Packages that were installed and loaded before are gone.",
    HashseedLate = "hashseed-late": "PYTHONHASHSEED was set after the kernel started, so the order of sets is still random.",
    TpuBusy = "tpu-busy": "Another process uses the TPU. Only one process can use it at a time.",
    TpuTf = "tpu-tf": "TensorFlow reserves the TPU on import. JAX and torch_xla then find none, in the same kernel or another.",
    ClockSkew = "clock-skew": "The clock of this machine differs from the clock of a server. Tokens are rejected right after a login (`401`, `invalid_grant: token used too early`), and certificates appear expired or not yet valid.",
    TpuCudaWheels = "tpu-cuda-wheels": "CUDA libraries are installed on a machine with a TPU. They use gigabytes and are not needed.",
    SecretFound = "secret-found": "A file contains text that looks like a password, a key or a token, judged by its format or variable name. Everyone who has the file has the secret. Removing it from the file is not enough: revoke it.",
    KernelKilledOom = "kernel-killed-oom": "The operating system killed the kernel because memory ran out. The front end only reports that the session crashed; the recorder saw the signal, and the counter of out-of-memory kills increased.",
    KernelKilledSignal = "kernel-killed-signal": "The kernel was ended by a signal: from a user, a script, or the notebook server when it restarts a kernel. There was no out-of-memory kill at that time.",
    KernelNativeCrash = "kernel-native-crash": "Native code in the kernel crashed. The newest Python frame shows the call; its file shows the package. `verify` compares the files of the package with the installed wheel, and `doctor loaded` finds libraries that are loaded twice.",
    KernelExited = "kernel-exited": "The kernel ended by itself: exit(), os._exit(), or a requested shutdown.",
    KernelUnseen = "kernel-unseen": "A kernel ended, and the cause is unknown: no recorder was running, the recorder ended first, or the notebook server read the exit status first. The counter of out-of-memory kills (`child-killed-oom`) and the server's log may show more.",
    RecorderOff = "recorder-off": "No recorder watches the notebook's kernel, so the cause of a crash would be unknown. Golden cells start one; `colab-boot record --start` starts one by hand.",
    StorageSlow = "storage-slow": "A folder delivers fewer samples per second than the training needs, or takes more than a millisecond to open a file. The GPU then waits for data. Measured by `colab-boot probe storage`. Copy the data to a local disk (`colab-boot stage`), and pack small files.",
    FolderTooBig = "folder-too-big": "A network folder has so many entries that listing it takes minutes or times out (Google Drive: after two minutes). Split it into subfolders, or pack it into tar files (`colab-boot stage --shards`).",
    VramLargestBlock = "vram-largest-block": "The largest block that the driver can allocate is far smaller than the free memory. Another process fragments the memory, or part of the GPU is reserved. A large tensor fails with `out of memory` although nvidia-smi shows free memory.",
    GpuSlow = "gpu-slow": "Copies or matrix products are far slower than the GPU's data sheet: it is throttled, shared, or damaged. Measured by `colab-boot probe gpu` with large matrices, so small launches are not the cause.",
    GpuWrong = "gpu-wrong": "Data changed while it was copied to the GPU and back: the memory or the link is broken, and results are wrong. Use another machine.",
    GpuBusy = "gpu-busy": "Another process uses the GPU. A measurement would slow it down, and its next allocation could fail.",
    CudaInit = "cuda-init": "The driver's library fails to start (cuInit). The cause is no visible GPU, two versions of the driver, cuda-compat on an unsupported GPU, or a driver in a bad state. No framework can use the GPU.",
    NcclPeer = "nccl-peer": "An all-reduce over the GPUs of this machine failed, hung or returned a wrong sum, or some GPUs cannot read each other's memory. Training on several GPUs hangs at its first step, ends with `ncclSystemError`, or is slow.",
    StageIncomplete = "stage-incomplete": "Some files were not copied: they could not be read, changed during the copy, or could not be written. All others are complete. Run the same command again to copy the rest.",
    StageEmpty = "stage-empty": "The source of `stage` has no files. A mount point is empty while nothing is mounted on it, such as Google Drive before `drive.mount`.",
    StageSkipped = "stage-skipped": "Links and devices were skipped. A link may point anywhere, even outside the source. To copy its target, run `stage` on the target.",
    PthBroken = "pth-broken": "Python prints an error each time it starts, usually because a line of a `.pth` file in site-packages fails. Programs that read Python's output may fail, and the line has no effect.",
    VramUnattributed = "vram-unattributed": "GPU memory is in use, but no visible process uses the GPU. The driver counts all processes of the host: the memory belongs to another container, or to a leftover process of one that has ended.",
    DriveUnflushed = "drive-unflushed": "Large files were written to Google Drive within the last minutes. Drive confirms a file before it is uploaded, so the last files are lost with the machine unless Drive is flushed.",
    GpuChanged = "gpu-changed": "The GPU differs from the previous one, but it also works. Repeat measurements, and check what was compiled (PTX, autotuning) or sized for the previous GPU.",
    TokenMissing = "token-missing": "The profile needs a service (`[doctor] needs`), but no credential for it was found, neither in a variable nor in the usual files; or a variable names a credential file that is missing. Downloads fail with 401 or `Cannot access gated repo`, and logs are not sent.",
    PluginCheck = "plugin-check": "A check of another package, or a `[[doctor.check]]` of the profile, found a problem. The message names the check; ask its authors what it means.",
    ScrubUnread = "scrub-unread": "A file could not be searched, or its secrets could not be removed. The file cannot be read, is not text, or is not encoded in UTF-8. It may contain a secret, so the result is a failure.",
    VerifyTpuUnused = "verify-tpu-unused": "The machine has a TPU, but the framework used the CPU. libtpu is missing or does not match the release of JAX, or another process uses the TPU. Only one process can use it at a time.",
    VerifyNotDeterministic = "verify-not-deterministic": "A small training was run twice with the same seed, in separate processes, and the results differ; or there was no framework to train. Only two equal runs show that a setting works on this machine.",
    EnvPreset = "env-preset": "`[env] preset` and `[determinism]` add variables for the locked releases, each with its reason. Variables that the profile sets itself have priority.",
    EnvIgnored = "env-ignored": "A variable of `[env]` or of the kernel has no effect with the locked or installed releases. They use another name, no longer support it, or do not know its value. The help shows what works.",
    EnvRefused = "env-refused": "A variable of `[env]` or of the kernel has a value or option that a locked or installed release does not know, or contradicts another variable. Some values end the process without a traceback: an unknown flag in XLA_FLAGS does so at the first use of JAX.",
    DeterminismPartial = "determinism-partial": "`[determinism]` makes runs repeatable on one machine with one set of releases. No setting covers other GPU models, drivers, numbers of workers and custom kernels. The notes show the limits of each framework.",
    NothingApplied = "nothing-applied": "No profile was applied on this machine, or the machine was reset since the last apply.",
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
