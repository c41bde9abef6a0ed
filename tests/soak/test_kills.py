# SPDX-License-Identifier: BSD-3-Clause
"""Killed at random moments, again and again: down removes all of it, the others go on."""
import os
import signal
import subprocess

import fabric_lab as lab
import split

LEAF_SPINE = os.path.join(lab.ROOT, "configs", "leaf-spine-2x2.yaml")


def test_up_is_killed(kills, rng):
    """`frond up`, or the daemon that it started, at any moment of its first 0.6 s; then `frond down`."""
    before = lab.machine()
    name = f"frondsoak{os.getpid()}"
    own = {"up": 0, "daemon": 0}
    try:
        for number in range(kills):
            up = subprocess.Popen([lab.FROND, "up", LEAF_SPINE, "--name", name], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            victim = rng.choice(("up", "daemon"))
            pause = rng.uniform(0, 0.6)
            lab.time.sleep(pause)
            pid = up.pid if victim == "up" else daemon_of(name)
            if pid:
                os.kill(pid, signal.SIGKILL)
                own[victim] += 1
            up.wait(timeout=60)
            lab.frond("down", name, check=False)
            assert lab.left(before, name) == [] and not daemon_of(name), (number, victim, pause)
    finally:
        lab.frond("down", name, check=False)
    assert sum(own.values()) > kills / 4 and min(own.values()) > 0, own
    assert lab.left(before, name) == []


def daemon_of(name):
    """The fabricd of this fabric, by its command line; None: there is none."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline") as f:
                words = f.read().split("\0")
        except OSError:
            continue
        if os.path.basename(words[0]) == "fabricd" and name in words and lab.alive(int(pid)):
            return int(pid)
    return None


def descriptors(fabric):
    return {node: len(os.listdir(f"/proc/{daemon.pid}/fd")) for node, daemon in fabric.daemons.items()}


def test_switchds_are_killed(kills, rng, tmp_path):
    """A random one of four, at a random moment after the last came back; a tenth as often as `up`, for it takes longer."""
    before = lab.machine()
    with split.Split(f"frondsoak{os.getpid()}s", tmp_path, split.four_hosts("memif", tmp_path)) as fabric:
        fabric.up()
        hosts = fabric.hosts()
        first = descriptors(fabric)
        for number in range(max(kills // 10, 5)):
            victim = rng.choice(split.SWITCHES)
            lab.time.sleep(rng.uniform(0, 0.3))
            assert fabric.end(victim, signal.SIGKILL) == -signal.SIGKILL
            lab.time.sleep(rng.uniform(0, 0.3))
            assert all(daemon.poll() is None for daemon in fabric.daemons.values()), (number, victim)
            fabric.begin(victim)
            fabric.wait_links(20.0)
            for address in hosts["h4"]:
                assert lab.eventually(lambda a=address: fabric.ping("h1", a)[0] == 2, 5), (number, victim, address)
        # Survivors keep no descriptor of the dead. gRPC's own come and go by a few.
        for node, n in descriptors(fabric).items():
            assert n <= first[node] + 8, (node, first[node], n)
    assert lab.left(before, "frondsoak") == []
