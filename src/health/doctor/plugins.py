"""Runs one check of another package: `python -I plugins.py MODULE:FUNCTION`. The function returns nothing, a text, or a finding (a dict with `severity`,
`message`, `evidence`, `help`; or a list of them); an exception is an error, a Python warning is a warning. Ends with one line of JSON."""

import importlib
import inspect
import json
import os
import sys
import warnings


def called(function):
    """rapids' checks take `verbose` and more; ours take nothing."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return function()
    takes = {one.name for one in parameters} if not any(one.kind is one.VAR_KEYWORD for one in parameters) else {"verbose"}
    return function(**({"verbose": False} if "verbose" in takes else {}))


def findings_of(answer):
    """What a check returns: nothing, a text, a finding, or several."""
    if answer is None or answer is True:
        return [], ""
    if isinstance(answer, str):
        return [], answer
    if isinstance(answer, dict):
        return [answer], ""
    if isinstance(answer, (list, tuple)) or inspect.isgenerator(answer):
        all = list(answer)
        if all and all[0] is not None and not isinstance(all[0], dict):
            raise TypeError(f"a check returns findings, and this one a {type(answer).__name__} of {type(all[0]).__name__}")
        return [one for one in all if one is not None], ""
    raise TypeError(f"a check returns nothing, a text or findings, and this one {type(answer).__name__}: {answer!r:.100}")


def main(place):
    # Ends with the one who asked (prctl(2), PR_SET_PDEATHSIG).
    try:
        import ctypes

        ctypes.CDLL(None).prctl(1, 9)
    except Exception:
        pass
    # What a check prints is talk, and the last line is ours.
    out, sys.stdout = os.fdopen(os.dup(1), "w"), sys.stderr
    findings, said = [], ""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            module, _, name = place.partition(":")
            value = importlib.import_module(module)
            for part in name.split("."):
                value = getattr(value, part)
            findings, said = findings_of(called(value))
        except BaseException as error:  # SystemExit too: a check that exits has failed
            findings = [{"severity": "error", "message": f"{type(error).__name__}: {error}"}]
    for one in seen:
        if not issubclass(one.category, (DeprecationWarning, PendingDeprecationWarning, ImportWarning)):
            findings.append({"severity": "warning", "message": str(one.message)})
    out.write(json.dumps({"findings": findings, "said": said}, default=str) + "\n")
    out.flush()
    os._exit(0)


main(sys.argv[1])
