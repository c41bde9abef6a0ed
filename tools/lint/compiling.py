# SPDX-License-Identifier: BSD-3-Clause
"""What a compiler says: headers stand alone; clang-tidy. Flags come from a configured build."""
import json
import os
import re
import shlex
import subprocess

from common import Finding, room_of

BUILD = os.environ.get("FROND_LINT_BUILD", "build/asan")
SHARED = ["-std=c++20", "-Ilib", "-I."]


def commands(root):
    """Our sources and how they are compiled, by path."""
    path = os.path.join(root, BUILD, "compile_commands.json")
    if not os.path.exists(path):
        return {}
    with open(path) as f:
        rows = json.load(f)
    result = {}
    for row in rows:
        source = os.path.relpath(os.path.join(row["directory"], row["file"]), root)
        if not source.startswith(("..", "build")):
            result[source] = (row["directory"], shlex.split(row["command"]))
    return result


def include_flags(root, known, path):
    """Where the sources of this file's room look for headers, all of them together."""
    flags = []
    for source in known:
        if room_of(source) != room_of(path):
            continue
        where, words = known[source]
        for flag, after in zip(words, [*words[1:], ""]):
            for kind in ("-isystem", "-I"):
                if flag.startswith(kind):
                    folder = flag[len(kind):] or after
                    flags.append(kind + os.path.normpath(os.path.join(where, folder)))
                    break
    if not flags:
        out = subprocess.run(["pkg-config", "--cflags-only-I", "libdpdk"], capture_output=True, text=True).stdout
        flags = out.split()
    return SHARED + sorted(set(flags))


def diagnostics(text, root, pattern):
    for line in text.split("\n"):
        m = re.match(r"(.+?):(\d+):\d+: " + pattern, line)
        if m:
            yield Finding(os.path.relpath(os.path.join(root, m[1]), root), int(m[2]), m[3])
