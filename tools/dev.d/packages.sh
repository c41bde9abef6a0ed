# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Debian packages, by purpose. `need PURPOSE...` installs what is missing and says so.

packages_build=(
  g++ meson ninja-build pkgconf ccache git
  libdpdk-dev libnl-3-dev libnl-route-3-dev libxdp-dev libbpf-dev libfmt-dev libspdlog-dev libyaml-cpp-dev nlohmann-json3-dev libcli11-dev
  libgrpc++-dev libprotobuf-dev protobuf-compiler protobuf-compiler-grpc
  libgtest-dev libbenchmark-dev
)
# libclang-rt: the runtimes of the sanitizers and of libFuzzer.
packages_test=(
  clang clang-format clang-tidy libclang-rt-14-dev
  python3 python3-pytest python3-pytest-timeout python3-scapy python3-yaml python3-jsonschema python3-grpcio python3-protobuf
  iproute2 iputils-ping ethtool iperf3 tcpdump tshark procps libcap2-bin util-linux
)
# The peers that benchmarks measure against.
packages_bench=(dpdk-dev openvswitch-switch-dpdk libns3-dev python3 procps iproute2)
# A virtual machine with NICs of its own; its kernel is unpacked from linux-image-amd64, not installed.
packages_guest=(qemu-system-x86 busybox-static cpio kmod)

need() {
  local purpose package missing=()
  for purpose in "$@"; do
    local -n list=packages_$purpose
    for package in "${list[@]}"; do
      [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
    done
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  local sudo=()
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || { echo "dev: as root, first: apt-get install ${missing[*]}" >&2; return 1; }
    sudo=(sudo)
  fi
  echo "dev: installing ${missing[*]}" >&2
  # Lists older than a day may name versions that are gone.
  [ -n "$(find /var/lib/apt/lists -maxdepth 1 -name '*Packages*' -mtime -1 -print -quit 2>/dev/null)" ] ||
    "${sudo[@]}" apt-get -qq update >&2
  install_packages "${missing[@]}" || { "${sudo[@]}" apt-get -qq update >&2 && install_packages "${missing[@]}"; } || {
    echo "dev: apt-get could not install them; see above" >&2
    return 1
  }
}

install_packages() {
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$@" </dev/null >/dev/null
}
