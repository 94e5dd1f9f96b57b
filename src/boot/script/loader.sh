
# Colab mounts the driver's libraries where the loader does not look.
if ((EUID == 0)) && [[ -d /usr/lib64-nvidia && $(ldconfig -p) != */usr/lib64-nvidia/* ]]; then
  echo /usr/lib64-nvidia >/etc/ld.so.conf.d/colab-boot-nvidia.conf
  ldconfig || say "ldconfig failed; programs may not find the driver's libraries"
fi
