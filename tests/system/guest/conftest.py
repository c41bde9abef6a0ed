# SPDX-License-Identifier: BSD-3-Clause
"""A guest with two virtio and two e1000e NICs, and a switchd in it; once with VFIO, once with UIO."""
import json
import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import machine  # noqa: E402
from hosts import MTU, Host, settle  # noqa: E402

MODELS = ("virtio-net-pci", "e1000e", "virtio-net-pci", "e1000e")
DRIVERS = {"vfio": "vfio-pci", "uio": "uio_pci_generic"}


def config(nics):
    lines = ["version: 1", "name: guest", "nodes:", "  leaf1:", "    type: leaf", "    ports:"]
    for nic in nics:
        lines.append(f"      p{nic.number}: {{driver: pci, device: \"{nic.address}\", mtu: {MTU}, addresses: "
                     f"[10.0.{nic.number}.0/31, \"fd00:0:0:{nic.number}::/127\"]}}")
    return "\n".join(lines)


class Guest:
    """The machine, the switch in it, the hosts around it."""

    def __init__(self, kind, accel):
        self.kind, self.driver = kind, DRIVERS[kind]
        options = {"virtio-net-pci": {"romfile": "", "iommu_platform": kind == "vfio"}, "e1000e": {"romfile": ""}}
        nics = [machine.Nic(i + 1, model, options[model]) for i, model in enumerate(MODELS)]
        self.machine = machine.Machine(nics, kind == "vfio", accel)
        self.hosts = [Host(nic) for nic in nics]
        self.doctor = {}

    def start(self):
        sh = self.machine.sh
        self.doctor["before"] = self.ask_doctor()
        # What kmod finds by itself, busybox is told: vfio_iommu_type1.
        sh("modprobe -a vfio_iommu_type1 vfio_pci" if self.kind == "vfio" else "modprobe uio_pci_generic")
        for host in self.hosts:
            self.bind(host)
        self.doctor["after"] = self.ask_doctor()
        self.machine.write("/tmp/fabric.yaml", config([h.nic for h in self.hosts]))
        sh("mkdir -p /run/frond/guest; switchd --node leaf1 /tmp/fabric.yaml --state-dir /run/frond/guest --ready-fd 1 "
           ">/tmp/log 2>&1 & echo $! >/tmp/pid")
        sh("until grep -q ^ready /tmp/log; do kill -0 $(cat /tmp/pid) || exit 1; usleep 50000; done || { cat /tmp/log; "
           "false; }", 60)
        self.wait_up(self.hosts)

    def bind(self, host):
        self.machine.sh(f"bind {host.nic.address} {self.driver}")

    def ask_doctor(self):
        """{check of a PCI port: [level, what it says and advises]}"""
        out = self.machine.sh(f"frond doctor --json {' '.join(h.nic.address for h in self.hosts)}", check=False)
        return [c for c in json.loads(out)["checks"] if c["name"].startswith("port 0000:")]

    def ports(self):
        """{port: what status says of it}"""
        out = self.machine.sh("frond status --json --name guest")
        return {i["name"]: i for i in json.loads(out)["nodes"][0]["interfaces"]}

    def drops(self):
        """{(port, reason): packets}; without our answers to a question that had been asked twice."""
        return {(name, d["reason"]): d["packets"] for name, p in self.ports().items() for d in p["drops"]
                if d["reason"] != "neighbor_unsolicited"}

    def wait_up(self, hosts, seconds=30.0):
        """Their ports are up, and have answered."""
        names = [f"p{h.number}" for h in hosts]
        ports = {}

        def up():
            ports.update(self.ports())
            return all(ports[n]["oper"] == "up" for n in names)
        if not settle(self.hosts, up, seconds):
            raise machine.Failed(f"not up: {[(n, ports[n]['attachment']) for n in names if ports[n]['oper'] != 'up']}")
        for host in hosts:
            host.switch = None
            host.ask()
        if not settle(self.hosts, lambda: all(h.switch for h in hosts)):
            raise machine.Failed(f"no answer from the ports of {[h.nic.name for h in hosts if not h.switch]}")

    def alive(self):
        return self.machine.sh("kill -0 $(cat /tmp/pid) && echo yes", check=False).strip() == "yes"


def accelerator():
    """KVM where a guest boots by it; it can be there and not work. The answer is kept until this machine boots."""
    if given := os.environ.get("FROND_GUEST_ACCEL"):
        return given
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return "tcg"
    with open("/proc/sys/kernel/random/boot_id") as f:
        boot = f.read().strip()
    os.makedirs(machine.image.CACHE, exist_ok=True)
    known = os.path.join(machine.image.CACHE, "accel")
    if os.path.exists(known):
        with open(known) as f:
            words = f.read().split()
        if words[:1] == [boot]:
            return words[1]
    try:
        with machine.Machine([], False, "kvm", boot=8.0):
            found = "kvm"
    except machine.Failed:
        found = "tcg"
    with open(known, "w") as f:
        f.write(f"{boot} {found}\n")
    return found


@pytest.fixture(scope="module", params=list(DRIVERS))
def guest(request):
    """Fails where there is no QEMU or no kernel to boot: that is no reason to pass."""
    made = Guest(request.param, accelerator())
    with made.machine:
        made.start()
        yield made
