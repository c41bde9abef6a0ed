# SPDX-License-Identifier: BSD-3-Clause
"""How flows spread over equal paths, over every kind of port: at a leaf, and at the spine above it.

The switches, their seeds and their routes are those of a fat-tree that is configured with nothing but its
size and the fabric's seed. Flows are drawn from the seed as well, so a run is the same each time."""
import pytest

FLOWS = 250  # a path
SEEDS = range(1, 21)
TOLERANCE = 0.25
PATHS = [2, 4, 8]


def balanced(counts, total):
    share = total / len(counts)
    return all(abs(n - share) <= TOLERANCE * share for n in counts)


def complete(counted, seen, flows, rounds):
    """Nothing was lost, dropped or sent where it does not belong, and no flow has changed its path."""
    assert counted["drops"] == {}, counted
    assert counted["in"] == seen["sent"] and sum(counted["leaf_out"]) == flows * rounds, (counted, seen)
    assert seen["received"] == sum(counted["out"]) == sum(seen["flows"]) * rounds, (counted, seen)
    assert (seen["incomplete"], seen["astray"], seen["moved"]) == (0, 0, 0), seen


@pytest.mark.parametrize("paths", PATHS)
def test_a_leaf_spreads_flows(lab, paths):
    flows, rounds = FLOWS * paths, 3
    for seed in SEEDS:
        counted, seen = lab.send(paths, 1, seed, flows, rounds)
        complete(counted, seen, flows, rounds)
        assert seen["arrived"] == flows, seen
        assert balanced(seen["flows"], flows), (seed, seen)


@pytest.mark.parametrize("paths", PATHS)
def test_the_next_tier_spreads_what_one_path_brings(lab, paths):
    """A spine sees only the flows that the leaf's hash gave it; 250 a path of its own are left of them."""
    flows, rounds = FLOWS * paths * paths, 2
    for seed in SEEDS:
        counted, seen = lab.send(paths, 2, seed, flows, rounds)
        complete(counted, seen, flows, rounds)
        assert balanced(counted["leaf_out"], flows * rounds), (seed, counted)
        assert counted["leaf_out"][seed % paths] == seen["received"], (seed, counted, seen)
        assert balanced(seen["flows"], seen["arrived"]), (seed, seen)


@pytest.mark.parametrize("paths", PATHS)
def test_equal_seeds_polarise(lab, paths):
    """Both tiers hash alike: whatever the leaf sent one way, the spine sends one way too."""
    flows = FLOWS * paths * paths
    for seed in SEEDS:
        counted, seen = lab.send(paths, 2, seed, flows, 1, equal=True)
        complete(counted, seen, flows, 1)
        assert balanced(counted["leaf_out"], flows), (seed, counted)
        assert not balanced(seen["flows"], seen["arrived"]), (seed, seen)
        assert seen["flows"][seed % paths] == seen["arrived"] > FLOWS, (seed, seen)
