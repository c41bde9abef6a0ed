# SPDX-License-Identifier: BSD-3-Clause
"""clang-tidy over the product; .clang-tidy says which checks and why not all. The sources of a folder are
looked at together, since most of the work is in the headers that they share."""
import os
import subprocess
import tempfile

from common import Cache, Finding, is_test
from compiling import commands, diagnostics


def _flags(root, known, path):
    where, words = known.get(path, (root, ["c++", "-std=c++20"]))
    flags = ["-I" + os.path.join(root, "lib"), "-I" + root]
    for i, word in enumerate(words):
        if word.startswith(("-I", "-isystem")) and word not in ("-I", "-isystem"):
            folder = word[2:] if word.startswith("-I") else word[8:]
            flags.append(word[:len(word) - len(folder)] + os.path.normpath(os.path.join(where, folder)))
        elif word.startswith(("-D", "-std", "-march")):
            flags.append(word)
        elif word == "-include":
            flags += [word, words[i + 1]]
    return flags


def _tidy(root, known, paths):
    """None when they do not compile as one."""
    with tempfile.NamedTemporaryFile("w", suffix=".cpp", prefix="frond-tidy-") as one:
        one.writelines(f'#include "{os.path.join(root, p)}"\n' for p in paths)
        one.flush()
        out = subprocess.run(["clang-tidy", "--quiet", f"--config-file={root}/.clang-tidy", one.name, "--",
                              *_flags(root, known, paths[0])], cwd=root, capture_output=True, text=True).stdout
    if len(paths) > 1 and "[clang-diagnostic-error" in out:
        return None
    return [f for f in diagnostics(out, root, r"(?:error|warning): (.*)") if not f.path.startswith("..")] or \
        ([Finding(paths[0], 1, out)] if "[clang-diagnostic-error" in out else [])


def check(tree, progress=None):
    if not tree.root:
        return
    known = commands(tree.root)
    folders = {}
    for path in tree.paths(".cpp"):
        if (path in known or not known) and not is_test(path):
            folders.setdefault(os.path.dirname(path), []).append(path)

    def run(paths):
        found = _tidy(tree.root, known, paths)
        if found is None:
            found = [f for path in paths for f in _tidy(tree.root, known, [path])]
        return found

    with open(os.path.join(tree.root, ".clang-tidy")) as f:
        checks = f.read()
    jobs = {"".join(sorted(tree.digest(p, p, checks, *_flags("", known, p))[:16] for p in paths)): paths
            for paths in folders.values()}
    yield from (f for f in Cache("tidy").run(jobs, run, progress) if f.path in tree.files)


PLANTED = [
    ({"lib/link/a.cpp": "#include <string>\nint f(std::string s) { return s.empty() ? 1 : 0; }\n",
      "lib/link/b.cpp": "int g(int s) { return s; }\n"}, [("lib/link/a.cpp", 2)]),
    # The same name twice: not one translation unit.
    ({"lib/link/a.cpp": "static int f(int s) { return s; }\nint a() { return f(1); }\n",
      "lib/link/b.cpp": "#include <string>\nstatic int f(int s) { return s; }\n"
                        "int b(std::string s) { return f(s.empty()); }\n"}, [("lib/link/b.cpp", 3)]),
]
NEEDS_FILES = True
