# SPDX-License-Identifier: BSD-3-Clause
"""clang-tidy, over each source that a build compiles; .clang-tidy says which checks and why not all."""
import os
import subprocess

from common import Cache
from compiling import BUILD, commands, diagnostics


def check(tree, progress=None):
    if not tree.root:
        return
    known = commands(tree.root)

    def run(path):
        database = ["-p", BUILD] if known else []
        flags = [] if known else ["--", "-std=c++20", "-Ilib", "-I."]
        out = subprocess.run(["clang-tidy", "--quiet", *database, path, *flags], cwd=tree.root,
                             capture_output=True, text=True).stdout
        return list(diagnostics(out, tree.root, r"(?:error|warning): (.*)"))

    with open(os.path.join(tree.root, ".clang-tidy")) as f:
        checks = f.read()
    jobs = {tree.digest(p, p, checks, " ".join(known.get(p, ("", ""))[1])): p
            for p in tree.paths(".cpp") if p in known or not known}
    seen = set()
    for finding in Cache("tidy").run(jobs, run, progress):
        if finding.path in tree.files and finding not in seen:
            seen.add(finding)
            yield finding


PLANTED = [
    ({"lib/link/a.cpp": "#include <string>\nint f(std::string s) { return s.empty() ? 1 : 0; }\n"},
     [("lib/link/a.cpp", 2)]),
    ({"lib/link/a.cpp": "int f(int s) { return s; }\n"}, []),
]
NEEDS_FILES = True
