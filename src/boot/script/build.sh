
# --- Sources ---------------------------------------------------------------------------------------------------------
# What the profile lets be built: pinned by digest. What a build asks for is fetched as pip is configured here. A build
# that asks for a framework of the lock, that fails for want of a module, or that the profile lists in `no-build-isolation`
# sees the packages of the environment, as they will be.
frameworks=@FRAMEWORKS@
locked_names=@LOCKED@
has_pip=
! "$python" -I -m pip --version >/dev/null 2>&1 || has_pip=1
overlay=

# What is unpacked beside the environment, as one folder of packages.
see_environment() {
  [[ -z $overlay ]] || return 0
  overlay=$work/environment
  mkdir -p "$overlay"
  while IFS= read -r tree; do
    cp -rsf "$tree/." "$overlay/"
  done <"${COLAB_BOOT_UNPACKED:-/dev/null}"
}

# backend WHAT KIND FOLDER OUT MODE: calls the build backend of the project in FOLDER. MODE is `shared`, or `alone`.
backend() {
  local see=(-I) path=$packages
  [[ $5 != shared ]] || see=(-s) path=$packages:$overlay
  cat <<'END_OF_PYTHON' | env PYTHONPATH="$path" PATH="$packages/bin:$PATH" "$python" "${see[@]}" - "$1" "$2" "$3" "$packages" "$requires" "$4" "$locked" >&2
# PEP 517 and PEP 660: which packages the build of a project needs, and its wheel, or one that leads to its folder.
import importlib, os, re, site, sys

what, kind, folder, packages, answer, out, locked = sys.argv[1:]
sys.path[:] = [path for path in sys.path if path]
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
    if not hasattr(backend, f"build_{kind}"):
        sys.exit(f"the build backend {name} of {folder} has no editable builds (PEP 660)")
    requires = getattr(backend, f"get_requires_for_build_{kind}", lambda settings: [])({})
if what == "build":
    getattr(backend, f"build_{kind}")(out, {})
else:
    there = set(locked.split())
    def is_there(line):
        return re.sub("[-_.]+", "-", re.match(r"[\w.-]*", line.strip()).group()).lower() in there
    with open(answer, "w") as file:
        file.write("".join(f"{one}\n" for one in requires if not is_there(one)))
END_OF_PYTHON
}

# make_wheel KIND FOLDER OUT MODE: the wheel of a project, `editable` or not, after the packages that its build asks for.
make_wheel() {
  local packages=$work/backend requires=$work/requires locked=
  rm -rf "$packages"
  if [[ $4 == shared ]]; then
    see_environment
    # Those are there, in the versions that it will run with.
    locked=$locked_names
  fi
  for what in requires more build; do
    backend "$what" "$1" "$2" "$3" "$4" || return
    [[ $what != build && -s $requires ]] || continue
    if [[ -n $has_pip ]]; then
      "$python" -I -m pip install --no-input --disable-pip-version-check --progress-bar off --quiet --target "$packages" \
        "${from[@]}" --requirement "$requires" >&2 || return
    else
      "$uv" pip install --no-config --python "$python" --no-progress --quiet --target "$packages" "${from[@]}" \
        --requirement "$requires" >&2 || return
    fi
  done
}

# asks_for_framework FOLDER
asks_for_framework() {
  local packages=$work/backend requires=$work/requires locked=
  rm -f "$requires"
  [[ -n $frameworks ]] && backend requires wheel "$1" "" alone && grep -qxiE "($frameworks)([^A-Za-z0-9._-].*)?" "$requires"
}

# alone KIND FOLDER OUT [ARCHIVE]: the wheel of a project whose build sees nothing of the environment.
alone() {
  if [[ $1 == editable ]]; then
    make_wheel editable "$2" "$3" alone
  elif [[ -n $has_pip ]]; then
    "$python" -I -m pip wheel --no-input --disable-pip-version-check --progress-bar off --use-pep517 --no-deps \
      "${from[@]}" --wheel-dir "$3" "$4"
  else
    "$uv" build --no-config --python "$python" --no-progress "${from[@]}" --wheel --out-dir "$3" "$4"
  fi
}

# build_in MODE NAME KIND FOLDER OUT [ARCHIVE]: the same, or, where it has to, with the environment.
build_in() {
  local mode=$1 name=$2
  shift 2
  if [[ $mode != shared ]] && asks_for_framework "$2"; then
    say "the build of $name asks for a framework: it sees the environment"
    mode=shared
  fi
  if [[ $mode != shared ]]; then
    ! alone "$@" 2>&1 | tee "$work/said" >&2 || return 0
    grep -q 'No module named' "$work/said" || return 1
    say "the build of $name looks for a module that it does not ask for: it is built again, and sees the environment"
    rm -rf "${3:?}"/*
  fi
  make_wheel "$1" "$2" "$3" shared
}

# How much of a machine a build may take: one compiler for each processor and each 4 GB of memory.
compilers() {
  local free limit n
  free=$(awk '/^MemAvailable/ { print int($2 / 1024) }' /proc/meminfo)
  limit=$(cat /sys/fs/cgroup/memory.max 2>/dev/null || true)
  [[ ! $limit =~ ^[0-9]+$ ]] || ((limit / 1048576 >= free)) || free=$((limit / 1048576))
  n=$((free / 4096))
  ((n <= $(nproc))) || n=$(nproc)
  echo $((n > 0 ? n : 1))
}

# build KEY NAME ARCHIVE MODE: the wheel of a source distribution in the folder $built, from what was built before or anew.
build() {
  local kept=${COLAB_BOOT_BUILT_WHEELS:+$COLAB_BOOT_BUILT_WHEELS/$1} archive=$wheels/$3 source=$work/source out=$work/made
  rm -rf "$source" "$out"
  mkdir -p "$source" "$out" "$built"
  if [[ -n $kept && -f $kept/SHA256SUMS ]]; then
    if cp "$kept"/*.whl "$out/" && (cd "$out" && sha256sum --check --status "$kept/SHA256SUMS"); then
      say "$2 was built before, and kept in $kept"
      mv "$out"/*.whl "$built/"
      return
    fi
    say "the wheel in $kept is not as it was built; building $2 again"
    rm -f "$out"/*
  fi
  "$python" -I -c 'import shutil, sys; shutil.unpack_archive(sys.argv[1], sys.argv[2])' "$archive" "$source"
  build_in "$4" "$2" wheel "$(echo "$source"/*/)" "$out" "$archive"
  [[ -z $kept ]] || new+=("$kept=$(cd "$out" && echo *.whl)")
  mv "$out"/*.whl "$built/"
}

# Another machine with the same key finds the wheel. Nothing is kept that was not good enough to be installed.
keep_built() {
  local one folder
  for one in "${new[@]}"; do
    folder=${one%=*}
    {
      rm -rf "$folder.new" && mkdir -p "$folder.new" && cp "$built/${one##*=}" "$folder.new/" &&
        (cd "$folder.new" && sha256sum ./*.whl >SHA256SUMS) && rm -rf "$folder" && mv -T "$folder.new" "$folder"
    } || say "${one##*=} could not be kept in $folder"
  done
}

# editable NAME FOLDER MODE: a wheel that leads to the folder of a project.
editable() {
  if [[ -n $own ]]; then
    local out=$work/made
    rm -rf "$out"
    mkdir -p "$out" "$built"
    build_in "$3" "$1" editable "$2" "$out"
    mv "$out"/*.whl "$built/"
  elif [[ -n $has_pip ]]; then
    "$python" -I -m pip install --no-input --disable-pip-version-check --progress-bar off \
      --no-deps@BREAK_SYSTEM@ --editable "$2" >&2
  else
    "$uv" pip install --no-config --python "$python" --no-progress --no-deps@BREAK_SYSTEM@ --editable "$2" >&2
  fi
}

# build_and_install FILE [--no-build-isolation]: as pip or uv do it.
build_and_install() {
  local file=$1 names=()
  shift
  [[ -s $file ]] || return 0
  mapfile -t names < <(sed 's/[ =].*//' "$file")
  names=("${names[@]/#/--no-binary=}")
  if [[ -n $has_pip ]]; then
    "$python" -I -m pip install --no-input --disable-pip-version-check --progress-bar off --no-compile --force-reinstall \
      --no-deps --require-hashes@BREAK_SYSTEM@ "${names[@]}" "$@" "${from[@]}" --requirement "$file" >&2
  else
    for_uv "$file"
    "$uv" pip install --no-config --python "$python" --no-progress --link-mode copy --reinstall \
      --no-deps --require-hashes@BREAK_SYSTEM@ "${names[@]}" "$@" "${from[@]}" --requirement "$file" >&2
  fi
}

from=()
new=()
[[ -z $wheels ]] || from+=(--find-links "$wheels")
# Not as an argument: those can be read by everybody, and the address may hold a password.
[[ -z $pip_index_url ]] || export PIP_INDEX_URL=$pip_index_url UV_DEFAULT_INDEX=$pip_index_url
MAX_JOBS=${MAX_JOBS:-$(compilers)}
export MAX_JOBS
[[ -z $own ]] || built=$work/built
