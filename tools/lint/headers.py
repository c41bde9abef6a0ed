# SPDX-License-Identifier: BSD-3-Clause
"""Each header compiles alone. One that some source includes first is shown by the build itself;
the others are compiled here."""
import re
import subprocess

from common import Cache
from compiling import commands, diagnostics, include_flags


def _first_includes(tree):
    for path in tree.paths(".cpp"):
        m = re.search(r'^\s*#\s*include\s+[<"]([^">]+)', tree.text(path), re.M)
        first = next(iter(tree.includes(path)), None)
        if m and first and first[1].endswith(m[1]):
            yield first[1]


def check(tree, progress=None):
    if not tree.root:
        return
    shown, known = set(_first_includes(tree)), commands(tree.root)

    def run(path):
        flags = include_flags(tree.root, known, path)
        out = subprocess.run(["clang++", "-fsyntax-only", "-x", "c++", "-march=corei7", *flags, "-include", path,
                              "/dev/null"], cwd=tree.root, capture_output=True, text=True).stderr
        return list(diagnostics(out, tree.root, r"(?:fatal )?error: (.*)"))[:1]

    jobs = {tree.digest(p, p): p for p in tree.paths(".hpp", ".h") if p not in shown}
    yield from Cache("headers").run(jobs, run, progress)


PLANTED = [
    ({"lib/link/a.hpp": "std::string f();\n"}, [("lib/link/a.hpp", 1)]),
    ({"lib/link/a.hpp": "#include <string>\nstd::string f();\n"}, []),
]
NEEDS_FILES = True
