"""Imports modules one after the other, and says of each how that went: a line of JSON. What ends the process ends it after the line that names it.

What has a colon is a check in a package's code (`module:function`): it is called, or looked at if it is no function."""

import functools
import importlib
import json
import sys
import types


def say(**what):
    sys.__stdout__.write(json.dumps(what) + "\n")
    sys.__stdout__.flush()


def use(reference):
    module, _, path = reference.partition(":")
    found = importlib.import_module(module)
    for name in path.split(".") if path else []:
        found = getattr(found, name, None)
    if path and isinstance(found, (types.FunctionType, functools._lru_cache_wrapper)):
        found()


for word in sys.argv[1:]:
    name, modules = word.split("=", 1)
    say(begins=name)
    try:
        for module in modules.split(","):
            use(module)
    except BaseException as error:  # whatever a module raises is what a user would see
        say(ends=name, error=f"{type(error).__name__}: {error}"[:2000], checked=":" in module)
    else:
        say(ends=name)
