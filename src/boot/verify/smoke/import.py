"""Imports the modules named on the command line. The test of every package that has none of its own. What a module calls its
version need not be its distribution's, so none is reported."""

import importlib
import json
import sys

for name in sys.argv[1:]:
    importlib.import_module(name)
print(json.dumps({"ok": True, "detail": "imported " + ", ".join(sys.argv[1:])}))
