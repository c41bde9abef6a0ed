# SPDX-License-Identifier: BSD-3-Clause
"""How long and how often; the labs of tests/system."""
import os
import random
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SYSTEM = os.path.join(ROOT, "tests", "system")
sys.path[:0] = [os.path.join(ROOT, "tools"), os.path.join(SYSTEM, "switchd"), os.path.join(SYSTEM, "ports")]
import cross  # noqa: E402


@pytest.fixture(scope="session", autouse=True)
def root():
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root")


@pytest.fixture
def seconds():
    return int(os.environ.get("FROND_SOAK_SECONDS", "600"))


@pytest.fixture
def kills():
    return int(os.environ.get("FROND_SOAK_KILLS", "1000"))


@pytest.fixture
def rng():
    seed = int(os.environ.get("FROND_SOAK_SEED", "0")) or random.SystemRandom().getrandbits(32)
    print(f"FROND_SOAK_SEED={seed}")
    return random.Random(seed)


@pytest.fixture
def make_lab():
    """make_lab(NAME) is a lab of tests/system/ports."""
    made = []

    def one(name):
        lab = cross.Lab()
        lab.prefix = f"frondsoak{os.getpid()}{name}-"
        made.append(lab)
        return lab
    yield one
    for lab in made:
        lab.clean()
