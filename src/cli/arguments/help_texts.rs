//! What `--help` says behind the options: examples that a test parses, and the exit codes.

/// Behind the help of the program.
pub(super) const PROGRAM: &str = "\
Start here:
  colab-boot init --from requirements.txt    write profile.toml, and show the plan
  colab-boot apply                           install what it asks for
  colab-boot verify                          check the files, and test each framework

Exit codes:
  0   done, or nothing to do
  1   the answer is no: conflict, stale lock, failed verification, findings of severity error
  2   invalid input: the command line, the profile
  3   the machine or the network failed; trying again may help
  4   a bug in colab-boot
  10  applied; restart the kernel, then run the cell again";

pub(super) const INIT: &str = "\
Examples:
  colab-boot init
  colab-boot init --from requirements.txt
  colab-boot init llm.toml --from environment.yml more.txt
  colab-boot init --python .venv";

pub(super) const ADD: &str = "\
Examples:
  colab-boot add rich 'torch==2.11.*'
  colab-boot add --profile llm.toml 'uvicorn[standard]>=0.30'
  colab-boot add -e ../our-lib
  colab-boot add git+https://example.com/their-lib@v1.2";

pub(super) const PLAN: &str = "\
Examples:
  colab-boot plan
  colab-boot plan llm.toml --runtime colab-2026.07 --gpu T4
  colab-boot plan llm.toml --script install.sh";

pub(super) const APPLY: &str = "\
Examples:
  colab-boot apply
  colab-boot apply llm.toml --python .venv
  colab-boot apply llm.toml --wheelhouse wheels";

pub(super) const RUN: &str = "\
Examples:
  colab-boot run train.py --epochs 3
  colab-boot run --profile llm.toml -- pytest -q";

pub(super) const LOCK: &str = "\
Examples:
  colab-boot lock
  colab-boot lock llm.toml --check
  colab-boot lock llm.toml --upgrade-package torch";

pub(super) const FETCH: &str = "\
Examples:
  colab-boot fetch llm.lock --into wheels
  colab-boot fetch llm.lock --into wheels --budget 4GB";

pub(super) const EXPLAIN: &str = "\
Examples:
  colab-boot explain driver-too-old
  colab-boot why numpy
  colab-boot explain 'CUDA error: no kernel image is available'";

pub(super) const AUDIT: &str = "\
Examples:
  colab-boot audit
  colab-boot audit requirements.txt --runtime colab-2026.07
  colab-boot audit uv.lock";

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::arguments::Arguments;

    #[test]
    fn examples_are_commands() {
        let all = [PROGRAM, INIT, ADD, PLAN, APPLY, RUN, LOCK, FETCH, EXPLAIN, AUDIT];
        let lines = all.iter().flat_map(|text| text.lines()).filter_map(|line| line.strip_prefix("  colab-boot "));
        let mut count = 0;
        for line in lines {
            let command = line.split("    ").next().unwrap_or(line);
            let words = shlex::split(command).expect(command);
            let parsed = Arguments::try_parse_from(std::iter::once("colab-boot".to_owned()).chain(words));
            assert!(parsed.is_ok(), "{command}: {parsed:?}");
            count += 1;
        }
        assert!(count > 25, "{count}");
    }

    #[test]
    fn the_exit_codes_are_those_of_the_reference() {
        let page = include_str!("../../../docs/reference.md");
        for line in PROGRAM.lines().skip_while(|line| *line != "Exit codes:").skip(1) {
            let (code, meaning) = line.trim().split_once(' ').expect(line);
            assert!(page.contains(&format!("| {code} | {} |", meaning.trim())), "{line}");
        }
    }
}
