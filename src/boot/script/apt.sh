
# --- Debian packages -------------------------------------------------------------------------------------------------
# First, because wheels may load their libraries. dpkg's lock is waited for; an interrupted dpkg is finished. apt says first what it
# would do: it may not remove anything, nor upgrade what is not named here, nor touch the driver.
snapshot=@SNAPSHOT@
apt_get() {
  apt-get ${snapshot:+--snapshot "$snapshot"} -o DPkg::Lock::Timeout=120 -o Acquire::Retries=3 -o Acquire::http::Timeout=30 -o APT::Update::Error-Mode=any \
    -o Dpkg::Use-Pty=0 -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold "$@" </dev/null
}

debian_packages=(
@PACKAGES@
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
