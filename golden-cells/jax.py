# %%
# @title colab-boot: jax 2026.11.0
# Made by `colab-boot golden build` 0.1.0 from the profile and lock below; make it anew rather than editing it.
# Installs what the lock names, restarts the kernel once if it must, and on the next run says "ready".
import base64, hashlib, io, json, os, pathlib, shutil, subprocess, sys, tempfile, urllib.request, zipfile, zlib

COLAB_BOOT = {
    "name": "jax",
    "binary": {"url": None, "sha256": None},
    "profile": {"sha256": "389e966eafc9b931aa1b81e84adc837a636b933c7d5d74166a1f95868375cab7", "packed": (
    "eNpNUlFr2zAQftevOJyHwXCNk5YNtnVgsqzdME0YLnQEE2T7HGuxJSPJdcLof+9JNrQv0p1039333d0CfidPMArbwPrxRwLLFSgJtkFYq5YX"
    "cLd7BD1IKzr84p8ljmgsmdx6X3T8iB8M7C62ISSXFVRaPKN2sNAlQ3IuPpEHTXkbCjSgBhsxtu+1qkWLOZO8Q7iF4B8/B4xgRhCe/FW8+hQt"
    "l1EcsApNqUVv5x9iH8LPlp995W1vyaKfWUtAyS3XR7Q5K4eKO4R7nRUZ8vdB6Qhd+RLx5yCEoOAar64jCswBYPEmM/RFOl42QhLYy6FYkGr6"
    "Z8d+mHJmNy5R6s9kGcfuvp/vu5sgJ161JrGj0ieTM9JLsP/wTvL325gYhN/ovCYUnq3mM18S4rm9sLr1wOBjwJSXPtlsj/I5Z09pctj9ze63"
    "D4d1+mvzkB12fzZJmm7XSbZxoTVvDbrwXrWivORsAdm7kVqlywZGKlsMoiWpRy4kzV5Ymtw4N7kVheZaoAlhbATFu32SiDRdtyr6K7VJkK0s"
    "FkqdoFLoPRgMThUiVmjkJ6rpOI1cS0eJWiFqomQ6dUKv2y1Fzl4BXWDT2w=="
)},
    "lock": {"sha256": "e2161fa4d9173f5d6b89fd2eb591f121ba954bed055669a58e44030e9ce629b5", "packed": (
    "eNrtm91SW0mWhe/9FARzW1Lk/89FzxvME1RU0PlryxaCAVFl98S8+3wp2eYAggOG6q5pKxxh4CgPQuvs3HvttXL/x8l/pdpO8peTv5eLdcqL"
    "fHGxPVlflE9/X/LSp3ay2p6kTfvj5CptP7Srk+2HtDlpdbVdbd7z2vLd7+3qenWxOfnbiXp31f77ZnXVrvnh9D//JpZyKU7fnaft1erzuKSE"
    "ckspl0qfvnv36+XVRV+t22/vNum8jZc/ps+nk1/3fTm/4/pDUtaNizrEFp1rqZeYo5YpyRxkCybVErRPTjsu6+Krrd5I55Ls0QbHa7ak7Mc7"
    "/7pNV+/b9rfbt87pqi30UqrTd1c3m+3qwdXLL9sP+79q/Dz+pMt12vaLq/Nx7TxtvqxXm5vPZ+pMhbPPwZ05c/qu3NQ0XuaGcPquXq34cIu+"
    "vri4GletsksHRoDx/vJmYPbrqV/a019OTgNvsPsSx5e4/2n3tr+9S5fbsfS328+xvEzlU3rfJp8n5ev14vLLHTjl0oy/+48Pra35+X9OBvrf"
    "Fp9dflnsFnCXXmwuNm3BZ1r+8WHNW9+iL6ruzQmXak+m+5qd8VHVaopPrZnWRNEBlG3tVVudfQq6Vd2i9b1k48cvW/1jvKtUzpr4y8lqU9su"
    "OGrr6Wa9ZcV526aatjvoommliNisbdWm6E2xxpiQaojJqiJOT/6XT/RlB97F5ZYIAqmLq5w+L8qHVj5dXqw229MZsFa7QLy+G3x2H70H4Pq6"
    "fLFf8jRgKTctZbPKl+DUCEQrejQ6tGBjkT1560KSRmalUi5VSNukEi24FKyLdgKYcS7M4uWdFk5mxyNpSTpdc+eJFRVEzbLWcgevl8HUtqv1"
    "9b2Iko+E1G7tYv/60wBlQsVrI7s1NTdphE3GWJEVm1cJn00KRfnogzBCZWN78OSFHE3txXJhApBXUZtZhKzUWgTneq7CyKZabU5rGVvioo/i"
    "FQj19b0MJnbZ7hBAY+li//LT+DiZbHcCDFI2zRklek2+26h71Nm2IlPNidBiw+msuhixZgR7sAhTU7zFx9ggop7FJ/gaq6nCJ5u7lESTDC57"
    "77ztxbs7EfQ1hc/Bcn192cr91G6X+nDs7Jcvvi15Gp7Wc/Cpaz5KlAJMTOEbAAqF5EOQ8EOP3Zte+CglFt+SaL165X2RWU/CJ2on7Tw8grxD"
    "LsrWqZyKKrklNd4asNlhcgrPfsc8Dc6HG4oHf8EdeMxSusPgfFu+2C95GhwycCMktCGDVhFDViGI1lrIrSsZtGqpuSoBx4RivVO9d994zNkT"
    "ALJOwNHsuvlsLVXiLXRPvUYjazIBYJQrKZimdJGv2FsfH24t6uFSHgLp435v7V6fCZ9IoeL7nEQk3mKWZGffhbe2EjJRWW0zoaRDEcmI2p0J"
    "gYwUkq81pHaLkCY9RzsPkdExaduEjJGyEDpvQdonw6WouvJ1CtEun4x69mhh49rz9uCAZNARSbr5eLV9CZRn+/vOxn0HYL3DffxX7vMAaDtq"
    "UCOZxEAkGqFlgZBFQU6jBOrUQqnNBGDIJjuRUzeig3fPzmsV3HSfymCctvO1sOksijEqBjZ/kSamnrspIUaSf1RmCvUUn/XN+9XmBXju1/8I"
    "ors7bzEtl5rft///ebA6WYsbJMtQBlwSOdvotNTCR0m+56J0wlJAigWypDLb24NqJ6E3IvYW1hBiMF7Ng2rY3RSZwpulEGts0klqs4nZ+qbK"
    "PVDnYVyv8kuwY/lrAPNBy9BiKj6yu6NXPcjiPbu/W+tzhW9AQGJQ0ltZXGu6uxQLbURk5xs1AcwFE2hA5glHjVKVSC1NRKGgmipZQ++h8odI"
    "n+8j9n3DPw3debr6VC/+2CxW2/tM3yzV4erx7Z6z1XYQ/t26pxMkpbNlEpQ0vdloolHKmbFfa6R+Ci8q6T5UxabtRSedSye/QTRYJotJt3hF"
    "6YKfBSuzTbNOylSojlLd5hphN240e132O+F1tSof5kCqN1fr++F1mJHtli52Lz8NSTBChAR1tET+CBbqBB0peanDNizNii5G0ITycB2MTfdq"
    "IQ1Fyehy6GECSfTzBUPZYlyA7VZB2kqaSFSODGlJmNaHOwXjXkzMYLNe1O2Xy3t9j1japTmIz/psv3yxW/KMvXewK34YYakaS08PFhAH16TO"
    "sCvf4OKqUB/lrkhY2nxji9Mp0y1B7AQcT1bb+y2cVrCNxXwKY5NX2s+ebaaHtYRw9yFAcFUsjaJ0YEN+zVN8t22b64ur6+3F1VzJPb9+Py7e"
    "65jU4cz2dfFit+AwtkpIcwha+ULAxWgvKQ3emaz48NWXRJMB3RFDSoH6yFilCISx7jKaTtuohMg0EzZaOdnSBhIT5iPY0qwUWhZEml46z1Db"
    "QlI0DvnAupQOUp6XscPNzfm9HKgIUnsI6d3Sxe7lN4thT6sVJPvSNgt0ztSoVXTkd8g2MQrbFrqU4qGR8MnxxSEC5KR8DlZMZREL0bZxHtSs"
    "rXCKPAx1R3mx1ZGSXaWEk2JacYdAfRDMtylgjmVelxUA34v/8eNVa9fl4nJuM2x+X9VVgjLldbrmy9DUpvsChQz16eDW2N96tr/1bNy6+Lb8"
    "pSw0pGKa9+SNpEfLY5FdklFAl8jfNCgxISAKhYZoZEAlYK9UalAiv3s5rf7UQhh/VPPln4QlUC8azMN1wy7S1A12GzyssL3s0yz0lwl0dbPZ"
    "Ize9eH2xHqri7vozH0Ed/11uV488hiiefAp1/MfdkycRxYEHMZ+uHjRjSZQs4Bs1KZdzzCpCMVWp42GZ2DwPyLkig3SqUl219RaGH2uGIsgw"
    "eTpSKDNo1p/8cJ6P9+b3Uh6DW8/BPW6eoq0Poy0Ooq0eQ1tVVwufGqEo24QyInIIoxmVuo69oC3tWNLSOgfhIa14JAEyHLkSfiflpAxwHcYX"
    "/kJoX21fAzd3vz3eySP1WuQR5KNOt+W9QhYpriBlV8QSpGAaMlooU6jHxL+WPXQ65oZ8HqOZtmr0W0LFvwzeXy2TH84nX+9/+4wCErWFWpB6"
    "W+2Gakt1NZRMUTExHIopqg+uEEXAiwFKwVpQFYnVmJSjmFB1a7yzfxHEv9WBKdRxKfGJltY9DfZms0f5+/KXltBUMH+i4GNaQlTTFndU+NKN"
    "U8iJI3kgHhdnS8eDQG6Fz5BEAjDQujg1MTScRW13Qc4Tdvi6z9RjU6Qa7IiM1HsSXSmcDmfrm6Da+/ZAAEskaL0MTycNbv0au9+Wv0n0moqz"
    "pmTbZWbw5MOqBjPRlqYSQ8zSIDeTdM96yN5lWDxCdm4SiJfe3NG2h4of5wMYtZwGbIi4jQ4cU6HbkKwXZcR09e5NoJ5ylntoe+CbSRj7u78D"
    "vr/jpWFsNFYGikxVyGX4SLToQ8e38HPthXYCwwMPQY+coQVaLS4VOnnsGS0Cf+oWW4UxApsX89j2gnPdpe9AiW+BOO5przCtcq7Bt/g22F6m"
    "q+vDqdjOl7/93d8TsX2i/L0wmEcY48hT1/iwmVjGRCZRSox8YtvQWhaNjdxC85JAt23Yc7RIWaA/EZITwKEp0lEr/+RgfhXL3pSyfvgQ1FIN"
    "T//xJzBu26O/X3o4rOWjjagJlsCtCWZhfE2WAkQbCg7G2oQ6p4rCgqah7wbcoSAA33yxWmGM2TRFOToPztr/FWre5vePqy2f/tOPkLrvN789"
    "pwtIfsgZHjGFeB1iH9qJp6iRKaBwmMuJhkZTpuhdIioppZFqOQxcr0nqE/sIH8gA4D+xnfxe8B4L9F8eSSvPfGTXH87b+cMHpmnc7ZOPa3fj"
    "/mHtFr9J/hEGew2FsMOvBQJ8Dgk/2DZ8KTtYoK8W/k1CKkMZg2XY5Cy4ekWTFPMdL3TYvSL+a9kgas2irTbXN+cP0D1YPll/tl+/A3VG9ucT"
    "D4fMxR5cogUkrHHwIBsFPxe2oRuWE0KKl5nSCKSYS70JFVIU6IkTtChxep7hYcJADnOJoK6HejYEXx8ipDIPavMyV2mvZN1VtXdHsA7CsjOL"
    "eXnGKdaFzkBjRETS62CjIuEeZ6oadEAbHWioMwqfyJgX0eGL5eEX2w79LdNzKobWzYlnnMOgK++duhmwjHkWPjnoNGY+zpVx+ZDA9zwv+IG+"
    "98B+O6jD7W47u71tb8PNGeyoBSQ8hy4ayYnGDF2HZ1tDyLJRiIb9RqNL3JMpc4x4lbKJigjHhS6n205KqZ6BG+aMjbVJpFSDENQMPozFcQ6Y"
    "eSgVD3B7Giwg5bd/aDeolutVe4CWsof32+19Z/v7Fvu1T8OFMMnzxkHCrHakJi0CrIk4gvN0ZBc/TrJUmGtSPeFAOkNcKkUjZWNvdQIX9pud"
    "PwyVIVsBCz4ZKJhEbYiqUcFQ2+AOSr/mwAYAbC/yTb+Dl12quHSP4LVbvtgvGaJ8WKS80oeT/sPtqYPvkJ6IxjtOLWFSK62LMJ1Mn7uF8GP2"
    "kv2ldKgprrsYMBoxKyue0uSYlEYh8OFNM9ZLkbu+2a7W93CLh4vmfu1i9/rAzN3D7A59mWc6/tDSR0EP2EGBTekMXpyC22NypOhh71gd3QGD"
    "DTTuLVNegw7sPl9UErUUmqjczJTTKxHmy4TKuiLGQ+FdxRP1uFLoZxE9QsLuhXoN6F/en7NLr+/zdfHI9v66fLFfMuMYyxSbGmcyVa/USIXB"
    "XQnDChX3o6Rm45rqIeODVopuoDn0+EbDIgOz6eEX9qS087r2OK2FC20h/BoeUwIJ1cQg2ATj5IN6oY1++eVLOr8bkQ71SB9GZqxd7F7/c41M"
    "nOBSyPa+YIWrqlpBYg0j79EeSjwxExSCdRBpmGwRwyd3jB4ITW7Y6WWiqELTvHjTPf+DRubuYdzpb1A3DhvyY+li//IMmePRV9vc6MBN7sqP"
    "U1aYsGFIQk6PU4wthVElMdsr2bFpHyjFXge261QFVWb8m9+msZsuGtlWiY7lS+HVPqXuPE++6vDCErz3Hu8dPHaHo2+3drF//Uej74G7y2aF"
    "6vY6ztuCoje0dB4xZzB6Va1xuuO70uBxjUpjQJDOcGhKyhAhk9pinXfU2HnL3Ekk6QTTE4PKOCQLiV+Z0FbrOMv5+BGFGShX55fr9vH6YnP/"
    "vOlhzne7frFbcxhS+fS+nV61jyoX4yhzGIHSG3pEyAhiQiHVRyts2Z0IZ0NjP1Wpoui6Q7oDj6PXgGd7x0LnvjgvW5SAji1trh4LDKapjYEQ"
    "dF+goWhP+hW1ZOqR3z97FA7u5ckdi/2qNzubQBkm70drQ7XghBIR+dEE1EhBeVbWa8RNmHKx+N+uoJEBQyGn0ejZPBHsqSkueGOfAa2BXrHt"
    "Ee+C8grNbzxHH+giBWngDfLk7bmD+wDLg/X6+/rFfs0MDa+I6x2rE1pcFMKNoplIrjeyV667c+Yl0e76KEtszqsGDmhoMdHZJDvtWihBdh4x"
    "eEDsCHQ01wG+2s0YpDFJjFPUpBv5woy5/XK52rxftM8jrsDm+pmny/f3nd3e96xj5gjZJY2z3tobEh8ufYa08NmkaRFmSN5PBpGF7EgtILi0"
    "RSQI1aG0U3rCdETBevmmMy77I/i/nPxonN38vr64uLzf8z3SIe8XL/YL/lzu47PNMtE908DseCLabmv0h4Ime2y11PzO4vQiozoCUIq4dkAW"
    "U1BT6m0MFoh4Rr4sCsUHZprHxJfXQ5YnbaZmIaktp1fky3+sLi8f1KODATpW7irRTEiqUSqpm+S6UtnGiFW1hi4rmzWpNApMalBD6DbNH2Hj"
    "qBlkfkpQGDF75yiJnu8GcxBlODu14XXmkqOJxUhvEmU8xFienAqZILGfwdwNPgq/eH95c2ce8cCr9+YSxzDhY4OJ2h4HE18zmPjTTxr+hKOD"
    "P90s4M823PdzTesdx++O43fH8bvj+N1x/O44fvewJPy7ztMdB+RmB+SOE2+vnHg7jrAdR9j+jUbYjjNp/8yZtOOQ2auGzI5TY6+cGjuOgb16"
    "DOw41/Wsua7joNaPD2odJ69eMHl1HKV67SjVcTbqh2ajjsNOrxp2Ok4v/Qunl37icaSfYb7oODD0CBA/1wTQcaTnLaA4zui8BYr/z4dujlM0"
    "z5qi+WnHYo5zLs93Go+DK48OrhwnUZ4/iXIcLfnJZ0WOwx9vMvzxc01zHDgG/H+KF8lI"
)},
    "variables": ["XLA_PYTHON_CLIENT_PREALLOCATE"],
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


def colab_boot_binary():
    """COLAB_BOOT_BINARY, then PATH, then the pinned download. A download with another digest is not run."""
    found = os.environ.get("COLAB_BOOT_BINARY") or shutil.which("colab-boot")
    if found:
        return found
    wanted = COLAB_BOOT["binary"]
    if not wanted["url"]:
        raise ColabBootStop("colab-boot is not on PATH, and this cell was built without an address to get it from")
    folder = colab_boot_home() / "bin" / wanted["sha256"]
    path, kept = folder / "colab-boot", folder / "download"
    data = kept.read_bytes() if kept.is_file() else b""
    if hashlib.sha256(data).hexdigest() != wanted["sha256"]:
        with urllib.request.urlopen(wanted["url"], timeout=60) as reply:
            data = reply.read(64 << 20)
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
