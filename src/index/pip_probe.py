# Which index would pip on this Python use? Its configuration first, then its built-in default; one line of JSON.
import glob
import json
import os
import sys


def answer():
    from pip._internal.configuration import Configuration
    from pip._internal.models.index import PyPI

    configuration = Configuration(isolated=False)
    configuration.load()
    settings = dict(configuration.items())
    if settings and isinstance(next(iter(settings.values())), dict):  # pip >= 25.1 groups by file
        settings = {key: value for group in settings.values() for key, value in group.items()}
    for key in ("install.index-url", "global.index-url", ":env:.index-url"):
        if settings.get(key):
            return settings[key]
    return PyPI.simple_url


try:
    import pip  # noqa: F401
except ImportError:
    try:  # a virtual environment without pip: the wheel that ensurepip carries knows the default too
        import ensurepip

        wheels = glob.glob(os.path.join(os.path.dirname(ensurepip.__file__), "_bundled", "pip-*.whl"))
        sys.path[:0] = wheels[:1]
    except ImportError:
        pass
try:
    print(json.dumps({"index": answer()}))
except ImportError:
    print(json.dumps({"index": None}))
