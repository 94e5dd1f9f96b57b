
# --- Sources ---------------------------------------------------------------------------------------------------------
# What the profile lets be built: pinned by digest. What a build asks for is fetched as pip is configured here.
# editable FOLDER OUT: a wheel that leads to the folder of a project
editable() {
  local site=$work/backend answer=$work/requires
  rm -rf "$site"
  for what in requires more build; do
    cat <<'END_OF_PYTHON' | "$python" -I - "$what" "$1" "$site" "$answer" "$2" >&2
# PEP 517 and PEP 660: which packages the build of a project needs, and a wheel that leads to its folder.
import importlib, os, site, sys

what, folder, packages, answer, out = sys.argv[1:]
os.chdir(folder)
system = {}
if os.path.exists("pyproject.toml"):
    try:
        import tomllib
    except ModuleNotFoundError:
        from pip._vendor import tomli as tomllib
    with open("pyproject.toml", "rb") as file:
        system = tomllib.load(file).get("build-system", {})
requires = system.get("requires", ["setuptools"])
if what != "requires":
    paths = [os.path.join(folder, path) for path in system.get("backend-path", [])] + [packages]
    site.addsitedir(packages)
    sys.path[:0] = paths
    name, _, attribute = system.get("build-backend", "setuptools.build_meta:__legacy__").partition(":")
    backend = importlib.import_module(name)
    for part in filter(None, attribute.split(".")):
        backend = getattr(backend, part)
    if not hasattr(backend, "build_editable"):
        sys.exit(f"the build backend {name} of {folder} has no editable builds (PEP 660)")
    requires = getattr(backend, "get_requires_for_build_editable", lambda settings: [])({})
if what == "build":
    backend.build_editable(out, {})
else:
    with open(answer, "w") as file:
        file.write("".join(f"{one}\n" for one in requires))
END_OF_PYTHON
    [[ $what != build && -s $answer ]] || continue
    if [[ -n $has_pip ]]; then
      "$python" -I -m pip install --no-input --disable-pip-version-check --progress-bar off --quiet --target "$site" \
        "${from[@]}" --requirement "$answer" >&2
    else
      "$uv" pip install --no-config --python "$python" --no-progress --quiet --target "$site" "${from[@]}" \
        --requirement "$answer" >&2
    fi
  done
}

# build FILE NAME=ARCHIVE...: with @FOLDER for an archive, an editable project
build() {
  local file=$1
  shift
  local from=() sources=() has_pip=
  ! "$python" -I -m pip --version >/dev/null 2>&1 || has_pip=1
  [[ -z $wheels ]] || from+=(--find-links "$wheels")
  # Not as an argument: those can be read by everybody, and the address may hold a password.
  [[ -z $pip_index_url ]] || local -x PIP_INDEX_URL=$pip_index_url UV_DEFAULT_INDEX=$pip_index_url
  for one in "$@"; do
    [[ $one == *=@* ]] || sources+=(--no-binary "${one%%=*}")
  done
  if [[ -n $own ]]; then
    # Nothing is installed yet: what is built is switched with the rest.
    built=$work/built
    mkdir -p "$built"
    for one in "$@"; do
      if [[ $one == *=@* ]]; then
        editable "${one#*=@}" "$built"
      elif [[ -n $has_pip ]]; then
        "$python" -I -m pip wheel --no-input --disable-pip-version-check --progress-bar off --use-pep517 --no-deps \
          "${from[@]}" --wheel-dir "$built" "$wheels/${one#*=}" >&2
      else
        "$uv" build --no-config --python "$python" --no-progress "${from[@]}" --wheel --out-dir "$built" "$wheels/${one#*=}" >&2
      fi
    done
    return
  fi
  for one in "$@"; do
    [[ $one == *=@* ]] || continue
    if [[ -n $has_pip ]]; then
      "$python" -I -m pip install --no-input --disable-pip-version-check --progress-bar off \
        --no-deps@BREAK_SYSTEM@ --editable "${one#*=@}" >&2
    else
      "$uv" pip install --no-config --python "$python" --no-progress --no-deps@BREAK_SYSTEM@ --editable "${one#*=@}" >&2
    fi
  done
  [[ -s $file ]] || return 0
  if [[ -n $has_pip ]]; then
    "$python" -I -m pip install --no-input --disable-pip-version-check --progress-bar off \
      --no-compile --force-reinstall --no-deps --require-hashes@BREAK_SYSTEM@ "${sources[@]}" "${from[@]}" --requirement "$file" >&2
  else
    for_uv "$file"
    "$uv" pip install --no-config --python "$python" --no-progress --link-mode copy --reinstall \
      --no-deps --require-hashes@BREAK_SYSTEM@ "${sources[@]}" "${from[@]}" --requirement "$file" >&2
  fi
}
