#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""gnmi.py: prints docs/gnmi.md, made from the promised paths (./dev docs writes it)."""
import os

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

TEXT = """# gNMI

A running fabric answers gNMI (Capabilities, Get, Set, Subscribe) on the Unix socket
`/run/frond/NAME/mgmt.sock`, to its owner and to root. Any client works:

    gnmic -a unix:///run/frond/demo/mgmt.sock --insecure get --path /interfaces
    gnmic -a unix:///run/frond/demo/mgmt.sock --insecure subscribe --sample-interval 1s \\
        --path '/interfaces/interface[name=leaf1:p3]/state/counters'

An interface is `NODE:PORT`, `leaf1:p3`; a component is a switch. Paths of origin `openconfig` have the
names and types of the OpenConfig modules. Those of origin `frond` are ours: impairments, and every
drop by its name ([drops.md](drops.md)). *rw* paths take a Set, which is applied whole or not at all.

Subscribe: ONCE, POLL and STREAM, whose samples are at least 100 ms and 5 us a leaf apart. At most 32
streams, 64 subscriptions each, 4 MiB a request; more is RESOURCE_EXHAUSTED.

Made from the sources by `./dev docs`; a test compares.
"""


def render(root):
    with open(os.path.join(root, "lib", "control", "management", "paths.golden")) as f:
        table = [line.split() for line in f if line.strip()]
    out = [TEXT]
    for origin in dict.fromkeys(row[0].split(":", 1)[0] for row in table):
        out += [f"## {origin}\n", "| path | | type |\n|---|---|---|"]
        out += [f"| `{path.split(':', 1)[1]}` | {access} | {kind} |" for path, access, _, kind, *_ in table
                if path.startswith(origin + ":")]
        out.append("")
    return "\n".join(out)


if __name__ == "__main__":
    print(render(ROOT), end="")
