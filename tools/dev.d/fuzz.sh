#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# fuzz.sh [NAME] [SECONDS]: one fuzzer, or all; 60 s each. Inputs that it keeps are in build/fuzz/.
set -euo pipefail
name=
seconds=60
for word in "$@"; do
  if [[ $word =~ ^[0-9]+$ ]]; then seconds=$word; else name=$word; fi
done
FROND_FUZZ_SECONDS=$seconds exec /usr/bin/python3 tools/test/run.py fuzz ${name:+"$name"}
