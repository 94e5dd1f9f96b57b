//! What each kind of file names, and what is found wrong.

use std::sync::Arc;

use pep508_rs::MarkerEnvironment;

use crate::boot::audit::{Audited, Environment, Listed, LockKind, judge, kind_of, read_lock_file, read_requirements};
use crate::core::diag::{Severity, Source};
use crate::core::matrix::{Hardware, InstalledGpu, Matrix};
use crate::core::model::contents::{Files, Member};
use crate::core::model::{PythonFacts, Sha256};

fn markers() -> MarkerEnvironment {
    let python = PythonFacts {
        version: "3.12.3".parse().expect("a version"),
        architecture: "x86_64".to_owned(),
        libc: crate::core::model::Libc::Glibc(2, 35),
        free_threaded: false,
    };
    python.marker_environment().expect("an environment")
}

fn source(text: &str) -> Source {
    Source { name: "r.txt".into(), text: text.into() }
}

fn names(listed: &Listed) -> Vec<String> {
    listed.named.iter().map(|one| format!("{} {}", one.name, one.version)).collect()
}

#[test]
fn requirements_and_freezes_are_read_as_pip_reads_them() {
    let text = "# comment\n--extra-index-url https://index.example/simple\ntorch==2.11.0 \\\n    ; python_version >= '3.8'\n\
                Jax[cuda12] == 0.7.2 ; python_version >= '3.10'  # with a comment\ncolorama==0.4 ; sys_platform == 'win32'\nnumpy>=2,<3\n\
                -e git+https://host.example/x.git@abc#egg=x\n-r more.txt\n\
                en @ https://host.example/en-1.0-py3-none-any.whl#sha256=0\n\
                here @ file:///tmp/here\n./folder\nx===1.0+local\ny==1.*\n";
    let include = |name: &str| match name {
        "more.txt" => Ok("scipy==1.14.1\n".to_owned()),
        other => Err(format!("there is no `{other}`")),
    };
    let listed = read_requirements(&source(text), &markers(), &include);
    assert_eq!(names(&listed), ["torch 2.11.0", "jax 0.7.2", "scipy 1.14.1", "en 1.0", "x 1.0+local"]);
    let ranges = listed.asked.iter().map(|one| one.requirement.specifiers.to_string());
    assert_eq!(ranges.collect::<Vec<_>>(), ["==2.11.0", "==0.7.2", ">=2, <3", "==1.14.1", "===1.0+local", "==1.*"]);
    assert_eq!(
        listed.elsewhere,
        ["-e git+https://host.example/x.git@abc#egg=x", "here @ file:///tmp/here", "./folder"]
    );
    let wrong = read_requirements(&source("a==1 \\\n  ; os_name > ''\nb=!2\nc==3\n"), &markers(), &include);
    assert!(wrong.refused[0].starts_with("line 3: `b=!2`") && names(&wrong) == ["a 1", "c 3"], "{wrong:?}");
    let nested = |name: &str| {
        match name {
        "sub/b.txt" => Ok("-rc.txt\n".to_owned()),
        "sub/c.txt" => Ok("c==3 ; sys_platform == 'linux'\nd @ https://host.example/d-1.0-py3-none-any.whl ; sys_platform == 'win32'\n".to_owned()),
        other => Err(format!("there is no `{other}`")),
    }
    };
    let listed =
        read_requirements(&source("--requirement=sub/b.txt\ngit+https://host.example/x.git@v1\n"), &markers(), &nested);
    assert_eq!((names(&listed), listed.elsewhere.len()), (vec!["c 3".to_owned()], 1));
    let round = |_: &str| Ok("-r again.txt".to_owned());
    assert_eq!(read_requirements(&source("-r again.txt"), &markers(), &round).refused.len(), 1);
}

#[test]
fn a_pylock_names_what_applies() {
    let text = "lock-version = '1.0'\ncreated-by = 'x'\n[[packages]]\nname = 'torch'\nversion = '2.9.1'\n[[packages]]\nname = 'pywin32'\n\
                version = '310'\nmarker = \"sys_platform == 'win32'\"\n[[packages]]\nname = 'mine'\n[packages.vcs]\ntype = 'git'\n";
    assert_eq!(kind_of(text), Some(LockKind::Pylock));
    let listed = read_lock_file(text, LockKind::Pylock, &markers()).expect("a lock");
    assert_eq!((names(&listed), listed.elsewhere), (vec!["torch 2.9.1".to_owned()], vec!["mine".to_owned()]));
    let read = |text: &str| read_lock_file(text, LockKind::Pylock, &markers());
    assert!(read("lock-version = '9.0'\n").expect_err("a newer one").contains("lock-version is 9.0"));
    let later = "lock-version = '1.0'\nrequires-python = '>=3.99'\n";
    assert!(read(later).expect_err("another Python").contains("it is for Python >=3.99"));
    let chosen =
        "lock-version = '1.0'\n[[packages]]\nname = 'x'\nversion = '1'\nmarker = \"'dev' in dependency_groups\"\n";
    assert_eq!(read(chosen).expect("a lock").open.len(), 1);
}

/// As uv writes it, with another index.
const UV_LOCK: &str = r#"
version = 1
requires-python = ">=3.11"

[[package]]
name = "app"
version = "0.1.0"
source = { virtual = "." }
dependencies = [
    { name = "jax", extra = ["cuda12"] },
    { name = "numpy", version = "1.26.4", marker = "python_full_version < '3.12'" },
    { name = "numpy", version = "2.2.6", marker = "python_full_version >= '3.12'" },
    { name = "pywin32", marker = "sys_platform == 'win32'" },
]

[package.optional-dependencies]
docs = [{ name = "pywin32" }]

[package.dev-dependencies]
dev = [{ name = "pytest" }]
bench = [{ name = "pywin32" }]

[[package]]
name = "pytest"
version = "9.0.0"
source = { registry = "https://index.example/simple" }

[[package]]
name = "jax"
version = "0.7.2"
source = { registry = "https://index.example/simple" }
dependencies = [{ name = "jaxlib" }]

[package.optional-dependencies]
cuda12 = [{ name = "jax-cuda12-plugin" }]
tpu = [{ name = "libtpu" }]

[[package]]
name = "jaxlib"
version = "0.7.2"
source = { registry = "https://index.example/simple" }

[[package]]
name = "jax-cuda12-plugin"
version = "0.7.2"
source = { registry = "https://index.example/simple" }

[[package]]
name = "libtpu"
version = "0.0.20"
source = { registry = "https://index.example/simple" }

[[package]]
name = "numpy"
version = "1.26.4"
source = { registry = "https://index.example/simple" }
resolution-markers = ["python_full_version < '3.12'"]

[[package]]
name = "numpy"
version = "2.2.6"
source = { registry = "https://index.example/simple" }
resolution-markers = ["python_full_version >= '3.12'"]

[[package]]
name = "pywin32"
version = "310"
source = { registry = "https://index.example/simple" }
"#;

#[test]
fn a_uv_lock_is_followed_from_the_workspace_down() {
    let text = UV_LOCK;
    assert_eq!(kind_of(text), Some(LockKind::Uv));
    let listed = read_lock_file(text, LockKind::Uv, &markers()).expect("a lock");
    assert_eq!(names(&listed), ["pytest 9.0.0", "jax 0.7.2", "jaxlib 0.7.2", "jax-cuda12-plugin 0.7.2", "numpy 2.2.6"]);
    assert_eq!(listed.open, ["extra docs of app", "group bench of app"]);
}

/// Findings on `all` (`torch 2.11.0`) for a driver and GPUs: severity and code.
fn audit(all: &[&str], driver: &str, gpus: &[&str]) -> Vec<String> {
    let matrix = Matrix::bundled().expect("the matrix");
    let gpu = |name: &&str| {
        let row = matrix.gpu(name).expect("a GPU of the matrix");
        InstalledGpu { name: row.product.clone(), capability: row.compute_capability }
    };
    let hardware = Hardware {
        driver: Some(driver.parse().expect("a driver")),
        gpus: gpus.iter().map(gpu).collect(),
        compat: Vec::new(),
    };
    let environment = Environment {
        held: all.iter().map(|text| held(text, &matrix)).collect(),
        hardware,
        debian: vec![("cuda-compat-12-8".to_owned(), "570.124.06-0ubuntu1".to_owned())],
        compat_in_use: all.is_empty(),
        ..Environment::default()
    };
    let findings = judge(&environment, &matrix);
    assert!(findings.is_sorted_by_key(|finding| finding.severity != Severity::Error), "errors come first");
    let findings = findings.iter().filter(|finding| finding.severity != Severity::Note);
    findings.map(|finding| format!("{}: {}", finding.code, finding.message)).collect()
}

fn held(text: &str, matrix: &Matrix) -> Audited {
    let (name, version) = text.split_once(' ').expect("a name and a version");
    let (name, version) = (name.parse().expect(name), version.parse().expect(version));
    let folder = Some("/usr/lib/python3/dist-packages".to_owned());
    Audited { build: matrix.build(&name, &version).cloned(), folder, ..Audited::new(name, version) }
}

#[test]
fn each_trouble_is_found_and_a_good_environment_is_left_alone() {
    let good = [
        "torch 2.9.1",
        "torchvision 0.24.1",
        "torchaudio 2.9.1",
        "nvidia-cudnn-cu12 9.10.2.21",
        "nvidia-nccl-cu12 2.27.5",
    ];
    assert_eq!(audit(&good, "580.82.07", &["T4", "A100"]), Vec::<String>::new());
    for (all, driver, gpu, expected) in [
        (
            vec!["torch 2.15.0"],
            "550.54.15",
            "T4",
            "driver-too-old: CUDA 13.2 needs driver 580.65.06 or newer, but this one is 550.54.15",
        ),
        (vec!["torch 2.9.1"], "580.82.07", "P100", "gpu-not-covered: torch 2.9.1 does not run on Tesla P100-PCIE-16GB"),
        (
            vec!["tensorflow 2.20.0"],
            "580.82.07",
            "H100",
            "gpu-ptx-only: tensorflow 2.20.0 has no machine code for NVIDIA H100 80GB HBM3: the driver compiles its kernels",
        ),
        (
            vec!["tensorflow 2.21.0"],
            "525.60.13",
            "H100",
            "gpu-not-covered: tensorflow 2.21.0 does not run on NVIDIA H100 80GB HBM3",
        ),
        (
            vec!["nvidia-cublas-cu12 12.9.1.4", "nvidia-cublas 13.1.0.3"],
            "580.82.07",
            "T4",
            "cuda-mixed-majors: libraries of CUDA 12 and 13 in one environment",
        ),
        (
            vec!["torch 2.9.1", "torchaudio 2.11.0"],
            "580.82.07",
            "T4",
            "family-broken: torchaudio 2.11.0 needs torch >=2.10, but 2.9.1 is installed",
        ),
        (
            vec!["torch 2.9.1", "nvidia-cudnn-cu12 9.1.0.70"],
            "580.82.07",
            "T4",
            "library-too-old: nvidia-cudnn-cu12 9.1.0.70 is older than torch 2.9.1 needs",
        ),
        (
            vec!["numpy 2.2.0", "numpy 2.3.0"],
            "580.82.07",
            "T4",
            "duplicate-distribution: `numpy` is installed 2 times in one folder: 2.2.0, 2.3.0",
        ),
        (vec![], "580.82.07", "T4", "compat-old: cuda-compat-12-8 (570.124.06) is older than the driver (580.82.07)"),
    ] {
        assert_eq!(audit(&all, driver, &[gpu]), [expected], "{all:?}");
    }
    let pair = audit(&["nvidia-nccl-cu12 2.28.9", "nvidia-nccl-cu13 2.31.2"], "580.82.07", &["T4"]);
    assert!(pair[0].starts_with("files-collide: nvidia-nccl-cu12 2.28.9 and nvidia-nccl-cu13 2.31.2"), "{pair:?}");
}

#[test]
fn what_is_linked_against_cuda_needs_that_cuda() {
    for fits in [
        vec!["nvidia-cublas 13.1.0.3", "onnxruntime-gpu 1.31.1"],
        vec!["nvidia-cublas-cu12 12.8.4.1", "onnxruntime-gpu 1.26.0"],
        vec!["onnxruntime-gpu 1.31.1"],
    ] {
        assert_eq!(audit(&fits, "580.82.07", &["T4"]), Vec::<String>::new(), "{fits:?}");
    }
    let missing = audit(&["nvidia-cublas-cu12 12.8.4.1", "onnxruntime-gpu 1.31.1"], "580.82.07", &["T4"]);
    assert_eq!(
        missing,
        [
            "library-missing: onnxruntime-gpu 1.31.1 needs libcublasLt.so.13, libcudart.so, libcudnn.so, which no installed package contains"
        ]
    );
    // The parts of vllm that a model needs, not the one that can be loaded; and a library for each CUDA.
    for (pair, refused) in [
        (["vllm 0.20.2", "torch 2.11.0+cu128"], true),
        (["vllm 0.19.1", "torch 2.11.0+cu128"], false),
        (["bitsandbytes 0.47.0", "torch 2.15.0"], true),
        (["bitsandbytes 0.50.2", "torch 2.15.0"], false),
    ] {
        let found = audit(&pair, "610.43.02", &["L4"]);
        assert_eq!(found.iter().any(|one| one.starts_with("library-missing")), refused, "{pair:?}: {found:?}");
    }
}

#[test]
fn two_records_that_name_one_file_with_other_digests_collide() {
    let matrix = Matrix::bundled().expect("the matrix");
    let with = |text: &str, path: &str, content: &str| {
        let member = Member::of_record(path.to_owned(), &Sha256::of(content.as_bytes()));
        Audited { files: Some(Arc::new(Files { members: vec![member] })), ..held(text, &matrix) }
    };
    let judged = |all: Vec<Audited>| judge(&Environment { held: all, ..Environment::default() }, &matrix).len();
    assert_eq!(judged(vec![with("a 1.0", "x/core.so", "one"), with("b 1.0", "x/core.so", "two")]), 1);
    assert_eq!(judged(vec![with("a 1.0", "x/__init__.py", ""), with("b 1.0", "x/__init__.py", "")]), 0);
    let mut elsewhere = with("b 1.0", "x/core.so", "two");
    elsewhere.folder = Some("/other".to_owned());
    assert_eq!(judged(vec![with("a 1.0", "x/core.so", "one"), elsewhere]), 0);
}
