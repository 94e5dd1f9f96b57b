
# --- Wheels ----------------------------------------------------------------------------------------------------------
# Exact versions (===, because pip would take an installed +cuNNN build for ==), digests, no dependencies, no source.
work=$(mktemp -d)
unpacked=
coming=()
going=()
own=
built=
trap 'rm -rf "$work" "$unpacked" || true' EXIT
uv=$(command -v uv || true)
case ${COLAB_BOOT_INSTALLER:-} in
  colab-boot) own=${COLAB_BOOT_PROGRAM:-} ;;
  pip) uv= ;;
  # A launcher whose uv is gone is none.
  *) [[ -z $uv ]] || "$uv" --version >/dev/null 2>&1 || uv= ;;
esac
# Only pip knows where this machine's pip is configured to look, so without a folder of wheels it comes first.
if [[ -z $wheels ]] && "$python" -I -m pip --version >/dev/null 2>&1; then
  uv=
fi

remove() {
  if [[ -n $own ]]; then
    going+=("$@")
  elif [[ -n $uv ]]; then
    "$uv" pip uninstall --no-config --python "$python"@BREAK_SYSTEM@ "$@" >&2
  else
    "$python" -I -m pip uninstall --yes --no-input --disable-pip-version-check@BREAK_SYSTEM@ "$@" >&2
  fi
}

# Older uv (0.12.8) takes no === beside digests; with --reinstall, what is installed satisfies nothing.
for_uv() {
  sed -i 's/^\([A-Za-z0-9._-]*\)===/\1==/' "$1"
}

# install [--beside] FILE [--index-url URL]: from the folder of wheels if there is one, else from the index. --beside leaves alone
# what others have installed elsewhere on the path, and puts the wheel where Python looks first; uv never looks there.
install() {
  local again=--force-reinstall
  if [[ $1 == --beside ]]; then
    again=--ignore-installed
    shift
  fi
  local file=$1
  shift
  if [[ -n $own ]]; then
    coming+=("$file")
    return
  fi
  local from=("$@") pip_only=()
  if [[ -n $wheels ]]; then
    from=(--no-index --find-links "$wheels")
    pip_only=(--isolated --no-cache-dir)
    local -x PIP_CONFIG_FILE=/dev/null
  fi
  if [[ -n $uv ]]; then
    # uv unpacks in site-packages, so that a link does for a copy; no cache is left that shares files with what is installed.
    mkdir -p "$site"
    [[ -n $unpacked ]] || unpacked=$(mktemp -d "$site/.colab-boot-unpacked-XXXXXXXX")
    for_uv "$file"
    "$uv" pip install --no-config --python "$python" --no-progress --cache-dir "$unpacked" --link-mode hardlink --reinstall \
      --no-deps --require-hashes --only-binary :all:@BREAK_SYSTEM@ "${from[@]}" --requirement "$file" >&2
  else
    "$python" -I -m pip install "${pip_only[@]}" --no-input --disable-pip-version-check \
      --progress-bar off --no-compile "$again" --no-deps --require-hashes --only-binary :all:@BREAK_SYSTEM@ \
      "${from[@]}" --requirement "$file" >&2
  fi
}

# What `colab-boot apply` has staged changes its place with what is installed, all at once: it has unpacked and checked it before.
switch() {
  [[ -z $own ]] || "$own" install-wheels ${built:+--built="$built"} "${going[@]/#/--remove=}" "${coming[@]}" >&2
}
