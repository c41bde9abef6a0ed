# SPDX-License-Identifier: BSD-3-Clause
"""switchd on NICs that DPDK drives by PCI: two virtio-net-pci, two e1000e."""
import itertools

import pytest

from hosts import MTU, settle

ETHERNET = 14
VLAN, SERVICE = 0x8100, 0x88a8
TAGS = {"untagged": [], "tagged": [(100, 5, VLAN)], "priority": [(0, 3, VLAN)], "double": [(4094, 7, SERVICE), (8, 2, VLAN)]}
SIZES = (60, 61, 128, 590, 1500 + ETHERNET, 1501 + ETHERNET, 4096, MTU + ETHERNET)


def exchange(guest, pairs):
    """Sends each and gets each, as it must be; what is missing is said."""
    for batch in (pairs[i:i + 24] for i in range(0, len(pairs), 24)):
        wanted = {host: [] for host in guest.hosts}
        for source, target, sent, due in batch:
            source.nic.send(sent)
            wanted[target].append(due)
        settle(guest.hosts, lambda: all(len(h.frames) >= len(wanted[h]) for h in guest.hosts))
        for host in guest.hosts:
            got, host.frames = host.frames, []
            assert sorted(f.hex() for f in got) == sorted(f.hex() for f in wanted[host]), host.nic.name


@pytest.mark.parametrize("tags", TAGS)
@pytest.mark.parametrize("family", [4, 6])
def test_every_way_and_size(guest, family, tags):
    """Each NIC to each other: one hop less, right checksums, tags with their priorities, nothing else."""
    before, pairs = guest.drops(), []
    for source, target in itertools.permutations(guest.hosts, 2):
        for i, size in enumerate(SIZES):
            longer = 4 * len(TAGS[tags])  # tags don't count against the MTU
            sent, due = source.to(target, size + longer, family, TAGS[tags], port=7000 + i)
            pairs.append((source, target, sent, due))
    exchange(guest, pairs)
    assert guest.drops() == before
