"""Plants secrets in notebooks, and counts what `colab-boot scrub` and detect-secrets find: found, missed, false alarms, seconds.

    python3 -m venv v && v/bin/pip install detect-secrets
    python3 benches/scrub.py --colab-boot target/release/colab-boot --peer v/bin/detect-secrets

Each of 30 kinds stands once in a cell, a stream, a traceback and the metadata of a notebook of its own; as many notebooks have none, but names, digests, pictures
and placeholders. All values are made here, at random.

`--large` measures four files with 32,000 to 40,000 secrets instead: a log, a notebook of one cell, one of many cells, and pairs in JSON.
"""

import argparse
import base64
import json
import math
import os
import random
import string
import subprocess
import tempfile
import time
from pathlib import Path

MIXED, HEX = string.ascii_letters + string.digits, "0123456789abcdef"
UPPER = string.ascii_uppercase + "234567"


def made(count, letters=MIXED):
    return "".join(random.choice(letters) for _ in range(count))


KINDS = {
    "hugging face": lambda: ("login(token=\"{}\")", "hf_" + made(34, string.ascii_letters)),
    "wandb": lambda: ("WANDB_API_KEY={}", made(40, HEX)),
    "kaggle": lambda: ("{{\"username\": \"me\", \"key\": \"{}\"}}", made(32, HEX)),
    "google api": lambda: ("genai.configure(api_key='{}')", "AIza" + made(35)),
    "google oauth": lambda: ("token {}", "ya29." + made(80)),
    "github": lambda: ("!git clone https://x:{}@example.net/r", "ghp_" + made(36)),
    "github fine": lambda: ("{}", "github_pat_" + made(82)),
    "gitlab": lambda: ("{}", "glpat-" + made(20)),
    "aws id": lambda: ("aws_access_key_id = {}", "AKIA" + made(16, UPPER)),
    "aws secret": lambda: ("aws_secret_access_key = {}", made(40)),
    "azure storage": lambda: ("AccountName=a;AccountKey={}", made(86) + "=="),
    "anthropic": lambda: ("{}", "sk-ant-api03-" + made(93)),
    "openai project": lambda: ("OPENAI_API_KEY={}", "sk-proj-" + made(74)),
    "openai": lambda: ("{}", "sk-" + made(48)),
    "groq": lambda: ("{}", "gsk_" + made(52)),
    "replicate": lambda: ("{}", "r8_" + made(37)),
    "slack": lambda: ("{}", f"xoxb-{made(12, string.digits)}-{made(12, string.digits)}-{made(24)}"),
    "slack hook": lambda: ("https://hooks.slack.com/services/{}", f"T{made(8, UPPER)}/B{made(8, UPPER)}/{made(24)}"),
    "jwt": lambda: ("{}", f"eyJ{made(30)}.eyJ{made(60)}.{made(43)}"),
    "bearer": lambda: ("headers={{'Authorization': 'Bearer {}'}}", made(40)),
    "basic": lambda: ("Authorization: Basic {}", base64.b64encode(made(24).encode()).decode()),
    "password in address": lambda: ("postgres://admin:{}@db.internal/x", made(16)),
    "token in address": lambda: ("https://host.example.net/f?token={}", made(32)),
    "npm": lambda: ("{}", "npm_" + made(36)),
    "databricks": lambda: ("{}", "dapi" + made(32, HEX)),
    "stripe": lambda: ("{}", "sk_live_" + made(24)),
    "sendgrid": lambda: ("{}", f"SG.{made(22)}.{made(43)}"),
    "jupyter": lambda: ("http://localhost:8888/lab?token={}", made(48, HEX)),
    "private key": lambda: ("{}", "-----BEGIN PRIVATE KEY-----\n" + "\n".join(made(64) for _ in range(6)) + "\n-----END PRIVATE KEY-----"),
    "by name": lambda: ("db_password = \"{}\"", made(18)),
}
CLEAN = [
    "tokenizer = AutoTokenizer.from_pretrained(\"bert-base-uncased-2023-finetuned\")",
    "token = os.environ['HF_TOKEN']",
    "token = userdata.get('HF_TOKEN')",
    "HF_TOKEN = \"hf_your_token_here_xxxxxxxxxxxxxxxx\"",
    "sha256 = \"{hex64}\"",
    "commit {hex40}",
    "tensor([0.1234, 0.5678, 0.9012], device='cuda:0')",
    "secret_name = \"projects/my-project/secrets/database\"",
    "{'loss': 0.123, 'learning_rate': 5e-05, 'epoch': 1.0}",
    "model-00001-of-00004.safetensors: 100%",
    "password = getpass.getpass()",
    "https://example.net/datasets/wikitext-103-raw-v1/train-00000.parquet",
]


def notebook(source, stream, trace, parameter):
    picture = base64.b64encode(os.urandom(20000)).decode()
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": stream.splitlines(keepends=True)},
        {"output_type": "error", "ename": "E", "evalue": "", "traceback": trace.splitlines()},
        {"output_type": "display_data", "data": {"image/png": picture, "text/plain": "<Figure>"}, "metadata": {}},
    ]
    cell = {"cell_type": "code", "id": made(8), "execution_count": 1, "metadata": {}, "source": source.splitlines(keepends=True), "outputs": outputs}
    return {"cells": [cell], "metadata": {"papermill": {"parameters": {"setting": parameter}}}, "nbformat": 4, "nbformat_minor": 5}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--colab-boot", required=True)
    parser.add_argument("--peer")
    parser.add_argument("--large", action="store_true", help="measure large files with many secrets")
    parser.add_argument("--gitleaks-rules", help="gitleaks' own config/gitleaks.toml; applied here with RE2 (pip install google-re2), as gitleaks does")
    options = parser.parse_args()
    random.seed(7)
    if options.large:
        return large(options)
    with tempfile.TemporaryDirectory() as folder:
        planted = {}
        for kind, make in KINDS.items():
            values, lines = [], []
            for _ in range(4):
                line, value = make()
                values.append(value)
                lines.append(line.replace("{}", value).replace("{{", "{").replace("}}", "}"))
            name = f"{kind.replace(' ', '-')}.ipynb"
            Path(folder, name).write_text(json.dumps(notebook(*(f"import os\n{line}\n" for line in lines)), indent=1))
            planted[name] = values
        for number in range(len(KINDS)):
            line = CLEAN[number % len(CLEAN)].replace("{hex64}", made(64, HEX)).replace("{hex40}", made(40, HEX))
            Path(folder, f"clean-{number}.ipynb").write_text(json.dumps(notebook(*(f"import os\n{line}\n",) * 4), indent=1))
        tools = {"colab-boot": ours}
        if options.peer:
            tools["detect-secrets"] = peer
        if options.gitleaks_rules:
            scanner = Gitleaks(options.gitleaks_rules)
            tools[f"gitleaks' {len(scanner.rules)} rules, files as they are"] = scanner.raw
            tools[f"gitleaks' {len(scanner.rules)} rules, decoded cells"] = scanner.decoded
        for name, tool in tools.items():
            times = []
            for _ in range(5):
                started = time.monotonic()
                found = tool(options, folder)
                times.append(time.monotonic() - started)
            hits = {file: min(count, 4) for file, count in found.items() if not file.startswith("clean")}
            missed = [f"{file[:-6]} {4 - hits.get(file, 0)}" for file in planted if hits.get(file, 0) < 4]
            alarms = sum(count for file, count in found.items() if file.startswith("clean"))
            total = sum(hits.values())
            print(f"{name}: {total} of {4 * len(KINDS)} found, {alarms} false alarms, {sorted(times)[2]:.2f} s (worst {max(times):.2f})")
            print(f"  missed: {', '.join(missed) or 'none'}")


def large(options):
    lines = [f"step {i} HF_TOKEN=hf_{made(34)} loss=0.{i} and some more words that fill the line of this log\n" for i in range(32_000)]
    cell = {"cell_type": "code", "outputs": [], "metadata": {}, "execution_count": None}
    rest = {"metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    files = {
        "log.txt": "".join(lines),
        "one-cell.ipynb": json.dumps({"cells": [{**cell, "source": lines}], **rest}),
        "many-cells.ipynb": json.dumps({"cells": [{**cell, "source": [line]} for line in lines], **rest}),
        "pairs.json": json.dumps([{"user": f"u{i}", "password": made(16), "note": "some words"} for i in range(40_000)]),
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder, name)
            path.write_text(text)
            times = []
            for _ in range(7):
                started = time.monotonic()
                done = subprocess.run([options.colab_boot, "scrub", path], capture_output=True, text=True)
                times.append(time.monotonic() - started)
            print(f"{name}, {len(text) / 1e6:.1f} MB: {done.stdout.split()[0]} secrets, {sorted(times)[3]:.2f} s (worst {max(times):.2f})")


def ours(options, folder):
    done = subprocess.run([options.colab_boot, "scrub", folder, "--json"], capture_output=True, text=True)
    report = json.loads(done.stdout)["report"]["secrets"]
    return {Path(one["file"]).name: len(one["secrets"]) for one in report}


def peer(options, folder):
    """Each line of the file that is named counts once."""
    command = [str(Path(options.peer).resolve()), "scan", "--all-files", "."]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    results = json.loads(done.stdout)["results"]
    return {Path(file).name: len({one["line_number"] for one in hits}) for file, hits in results.items()}


class Gitleaks:
    """Its rules in its order: a keyword in the text, the pattern, the entropy of the group, the words and patterns that it allows."""

    def __init__(self, path):
        import tomllib

        import re2

        config = tomllib.loads(Path(path).read_text())
        lists = [config.get("allowlist", {}), *config.get("allowlists", [])]
        self.allowed = [re2.compile(one) for table in lists for one in table.get("regexes", [])]
        self.rules = []
        for rule in config["rules"]:
            if "regex" in rule:
                own = [rule.get("allowlist", {}), *rule.get("allowlists", [])]
                words = [word.lower() for table in own for word in table.get("stopwords", [])]
                allowed = [re2.compile(one) for table in own for one in table.get("regexes", []) if table.get("regexTarget", "secret") == "secret"]
                self.rules.append((re2.compile(rule["regex"]), [word.lower() for word in rule.get("keywords", [])], rule.get("entropy", 0), rule.get("secretGroup"), words, allowed))

    def scan(self, text):
        lower, found = text.lower(), set()
        for pattern, keywords, entropy, group, words, allowed in self.rules:
            if keywords and not any(word in lower for word in keywords):
                continue
            for hit in pattern.finditer(text):
                groups = [one for one in hit.groups() if one]
                secret = hit.group(group) if group else (groups[0] if groups else hit.group(0))
                if not secret or bits(secret) < entropy or any(word in secret.lower() for word in words):
                    continue
                if not any(one.search(secret) for one in [*allowed, *self.allowed]):
                    found.add(secret)
        return found

    def raw(self, options, folder):
        return {path.name: len(self.scan(path.read_text())) for path in Path(folder).glob("*.ipynb")}

    def decoded(self, options, folder):
        found = {}
        for path in Path(folder).glob("*.ipynb"):
            notebook = json.loads(path.read_text())
            cell = notebook["cells"][0]
            texts = ["".join(cell["source"]), "".join(cell["outputs"][0]["text"]), "\n".join(cell["outputs"][1]["traceback"])]
            texts.append(notebook["metadata"]["papermill"]["parameters"]["setting"])
            found[path.name] = len(set().union(*map(self.scan, texts)))
        return found


def bits(text):
    """Shannon's, a character."""
    counts = [text.count(letter) / len(text) for letter in set(text)]
    return -sum(share * math.log2(share) for share in counts)


if __name__ == "__main__":
    main()
