//! Where days are played: one environment, one notebook server and one index for all of them, reset between days.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::stories::Day;
use crate::stories::notebook::{Notebook, Stack};
use crate::stories::random_days::packages::table;
use crate::stories::random_days::step::Tool;
use crate::support::object::build_fake;
use crate::support::python::{Venv, uv};
use crate::support::test::Test;

pub struct World {
    pub day: Day,
    pub notebook: Notebook,
    /// What is in site-packages, `bin` and the prefix before any day.
    first: BTreeSet<PathBuf>,
}

impl World {
    /// `None` without the index.
    pub fn new(stack: Stack) -> Option<Self> {
        let uv = uv()?;
        let mut test = Test::new();
        let library = test.path("clock.so");
        build_fake("clock.c", &library);
        let shift = test.path("shift").display().to_string();
        test = test.set("CLOCK_SHIFT", shift).set("CLOCK_OF", "colab-boot");
        test = test.set("LD_PRELOAD", library.display().to_string());
        let path = format!("{}:{}", uv.display(), test.environment["PATH"]);
        test = test.set("PATH", path);
        test.environment.remove("COLAB_BOOT_ROOT");
        let venv = Venv::new(&test, &[]);
        let day = Day::of(test, venv, table());
        let notebook = Notebook::open(&day, stack)?;
        let mut world = Self { day, notebook, first: BTreeSet::new() };
        world.first = world.entries();
        Some(world)
    }

    fn entries(&self) -> BTreeSet<PathBuf> {
        let prefix = self.day.prefix();
        let folders = [self.day.venv.layout(), prefix.join("bin"), prefix];
        let entries = folders.iter().flat_map(|folder| std::fs::read_dir(folder).expect("a folder").flatten());
        entries.map(|entry| entry.path()).collect()
    }

    /// Makes everything as it was before the first day.
    pub fn reset(&mut self) {
        self.set_clock(0);
        let test = &self.day.test;
        let of_days = ["state", "here", "there", "cells"].map(|name| test.path(name));
        for path in self.entries().difference(&self.first).chain(&of_days) {
            // Bytecode of other packages may stay.
            let _ = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
        }
        std::fs::create_dir(test.path("here")).expect("a folder");
    }

    /// Sets the clock of colab-boot to so many hours from the true time, which files and kernels keep.
    pub fn set_clock(&self, hours: i64) {
        std::fs::write(self.day.test.path("shift"), (hours * 3600).to_string()).expect("a write");
    }

    pub fn install(&self, name: &str, version: &str, tool: Tool) {
        let wanted = format!("{name}=={version}");
        match tool {
            Tool::Pip => {
                self.pip(&[
                    "install",
                    "--no-deps",
                    "--force-reinstall",
                    "--no-cache-dir",
                    &wanted,
                    "--index-url",
                    &self.day.server.url,
                ]);
            }
            Tool::Uv => {
                let url = ["--index-url", &self.day.server.url];
                self.uv(&[
                    &["pip", "install", "--quiet", "--no-deps", "--reinstall", "--no-cache", "--no-config", &wanted],
                    url.as_slice(),
                ]
                .concat());
            }
        }
    }

    pub fn uninstall(&self, name: &str) {
        self.uv(&["pip", "uninstall", "--quiet", name]);
    }

    /// A user's tools may fail on what is damaged; what they leave is what is there.
    fn pip(&self, arguments: &[&str]) {
        let options = ["-m", "pip", "--quiet", "--disable-pip-version-check", "--isolated"];
        let mut pip = Command::new(&self.day.venv.python);
        let _ =
            pip.args(options).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status().expect("pip starts");
    }

    fn uv(&self, arguments: &[&str]) {
        let mut uv = Command::new(uv().expect("uv").join("uv"));
        let uv = uv.args(arguments).args(["--python", &self.day.python()]);
        let _ = uv.stdout(Stdio::null()).stderr(Stdio::null()).status().expect("uv starts");
    }
}
