"""Which of the compiled files that are named were not made from the source that they are run for.

Nothing of them is executed: sources are compiled, compiled files are loaded, and both are compared. Prints `stale`, the
sources, and `unread`, how many files could not be compared, in 1.5 seconds at most.
"""
import importlib.util
import json
import marshal
import sys
import time

HEAD = 16
end = time.monotonic() + 1.5
stale, unread = [], 0
for at, path in enumerate(sys.argv[1:]):
    if time.monotonic() > end:
        unread += len(sys.argv) - 1 - at
        break
    try:
        source = importlib.util.source_from_cache(path)
        # Those of other interpreters and tools are not run by this one.
        if importlib.util.cache_from_source(source, optimization="") != path:
            continue
        with open(path, "rb") as file:
            compiled = file.read()
        if compiled[:4] != importlib.util.MAGIC_NUMBER:
            continue
        with open(source, "rb") as file:
            text = file.read()
    except (OSError, ValueError, NotImplementedError):
        unread += 1
        continue
    try:
        if marshal.loads(compiled[HEAD:]) == compile(text, source, "exec", dont_inherit=True, optimize=0):
            continue
    except (EOFError, SyntaxError, TypeError, ValueError):
        pass
    stale.append(source)
print(json.dumps({"stale": stale, "unread": unread}))
