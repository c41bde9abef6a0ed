# SPDX-License-Identifier: BSD-3-Clause
"""Four switchd processes; gone with the test, or with the file's tests, that asked for them."""
import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import split  # noqa: E402


def new(what, directory, variant):
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root")
    text = split.shipped(directory) if variant == "shipped" else split.four_hosts(variant, directory)
    return split.Split(f"t{os.getpid()}w{what}", directory, text)


@pytest.fixture(scope="module", params=["af_packet", "memif", "shipped"])
def each(request, tmp_path_factory):
    """All links veths; all memif; the shipped file, with one spine by each."""
    with new(request.param[0], tmp_path_factory.mktemp(request.param), request.param) as fabric:
        fabric.up()
        yield fabric


@pytest.fixture
def make(tmp_path):
    """make(DRIVER) is such a fabric, up."""
    made = []

    def one(variant, **options):
        made.append(new(f"x{len(made)}", tmp_path, variant))
        if options.get("up", True):
            made[-1].up()
        return made[-1]
    yield one
    for fabric in made:
        fabric.close()
