#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# soak.sh [SECONDS] [NAME...]: tests/soak, each for SECONDS (600), and what compares all kinds of build.
set -euo pipefail
seconds=600
if [[ ${1:-} =~ ^[0-9]+$ ]]; then
  seconds=$1
  shift
fi
FROND_SOAK_SECONDS=$seconds exec /usr/bin/python3 tools/test/run.py soak determinism "$@"
