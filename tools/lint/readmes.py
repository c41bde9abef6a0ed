# SPDX-License-Identifier: BSD-3-Clause
"""Each room and each feature says in a README what it is."""
from common import CXX, Finding


def check(tree):
    wanted = set()
    for path in tree.paths(*CXX):
        parts = path.split("/")[:-1]
        if parts[:2] == ["lib", "features"] and len(parts) > 2:
            wanted.add("/".join(parts[:3]))
        elif parts and parts[0] == "lib" and len(parts) > 1:
            wanted.add("/".join(parts[:2]))
        elif parts and parts[0] in ("pipelines", "switchd", "nicd"):
            wanted.add(parts[0])
        elif len(parts) > 1 and parts[0] in ("perf", "tests") and parts[1] != "support":
            wanted.add("/".join(parts[:2]))
    for folder in sorted(wanted):
        if f"{folder}/README.md" not in tree.files:
            yield Finding(f"{folder}/README.md", 1, "missing: what is this folder, in 15 lines?")


PLANTED = [
    ({"lib/features/nat/nat.cpp": ""}, [("lib/features/nat/README.md", 1)]),
    ({"lib/link/a.cpp": ""}, [("lib/link/README.md", 1)]),
    ({"lib/link/a.cpp": "", "lib/link/README.md": "x"}, []),
]
