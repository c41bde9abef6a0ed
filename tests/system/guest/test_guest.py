# SPDX-License-Identifier: BSD-3-Clause
"""switchd on NICs that DPDK drives by PCI: two virtio-net-pci, two e1000e."""
import itertools
import time

import pytest

from hosts import MTU, settle
from machine import HUGEPAGES

ETHERNET = 14
VLAN, SERVICE = 0x8100, 0x88a8
TAGS = {"untagged": [], "tagged": [(100, 5, VLAN)], "priority": [(0, 3, VLAN)], "double": [(4094, 7, SERVICE), (8, 2, VLAN)]}
ORDER = 10  # the round after which a device is to go
SIZES = (60, 61, 590, 1500 + ETHERNET, 1501 + ETHERNET, MTU + ETHERNET)
FEW_SIZES = (60, 590, MTU + ETHERNET)


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


def test_doctor_names_the_walls(guest):
    """Before a device is bound, what stands in the way and its cure; afterwards nothing that is bad."""
    for host in guest.hosts:
        name = f"port {host.nic.address}"
        walls = [c for c in guest.doctor["before"] if c["name"] == name and c["level"] == "bad"]
        assert any("driver" in c["finding"] and "dpdk-devbind.py -b" in c["cure"] for c in walls), walls
        assert any("VFIO" in c["finding"] for c in walls), walls
        assert any("no IOMMU" in c["finding"] and "uio_pci_generic" in c["cure"] for c in walls) == (guest.kind == "uio")
        after = [c for c in guest.doctor["after"] if c["name"] == name]
        assert [c for c in after if c["level"] == "bad"] == [], after
        assert any("can reach all memory" in c["finding"] for c in after) == (guest.kind == "uio"), after


@pytest.mark.parametrize("tags", TAGS)
@pytest.mark.parametrize("family", [4, 6])
def test_every_way_and_size(guest, family, tags):
    """Each NIC to each other: one hop less, right checksums, tags with their priorities, nothing else."""
    before, pairs = guest.drops(), []
    for source, target in itertools.permutations(guest.hosts, 2):
        for i, size in enumerate(SIZES if tags == "untagged" else FEW_SIZES):
            longer = 4 * len(TAGS[tags])  # tags don't count against the MTU
            sent, due = source.to(target, size + longer, family, TAGS[tags], port=7000 + i)
            pairs.append((source, target, sent, due))
    exchange(guest, pairs)
    assert guest.drops() == before


def few(hosts):
    """A frame from each to each."""
    return [(a, b, *a.to(b, 200)) for a, b in itertools.permutations(hosts, 2)]


@pytest.mark.parametrize("model", ["virtio-net-pci", "e1000e"])
def test_a_device_is_removed_under_traffic(guest, model):
    """What was for it is dropped by name, nobody else notices; it comes back, is bound, and serves again."""
    qemu = guest.machine
    gone = next(h for h in guest.hosts if h.nic.model == model)
    rest = [h for h in guest.hosts if h is not gone]
    exchange(guest, few(guest.hosts))
    before = guest.drops()
    among, to_gone = few(rest), [(h, gone, *h.to(gone, 200)) for h in rest]
    rounds, deleted, closed = 0, None, None
    due = {h: [] for h in guest.hosts}
    end = time.monotonic() + 30
    while closed is None or rounds < closed + 10:
        assert time.monotonic() < end, f"deleted: {deleted}, {guest.ports()[f'p{gone.number}']}"
        for source, target, sent, wanted in among + to_gone:
            source.nic.send(sent)
            due[target].append(wanted)
        settle(guest.hosts, lambda: all(udp(h) >= len(due[h]) for h in rest))
        rounds += 1
        if rounds == ORDER:
            qemu.qmp("device_del", id=gone.nic.name)
        if rounds >= ORDER and deleted is None and qemu.happened("DEVICE_DELETED", gone.nic.name):
            deleted = rounds
        if deleted and closed is None and guest.ports()[f"p{gone.number}"]["oper"] == "down":
            closed = rounds
    assert guest.alive(), qemu.sh("cat /tmp/log")
    for host in rest:
        got = [f for f in host.frames if is_udp(f)]
        assert sorted(got) == sorted(due[host]), f"{host.nic.name}: {len(got)} of {len(due[host])}"
    drops = {k: n - before.get(k, 0) for k, n in guest.drops().items() if n > before.get(k, 0)}
    sent, arrived, named = len(due[gone]), udp(gone), sum(drops.values())
    assert named >= 3 * (rounds - closed), (drops, sent, arrived)
    # What its ring held went with it, and nobody can say how much. VFIO asks first: that is a round or two. UIO is
    # gone before it tells: at most what was sent from the order until the port was seen down.
    unnamed = 2 if guest.kind == "vfio" else closed - ORDER + 1
    assert sent - unnamed * len(to_gone) <= arrived + named <= sent, (drops, sent, arrived, closed, deleted)
    assert arrived >= (ORDER - 1) * len(to_gone)
    for host in guest.hosts:
        host.frames = []
    ports = guest.ports()
    assert [ports[f"p{h.number}"]["oper"] for h in rest] == ["up"] * 3
    if guest.kind == "uio" and model == "e1000e":
        return  # DPDK's driver looks for the EEPROM of a device that is no more, half a minute long
    assert says_gone(guest, gone)
    qemu.qmp("device_add", **gone.nic.device())
    assert settle(guest.hosts, lambda: qemu.sh(f"ls /sys/bus/pci/devices/{gone.nic.address}", check=False)
                  .count("vendor"), 20)
    guest.bind(gone)
    guest.wait_up(guest.hosts)
    before = guest.drops()
    exchange(guest, few(guest.hosts))
    assert guest.drops() == before


def is_udp(frame):
    return frame[12:14] == b"\x08\x00" and frame[23] == 17


def udp(host):
    return sum(map(is_udp, host.frames))


def says_gone(guest, host):
    """Status says why the port is down."""
    def said():
        return "no such PCI device" in guest.ports()[f"p{host.number}"]["attachment"]
    return settle(guest.hosts, said, 10)


# Under UIO it would wait for the e1000e that was removed.
@pytest.mark.parametrize("guest", ["vfio"], indirect=True)
def test_it_ends_when_told(guest):
    """The last of the file: a switchd with PCI ports ends by itself, and gives its hugepages back."""
    pages = "cat /sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages"
    assert int(guest.machine.sh(pages)) < HUGEPAGES  # it has some
    guest.machine.sh("kill -TERM $(cat /tmp/pid)")
    assert settle(guest.hosts, lambda: not guest.alive(), 60)
    assert int(guest.machine.sh(pages)) == HUGEPAGES
    assert "terminate" not in guest.machine.sh("cat /tmp/log")
