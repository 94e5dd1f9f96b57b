"""What a kernel has loaded and how it is set. Imports nothing of what it looks at, runs nothing of it."""

import ast, builtins, gc, json, os, subprocess, sys, threading, time, types


class ColabBootImports:
    """First on sys.meta_path, finds nothing, and remembers when which module was looked for, and after each cell what its file looked like: a file that has
    not changed since is what the kernel has loaded."""

    colab_boot = True

    def __init__(self):
        self.begun, self.stamps, self.again, self.left = {}, {}, set(), {}

    def find_spec(self, name, path=None, target=None):
        now = time.time_ns()
        self.begun[name] = (now, time.monotonic_ns(), self.begun.get(name, (0, 0, now))[2])

    def look(self, *_):
        """Remembers the files of the modules that were looked for since the last time. Never fails: IPython calls it after each cell."""
        begun, self.begun = self.begun, {}
        now = time.time_ns() - time.monotonic_ns()
        folders = colab_boot_near() if begun.keys() - sys.modules.keys() else []
        for name, (wall, steady, first) in begun.items():
            try:
                if name not in sys.modules:
                    self.leave(name, wall, folders)
                    continue
                module = sys.modules[name]
                if type(module).__name__ == "_LazyModule":  # it is loaded when it is used
                    self.begun[name] = (wall, steady, first)
                    continue
                stamp, names = colab_boot_stamp(colab_boot_file(module))
            except Exception:
                continue
            known = self.stamps.get(name)
            # A clock that was set back in between proves nothing; one that was set forward makes changes younger.
            is_steady = wall - steady - now < 1_000_000_000
            self.stamps[name] = (id(module), stamp if is_steady and stamp[0] < wall - 20_000_000 else None, names)
            # One that was loaded again may have left what it was before in other hands.
            if known is not None and known[1] != stamp or first != wall and stamp[0] >= first - 20_000_000:
                self.again.add(name)

    def leave(self, name, since, folders):
        """Remembers what the file of a module that is not in sys.modules any more looks like: other names may still lead to the module."""
        file = colab_boot_source(name, folders)
        if file:
            stamp = colab_boot_stamp(file)[0]
            self.left[name] = (file, stamp if stamp[0] < since - 20_000_000 else None)


def colab_boot_near():
    """The folders of packages that Python looks in, but for those on mounts whose servers may be silent."""
    far = colab_boot_far()
    folders = [entry for entry in sys.path if isinstance(entry, str) and entry.endswith("-packages")]
    return [folder for folder in folders if colab_boot_resolved(folder, far, "far") != "far"]


def colab_boot_source(name, folders):
    """The file in one of these folders that a module of this name is read from; None without."""
    stem = name.replace(".", os.sep)
    files = [os.path.join(folder, stem + end) for folder in folders for end in (os.sep + "__init__.py", ".py")]
    return next(filter(os.path.isfile, files), None)


def colab_boot_left(imports, loaded):
    """Modules that were taken out of sys.modules and to which other names still lead: for each its file, what that looked like then and looks like now, and
    its namespace. Another one of that name may have been loaded since."""
    gone = imports.stamps.keys() - loaded.keys()
    folders = colab_boot_near() if gone else []
    for name in gone:
        file = colab_boot_source(name, folders)
        if file:
            imports.left.setdefault(name, (file, imports.stamps[name][1]))
    left, found = imports.left, {}
    current = {id(object.__getattribute__(loaded[name][0], "__dict__")) for name in left if name in loaded}
    for one in gc.get_objects() if left else []:
        kind = type(one)
        if kind is types.FunctionType or kind is types.ModuleType:
            space = one.__globals__ if kind is types.FunctionType else object.__getattribute__(one, "__dict__")
            name = dict.get(space, "__name__")  # its own `get` may be code of a program
            if type(name) is str and name in left and id(space) not in current and dict.get(space, "__file__") == left[name][0]:
                found[name] = space
    imports.left = {name: left[name] for name in found}
    return {name: (*left[name], colab_boot_stamp_now(left[name][0]), space) for name, space in found.items()}


def colab_boot_stamp_now(file):
    """What a file looks like; None where it is gone."""
    try:
        return colab_boot_stamp(file)[0]
    except OSError:
        return None


def colab_boot_imports():
    """The one of this kernel; it outlives the cell that made it."""
    for finder in sys.meta_path:
        if getattr(type(finder), "colab_boot", False) and hasattr(finder, "look"):
            return finder
    finder = ColabBootImports()
    sys.meta_path.insert(0, finder)
    try:
        sys.modules["IPython"].get_ipython().events.register("post_run_cell", finder.look)
    except Exception:  # no notebook: it looks when it is asked
        pass
    return finder


def colab_boot_file(module):
    """The file that a module says it comes from, as text; an exception where it says none."""
    return os.fspath(object.__getattribute__(module, "__dict__")["__file__"])


def colab_boot_real(file, known={}):
    """The file, by the place of its folder where that was reached through links that do not say what it is."""
    if "-packages" + os.sep in file:
        return file
    folder, name = os.path.split(file)
    if not known:
        known[None] = colab_boot_far()
    if folder not in known:
        known[folder] = colab_boot_resolved(folder, known[None])
    return os.path.join(known[folder], name)


def colab_boot_text(path):
    """What a file says. It is closed at once: a filter of warnings may make an error of one that is left open."""
    with open(path) as file:
        return file.read()


def colab_boot_far():
    """Where file systems are mounted whose servers may be silent: touching them may block for ever."""
    far = ("fuse", "fuseblk", "nfs", "nfs4", "cifs", "smb3", "9p", "virtiofs", "lustre", "ceph", "beegfs", "gpfs", "afs", "glusterfs")
    try:
        lines = colab_boot_text("/proc/self/mountinfo").splitlines()
    except OSError:
        return set()
    return {line.split(" ")[4].replace("\\040", " ") for line in lines if line.partition(" - ")[2].split(" ")[0].split(".")[0] in far}


def colab_boot_resolved(folder, far, beyond=None):
    """A folder without links; where it leads to a mount of `far`, of which nothing is touched, as it is, or `beyond`."""
    place, parts, links = "/", folder.split("/"), 0
    while parts and folder.startswith("/") and links < 40:
        part = parts.pop(0)
        place = os.path.normpath(os.path.join(place, part))
        if place in far:
            return beyond or folder
        try:
            target = os.readlink(place)
        except OSError:
            continue
        links += 1
        place, parts = "/" if target.startswith("/") else os.path.dirname(place), target.split("/") + parts
    return folder if parts else place


def colab_boot_silent(places):
    """Those of `places` that lie on mounts whose servers do not answer for them within two seconds. Children ask, all at once: who asks may wait for ever."""
    far, asked, silent = colab_boot_far(), {}, set()
    quiet = {"cwd": "/", "stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    for place in {place for place in places if place and far and colab_boot_resolved(place, far, "far") == "far"}:
        try:
            asked[place] = subprocess.Popen(["/usr/bin/find", place, "-maxdepth", "0", "-empty"], **quiet)
        except (OSError, ValueError):
            pass
    end = time.monotonic() + 2
    for place, child in asked.items():
        try:
            child.wait(max(0, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            child.kill()
            silent.add(place)
    return silent


def colab_boot_root(file):
    """The folder of packages that a file lies in, else its own."""
    before, named, _ = file.partition("-packages" + os.sep)
    return before + named if named else os.path.dirname(file)


def colab_boot_stamp(file):
    """What a file looks like: its ctime, that of the link that leads to it counts too, and its size. And what tells that it has got or lost another name,
    which moves its ctime, and nothing else: uv links the files of all environments to those of its cache."""
    data, own = os.stat(file), os.lstat(file)
    return [max(data.st_ctime_ns, own.st_ctime_ns), data.st_size], (own.st_dev, own.st_ino, own.st_mtime_ns, own.st_nlink)


def colab_boot_is_same(known, stamp, names):
    """Whether a file that looked as `known` says and has another ctime now was only linked or unlinked elsewhere since."""
    then = known[2] if len(known) > 2 else None
    return then is not None and known[1][1] == stamp[1] and then[:3] == names[:3] and then[3] != names[3]


def colab_boot_moved(folder, started, known):
    """Whether a folder on the way to a file was renamed, or a link turned, since this process started: its files keep their ctime then. What is put into
    a folder changes its mtime, too."""
    if folder not in known:
        data = os.lstat(folder)
        is_link = data.st_mode & 0o170000 == 0o120000
        moved = data.st_ctime_ns >= started and (is_link or data.st_mtime_ns < started)
        parent = os.path.dirname(folder)
        known[folder] = moved or parent != folder and colab_boot_moved(parent, started, known)
    return known[folder]


def colab_boot_only_linked(file, started, known):
    """Whether a file with several names has got or lost one of them elsewhere, and nothing else since this process started: its content is older, and so
    is what its folder lists, and no folder on the way was renamed."""
    folder = os.path.dirname(os.path.abspath(file))
    try:
        own, above = os.lstat(file), os.stat(folder)
        is_older = own.st_nlink > 1 and own.st_mtime_ns < started and above.st_mtime_ns < started
        return is_older and not colab_boot_moved(folder, started, known)
    except OSError:
        return False


def colab_boot_clock():
    """Now, by the clock that starts of processes are counted by: that of a thread of now."""
    ticks = []
    thread = threading.Thread(target=lambda: ticks.append(int(colab_boot_text("/proc/thread-self/stat").rpartition(")")[2].split()[19])))
    thread.start()
    thread.join()
    return ticks[0]


def colab_boot_started():
    """When this process started, by the clock of files, in nanoseconds. A thread of now tells the clock that starts are counted by."""
    age = colab_boot_clock() - int(colab_boot_text("/proc/self/stat").rpartition(")")[2].split()[19])
    return time.time_ns() - (age + 1) * (1_000_000_000 // os.sysconf("SC_CLK_TCK"))


def colab_boot_plain(value):
    """`value` in a form that is equal for equal values of equal types; ValueError for what is not made of Python's own types alone."""
    kind = type(value)
    if kind in (bool, int, float, complex, str, bytes, type(None), type(...)):
        return (kind.__name__, repr(value))
    if kind in (tuple, list):
        return (kind.__name__, [colab_boot_plain(one) for one in value])
    if kind in (set, frozenset):
        return (kind.__name__, sorted(map(repr, map(colab_boot_plain, value))))
    if kind is dict:
        return (kind.__name__, [(colab_boot_plain(key), colab_boot_plain(one)) for key, one in value.items()])
    raise ValueError(kind.__name__)


def colab_boot_key(code):
    """What makes two pieces of code do the same, wherever they stand in their file."""
    consts = tuple(colab_boot_key(one) if hasattr(one, "co_code") else (type(one).__name__, repr(one)) for one in code.co_consts)
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    names = (code.co_name, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    return (counts, names, consts, code.co_code, getattr(code, "co_exceptiontable", b""))


def colab_boot_differs(code, name, space, live):
    """Why the module `name` with namespace `space`, of which the functions `live` are in memory, is not what `code`, its syntax tree, would make it:
    ("differs", why), or ("unknown", why) where that can't be told; None where it is the same. Runs nothing of it."""
    (tree, compiled), module = code, space.get("__name__")
    known, wanted, bodies, made, alike = set(), set(), {}, {}, {}

    def walk(outer, counts, path):
        for one in outer.co_consts:
            if hasattr(one, "co_code"):
                is_function, inner = one.co_flags & 1, path + (one.co_name,)  # CO_OPTIMIZED; not the body of a class
                inner = path if one.co_name.startswith("<generic") else inner
                known.add(colab_boot_key(one))
                bodies.setdefault(inner, []).append(colab_boot_key(one))
                if counts and is_function and not one.co_name.startswith("<"):
                    wanted.add((one.co_name, colab_boot_key(one)))
                walk(one, counts and (not is_function or one.co_name.startswith("<generic")), inner)

    walk(compiled, True, ())
    in_memory = {colab_boot_key(function.__code__): function.__name__ for function in live}
    for key, function in in_memory.items():
        if key not in known:
            return ("differs", f"`{function}`")
    unknown = [f"`{function}` is not in memory" for function, key in wanted if key not in in_memory][:1]

    def same(node, there, space):
        try:
            value = colab_boot_plain(ast.literal_eval(node))
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            unknown.append(f"line {node.lineno}")
            return True
        try:
            return there in space and colab_boot_plain(space[there]) == value and apart(space[there], node)
        except ValueError:
            return False

    def apart(value, node):
        """Whether nothing else in the file made the lists, dicts and sets of `value`: in memory, names may share one of which the file gives each its own."""
        parts, place = [value], 0
        while parts:
            one, place = parts.pop(), place + 1
            if type(one) in (list, dict, set) and made.setdefault(id(one), (node, place)) != (node, place):
                return False
            if type(one) in (list, tuple, dict):
                parts.extend(one.values() if type(one) is dict else one)
        # The targets of one statement share what it makes.
        return type(value) not in (list, dict, set) or alike.setdefault(node, id(value)) == id(value)

    def of_import(node, space):
        if isinstance(node, ast.Import):
            for one in node.names:
                module = one.name if one.asname else one.name.partition(".")[0]
                if space.get(one.asname or module) is not sys.modules.get(module, 0):
                    unknown.append(f"line {node.lineno}")
        elif node.module != "__future__":
            package = name if "__path__" in dict_of(sys.modules.get(name)) else name.rpartition(".")[0]
            package = ".".join(package.split(".")[: max(len(package.split(".")) - node.level + 1, 0)])
            source = ".".join(part for part in (package if node.level else "", node.module) if part)
            for one in node.names:
                value = space.get(one.asname or one.name, 0)
                found = dict_of(sys.modules.get(source)).get(one.name, sys.modules.get(f"{source}.{one.name}", 1))
                if one.name == "*" or value is not found:
                    unknown.append(f"line {node.lineno}")

    def dict_of(value):
        return object.__getattribute__(value, "__dict__") if value is not None else {}

    def mangled(name, path):
        """What Python calls a private name of a class."""
        is_private = path and name.startswith("__") and not name.endswith("__")
        return "_" + path[-1].lstrip("_") + name if is_private else name

    def renamed(value, node, path):
        """Whether a function or a class says something else of itself than its place in the file, or has attributes of its own: a statement or a decorator
        that is gone from the file may have set them."""
        own = (value.__name__, value.__qualname__, value.__module__)
        return own != (node.name, ".".join(path + (node.name,)), module) or type(value) is types.FunctionType and bool(value.__dict__)

    def of_function(node, space, path):
        value = space.get(mangled(node.name, path))
        kinds = {"property": property, "staticmethod": staticmethod, "classmethod": classmethod}
        names = [getattr(one, "id", None) for one in node.decorator_list]
        if len(names) > 1 or not kinds.keys() >= {*names}:
            return unknown.append(f"line {node.lineno}")
        if path and not names:  # Python makes these what they are
            names = [{"__new__": "staticmethod", "__init_subclass__": "classmethod", "__class_getitem__": "classmethod"}.get(node.name)]
        if names and names[0]:
            if type(value) is not kinds[names[0]]:
                return node.name
            value = value.fget if names[0] == "property" else value.__func__
        if type(value) is not types.FunctionType or colab_boot_key(value.__code__) not in bodies.get(path + (node.name,), []):
            return node.name
        if renamed(value, node, path):
            unknown.append(f"attributes of `{node.name}`")
        own, keyed = value.__defaults__ or (), value.__kwdefaults__ or {}
        names = [(key.arg, one) for key, one in zip(node.args.kwonlyargs, node.args.kw_defaults) if one]
        if len(own) != len(node.args.defaults) or {*keyed} != {key for key, _ in names}:
            return node.name
        for one, there in [*zip(node.args.defaults, own), *((one, keyed[key]) for key, one in names)]:
            if not same(one, "default", {"default": there}):
                return node.name

    def named(node):
        """What a name, or names with dots between them, stands for in the module."""
        if isinstance(node, ast.Attribute):
            return dict_of(named(node.value)).get(node.attr)
        return space.get(node.id, getattr(builtins, node.id, None)) if isinstance(node, ast.Name) else None

    def of_class(node, space, path):
        value = space.get(mangled(node.name, path))
        if type(value) is not type or node.decorator_list or node.keywords or renamed(value, node, path):
            return unknown.append(f"line {node.lineno}")
        bases = [base for base in value.__bases__ if node.bases or base is not object]
        if len(bases) != len(node.bases) or not all(named(one) is base for one, base in zip(node.bases, bases)):
            return unknown.append(f"line {node.lineno}")
        return of_body(node, dict(vars(value)), path + (node.name,))

    def of_body(whole, space, path):
        body, meant = whole.body, {"__slots__"}
        if sys.flags.optimize < 2 and (space.get("__doc__") or "").split() != (ast.get_docstring(whole, False) or "").split():
            unknown.append("another docstring")
        for node in body:
            targets, different = getattr(node, "targets", None) or [getattr(node, "target", None)], None
            if not isinstance(node, ast.AnnAssign) or node.value is not None:
                meant.update(getattr(one, "name", getattr(one, "id", "")) for one in [node, *targets])
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                meant.update(one.asname or one.name.partition(".")[0] for one in node.names)
                of_import(node, space)
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                different = of_function(node, space, path)
            elif isinstance(node, ast.ClassDef):
                different = of_class(node, space, path)
            elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
                for target in targets:
                    if not isinstance(target, ast.Name):
                        unknown.append(f"line {node.lineno}")
                    elif not same(node.value, mangled(target.id, path), space):
                        different = target.id
            elif not (isinstance(node, (ast.Pass, ast.AnnAssign)) or isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
                unknown.append(f"line {node.lineno}")
            if different:
                return different
        # What is in memory besides was in the file once, or a program has put it there. Python itself makes some, as the slots of a class.
        pythons = "name doc package loader spec path file cached builtins annotations annotate conditional_annotations warningregistry".split()
        made = (types.ModuleType, types.MemberDescriptorType, types.GetSetDescriptorType)
        for key, value in space.items():
            is_private = path and key.startswith("_" + path[-1].lstrip("_") + "__")
            is_pythons = key.startswith("__") and (path or key.strip("_") in pythons)
            if key not in meant and key not in stored and not is_private and not is_pythons and not isinstance(value, made):
                unknown.append(f"`{key}` is not in the file any more")

    stored = {key for node in ast.walk(tree) if isinstance(node, ast.Global) for key in node.names}
    # A program may set what its file has set: another value alone proves nothing.
    different = of_body(tree, space, ())
    if different:
        return ("unknown", f"`{different}` has another value")
    return ("unknown", unknown[0]) if unknown else None


def colab_boot_modules(loaded):
    """The names of the loaded modules that lie in site-packages, and those whose file is not known to be the one that they were loaded from: with its stamp
    then, if known, and what a comparison of their code says."""
    imports, started = colab_boot_imports(), colab_boot_started()
    imports.look()
    before, stamps, suspects, folders = imports.stamps, {}, [], {}
    installed = {name: (module, file) for name, (module, file) in loaded.items() if "-packages" + os.sep in colab_boot_real(file)}
    silent = colab_boot_silent({colab_boot_root(file) for _, file in installed.values()})
    # Cython puts a module into sys.modules under its last name, too; the import hook has not seen that name.
    alike = {known[0]: known for known in before.values()}
    for name, (module, file) in installed.items():
        is_silent = colab_boot_root(file) in silent
        try:
            stamp, names = (None, None) if is_silent else colab_boot_stamp(file)
        except OSError:
            stamp = names = None
        known = before.get(name) or alike.get(id(module))
        # One that was loaded before anybody looked is what the kernel has loaded where its file is older than the kernel, and has not come there since.
        is_older = stamp is not None and stamp[0] < started and not colab_boot_moved(os.path.dirname(os.path.abspath(file)), started, folders)
        was = known[1] if known and known[0] == id(module) else stamp if is_older else None
        if was and stamp and was is not stamp and colab_boot_is_same(known, stamp, names):
            was = stamp
        again = stamp is not None and name in imports.again
        stamps[name] = (id(module), was, names or known and known[2:] and known[2])
        if not is_silent and (was != stamp or was is None or again):
            suspects.append((name, file, was, stamp, again, object.__getattribute__(module, "__dict__")))
    left = colab_boot_left(imports, loaded)
    suspects.extend((name, file, was, stamp, True, space) for name, (file, was, stamp, space) in left.items() if was is None or was != stamp)
    imports.stamps, imports.again = stamps, set()
    compared = colab_boot_compared(suspects, started, folders)
    return {"names": sorted({*stamps, *left}), "changed": compared, "left": {name: one[0] for name, one in left.items()}}


def colab_boot_functions(name, space, file):
    """The functions from `file` that the namespace of the module `name` leads to: its own, those of its classes, and what these are wrapped in."""
    # Builtins lead to the shell of the notebook, and with it to everything.
    seen = {id(builtins.__dict__), id(sys.modules), *(id(space.get(own)) for own in ("__builtins__", "__loader__", "__spec__"))}
    found, open_ = [], [space]
    while open_ and len(seen) < 50_000:
        for one in gc.get_referents(open_.pop()):
            kind = type(one)
            if id(one) in seen or kind in (types.ModuleType, types.CodeType, str, bytes, int, float) or not gc.is_tracked(one):
                continue
            if isinstance(one, type) and type.__getattribute__(one, "__module__") != name:
                continue
            if kind is types.FunctionType and one.__globals__ is not space:
                continue
            seen.add(id(one))
            if kind is types.FunctionType and one.__code__.co_filename == file:
                found.append(one)
            open_.append(one)
    return found


def colab_boot_compared(suspects, started, folders):
    """Each of the suspects with what their code says, as far as that takes no time to speak of."""
    end, function = time.thread_time() + 0.06, types.FunctionType
    # A module that no earlier cell has looked at may have been loaded twice, and its first functions may be in other hands.
    anywhere = {file: [] for _, file, was, _, again, _ in suspects if (again or was is None) and file.endswith(".py")}
    for one in [one for one in gc.get_objects() if type(one) is function] if anywhere else []:
        if one.__code__.co_filename in anywhere:
            anywhere[one.__code__.co_filename].append(one)
    changed = []
    for name, file, was, stamp, again, space in suspects:
        found = ("unknown", "no source to compare" if stamp else "its file is gone")
        if stamp and file.endswith(".py"):
            try:
                if time.thread_time() + 1e-6 * stamp[1] > end and not again:  # a kilobyte takes a millisecond at most
                    raise TimeoutError
                live = anywhere[file] if file in anywhere else colab_boot_functions(name, space, file)
                with open(file, "rb") as source:
                    text = source.read()
                code = ast.parse(text, file), compile(text, file, "exec", dont_inherit=True)
                found = colab_boot_differs(code, name, space, live)
            except TimeoutError:
                found = ("unknown", "too much code to compare")
            except Exception as error:
                found = ("unknown", f"{type(error).__name__}: {error}")
        # Of one that was loaded from this very file, only what was left from before can differ.
        is_proven = stamp and was == stamp or was is None and stamp and not again and colab_boot_only_linked(file, started, folders)
        found = ("same", "") if not found or found[0] == "unknown" and is_proven else found
        changed.append({"name": name, "file": colab_boot_real(file), "loaded": was, "now": stamp, "code": found[0], "why": found[1]})
    return changed


def colab_boot_facts(variables):
    """What this kernel has loaded and how it is set, for colab-boot to judge. Imports nothing, runs nothing of a module, initialises no device."""

    def own(module):
        try:  # a module may be anything, and answer to any name; what it is made of lies here
            return object.__getattribute__(module, "__dict__")
        except Exception:
            return {}

    def text(value):  # a module may have any text; JSON may not
        return value.encode("utf-8", "replace").decode() if isinstance(value, str) else None

    def encodable(text):
        return isinstance(text, str) and text.encode("utf-8", "ignore").decode() == text

    def asked(question):
        try:
            return bool(question())
        except Exception:
            return None

    def told(question):
        try:
            return question()
        except Exception:
            return None

    at = told(lambda: colab_boot_clock())

    # The extension, which is loaded anew by each `%reload_ext`, is no part of what is judged.
    is_own = lambda name: name.partition(".")[0] == "colab_boot"
    modules, files, loaded = {}, {}, {name: module for name, module in dict(sys.modules).items() if encodable(name) and not is_own(name)}
    for name, module in loaded.items():
        file = told(lambda: colab_boot_file(module))
        if not encodable(file):
            # Something that has put itself in the place of a module: what it comes from is not known.
            if module is not None and type(module) is not types.ModuleType and "." not in name:
                modules[name] = {"file": None, "version": None}
            continue
        files[name] = (module, file)
        # What lies in the folder of a regular package goes with it; namespace packages have no file of their own.
        top = own(loaded.get(name.split(".")[0])).get("__file__")
        if "." in name and encodable(top) and file.startswith(os.path.dirname(top)):
            continue
        modules[name] = {"file": told(lambda: colab_boot_real(file)), "version": text(own(module).get("__version__"))}

    def torch_memory():
        cuda = loaded["torch"].cuda
        stats, (free, total) = cuda.memory_stats(), cuda.mem_get_info()
        parts = {"reserved": "reserved_bytes.all.current", "allocated": "allocated_bytes.all.current"}
        parts.update({"split": "inactive_split_bytes.all.current", "retries": "num_alloc_retries", "failed": "num_ooms"})
        return {"free": free, "total": total, **{name: stats.get(key, 0) for name, key in parts.items()}}

    initialised, memory = {}, None
    if "torch" in loaded:
        initialised["torch.cuda"] = asked(lambda: loaded["torch"].cuda.is_initialized())
        memory = told(torch_memory) if initialised["torch.cuda"] else None
    if "jax" in loaded:
        bridge = loaded.get("jax._src.xla_bridge")
        initialised["jax"] = asked(lambda: bridge is not None and bridge.backends_are_initialized())
    if "tensorflow" in loaded:
        context = loaded.get("tensorflow.python.eager.context")
        initialised["tensorflow"] = asked(lambda: context.context()._initialized)
    seen = told(lambda: colab_boot_modules(files)) or {}
    for name, file in seen.pop("left", {}).items():
        modules.setdefault(name, {"file": told(lambda: colab_boot_real(file)), "version": None})
    return {
        "schema": 2,
        "pid": os.getpid(),
        "at": at,
        "modules": modules,
        **seen,
        "environment": {name: os.environ.get(name) for name in variables if encodable(os.environ.get(name, ""))},
        "initialised": {name: known for name, known in initialised.items() if known is not None},
        "path": [entry for entry in (entry or told(os.getcwd) for entry in sys.path) if encodable(entry)],
        "start_method": told(lambda: loaded["multiprocessing"].get_start_method(allow_none=True)),
        "hash_randomization": bool(sys.flags.hash_randomization),
        "torch_memory": memory,
    }
