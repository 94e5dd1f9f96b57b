//! Situations of a machine, each with the check that sees it.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::json;

use crate::stories::fitness::{Group, Scene};
use crate::support::http::{Reply, serve};

pub type Make = fn(&mut Scene) -> bool;

/// What is made, and what is seen then; `false` where it can't be made here.
pub const SCENES: &[(&str, Make)] = &[
    ("ram-limit-hidden", |scene| limited(scene, "")),
    ("ram-low", |scene| limited(scene, "held.append(b'x' * 50_000_000)")),
    ("kernel-peak", |scene| limited(scene, "held.append(b'x' * 50_000_000)")),
    ("child-killed-oom", |scene| {
        limited(scene, "import subprocess\nsubprocess.run([sys.executable, '-c', 'a = b\"x\" * 200_000_000'])")
    }),
    ("kernel-many", |scene| {
        limited(scene, "held.append(b'x' * 9_000_000)") && {
            scene.kernel("", "held.append(b'x' * 9_000_000)");
            true
        }
    }),
    ("shm-leftover", |scene| {
        let path = PathBuf::from(format!("/dev/shm/torch_{}_1_1", 4_190_000 + std::process::id() % 1000));
        scene.left.push(path.clone());
        std::fs::write(path, vec![1_u8; 6_000_000]).is_ok() && limited(scene, "")
    }),
    ("tmp-in-ram", |scene| {
        let path = PathBuf::from(format!("/dev/shm/colab-boot-test-{}", std::process::id()));
        scene.left.push(path.clone());
        scene.set("TMPDIR", "/dev/shm");
        std::fs::write(path, vec![1_u8; 20_000_000]).is_ok() && limited(scene, "")
    }),
    ("kernel-threads", |scene| {
        scene.group = Group::new(&[("pids", "pids.max", "pids.max", "12")]);
        scene.group.is_some()
            && {
                scene.kernel("", "import threading\nfor _ in range(10): threading.Thread(target=time.sleep, args=(600,), daemon=True).start()");
                true
            }
    }),
    ("cpu-quota-hidden", |scene| {
        scene.group = Group::new(&[("cpu", "cpu.max", "cpu.cfs_quota_us", "50000")]);
        scene.group.is_some() && {
            scene.kernel("", "");
            true
        }
    }),
    ("workers-too-many", |scene| {
        scene.ask(&["--workers", "640"]);
        true
    }),
    ("shm-small", |scene| {
        scene.ask(&["--workers", "8", "--batch-bytes", "900GB"]);
        true
    }),
    ("nofile-low", |scene| {
        scene.kernel("ulimit -n 256;", "");
        true
    }),
    ("max-map-count", |scene| {
        let most: usize = std::fs::read_to_string("/proc/sys/vm/max_map_count")
            .ok()
            .and_then(|text| text.trim().parse().ok())
            .unwrap_or(usize::MAX);
        let path = scene.file("page", &"x".repeat(4096)).display().to_string();
        most < 200_000
            && {
                scene.kernel("", &format!("f = open({path:?}, 'rb')\nimport ctypes\nc = ctypes.CDLL(None)\nc.mmap.restype = ctypes.c_void_p\nfor _ in range({}): c.mmap(None, ctypes.c_size_t(4096), 1, 2, f.fileno(), ctypes.c_long(0))", most * 85 / 100));
                true
            }
    }),
    ("loaded-twice", |scene| {
        scene.maps(&["a/libcublas.so.12", "b/libcublas.so.13"]);
        true
    }),
    ("loaded-mixed-cudnn", |scene| {
        scene.maps(&["a/libcudnn.so.9", "b/libcudnn_graph.so.9"]);
        true
    }),
    ("loaded-deleted", |scene| {
        scene.maps(&["-v/site-packages/numpy/core.so"]);
        true
    }),
    ("loaded-not-wheel", |scene| {
        scene.maps(&["v/site-packages/nvidia/cudnn/lib/libcudnn.so.9", "cuda/lib64/libcublas.so.12"]);
        true
    }),
    ("openmp-two", |scene| {
        scene.maps(&["a/libgomp.so.1", "b/libiomp5.so"]);
        true
    }),
    ("ld-library-path", |scene| {
        let path = scene.file("cuda/lib64/libcudnn.so.9", "x");
        scene.set("LD_LIBRARY_PATH", path.parent().expect("a folder").display().to_string());
        true
    }),
    ("duplicate-install", |scene| {
        scene.installed("numpy", "1.26.4");
        scene.installed("numpy", "2.3.0");
        true
    }),
    ("stale-bytecode", |scene| {
        let folder = scene.day.venv.layout().join("old");
        let run = |code: &str| {
            Command::new(&scene.day.venv.python)
                .args(["-c", code])
                .arg(&folder)
                .status()
                .is_ok_and(|done| done.success())
        };
        run(
            "import os, sys, py_compile, time\nos.mkdir(sys.argv[1])\npath = os.path.join(sys.argv[1], '__init__.py')\nopen(path, 'w').write('a = 1\\n')\nos.utime(path, (1e9, 1e9))\npy_compile.compile(path)\ntime.sleep(0.05)\nopen(path, 'w').write('a = 2\\n')\nos.utime(path, (1e9, 1e9))",
        )
    }),
    ("shadowed-module", |scene| {
        scene.file("random.py", "x = 1\n");
        true
    }),
    ("path-order", |scene| {
        scene.set("PYTHONPATH", "/nowhere/else");
        true
    }),
    ("pip-env", |scene| {
        scene.set("PIP_EXTRA_INDEX_URL", "https://index.example/simple");
        true
    }),
    ("stale-module", |scene| {
        scene.installed("numpy", "2.3.0");
        let file = scene.day.venv.layout().join("numpy/__init__.py").display().to_string();
        scene.facts(&json!({ "modules": { "numpy": { "file": file, "version": "1.26.4" } } }));
        true
    }),
    ("env-not-read", |scene| {
        scene.kernel("unset OMP_NUM_THREADS;", "");
        scene.facts(&json!({ "modules": { "numpy": {}, "torch": {} }, "environment": { "OMP_NUM_THREADS": "2" } }));
        true
    }),
    ("env-refused", |scene| {
        scene.installed("torch", "2.9.1");
        scene.set("PYTORCH_CUDA_ALLOC_CONF", "max_split_size_mb:banana");
        true
    }),
    ("env-ignored", |scene| {
        scene.installed("torch", "2.11.0");
        scene.set("NCCL_BLOCKING_WAIT", "1");
        true
    }),
    ("jax-plugin-mismatch", |scene| {
        scene.installed("jaxlib", "0.7.2");
        scene.installed("jax-cuda12-plugin", "0.7.1");
        true
    }),
    ("gpu-absent", |scene| {
        scene.installed("nvidia-cudnn-cu12", "9.10.2.21");
        true
    }),
    ("token-expires", |scene| {
        scene.file("home/.aws/sso/cache/a.json", r#"{"expiresAt": "2026-01-01T00:00:00Z", "accessToken": "x"}"#);
        true
    }),
    ("secret-readable", |scene| {
        let path = scene.file("home/.kaggle/kaggle.json", "{}");
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644)).expect("a mode");
        true
    }),
    ("secret-in-workdir", |scene| {
        scene.file(".env", "A=1\n");
        Command::new("git")
            .args(["init", "-q"])
            .current_dir(scene.day.test.path(""))
            .status()
            .is_ok_and(|done| done.success())
    }),
    ("secret-in-environment-file", |scene| {
        let token = format!("ghp_{}", "aB3dE5gH7jK9mN1pQ2sT4vW6xY8zcFiLoRuZ");
        std::fs::write(
            scene.day.venv.layout().join("colab-boot-env.pth"),
            format!("import os; os.environ['T'] = '{token}'\n"),
        )
        .is_ok()
    }),
    ("adc-user-long-run", |scene| {
        scene.file("home/.config/gcloud/application_default_credentials.json", r#"{"type": "authorized_user"}"#);
        scene.ask(&["--for", "10h"]);
        true
    }),
    ("hashseed-late", |scene| {
        scene.facts(
            &json!({ "modules": { "a": {} }, "environment": { "PYTHONHASHSEED": "42" }, "hash_randomization": true }),
        );
        true
    }),
    ("fork-after-threads", |scene| {
        scene.facts(
            &json!({ "modules": { "torch": {} }, "initialised": { "torch.cuda": true }, "start_method": "fork" }),
        );
        true
    }),
    ("vram-held-kernel", |scene| {
        scene.facts(&json!({ "modules": { "torch": {} }, "torch_memory": { "total": 15_000_000_000_u64, "reserved": 12_000_000_000_u64, "allocated": 1 } }));
        true
    }),
    ("vram-fragmented", |scene| {
        scene.facts(&json!({ "modules": { "torch": {} }, "torch_memory": { "total": 15_000_000_000_u64, "reserved": 12_000_000_000_u64, "allocated": 1, "failed": 1 } }));
        true
    }),
    ("gpu-ecc", |scene| {
        scene.gpu("Tesla T4", "7.5", &[("retired_pages.pending", "Yes")]);
        true
    }),
    ("gpu-throttled", |scene| {
        scene.gpu("Tesla T4", "7.5", &[("clocks_throttle_reasons.active", "0x0000000000000080")]);
        true
    }),
    ("gpu-mig", |scene| {
        scene.gpu("NVIDIA A100-SXM4-40GB", "8.0", &[("mig.mode.current", "Enabled")]);
        true
    }),
    ("gpu-exclusive", |scene| {
        scene.gpu("Tesla T4", "7.5", &[("compute_mode", "Prohibited")]);
        true
    }),
    ("gpu-pcie-narrow", |scene| {
        scene.gpu(
            "Tesla T4",
            "7.5",
            &[("pcie.link.width.current", "4"), ("pcie.link.width.max", "16"), ("utilization.gpu", "90 %")],
        );
        true
    }),
    ("gpu-visible-env", |scene| {
        scene.gpu("Tesla T4", "7.5", &[]);
        scene.set("CUDA_VISIBLE_DEVICES", "3");
        true
    }),
    ("precision-missing", |scene| {
        scene.gpu("Tesla T4", "7.5", &[]);
        scene.ask(&["--precision", "bf16"]);
        true
    }),
    ("vram-low", |scene| {
        scene.gpu("Tesla T4", "7.5", &[("memory.free", "200 MiB")]);
        true
    }),
    ("framework-cpu-build", |scene| {
        scene.gpu("Tesla T4", "7.5", &[]);
        scene.installed("torch", "2.11.0+cpu");
        true
    }),
    ("compat-on-path", |scene| {
        scene.gpu("Tesla T4", "7.5", &[]);
        scene.set("LD_LIBRARY_PATH", "/usr/local/cuda/compat");
        true
    }),
    ("cudnn-below-build", |scene| {
        scene.installed("torch", "2.11.0+cu128");
        scene.maps(&["v/site-packages/torch/lib/libtorch_cuda.so", "usr/lib/libcudnn.so.9.8.0"]);
        true
    }),
    ("driver-too-old", |scene| {
        scene.gpu("Tesla T4", "7.5", &[("driver_version", "550.54.15")]);
        scene.installed("nvidia-cuda-runtime", "13.0.88");
        true
    }),
    ("library-missing", |scene| {
        scene.gpu("Tesla T4", "7.5", &[]);
        scene.installed("tensorflow", "2.20.0");
        !Path::new("/usr/local/cuda/lib64").exists()
    }),
    ("clock-skew", |scene| {
        let page = r#"{"meta": {"api-version": "1.0"}, "name": "lib", "files": []}"#;
        let reply = move || Reply::new("application/vnd.pypi.simple.v1+json", page);
        let index = serve(Duration::ZERO, move |_| reply().with("Date", "Sun, 06 Nov 1994 08:49:37 GMT"));
        let profile =
            scene.file("asks.toml", "[profile]\nname = \"asks\"\nversion = \"1\"\n[packages]\nlib = \"==9\"\n");
        let profile = profile.display().to_string();
        let python = scene.day.python();
        let asked = scene.day.test.run(&["lock", &profile, "--index-url", &index, "--python", &python]);
        asked.code == 1
    }),
    ("library-known-bad", |scene| {
        scene.gpu("Tesla P100-PCIE-16GB", "6.0", &[]);
        scene.installed("nvidia-cudnn-cu12", "9.19.0.56");
        true
    }),
];

/// A kernel with 64 MB at most.
fn limited(scene: &mut Scene, code: &str) -> bool {
    scene.group = Group::new(&[("memory", "memory.max", "memory.limit_in_bytes", "64000000")]);
    if scene.group.is_some() {
        scene.kernel("", code);
    }
    scene.group.is_some()
}
