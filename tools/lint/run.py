#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""run.py [--list] [--self-test] [--only NAME] [PATH...]: the lints. Prints path:line: message; 1 if any."""
import argparse
import importlib
import os
import shutil
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import Tree  # noqa: E402

LINTS = ["layers", "words", "statics", "spdx", "readmes", "places", "form", "headers", "tidy"]


def progress(name):
    """On a terminal: how far a slow lint is."""
    if not sys.stderr.isatty():
        return None
    return lambda done, total: print(f"\r{name} {done}/{total} \033[K", end="" if done < total else "\r\033[K",
                                     file=sys.stderr, flush=True)


def run(name, tree):
    lint = importlib.import_module(name)
    if name in ("headers", "tidy"):
        return sorted(set(lint.check(tree, progress(name))))
    return sorted(set(lint.check(tree)))


def self_test(name):
    """What the lint misses or wrongly finds in the files that it plants itself; [] when it is right."""
    lint = importlib.import_module(name)
    wrong = []
    for files, expected in lint.PLANTED:
        tree = Tree(dict(files))
        with tempfile.TemporaryDirectory() as root:
            if getattr(lint, "NEEDS_FILES", False):
                tree.root, os.environ["FROND_LINT_CACHE"] = root, os.path.join(root, "cache")
                for path, text in files.items():
                    os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
                    with open(os.path.join(root, path), "w") as f:
                        f.write(text)
                for style in (".clang-format", ".clang-tidy"):
                    shutil.copy(os.path.join(ROOT, style), root)
            found = sorted({(f.path, f.line) for f in lint.check(tree)})
        if found != sorted(expected):
            wrong.append(f"{name}: planted {files}: found {found}, expected {expected}")
    return wrong


def main():
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("--self-test", action="store_true")
    args.add_argument("--list", action="store_true", help="names of the lints")
    args.add_argument("--only", choices=LINTS, action="append")
    args.add_argument("paths", nargs="*", help="show only what is under these")
    a = args.parse_args()
    if a.list:
        print("\n".join(LINTS))
        return 0
    os.chdir(ROOT)
    count, start = 0, time.monotonic()
    tree = Tree.from_git(ROOT)
    for name in a.only or LINTS:
        if a.self_test:
            for line in self_test(name):
                print(line)
                count += 1
            continue
        for finding in run(name, tree):
            if not a.paths or finding.path.startswith(tuple(p.rstrip("/") for p in a.paths)):
                print(f"{finding.path}:{finding.line}: {finding.message} [{name}]")
                count += 1
    print(f"{count} finding{'' if count == 1 else 's'} in {len(tree.files)} files, "
          f"{time.monotonic() - start:.1f} s", file=sys.stderr)
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
