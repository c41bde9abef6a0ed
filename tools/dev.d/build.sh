# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# configure KIND, build KIND [TARGET...]: build/KIND, made when it is not there.

# The folder's name in debug information doesn't make another object of it.
export CCACHE_NOHASHDIR=1

kind_options() {
  case $1 in
    release) echo ;;
    debug) echo --buildtype=debug ;;
    clang) echo --native-file=tools/dev.d/clang.ini ;;
    # Fuzzers and sanitized tests share one build, so it is clang's. Line tables, for the reports.
    asan) echo --native-file=tools/dev.d/clang.ini --buildtype=plain -Doptimization=1 -Db_sanitize=address,undefined \
      -Db_lundef=false -Db_ndebug=false -Dfuzz=true -Dcpp_args=-gline-tables-only ;;
    *)
      echo "dev: no kind of build '$1': release, asan, debug, clang" >&2
      return 2
      ;;
  esac
}

configure() {
  local kind=$1 options
  options=$(kind_options "$kind") || return
  [ ! -f "build/$kind/build.ninja" ] || return 0
  mkdir -p build
  # shellcheck disable=SC2086
  meson setup "build/$kind" $options >"build/$kind.log" 2>&1 || {
    cat "build/$kind.log" >&2
    rm -f "build/$kind.log"
    return 1
  }
  rm -f "build/$kind.log"
}

build() {
  local kind=release
  case ${1:-} in release | asan | debug | clang) kind=$1 && shift ;; esac
  configure "$kind" && ninja -C "build/$kind" "$@" || return
  [ "$kind" != release ] || link_programs
}

# build/bin: the programs of the release build, for a PATH.
link_programs() {
  local name
  mkdir -p build/bin
  for name in lib/cli/frond lib/fabric/fabricd switchd/switchd nicd/nicd; do
    [ ! -x "build/release/$name" ] || ln -sfn "../release/$name" build/bin/
  done
}

# Lints that compile take their flags, and generated headers, from the sanitizer build.
lint_ready() {
  configure asan >&2 || return
  ninja -C build/asan build.ninja >/dev/null || return  # a list of targets of today
  local headers
  mapfile -t headers < <(ninja -C build/asan -t targets all | sed -n 's/^\([^:]*\.pb\.h\): .*/\1/p')
  [ ${#headers[@]} -eq 0 ] || ninja -C build/asan "${headers[@]}" >/dev/null
}
