//! Variables for the releases of a lock, and what `verify` says of them: with the real index and a real framework.

use crate::support::python::{Venv, reachable, with_network};
use crate::support::said::Said as _;
use crate::support::test::{Outcome, Test, takes_all};

fn profile(lines: &str) -> String {
    format!(
        "[profile]\nname = \"p\"\nversion = \"1.0.0\"\n[frameworks]\njax = \"==0.7.2\"\njaxlib = \"==0.7.2\"\n{lines}\n"
    )
}

#[test]
fn settings_are_judged_for_the_releases_of_the_lock() {
    if !reachable() {
        eprintln!("skipped: the index can't be reached");
        return;
    }
    let test = with_network(Test::new());
    let wrong = profile("[env]\nXLA_FLAGS = \"--xla_gpu_graph_level=0\"\nXLA_PYTHON_CLIENT_ALLOCATOR = \"plattform\"");
    let test = test
        .file("wrong.toml", &wrong)
        .file("right.toml", &profile("[env]\nXLA_FLAGS = \"--xla_cpu_enable_fast_math=false\""));
    let out = test.run(&["lock", "wrong.toml", "--runtime", "bare-3.12"]).expect(1);
    for said in
        ["jaxlib 0.7.2 does not know the flag `xla_gpu_graph_level`", "did you mean `platform`?", "wrong.toml:8:1"]
    {
        assert!(out.stderr.contains(said), "{said}: {out:?}");
    }
    test.run(&["lock", "right.toml", "--runtime", "bare-3.12"]).expect(0);
    // What is said to end the process does, and what is not does not.
    let venv = Venv::new(&test, &[]);
    let python = venv.python.display().to_string();
    let test = test.file("plain.toml", &profile(""));
    test.run(&["apply", "plain.toml", "--python", &python]).expect(0);
    let starts = |flags: &str| {
        let mut command = std::process::Command::new(&python);
        command.args(["-c", "import jax; jax.devices()"]).env("XLA_FLAGS", flags).env("JAX_PLATFORMS", "cpu");
        command.output().expect("a Python").status.success()
    };
    assert!(starts("--xla_cpu_enable_fast_math=false") && !starts("--xla_gpu_graph_level=0"));
    // With an error in the settings nothing is changed.
    let out = test.run(&["apply", "wrong.toml", "--python", &python]).expect(1);
    assert!(out.stderr.contains("env-refused") && !out.concludes("applied"), "{out:?}");
    if !takes_all() {
        return;
    }
    // The longer test, and training twice; a seed that is another one each time is found.
    let test = test.file("seed.toml", &profile("[env]\npreset = \"training\"\n[determinism]\nseed = 7"));
    test.run(&["apply", "seed.toml", "--python", &python]).expect(0);
    let verify = ["verify", "seed.toml", "--python", &python, "--thorough", "--deterministic"];
    let out = test.run(&verify).expect(0);
    for said in ["fp32 product within", "convolution and its gradients", "identical results: "] {
        assert!(out.stdout.contains(said), "{said}: {out:?}");
    }
    std::fs::write(venv.layout().join("zz.pth"), "import spoilt\n").expect("a file");
    let code = "import os, jax.random as r\nkey = r.key\nr.key = lambda seed: key(os.getpid())\n";
    std::fs::write(venv.layout().join("spoilt.py"), code).expect("a module");
    let mut command = test.command(&["verify", "seed.toml", "--python", &python, "--deterministic"]);
    // On a machine with a TPU the CPU is no success.
    command.env("TPU_ACCELERATOR_TYPE", "v5e-1").env("JAX_PLATFORMS", "cpu");
    let out = Outcome::of(command).expect(1);
    assert!(out.reports_about("error[verify-not-deterministic]", "seed 7"), "{out:?}");
    assert!(out.reports_about("error[verify-tpu-unused]", "jax"), "{out:?}");
}
