
# --- Debian packages -------------------------------------------------------------------------------------------------
# First, because wheels may load their libraries. dpkg's lock is waited for; an interrupted dpkg is finished.
apt_get() { apt-get -o DPkg::Lock::Timeout=120 -o Acquire::Retries=3 -o Acquire::http::Timeout=30 "$@" </dev/null >&2; }

debian_packages=(
@PACKAGES@
)
missing=()
for package in "${debian_packages[@]}"; do
  status=$(dpkg-query --show --showformat='${db:Status-Status}' "${package%%=*}" 2>/dev/null || true)
  [[ $status == installed ]] || missing+=("$package")
done
if ((${#missing[@]})); then
  begin apt "apt-get install ${missing[*]}"
  if ((EUID != 0)); then
    say "apt-get needs root; as root, run: apt-get install ${missing[*]}"
    exit 77
  fi
  [[ -z $(dpkg --audit) ]] || dpkg --configure -a >&2
  apt_get update || say "apt-get update failed; going on with the package lists that are here"
  apt_get install --yes --no-install-recommends --no-remove -- "${missing[@]}"
  end apt
fi
