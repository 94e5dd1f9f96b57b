
# --- Sources ---------------------------------------------------------------------------------------------------------
# What the profile lets be built: pinned by digest. What a build asks for is fetched as pip is configured here. A build
# that asks for a framework of the lock, that fails because a module is missing, or that `no-build-isolation` of the
# profile lists sees the packages of the environment, as they will be.
frameworks=@FRAMEWORKS@
cat >"$work/locked" <<'END_OF_LOCKED'
@LINES@END_OF_LOCKED
# What says how to compile, as if it were one more package.
compiled_for() {
  printf '%s\n' "${TORCH_CUDA_ARCH_LIST:-}" "${CUDAARCHS:-}" "${CUDA_HOME:-}" "${FORCE_CUDA:-}" "${CC:-}" "${CXX:-}" "${CFLAGS:-}" "${CXXFLAGS:-}"
}
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
    # What of the environment is here now is what the build has seen.
    from importlib.metadata import distributions
    saw = set()
    for one in distributions() if locked else ():
        tops = {re.split("[/.]", str(path), maxsplit=1)[0] for path in one.files or () if str(path).endswith((".py", ".so"))}
        if tops & set(sys.modules):
            saw.add(re.sub("[-_.]+", "-", one.metadata["Name"] or "").lower())
    with open(answer, "w") as file:
        file.write("".join(f"{one}\n" for one in saw & set(locked.split())))
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
    locked=$(cut -d ' ' -f 1 "$work/locked")
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

# alone KIND FOLDER OUT [ARCHIVE]: the wheel of a project whose build sees nothing of the environment; an editable one may find what is installed now.
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
  saw "$name"
}

# saw NAME: what the build of NAME, which sees the environment, depends on: what it has imported, the frameworks and NumPy.
saw() {
  { echo variables; cat "$work/requires"; tr '|' '\n' <<<"$frameworks"; echo numpy; } | sort -u | while IFS= read -r one; do
    grep "^$one " "$work/locked" || true
  done >"$work/saw"
  sed "s/^/saw $1 /; s/ [^ ]*\$//" "$work/saw" >>"$journal"
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

# kept_in FOLDER: the wheel in FOLDER, if it is whole, and all that its build has seen is as the lock has it.
kept_in() {
  local one
  [[ -f $1/SHA256SUMS && -f $1/saw ]] || return 1
  # Anything may lie in a folder that others write to.
  for one in "$1"/*.whl; do
    [[ -f $one ]] || return 1
  done
  ! grep -vxFqf "$work/locked" "$1/saw" && (cd "$1" && sha256sum --check --status SHA256SUMS)
}

# build KEY NAME ARCHIVE MODE: the wheel of a source distribution in the folder $built, from what was built before or anew.
build() {
  local kept=${COLAB_BOOT_BUILT_WHEELS:+$COLAB_BOOT_BUILT_WHEELS/$1} name=$2 source=$work/source out=$work/made one
  for one in "$kept"/*/; do
    one=${one%/}
    if [[ -n $kept ]] && kept_in "$one"; then
      begin "take $name" "$name was built before, and kept in $one"
      sed "s/^/saw $name /; s/ [^ ]*\$//" "$one/saw" >>"$journal"
      mkdir -p "$built" && cp "$one"/*.whl "$built/"
      end "take $name"
      return
    fi
  done
  begin "build $name" "building $name from source"
  rm -rf "$source" "$out"
  mkdir -p "$source" "$out" "$built"
  tail -n 1 "$work/locked" >"$work/saw"
  "$python" -I -c 'import shutil, sys; shutil.unpack_archive(sys.argv[1], sys.argv[2])' "$wheels/$3" "$source"
  build_in "$4" "$name" wheel "$(echo "$source"/*/)" "$out" "$wheels/$3"
  if [[ -n $kept ]]; then
    cp "$work/saw" "$work/saw-$name"
    new+=("$kept=$name=$(cd "$out" && echo *.whl)")
  fi
  mv "$out"/*.whl "$built/"
  end "build $name"
}

# Another machine with the same key finds the wheel. Nothing is kept that was not good enough to be installed.
keep_built() {
  local one folder name wheel
  for one in "${new[@]}"; do
    wheel=${one##*=} one=${one%=*}
    name=${one##*=} folder=${one%=*}/$(sha256sum <"$work/saw-${one##*=}" | cut -c-16)
    {
      rm -rf "$folder.new" && mkdir -p "$folder.new" && cp "$built/$wheel" "$folder.new/" && cp "$work/saw-$name" "$folder.new/saw" &&
        (cd "$folder.new" && sha256sum ./*.whl >SHA256SUMS) && rm -rf "$folder" && mv -T "$folder.new" "$folder"
    } || printf 'unkept %s\n' "$name" >>"$journal"
  done
}

# editable NAME FOLDER MODE: a wheel that leads to the folder of a project.
editable() {
  begin "build $1" "building $1 from source"
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
  end "build $1"
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

@ARCHITECTURES@echo "variables $(compiled_for | sha256sum | cut -c-16)" >>"$work/locked"
from=()
new=()
[[ -z $wheels ]] || from+=(--find-links "$wheels")
# Not as an argument: those can be read by everybody, and the address may hold a password.
[[ -z $pip_index_url ]] || export PIP_INDEX_URL=$pip_index_url UV_DEFAULT_INDEX=$pip_index_url
MAX_JOBS=${MAX_JOBS:-$(compilers)}
export MAX_JOBS
[[ -z $own ]] || built=$work/built
