# SPDX-License-Identifier: BSD-3-Clause
"""The licence in one line, the first (after #!)."""
from common import CXX, Finding

WANTED = "SPDX-License-Identifier: BSD-3-Clause"
NAMES = CXX + (".py", ".sh", ".proto", "meson.build", "meson_options.txt", "/run", "dev")


def check(tree):
    for path in tree.paths(*NAMES):
        lines = tree.text(path).split("\n", 2)
        if WANTED not in lines[1 if lines[0].startswith("#!") and len(lines) > 1 else 0]:
            yield Finding(path, 1, f"the first line must hold '{WANTED}'")


PLANTED = [
    ({"lib/link/a.cpp": "#include <x>\n"}, [("lib/link/a.cpp", 1)]),
    ({"dev": "#!/bin/bash\n"}, [("dev", 1)]),
    ({"lib/link/a.cpp": f"// {WANTED}\n", "a.py": f"#!/usr/bin/python3\n# {WANTED}\n"}, []),
]
