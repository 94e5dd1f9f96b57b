#!/usr/bin/env bash
# Installs what the lock of profile @PROFILE@ names for target @TARGET@.
# Lock sha256: @LOCK@
#
# Made by colab-boot @TOOL@, and to be read: it needs nothing of colab-boot. `colab-boot apply` runs exactly this file.
#   COLAB_BOOT_PYTHON   the interpreter to install for
#   COLAB_BOOT_SITE     its site-packages, where the caller knows them
#   COLAB_BOOT_WHEELS   a folder that holds the wheels; without it they are downloaded
#   COLAB_BOOT_JOURNAL  a file that gets a line before and after each step
#   COLAB_BOOT_INSTALLER, COLAB_BOOT_PROGRAM, COLAB_BOOT_STAGED  how `colab-boot apply` installs what it has unpacked
#   COLAB_BOOT_UNPACKED, COLAB_BOOT_BUILT_WHEELS  the folders of it that builds may need, and one that keeps what was built
set -euo pipefail
umask 022

python=${COLAB_BOOT_PYTHON:-@PYTHON@}
wheels=${COLAB_BOOT_WHEELS:-}
journal=${COLAB_BOOT_JOURNAL:-/dev/null}

# Settings of the image for pip, uv, Python and shells must not change what is installed. Without a folder of wheels, the ones
# that say where an index is are left.
@KEEP@for name in $(compgen -e); do
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
