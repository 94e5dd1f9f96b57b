"""Imports the modules named on the command line. The test of every package that has none of its own."""

import importlib
import json
import sys

version = None
for name in sys.argv[1:]:
    module = importlib.import_module(name)
    version = version or getattr(module, "__version__", None)
print(json.dumps({"ok": True, "version": version and str(version), "detail": "imported " + ", ".join(sys.argv[1:])}))
