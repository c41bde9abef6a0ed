# SPDX-License-Identifier: BSD-3-Clause
"""Nothing committed names a machine of ours, a registry's host, or the way the work was organised."""
import re

from common import Finding

# The classes keep this file from finding itself.
WORDS = re.compile(r"(?<![\w.])/(wor[k]|roo[t]|hom[e])/|\b(deb[.]debian|pypi[.]|registry[.]npmjs|"
                   r"ghcr[.]io|docker[.]io)|\b[Ii]ssue #?\d+\b|\bbash_job[s]\b")


def check(tree):
    for path in tree.paths():
        for number, line in enumerate(tree.text(path).split("\n"), 1):
            m = WORDS.search(line)
            if m:
                yield Finding(path, number, f"'{m[0]}' means nothing to others")


_WORK = "/wor" + "k/main"
PLANTED = [
    ({"docs/a.md": f"\nsee {_WORK}/x\n"}, [("docs/a.md", 2)]),
    ({"a.py": "# as issue" + " 12 says\n"}, [("a.py", 1)]),
    ({"a.md": "build/work/x, the issue that 3 people met, /rootfs\n"}, []),
]
