# SPDX-License-Identifier: BSD-3-Clause
"""Who may include whom, transitively. Tests and measurements may include what they like."""
from common import CXX, Finding, is_test, room_of

MAY = {
    "base": "", "wire": "base", "abi": "base", "telemetry": "base", "topology": "base",
    "packet": "wire", "engine": "packet telemetry",
    "netdev": "engine",
    "dpdk": "engine netdev",  # its ports on kernel interfaces share what netdev knows of those
    "sim": "engine", "link": "engine",
    "features": "engine", "switch": "engine", "rdma": "engine", "collective": "engine",
    "nic": "rdma abi features collective", "verbs": "abi base",
    "pipelines": "features switch nic",
    "control": "features switch nic topology management link",  # link: the Config of an impairment
    "management": "base",
    "cli": "base topology management",
}
MAY["fabric"] = MAY["switchd"] = MAY["nicd"] = " ".join(set(MAY) - {"cli"}) + " fabric"
MANAGEMENT = "lib/control/management/"  # server and client: all that the CLI may see of control


def room(path):
    return "management" if path.startswith(MANAGEMENT) else room_of(path)


def allowed(name):
    seen, todo = set(), [name]
    while todo:
        one = todo.pop()
        if one not in seen:
            seen.add(one)
            todo += MAY[one].split()
    return seen


def check(tree):
    for path in tree.paths(*CXX):
        if is_test(path):
            continue
        if room(path) not in MAY:
            yield Finding(path, 1, f"'{room(path)}' is no room that tools/lint/layers.py knows")
            continue
        may = allowed(room(path))
        for line, direct in tree.includes(path):
            # What a file of the same room includes is reported there.
            for other in sorted(tree.closure(direct)) if room(direct) != room(path) else []:
                if room(other) not in may:
                    by = "" if other == direct else f" through {direct}"
                    yield Finding(path, line, f"{room(path)} must not include {other}{by}")
                    break


PLANTED = [
    ({"lib/base/a.hpp": '#include "wire/b.hpp"\n', "lib/wire/b.hpp": "\n"}, [("lib/base/a.hpp", 1)]),
    ({"lib/sim/a.hpp": '\n#include "engine/b.hpp"\n', "lib/engine/b.hpp": '#include "dpdk/c.hpp"\n',
      "lib/dpdk/c.hpp": "\n"}, [("lib/sim/a.hpp", 2), ("lib/engine/b.hpp", 1)]),
    ({"lib/cli/a.cpp": '#include "control/management/c.hpp"\n#include "control/model.hpp"\n',
      "lib/control/management/c.hpp": "\n", "lib/control/model.hpp": "\n"}, [("lib/cli/a.cpp", 2)]),
    ({"lib/sim/a_test.cpp": '#include "link/b.hpp"\n', "lib/link/b.hpp": "\n"}, []),
]
