# SPDX-License-Identifier: BSD-3-Clause
"""bench micro [--json FILE] [FILTER]: each micro-benchmark of build/release, one after the other."""
import argparse
import glob
import json
import os
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser(prog="./dev bench micro", description=__doc__)
parser.add_argument("--json", metavar="FILE", help="all figures, by program (-: stdout)")
parser.add_argument("filter", nargs="?", default="", help="a part of a program's name")
options = parser.parse_args()

programs = [p for p in sorted(glob.glob("build/release/perf/micro/*_bench")) if options.filter in os.path.basename(p)]
if not programs:
    sys.exit(f"bench micro: no program has '{options.filter}' in its name")
figures = {}
for program in programs:
    name = os.path.basename(program)
    with tempfile.NamedTemporaryFile("r", suffix=".json") as out:
        done = subprocess.run([program, f"--benchmark_out={out.name}", "--benchmark_out_format=json"],
                              stdout=sys.stderr if options.json == "-" else None)
        if done.returncode != 0:
            sys.exit(f"bench micro: {name}: exit status {done.returncode}")
        figures[name] = json.load(out)
if options.json:
    text = json.dumps(figures, indent=2) + "\n"
    if options.json == "-":
        print(text, end="")
    else:
        with open(options.json, "w") as f:
            f.write(text)
