#!/usr/bin/env bash
# Installs what the lock of profile p 1.0.0 names for target machine.
# Lock sha256: LOCK
#
# Made by colab-boot 0.1.0, and to be read: it needs nothing of colab-boot. `colab-boot apply` runs exactly this file.
#   COLAB_BOOT_PYTHON   the interpreter to install for
#   COLAB_BOOT_SITE     its site-packages, where the caller knows them
#   COLAB_BOOT_WHEELS   a folder that holds the wheels; without it they are downloaded
#   COLAB_BOOT_JOURNAL  a file that gets a line before and after each step
#   COLAB_BOOT_INSTALLER, COLAB_BOOT_PROGRAM, COLAB_BOOT_STAGED  how `colab-boot apply` installs what it has unpacked
#   COLAB_BOOT_UNPACKED, COLAB_BOOT_BUILT_WHEELS  the folders of it that builds may need, and one that keeps what was built
set -euo pipefail
umask 022

python=${COLAB_BOOT_PYTHON:-/nowhere/bin/python3}
wheels=${COLAB_BOOT_WHEELS:-}
journal=${COLAB_BOOT_JOURNAL:-/dev/null}

# Settings of the image for pip, uv, Python and shells must not change what is installed. Without a folder of wheels, the ones
# that say where an index is are left.
for name in $(compgen -e); do
  case $name in
    PIP_INDEX_URL | PIP_CERT | PIP_CLIENT_CERT | PIP_PROXY | PIP_TRUSTED_HOST | PIP_CONFIG_FILE | UV_DEFAULT_INDEX | UV_INDEX_URL)
      [[ -z $wheels ]] || unset "$name" ;;
    PIP_* | UV_* | PYTHON* | BASH_ENV | ENV) unset "$name" ;;
  esac
done
# No option: pip before 22.1 stops at one that it does not know.
export LC_ALL=C.UTF-8 UV_PYTHON_DOWNLOADS=never PIP_ROOT_USER_ACTION=ignore
export DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1

# Where the wheels go.
site=${COLAB_BOOT_SITE:-$("$python" -I -c 'import sysconfig; print(sysconfig.get_path("purelib"))')}

say() { printf 'colab-boot: %s\n' "$*" >&2; }
begin() { printf 'begin %s\n' "$1" >>"$journal"; say "$2"; }
end() { printf 'end %s\n' "$1" >>"$journal"; }

# --- Debian packages -------------------------------------------------------------------------------------------------
# First, because wheels may load their libraries. dpkg's lock is waited for; an interrupted dpkg is finished. apt says first what it
# would do: it may not remove anything, nor upgrade what is not named here, nor touch the driver.
snapshot=
apt_get() {
  apt-get ${snapshot:+--snapshot "$snapshot"} -o DPkg::Lock::Timeout=120 -o Acquire::Retries=3 -o Acquire::http::Timeout=30 -o APT::Update::Error-Mode=any \
    -o Dpkg::Use-Pty=0 -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold "$@" </dev/null
}

debian_packages=(
  ffmpeg
  g++
)
missing=()
for package in "${debian_packages[@]}"; do
  status=$(dpkg-query --show --showformat='${db:Status-Status}' "${package%%=*}" 2>/dev/null || true)
  [[ $status == installed ]] || missing+=("$package")
done

# What the archive has instead of versions that it no longer has.
offered() {
  local package
  for package in "${missing[@]}"; do
    [[ $package == *=* ]] || continue
    if ! apt-cache madison "${package%%=*}" | cut -d '|' -f 2 | tr -d ' ' | grep -qxF -- "${package#*=}"; then
      say "${package%%=*}: the lock has ${package#*=}, apt offers $(apt-cache policy "${package%%=*}" | sed -n 's/^  Candidate: //p')"
    fi
  done
}

# may_install SIMULATION: whether nothing happens in it that was not asked for.
may_install() {
  local verb name rest installs=() upgrades=() drivers=()
  while read -r verb name rest; do
    [[ $verb == Inst ]] || continue
    name=${name%%:*}
    installs+=("$name")
    case $name in
      cuda-drivers* | nvidia-driver-* | nvidia-kernel-* | nvidia-dkms-* | libnvidia-compute-* | libcuda1) drivers+=("$name") ;;
    esac
    if [[ $rest == \[* && " ${debian_packages[*]%%=*} " != *" $name "* ]]; then
      upgrades+=("$name")
    fi
  done <<<"$1"
  say "apt-get installs ${installs[*]:-nothing}"
  if ((${#drivers[@]})); then
    say "refused: apt-get would touch the NVIDIA driver (${drivers[*]}), which belongs to the host"
    return 1
  fi
  if ((${#upgrades[@]})); then
    say "refused: apt-get would upgrade ${upgrades[*]}, which the profile does not name; add them to its [apt] packages to allow it"
    return 1
  fi
}

# What an interrupted dpkg has left is configured. An apt-get that was killed leaves a dpkg at work, which holds the lock.
finish_dpkg() {
  local waited=0 said
  # A file and no pipe: a daemon that a package starts would keep that open.
  said=$(mktemp)
  until dpkg --configure -a </dev/null >"$said" 2>&1; do
    if ! grep -q "locked by another process" "$said" || ((waited == 120)); then
      cat "$said" >&2
      rm -f "$said"
      return 1
    fi
    ((waited)) || say "waiting for the dpkg that is at work"
    sleep 1
    waited=$((waited + 1))
  done
  cat "$said" >&2
  rm -f "$said"
}

if ((${#missing[@]})); then
  begin apt "apt-get install ${missing[*]}"
  if ((EUID != 0)); then
    say "apt-get needs root; as root, run: apt-get install ${missing[*]}"
    exit 77
  fi
  if [[ -n $snapshot ]] && ! apt_get indextargets >/dev/null 2>&1; then
    say "the profile asks for the archive of $snapshot; apt-get knows snapshots since 2.4.11 (Ubuntu 22.04) and 2.7 (Debian 13, Ubuntu 24.04)"
    exit 100
  fi
  if [[ -n $(dpkg --audit) || -n $(ls -A /var/lib/dpkg/updates 2>/dev/null) ]]; then
    say "finishing an interrupted dpkg"
    finish_dpkg
  fi
  if ! apt_get update >&2; then
    [[ -z $snapshot ]] || { say "apt-get can't have the archive of $snapshot"; exit 100; }
    say "apt-get update failed; going on with the package lists that are here"
  fi
  if ! simulation=$(apt_get install --simulate --no-install-recommends --no-remove -- "${missing[@]}"); then
    offered
    exit 100
  fi
  may_install "$simulation" || exit 100
  apt_get install --yes --no-install-recommends --no-remove -- "${missing[@]}" >&2
  end apt
fi

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
    "$uv" pip uninstall --no-config --python "$python" "$@" >&2
  else
    "$python" -I -m pip uninstall --yes --no-input --disable-pip-version-check "$@" >&2
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
      --no-deps --require-hashes --only-binary :all: "${from[@]}" --requirement "$file" >&2
  else
    "$python" -I -m pip install "${pip_only[@]}" --no-input --disable-pip-version-check \
      --progress-bar off --no-compile "$again" --no-deps --require-hashes --only-binary :all: \
      "${from[@]}" --requirement "$file" >&2
  fi
}

# What `colab-boot apply` has staged changes its place with what is installed, all at once: it has unpacked and checked it before.
switch() {
  [[ -z $own ]] || "$own" install-wheels ${built:+--built="$built"} "${going[@]/#/--remove=}" "${coming[@]}" >&2
}

begin wheels "installing wheels: 2"
cat >"$work/default.txt" <<'END_OF_REQUIREMENTS'
a===1.0 --hash=sha256:1db229cdeeab32dd89d9d116f4cad76e44c03462e956cb95fca0272c12d7a940
END_OF_REQUIREMENTS
install "$work/default.txt"
cat >"$work/own.txt" <<'END_OF_REQUIREMENTS'
b===1.0 --hash=sha256:b6704522508d8d8a3aa31c4aa975c4c524caf2d370df9d700805d31c2c0d7237
END_OF_REQUIREMENTS
install "$work/own.txt" --index-url http://own.test/simple
switch
end wheels

# Colab mounts the driver's libraries where the loader does not look.
if ((EUID == 0)) && [[ -d /usr/lib64-nvidia && $(ldconfig -p) != */usr/lib64-nvidia/* ]]; then
  echo /usr/lib64-nvidia >/etc/ld.so.conf.d/colab-boot-nvidia.conf
  ldconfig || say "ldconfig failed; programs may not find the driver's libraries"
fi

# --- Environment -----------------------------------------------------------------------------------------------------
# A .pth line is run by every Python of this environment as it starts: the kernel after its restart, and its children. The first
# one sets the variables; children that inherit them may override them.
begin environment "variables for the kernel"
cat >"$site/colab-boot-env.pth".new <<'END_OF_LINE'
import os; os.environ.get('COLAB_BOOT_ENV') == '60df2e15a9e6' or os.environ.update({"COLAB_BOOT_ENV":"60df2e15a9e6","COLAB_BOOT_ENV_NAMES":"FLAG","FLAG":"it's $HOME \"quoted\" `id`"})
END_OF_LINE
mv "$site/colab-boot-env.pth".new "$site/colab-boot-env.pth"
end environment

end script
say "done; restart the kernel if it has loaded any of the packages above"
