# SPDX-License-Identifier: BSD-3-Clause
"""Fabrics for the system tests: each is gone with the test or the file that asked for it."""
import os
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import fabric_lab as lab  # noqa: E402

LEAF_SPINE = os.path.join(ROOT, "configs", "leaf-spine-2x2.yaml")


def name_of(what):
    return f"t{os.getpid()}{what}"


def need_root():
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root")


@pytest.fixture(scope="module")
def running():
    """Two leaves, two spines, four hosts, for all tests of a file."""
    need_root()
    with lab.Fabric(name_of("m")) as fabric:
        fabric.up(LEAF_SPINE)
        fabric.wait_links()
        yield fabric


@pytest.fixture
def fabric(running):
    """The file's fabric, as it was when it came up."""
    yield running
    status = running.status()
    for link in status["links"]:
        end = f"{link['a']['node']}:{link['a']['port']}"
        if any(link[side]["impairment"][k] for side in "ab" for k in ("loss", "delay_ns", "silent", "corrupt")):
            running.run("impair", end, "--clear")
    for port, interface in running.interfaces().items():
        if interface["admin"] != "up":
            running.run("link", port, "up")
    running.wait_links()


@pytest.fixture
def make():
    """make(NAME) is a fabric that is not up yet."""
    need_root()
    made = []

    def one(what):
        made.append(lab.Fabric(name_of(what)))
        return made[-1]
    yield one
    for fabric in made:
        fabric.close()
