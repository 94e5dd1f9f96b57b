"""Imports modules one after the other, and says of each how that went: a line of JSON. What ends the process ends it after the line that names it."""

import importlib
import json
import sys


def say(**what):
    sys.__stdout__.write(json.dumps(what) + "\n")
    sys.__stdout__.flush()


for word in sys.argv[1:]:
    name, modules = word.split("=", 1)
    say(begins=name)
    try:
        for module in modules.split(","):
            importlib.import_module(module)
    except BaseException as error:  # whatever a module raises is what a user would see
        say(ends=name, error=f"{type(error).__name__}: {error}"[:2000])
    else:
        say(ends=name)
