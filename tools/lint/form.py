# SPDX-License-Identifier: BSD-3-Clause
"""Format: clang-format for C++; for every text no trailing blanks, tabs or missing last newline."""
import os
import subprocess

from common import CXX, Cache, Finding

KEEP = (".patch", ".diff", ".pcap", ".txt", ".golden")


def _clang_format(tree):
    def run(path):
        out = subprocess.run(["clang-format", "--dry-run", "-Werror", "--ferror-limit=1", path], cwd=tree.root,
                             capture_output=True, text=True).stderr
        for line in out.split("\n"):
            if ": error:" in line:
                return [Finding(path, int(line.split(":")[1]), "not as clang-format wants it: ./dev format")]
        return []

    with open(os.path.join(tree.root, ".clang-format")) as f:
        style = f.read()
    jobs = {tree.digest(p, p, style): p for p in tree.paths(*CXX)}
    yield from Cache("format").run(jobs, run)


def check(tree):
    if tree.root:
        yield from _clang_format(tree)
    for path in tree.paths():
        text = tree.text(path)
        if path.endswith(KEEP) or "bad-configs/" in path:
            continue
        for number, line in enumerate(text.split("\n"), 1):
            if line != line.rstrip():
                yield Finding(path, number, "blanks at the end of the line")
            elif line.startswith("\t"):
                yield Finding(path, number, "a tab")
        if text and not text.endswith("\n"):
            yield Finding(path, text.count("\n") + 1, "no newline at the end")


PLANTED = [
    ({"lib/link/a.cpp": "int  x( int y );\n"}, [("lib/link/a.cpp", 1)]),
    ({"docs/a.md": "a \n"}, [("docs/a.md", 1)]),
    ({"a.py": "x = 1"}, [("a.py", 1)]),
    ({"lib/link/a.cpp": "int x(int y);\n"}, []),
]
NEEDS_FILES = True
