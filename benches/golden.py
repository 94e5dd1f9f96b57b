"""Publishes 100 releases, checks them, lists them, adds and withdraws one, and writes their page: seconds and memory of each.

    python3 benches/golden.py --colab-boot target/release/colab-boot [--releases 100] [--forecast]

Ten profiles with ten versions each, locked once on the default index for `bare-3.12`; a new key signs. All in a folder that is deleted.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROFILE = """[profile]
name = "data-{name}"
version = "2026.{version}.0"
description = "Tables"
[target]
runtimes = ["bare-3.12"]
[frameworks]
polars = "*"
[packages]
pyarrow = "*"
scikit-learn = "*"
"""


def run(command, folder, environment):
    """Seconds and the most memory of one command, in MB."""
    started = time.monotonic()
    child = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    code = os.waitstatus_to_exitcode(status)
    return time.monotonic() - started, usage.ru_maxrss / 1024, code, said


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--colab-boot", required=True)
    parser.add_argument("--releases", type=int, default=100)
    parser.add_argument("--forecast", action="store_true", help="Forecast them on the newest images, too")
    options = parser.parse_args()
    program = str(Path(options.colab_boot).resolve())
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "HOME": folder, "COLAB_BOOT_STATE_DIR": f"{folder}/state", "COLAB_BOOT_CACHE_DIR": f"{folder}/cache"}
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "keeper@team", "-f", f"{folder}/key"], check=True)
        subprocess.run([program, "golden", "init", "repo", "--name", "team", "--signer", "key.pub"], cwd=folder, env=environment, check=True, capture_output=True)
        profiles = []
        for number in range(options.releases):
            profile = Path(folder, f"p{number}.toml")
            profile.write_text(PROFILE.format(name=number // 10, version=number % 10 + 1))
            profiles.append(profile.name)
            subprocess.run([program, "lock", profile.name], cwd=folder, env=environment, check=True, capture_output=True)
        for name, command in (
            ("publish", ["golden", "publish", *profiles, "--repo", "repo", "--key", "key"]),
            ("publish again, nothing new", ["golden", "publish", *profiles, "--repo", "repo", "--key", "key"]),
            ("check", ["golden", "check", "--repo", "repo"]),
            ("list", ["golden", "list", "--repo", "repo"]),
            ("add", ["golden", "add", "data-0", "--repo", "repo", "--into", "here"]),
            ("withdraw", ["golden", "withdraw", "data-0@2026.1.0", "--because", "old", "--repo", "repo", "--key", "key"]),
            ("page", ["golden", "publish", "--repo", "repo"]),
        ):
            seconds, memory, code, said = run([program, *command], folder, environment)
            print(f"{name:28} {seconds:6.2f} s  {memory:5.0f} MB  exit {code}")
            if code > 1:
                sys.exit(said)
        if options.forecast:
            for when in ("empty cache", "again"):
                seconds, memory, code, said = run([program, "forecast", "--repo", "repo"], folder, environment)
                print(f"{'forecast, ' + when:28} {seconds:6.2f} s  {memory:5.0f} MB  exit {code}  {said.splitlines()[-1]}")
        print(f"index {Path(folder, 'repo/golden.toml').stat().st_size} bytes, page {Path(folder, 'repo/index.html').stat().st_size} bytes")


if __name__ == "__main__":
    main()
