# SPDX-License-Identifier: BSD-3-Clause
"""A lab of namespaces that goes with its test. Helpers are in cross.py: `conftest` is whichever was read last."""
import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cross  # noqa: E402


@pytest.fixture
def lab():
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root")
    lab = cross.Lab()
    yield lab
    lab.clean()
