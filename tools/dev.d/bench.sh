#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# bench.sh switch|sim|micro [OPTION...]: see perf/README.md. --json FILE keeps the figures.
set -euo pipefail
what=${1:-}
[ $# -eq 0 ] || shift
case $what in
  switch | sim) exec /usr/bin/python3 "perf/macro/$what" "$@" ;;
  micro) exec /usr/bin/python3 tools/dev.d/bench_micro.py "$@" ;;
  *)
    echo "dev bench: switch, sim or micro, not '$what'" >&2
    exit 2
    ;;
esac
