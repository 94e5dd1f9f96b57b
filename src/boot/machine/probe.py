# What this interpreter says of itself, as one line of JSON after a record separator: start-up files may print, too. Run with -I, so that
# no user setting answers in its place, and with -S where a start-up file stands in the way. Every command runs it: it imports as little as it can.
import os
import sys
import sysconfig

try:
    from _json import encode_basestring_ascii as quoted
except ImportError:  # no CPython
    from json import dumps as quoted


def text(value):
    """A value as JSON; `import json` takes as long as all the rest."""
    if isinstance(value, dict):
        return "{" + ", ".join(quoted(key) + ": " + text(one) for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(text, value)) + "]"
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else quoted(value)


paths = sysconfig.get_paths()
if sys.flags.no_site:  # what site does for a virtual environment, without the .pth files
    above = os.path.dirname(os.path.dirname(os.path.abspath(sys.executable)))
    if os.path.exists(os.path.join(above, "pyvenv.cfg")):
        sys.prefix = sys.exec_prefix = above
        paths = sysconfig.get_paths(vars={"base": above, "platbase": above})
    sys.path += [folder for folder in {paths["purelib"]: 0, paths["platlib"]: 0} if folder not in sys.path]
try:
    libc = os.confstr("CS_GNU_LIBC_VERSION") or ""
except (AttributeError, ValueError, OSError):
    libc = ""
if not libc:  # musl's loader tells its version when it is run by itself
    import glob
    import re
    import subprocess

    for loader in glob.glob("/lib/ld-musl-*.so.1")[:1]:
        said = subprocess.run([loader], stderr=subprocess.PIPE, check=False).stderr.decode(errors="replace")
        version = re.search(r"^Version (\d+\.\d+)", said, re.M)
        libc = f"musl {version[1]}" if version else ""
# What -I leaves out: PYTHONPATH, and the user's own site-packages where this Python would look there.
before_site = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
# That of a virtual environment comes before the user's (site.main).
if sys.prefix == sys.base_prefix and not os.environ.get("PYTHONNOUSERSITE"):
    import site

    before_site += [folder for folder in [site.getusersitepackages()] if folder]
marker = os.path.join(paths["stdlib"], "EXTERNALLY-MANAGED")
print("\n\x1e" + text({
    "path": sys.executable,
    "version": sys.version.split()[0],
    "implementation": sys.implementation.name,
    "architecture": os.uname().machine,
    "libc": libc,
    "free-threaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
    "layout": {
        "purelib": paths["purelib"],
        "platlib": paths["platlib"],
        "scripts": paths["scripts"],
        "data": paths["data"],
        "externally-managed": sys.prefix == sys.base_prefix and os.path.exists(marker),
    },
    "virtual": sys.prefix != sys.base_prefix or os.path.isdir(os.path.join(sys.prefix, "conda-meta")),
    "prefix": sys.prefix,
    "stdlib": paths["stdlib"],
    "before-site": before_site,
    "search": [entry for entry in sys.path if entry and os.path.isdir(entry)],
}))
