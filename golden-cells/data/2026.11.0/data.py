# %%
# @title colab-boot: data 2026.11.0
# Made by `colab-boot golden build` 0.1.0 from the profile and lock below; make it anew rather than editing it.
# Installs what the lock names, restarts the kernel once if it must, and on the next run says "ready".
import base64, hashlib, io, json, os, pathlib, shutil, subprocess, sys, tempfile, urllib.request, zipfile, zlib

COLAB_BOOT = {
    "name": "data",
    "binary": {"url": None, "sha256": None},
    "profile": {"sha256": "144d819799f64cc45bfbb8ae8c2e58f338d39d51db3885b0e1e57077cb5e5ff9", "packed": (
    "eNpNkEFPwzAMhe/5FVa4obXaigSnISFAcBlMsJ2manLTbI3aJpHjruLfk3QV4mi/5/c++QZ2WHU6ANoaAiObwEYFGA03bmBAeNvuF3ByBKbH"
    "82xMY4+qMTYuuMHoIw3WXT25EAdP7mQ6XQqLvYY1yBoZpbhoCsbZtCiWxX2+WuVLKWodFBnPs3IlWvzHSaW+cxwgWrjR8Lzdy1jDSGfNpVBD"
    "jelU+UEKGiybPpKt4SCV67DKprLlQ5b0Bcgq4mZ3+aqQZQw5UWQcHbWhFD42YbqUj+siL6QIyrSGs04jTXC3qdajatMzoj/GU5gF/4NEbpyn"
    "elBtXc1Dj5z4O1P9hWh7KcXnZnv82G+Ou/ev16eX7+kxUvwChKd9sw=="
)},
    "lock": {"sha256": "de423b807bf5fcf4dd4564f7226418f5d49c02734a86d6d7080c377c1e884c4f", "packed": (
    "eNrlmttyGsmahe/9FArPbUPk+XCx5w3mCTo6vPPYZoyFBqHtVk/Mu8+XIFuFDJQkE3MzHR22obKAXPkf1lp//dvNf6TabvLjzT/LZp3yIm82"
    "u5v1pnz555JLX9rNaneTbtu3m23afW7bm93ndHvT6mq3uv2Ta8sP/2rb+9Xm9uYfN+rDtv3Xw2rb7nnx8d//IZZyKT5++Jp229Vf4y0llFtK"
    "uVR6qT5++PD73XbTV+v2x4fb9LWNBTXt0sfJJ/64g4+5/5yUdeNNaUwNMvoYuzOlGJt7ziG1UFSzoWsdqo7Vypp1CDaLJpv1wvuSbbO9x/HV"
    "v+/S9s+2++P5u3PatoVeSn7Z9uF2t/rp3bvH3efDrxqvx0+6W6dd32y/jve+ptvH9er24a9P6pMKn/4K7pMzHz/8efcw0Pj9jw/pbnf4x48v"
    "X96l8iX92SY/oqw3D/VuVb6s2xEOfOOA7Nvn1ta8/u+bgduLGxb7RYu7R7243dy2BT9o+e3z+uNvN8/QxVSy8d2lXr3uTtQia48a+ITkguoC"
    "gIzqyZVgpPNV2ZKVcLnJnrtJ48NWf49vVvwXfrtZ3da2P9vaenpY71jwte3SOMjxbpDFOZVLtMlpU6NuNkkfolMqm5LKx5v/YVOPA5iP/7nJ"
    "61X+OAPQ5na3edjePR7BI5dmnMcJeL4vX+yXLMqdlurpz6MT808ntjx5jj/hGLwFJmNMiaWbUK3rXpmunPYNVEX3OussVYnCyCZNMDaIpLRu"
    "wG2jfMZRB62MngXStkDsKmUln5oVaDZXbWhKB19TtFMgSbi79Wb3CjAfy7ptj5AUI7TlSSj3ixeHBZejLNjSui+d36tqcIZIklbFIIJxNnqy"
    "VGojbIzGRhK36FJyKjYFa5qoWjyjAzhyFpvqOINmRBbVELAKvGUuOffmW/UE7XuwqQ/lS83HxWgpTkfZYe1if/0puFJe6V+KsJStbMX6qlWs"
    "ruvatS9CBZ+trV4W3YvwOVuTnawy9VZFlMIQXcSd0ZMII7y8FMLO4khohSBqqLVE6qW0WSfKpZCUAfA8Stan0j0DYif9dpvN+v4IR7N04TSQ"
    "P9YvDmtO56sS0pwCU/pzYJJ2pbnYyti41ymDlGRjJSnVGti5lnPUyftcvG8hxBqNMD52RXPx9RlMa4w2Zr7wFcLauBi1aZF+VPm00gJ3KiVT"
    "LfldMflUIY8rnzsN5WHtYn/9crbqSqrQSpvJNiqKlPWZTHQiNFK2N6ejqFLL6lOgQUiZNBh11TJJnvKkJ2jhpJyPM9fcyExVpQ01lJZV7Ukn"
    "vi4nx6FMsbkvqy+r3WLd0vZ2Bp0vq2+r+836Xy8qmlza0wXtef1iv+ZqwWYcdb50C2pOBiCidFsVsmeFFl31lg2Fu2shajbO824g20svtlQd"
    "nvGUxvuo4nxzsFEX3+kRpvMpfL0tlgh2NTvr0vsK4GThCyZyhoo837A4LLoWoLWb7n0wqaQgU6TNWlPoph5+QsS2pmjGwjcTQrfktxLQDCmi"
    "7tmR4f4Z0Bic0Ha+28aeC0yyB+m7ChxlTSFRByxFkUqh3l4Jb9P22+f0ohCqpYqns/f78sVhyeUEhmPFrGvRQhlBHgcTaKbO65J6CXC9nmjB"
    "wbRSmlcSuLKXRIfTqUoo4KS6UevlfHHTlqrgdcy2qBBkiNEZXQ3szsFzgnhnAt8+fH3B6xR5aU/iM5Yu9pevxum82MsK5VAJ4OIGXVXRUZZa"
    "C9DirqSAqRQfirA5jL9cNDoTYdRLMQkzaYlB6M0skFlb4VRqlRNrzVj6UI2uQsRDD624KZDPzPe3o+Tk1V26rel+/OsI7cNrbrgM++Ed5Nwx"
    "9G6pTyH/Y/VirLgcmPAUktCX0EYX7NDlXhuKTtFvRKL+Nel6EqnyP1QaZqNL8JrAUrpUOQlMqWK0bhZP70YLyo5+25J0dLaueyNIKbQSWvOu"
    "QviE7ks5Jk+jM9bulZg8H5jmbYEJ6zNRDEahGqVNhhKzoJ107eQgu7yiZwslYi7dG1kRBRoykyyNOlGtJjAKDTkW8x0FkqN0pRvnpigdxqVK"
    "NQ1a9kQF9G8vgHer9Xrz7bgz63OE+rB4cVhwtQQ3qjqdG6QWmpzjkFIR7FIEMO1s1YAljQtIuAoT9GZwQK1KsNIW1Oozjh4Lwho1z3SKN41a"
    "4bx1Bb5TIoEu4E1dFNlqfV884tNsXzYSeQbI/drF/vrlXHW6WFEa3VF3m4Su0hedoIOmyyqaKDC2FEPPtRnlQtJItgiBQcg5QTeYNFkJbzGz"
    "2AgKKMJVBRqSKVp6VZSUUJautItKvyPEDpt9cm8WWr0Fo09Pt33S6gmuEXDyZyEnf466KaX5KXlz0EFw/H2EGDHlo5cVfRGwViwEz43N4ll5"
    "RN1o3GbES0sVfo38myQvLBEqbl+BLCSJI6tDyAx7jKZuOgSRU/X0syOv4CmYZoB9TNvti+Sl+oszNfCwenFYcT57z+ZpgYPQIXxCjbjaUvR9"
    "9GNVdI49NtUCwRdLoVU3b7GhIgSH/tyN9Drg7z1DZklgmsJ1IXtdMD7eAezLrqqX+kxb/b58sV9yOVcbUrIIkRzm0/DtbBW0N/IzIycinhOq"
    "KvU4mESvCU5IQjrlk1SjkyQzbQjOqPl2QKxi0BRRskTJdNFFasSrijpKCpp8Xx3b+6kLvqM97FbrFxbBuc6wv+nT95sW+4WX0aJhKYM/Fxsu"
    "p/EWI0ASXmSTKuRZDBVfICQTB9GHzgkLKym1iKHgypSFRBVeIR5cTDabmvD9dMY6dUSy6iiYlpHRIZ4B65nHXYbtiOIdC914OiEPd3za37HY"
    "r7paS4Upe1wjNhwrUsvI5IlA27XCIE2mBIzfWDE8vEKhhDr0WSSZyWCcP92mXcM58RojNBDhonradq9C4cK6bhAykJWUfXuHNDtw5GMkZTgL"
    "5d5LHtevBmK3oIKx58rgc6W6LBCfuO/FaqVhKVVib3KpNxjf2GnDMNBOy+LxRyeGgR68Tb5CeGAr4h8quHcb9BuTv2NTUDl68VHq91owu89b"
    "MuoOB6/s1i8K3xnL7+iWxX7Z5XTuFLxYghpyzVLaNPK2CRkJMZ/F6ASOLSQQNKELl0SknvdUGlTWuTq1q2DM8qrmylug+vv0sMudBGm/eHFY"
    "ADxqeREikaRoyEcKUCOOMrWf40VaJkYIeGwyIcFwDfzIU83Ix+DHEWDJi2xSm1Q8jWH5CrlADShJa8SFLkonDYfRoRHXwgGcCEdJ+aLs/3Fy"
    "GncYRu43LDw59nA0lTtx9cV0Turz4zlt3z2eOzN9OtPUp9On0dSvJmSqgHJTNRiziIAFq20r0UlhtWPqEcHF49ZmmnZEc3uhccxisczeCNs0"
    "nT45hcY7cb7/r8ZJV5oPjUNWF+ZD++tXCwJNv6udDUoqIX8PT2AIWelov1LRdIkBOG1J+Ka25zHkdZGiqENSEMbJgEgOe8Xby8j84sRHv2Li"
    "o6838WGyUNzYcfKh+jG3ED0y8ilJqCLpFt1mrI0gPDkz2iq2SoUKy9hRYnXSU02MhJq4UticHOHY0+XjxwjHzgkCKsGQ7zqOEUJCG+CNoykT"
    "87yc8cihFJQD7bFtnSY0kncMutBSRYbmqZWTEU5k8nd5s9eZyYhXzGSuFg4MSqV2PVttFdTHUEg6Rgemmo9JZlGUMGKYPUbigiA0bdMFBSjF"
    "mODH/mImo82VwuH8kOWM/jkeslxyx97oU1A+rA05NaJE2iGna7IGHwzSEMcTHJ7AysYL2aGdY55ssxMxIZgK3u0kYYKNoCivUU1OTQTE6Rr7"
    "fSIgLpTYt1o3kiEdMCTmSsmk7KidltltxXWopfYwmCVCRqlO8Shjiqz8UN/DMKP/TIIGi8dhTlzG5P/e4VezDr+aLTzGsrcMz4B/eHo0Z8+Y"
    "CdNfeGYaaqjsjMtflKI3488oV5mboIypqhP9R0TJaK+UVicsewZp57a7t+z3168VOa3hMgcvvCs0GDys8XAKsqFFBtxDv2qomdEt1P2jHFgT"
    "Dscm44AiaLDapwYN8xAd3TWy6ZQFPzjJRQt+v+BqpMXReHB86bnKWAdBhZC5jEtlcw2x8jZxQOfueO92X4bwhZtCxilFV5s4V87tA+9aAfOz"
    "p87G7ZmIOfjMhwUz+dHwfskFPMpUJPbu6B0eGqqzx7hImJta14gLnOnR+CjWMJDIngipjBgn+cFNcN2rhMFFm3xu21Of/AkBwiL+sk8ebK1o"
    "9WiyrZhlfYRHxt6Bv1A5SJzYRgJRT7wYD080Jnoa7YLwwdF0k5QxkmGCD2EGq/ca38P6OedNHozvw4r3GN94q0Gm5Lqz3orxdExTzJuZl/qI"
    "l4vjhaMWAh3aYck2BjQO14xBX2XlVOhAZnxw7ipN+LyTreadbDUn7URGlIZcI+oF+85IacP4G7e6mY5yJfDps5x5w7nFqkpsrZXiInOmo0LJ"
    "ymuJu0vWtMJAFcu7zf3uVQb1ZPm8cQPDgmr5PCwtFXDrZQnSYHXi16UUqSDkyIh7hF/QHfQaFQR15yFmZvqki0IfR/VqOF5rPrO7v196VufK"
    "BUsXh8vzGyeAOyMKJhaMLqCTTHYyBh7EQdvxWM+Q9B3+nrE1amtiVE9VDQye6T7abvoIC3xsTsr+os/uXuWzuwsW8RuLo2JmgYNnWu6F+U4e"
    "DxP7FISUmKG6Kgk7ZUCGHQrFwneLIplWxyPJzoCom6SJHgJmTs7+gnF+5rGRH8a5O+eDvV3UeSbqXjIcHHLNNWbt2OGQzphrQuVa41B6jJUZ"
    "TbTYrUHJtyCZYFuYhD2ywazbz2GvpnvvV3+9BMafbhqsXByuzmcJm5GdkRtOrrBGdjomrNGm0iP1MuF1MWip2OCqyRaYB9I4Q/Q0EldAZjr3"
    "wyuci4HzPu0bnX/3Oud/9kFVxjxM0+GKSY1JHIIBsqhj433bWg0miBxliDAERkvJoMl0YmSMKW2S7xPHSzJJD1c77HNWvp6z8vX8kTOGZD96"
    "GBWpO06bcRCSIVZGQxyuEZ446LZifQppm++OUMjD+mtYvtPHwLHyYQ2vLIz/C7GgdSc="
)},
    "variables": ["OMP_NUM_THREADS"],
    "golden": None,
}


class ColabBootStop(Exception):
    """Ends the cell, and with it the cells queued behind it, in one line instead of a traceback."""

    def _render_traceback_(self):
        return [str(self)]


def colab_boot_home():
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return pathlib.Path(home) / "colab-boot"


def colab_boot_write(path, data, mode=0o644):
    """Writes a file whole: beside its place, then renamed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    os.chmod(name, mode)
    os.replace(name, path)


def colab_boot_fetch(place, digest):
    """The bytes at an address, of a file, of a file somewhere in a folder, as a Kaggle dataset is, or of a wheel of pip's index."""
    if place.startswith("index:"):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
            command += ["--disable-pip-version-check", "--dest", folder, place[len("index:"):]]
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            files = list(pathlib.Path(folder).iterdir())
            if not files:
                raise ColabBootStop(f"pip could not fetch {place[len('index:'):]}:\n{done.stdout.strip()}")
            return files[0].read_bytes()
    if not place.startswith("/"):
        with urllib.request.urlopen(place, timeout=60) as reply:
            return reply.read(64 << 20)
    path = pathlib.Path(place)
    for file in [path] if path.is_file() else sorted(path.rglob("colab[-_]boot*")):
        data = file.read_bytes() if file.is_file() else b""
        if hashlib.sha256(data).hexdigest() == digest:
            return data
    raise ColabBootStop(f"there is no colab-boot with sha256 {digest} in {place}")


def colab_boot_binary():
    """COLAB_BOOT_BINARY, then PATH, then the pinned download. A download with another digest is not run."""
    found = os.environ.get("COLAB_BOOT_BINARY") or shutil.which("colab-boot")
    if found:
        return found
    wanted = COLAB_BOOT["binary"]
    if not wanted["url"]:
        raise ColabBootStop(
            "colab-boot is not on PATH, and this cell was built without a place to get it from: "
            "install it, name it with COLAB_BOOT_BINARY, or build the cell with --binary-url"
        )
    folder = colab_boot_home() / "bin" / wanted["sha256"]
    path, kept = folder / "colab-boot", folder / "download"
    data = kept.read_bytes() if kept.is_file() else b""
    if hashlib.sha256(data).hexdigest() != wanted["sha256"]:
        data = colab_boot_fetch(wanted["url"], wanted["sha256"])
        digest = hashlib.sha256(data).hexdigest()
        if digest != wanted["sha256"]:
            raise ColabBootStop(f"the download has sha256 {digest}, this cell expects {wanted['sha256']}; it was not run")
        colab_boot_write(kept, data)
    if data.startswith(b"PK"):  # a wheel; what is to run lies in it
        with zipfile.ZipFile(io.BytesIO(data)) as wheel:
            data = wheel.read(next(name for name in wheel.namelist() if name.endswith(".data/scripts/colab-boot")))
    # At each run: what lies there may have been changed, or cut short by a full disk.
    if not path.is_file() or path.read_bytes() != data or not os.access(path, os.X_OK):
        colab_boot_write(path, data, 0o755)
    return str(path)


def colab_boot_files():
    """Profile and lock on disk, checked against their digests."""
    folder = colab_boot_home() / "cells" / COLAB_BOOT["lock"]["sha256"][:12]
    for kind, suffix in (("profile", "toml"), ("lock", "lock")):
        data = zlib.decompress(base64.b64decode(COLAB_BOOT[kind]["packed"]))
        if hashlib.sha256(data).hexdigest() != COLAB_BOOT[kind]["sha256"]:
            raise ColabBootStop(f"the {kind} in this cell was changed; make the cell anew with `colab-boot golden build`")
        colab_boot_write(folder / f"{COLAB_BOOT['name']}.{suffix}", data)
    return folder / f"{COLAB_BOOT['name']}.toml"


def colab_boot_facts(variables):
    """What this kernel has loaded and how it is set, for colab-boot to judge. Imports nothing and initialises no device."""

    def of(module, attribute):
        try:  # a module may be anything, and have any text; JSON may not
            value = getattr(module, attribute, None)
            return value.encode("utf-8", "replace").decode() if isinstance(value, str) else None
        except Exception:
            return None

    def encodable(text):
        return isinstance(text, str) and text.encode("utf-8", "ignore").decode() == text

    modules, loaded = {}, {name: module for name, module in dict(sys.modules).items() if encodable(name)}
    for name, module in loaded.items():
        top = loaded.get(name.split(".")[0])
        file = of(module, "__file__")
        # What lies in a regular package goes with it; namespace packages have no file of their own.
        if file is None or ("." in name and of(top, "__file__") is not None):
            continue
        modules[name] = {"file": file, "version": of(module, "__version__")}

    def asked(question):
        try:
            return bool(question())
        except Exception:
            return None

    initialised = {}
    if "torch" in loaded:
        initialised["torch.cuda"] = asked(lambda: loaded["torch"].cuda.is_initialized())
    if "jax" in loaded:
        bridge = loaded.get("jax._src.xla_bridge")
        initialised["jax"] = asked(lambda: bridge is not None and bridge.backends_are_initialized())
    if "tensorflow" in loaded:
        context = loaded.get("tensorflow.python.eager.context")
        initialised["tensorflow"] = asked(lambda: context.context()._initialized)
    return {
        "schema": 1,
        "pid": os.getpid(),
        "modules": modules,
        "environment": {name: os.environ.get(name) for name in variables if encodable(os.environ.get(name, ""))},
        "initialised": {name: known for name, known in initialised.items() if known is not None},
        "path": [entry or os.getcwd() for entry in sys.path if encodable(entry)],
    }


def colab_boot_run(verb, *options):
    """Runs colab-boot for this kernel, passes on what it says, returns its exit code and its report."""
    command = [colab_boot_binary(), verb, str(colab_boot_files()), "--python", sys.executable, *options]
    named = [name for name in os.environ.get("COLAB_BOOT_ENV_NAMES", "").split(",") if name]
    with tempfile.TemporaryDirectory() as folder:
        facts, report = os.path.join(folder, "facts.json"), os.path.join(folder, "report.json")
        with open(facts, "w") as file:
            json.dump(colab_boot_facts({*COLAB_BOOT["variables"], *named, "COLAB_BOOT_ENV"}), file)
        command += ["--kernel-pid", str(os.getpid()), "--kernel-modules", facts, f"--json={report}"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
            for line in process.stdout:
                print(line, end="", flush=True)
        try:
            with open(report) as file:
                return process.returncode, json.load(file)["report"] or {}
        except (OSError, ValueError):
            return process.returncode, {}


def colab_boot_golden():
    """Asks the golden repository, once a boot, whether this release was withdrawn. One that can't be asked changes nothing."""
    golden = COLAB_BOOT["golden"]
    if not golden:
        return
    try:
        boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text()
    except OSError:
        boot = ""
    asked = colab_boot_files().parent / "asked"
    if boot and asked.is_file() and asked.read_text() == boot:
        return
    release = f"{golden['release']}#sha256={COLAB_BOOT['lock']['sha256']}"
    command = [colab_boot_binary(), "golden", "verify", release, "--from", golden["at"]]
    command += ["--threshold", str(golden["threshold"]), "--min-seq", str(golden["min-seq"])]
    for key in golden["keys"]:
        command += ["--trusted-key", key]
    if os.environ.get("COLAB_BOOT_ALLOW_YANKED"):
        command.append("--allow-yanked")
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=8)
    except subprocess.TimeoutExpired:
        print(f"colab-boot: {golden['at']} did not answer; whether this release was withdrawn is unchecked", flush=True)
        return
    print(done.stdout, end="", flush=True)
    if done.returncode == 1:
        raise ColabBootStop(f"colab-boot: {golden['release']} must not be used; why stands above")
    if "golden-unchecked" not in done.stdout:
        colab_boot_write(asked, boot.encode())


def colab_boot_set(variables):
    """Gives this kernel the variables that it has not read too early; the others came with its restart."""
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def colab_boot_server():
    """Address and token of the Jupyter server that owns this kernel; None where there is no way to find out."""
    if os.environ.get("COLAB_JUPYTER_IP"):
        port = os.environ.get("KMP_TARGET_PORT", "9000")
        return f"http://{os.environ['COLAB_JUPYTER_IP']}:{port}/", os.environ.get("COLAB_JUPYTER_TOKEN", "")
    try:
        from jupyter_core.paths import jupyter_runtime_dir
    except ImportError:
        return None
    for path in pathlib.Path(jupyter_runtime_dir()).glob("jpserver-*.json"):
        try:
            server = json.loads(path.read_text())
            if str(server["pid"]) == os.environ.get("JPY_PARENT_PID"):
                return server["url"], server.get("token", "")
        except (OSError, ValueError, TypeError, KeyError):
            pass  # of a server that was killed while it wrote, or of something else
    return None


# Runs apart from the kernel: asks the server for a restart, which no front end takes for a crash. By then the queued cells are
# gone. If the server won't, the kernel is ended, and the server starts another.
COLAB_BOOT_RESTART = """
import os, signal, sys, time, urllib.request
url, pid, token = sys.argv[1], int(sys.argv[2]), sys.stdin.readline().strip()
time.sleep(0.7)
try:
    request = urllib.request.Request(url, data=b"{}", method="POST", headers={"Authorization": "token " + token})
    urllib.request.urlopen(request, timeout=30).read()
except Exception:
    os.kill(pid, signal.SIGKILL)
"""


def colab_boot_restart():
    """Restarts this kernel so that no queued cell runs in it: raising aborts them, a plain shutdown would let them run."""
    if os.environ.get("COLAB_BOOT_RESTART") == "external":
        print("colab-boot: restart the kernel from outside, then run this cell again", flush=True)
        return
    from ipykernel.connect import get_connection_file

    server = colab_boot_server()
    kernel = pathlib.Path(get_connection_file()).stem.split("-", 1)[-1]
    if server:
        url = f"{server[0]}api/kernels/{kernel}/restart"
        arguments = [sys.executable, "-I", "-c", COLAB_BOOT_RESTART, url, str(os.getpid())]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        child = subprocess.Popen(arguments, start_new_session=True, stdin=subprocess.PIPE, text=True, **quiet)
        child.stdin.write(server[1] + "\n")  # not an argument: those can be read by everybody
        child.stdin.close()
    else:
        get_ipython().kernel.do_shutdown(True)  # noqa: F821
    raise ColabBootStop("colab-boot: the kernel restarts now, once; run all cells again when it is back")


def colab_boot_apply():
    colab_boot_golden()
    code, report = colab_boot_run("apply", "--locked")
    colab_boot_set(report.get("set-live") or {})
    if code == 10:
        colab_boot_restart()
    elif code:
        raise ColabBootStop(f"colab-boot apply ended with exit code {code}; what to do stands above")


colab_boot_apply()

# %%
# Holds the installed files against the lock and tests each framework in a process of its own.
if colab_boot_run("verify")[0]:
    raise ColabBootStop("colab-boot verify found problems; they stand above")
