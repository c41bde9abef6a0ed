# SPDX-License-Identifier: BSD-3-Clause
"""What a test run may leave on a machine, as a set of sentences: two of them are compared."""
import glob
import os
import time

PLACES = {
    "namespace": "/run/netns/*",
    "interface": "/sys/class/net/*",
    "shared memory": "/dev/shm/*",
    "fabric": "/run/frond/*",
    "EAL directory": "/var/run/dpdk/*/",
    "hugepage file": "/dev/hugepages/*",
    "temporary file": "/tmp/frond*",
}

# iproute2 makes it with a machine's first namespace, and it stays.
FOR_GOOD = {"mount /run/netns"}


def look():
    found = {f"{what} {path}" for what, pattern in PLACES.items() for path in glob.glob(pattern)}
    with open("/proc/self/mounts") as f:
        found |= {f"mount {line.split()[1]}" for line in f}
    return found - FOR_GOOD


def since(before, patience=2.0):
    """What is there now and was not in `before`. The kernel removes some things a little later."""
    end = time.monotonic() + patience
    while True:
        new = sorted(look() - before)
        if not new or time.monotonic() > end:
            return new
        time.sleep(0.1)
