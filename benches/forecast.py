"""What would become of the bundled profiles on every bundled image: one table, and the seconds of each.

    python3 benches/forecast.py --colab-boot target/release/colab-boot

Asks the default index as a user does. Each profile is asked twice: the first time with whatever the cache has, the second with all of it.
"""

import argparse
import json
import subprocess
import time


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--colab-boot", required=True)
    parser.add_argument("profiles", nargs="*", default=["pytorch", "jax", "data", "cpu"])
    options = parser.parse_args()
    cells, images, seconds = {}, [], {}
    for name in options.profiles:
        for _ in range(2):
            started = time.monotonic()
            done = subprocess.run(
                [options.colab_boot, "forecast", f"profiles/{name}.toml", "--all", "--json"], capture_output=True, text=True
            )
            seconds.setdefault(name, []).append(time.monotonic() - started)
        for row in json.loads(done.stdout)["report"]:
            if row["runtime"] not in images:
                images.append(row["runtime"])
            cells.setdefault((row["runtime"], name), []).append(row)
    print("| image | " + " | ".join(options.profiles) + " |\n|" + "---|" * (len(options.profiles) + 1))
    for image in images:
        print(f"| {image} | " + " | ".join(cell(cells.get((image, name), [])) for name in options.profiles) + " |")
    for name, both in seconds.items():
        print(f"{name}: {both[0]:.1f} s, again {both[1]:.1f} s")


def cell(rows):
    """The verdict of all GPUs of an image, which is one but where they differ."""
    return "; ".join(sorted({verdict(row) for row in rows}))


def verdict(row):
    if not row["survives"]:
        return "breaks: " + row["code"]
    size = row["download"]
    fetched = f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"
    return f"{row['changes']} change, {fetched}" + (", one restart" if row["restart"] else "")


if __name__ == "__main__":
    main()
