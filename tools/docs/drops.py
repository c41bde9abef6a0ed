#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""drops.py: prints docs/drops.md, made from the DropInfo lists in the sources (./dev docs writes it)."""
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIST = re.compile(r"std::array<DropInfo,[^;=>]*>\s+([\w:]+)\s*(?:=\s*)?\{\{(.*?)\}\};", re.S)
ENTRY = re.compile(r'\{\s*("(?:[^"\\]|\\.)*")\s*,\s*((?:"(?:[^"\\]|\\.)*"\s*)+)(?:,\s*([\w:]+)\s*)?\}', re.S)
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')

TEXT = """# Drops

Every packet that Frond drops is counted under one of these names, at the port where it came in (the
switch's own: where it would have left). The name is the same in `frond status`, in the counters, in
`frond trace` and in a capture's comments. *Answered*: the sender may be told by ICMP.

Made from the sources by `./dev docs`; a test compares.
"""


def lists(root):
    """(path, array, [(name, help, answer)]) of each list of drops."""
    paths = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "lib", "pipelines"], cwd=root, check=True,
                           capture_output=True, text=True).stdout.split()
    for path in sorted(p for p in paths if p.endswith((".hpp", ".cpp")) and "_test." not in p):
        with open(os.path.join(root, path)) as f:
            source = f.read()
        for found in LIST.finditer(source):
            rows = [("".join(STRING.findall(n)), "".join(STRING.findall(h)), a) for n, h, a in ENTRY.findall(found[2])]
            yield path, found[1], rows


def render(root):
    folders = {}
    for path, _, rows in lists(root):
        folders.setdefault(os.path.dirname(path).removeprefix("lib/"), []).extend(rows)
    out = [TEXT]
    for folder, rows in sorted(folders.items()):
        if not rows:
            continue
        out.append(f"## {folder}\n\n| drop | why | answered |\n|---|---|---|")
        for name, why, answer in dict.fromkeys(rows):
            why = why.replace("|", "\\|")
            out.append(f"| `{name}` | {why} | {'yes' if answer else ''} |")
        out.append("")
    return "\n".join(out)


if __name__ == "__main__":
    print(render(ROOT), end="")
