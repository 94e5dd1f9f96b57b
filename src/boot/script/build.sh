
# --- Sources ---------------------------------------------------------------------------------------------------------
# What the profile lets be built: pinned by digest. What a build asks for is fetched as pip is configured here.
# build FILE NAME=ARCHIVE...
build() {
  local file=$1
  shift
  local from=() sources=() has_pip=
  ! "$python" -I -m pip --version >/dev/null 2>&1 || has_pip=1
  [[ -z $wheels ]] || from+=(--find-links "$wheels")
  # Not as an argument: those can be read by everybody, and the address may hold a password.
  [[ -z $pip_index_url ]] || local -x PIP_INDEX_URL=$pip_index_url UV_DEFAULT_INDEX=$pip_index_url
  for one in "$@"; do
    sources+=(--no-binary "${one%%=*}")
  done
  if [[ -n $own ]]; then
    # Nothing is installed yet: what is built is switched with the rest.
    built=$work/built
    for one in "$@"; do
      if [[ -n $has_pip ]]; then
        "$python" -I -m pip wheel --no-input --disable-pip-version-check --progress-bar off --use-pep517 --no-deps \
          "${from[@]}" --wheel-dir "$built" "$wheels/${one#*=}" >&2
      else
        "$uv" build --no-config --python "$python" --no-progress "${from[@]}" --wheel --out-dir "$built" "$wheels/${one#*=}" >&2
      fi
    done
  elif [[ -n $has_pip ]]; then
    "$python" -I -m pip install --no-input --disable-pip-version-check --progress-bar off \
      --no-compile --force-reinstall --no-deps --require-hashes@BREAK_SYSTEM@ "${sources[@]}" "${from[@]}" --requirement "$file" >&2
  else
    for_uv "$file"
    "$uv" pip install --no-config --python "$python" --no-progress --link-mode copy --reinstall \
      --no-deps --require-hashes@BREAK_SYSTEM@ "${sources[@]}" "${from[@]}" --requirement "$file" >&2
  fi
}
