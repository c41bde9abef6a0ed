# SPDX-License-Identifier: BSD-3-Clause
"""dpdk-testpmd: the ceiling (macswap), and the generator behind vhost-user ports."""

import re

from .contender import Contender
from .process import Child, quote

STATISTICS_END = re.compile(r"^\s*#{60,}\s*$")


class Testpmd:
    """An interactive testpmd, one forwarding thread."""

    def __init__(self, name, log, eal, options, remember):
        argv = ["dpdk-testpmd", *eal, "--in-memory", "--no-pci", f"--file-prefix=frond-{name}", "--",
                "-i", *options, "--nb-cores=1", "--no-flush-rx"]
        remember(quote(argv))
        # testpmd does not flush its answers into a pipe.
        self.child = Child(["stdbuf", "-oL", *argv], log, name=f"testpmd ({name})")
        self.child.say("show port stats 0")
        self.child.wait_for(STATISTICS_END.match, 60)

    def say(self, command):
        self.child.say(command)

    def port(self, number):
        """(received, transmitted) since the start."""
        self.child.say(f"show port stats {number}")
        text = "\n".join(self.child.wait_for(STATISTICS_END.match))
        received = re.search(r"RX-packets:\s*(\d+)", text)
        sent = re.search(r"TX-packets:\s*(\d+)", text)
        return int(received[1]), int(sent[1])

    def forwarding_drops(self):
        """Packets that could not be sent, over all ports."""
        self.child.say("show fwd stats all")
        lines = self.child.wait_for(lambda line: "Accumulated" in line)
        lines += self.child.wait_for(lambda line: re.match(r"^\s*\+{60,}\s*$", line))
        return int(re.search(r"TX-dropped:\s*(\d+)", "\n".join(lines[lines.index(
            next(l for l in lines if "Accumulated" in l)):]))[1])

    def stop(self):
        return self.child.stop("quit")


class Macswap(Contender):
    """Swaps the MACs and forwards to the one other port: less work than any switch does."""

    key = "testpmd_macswap"
    title = "testpmd macswap"
    paths = 1

    def start(self, feed):
        devices = feed.devargs()[:2]
        eal = ["--lcores", f"0@{self.main_cpu},1@{self.cpu}"]
        for device in devices:
            eal += ["--vdev", device]
        self.testpmd = Testpmd("macswap", self.log(), eal, ["--forward-mode=macswap"],
                               self.remember)

    def go(self):
        self.testpmd.say("start")

    def process_id(self):
        return self.testpmd.child.process.pid

    def sample(self):
        return self.testpmd.port(1)[1]

    def dropped(self):
        return self.testpmd.forwarding_drops()

    def stop(self):
        self.testpmd.stop()


class Generator:
    """Feeds a vhost-user port from a pcap file, endlessly, and takes what comes out of the others.

    testpmd's io mode joins ports in pairs: (pcap, virtio-user "in"), (virtio-user "a", null), ...
    """

    def __init__(self, pcap, sockets, cpu, log, remember):
        eal = ["--single-file-segments", "--lcores", f"0@{cpu},1@{cpu}",
               "--vdev", f"net_pcap0,rx_pcap={pcap},infinite_rx=1"]
        for i, socket in enumerate(sockets):
            eal += ["--vdev", f"net_virtio_user{i},path={socket},queues=1,queue_size=1024"]
            if i > 0:
                eal += ["--vdev", f"net_null{i},no-rx=1"]
        self.sinks = [2 + 2 * i for i in range(len(sockets) - 1)]
        self.testpmd = Testpmd("generator", log, eal, ["--forward-mode=io"], remember)
        # The order in which devices are probed is not ours: ask for the pairs by name.
        self.testpmd.say("start")

    def received(self):
        """What came back, by path."""
        return [self.testpmd.port(port)[0] for port in self.sinks]

    def held_back(self):
        """Packets that the contender had no room for: it, not the generator, set the rate."""
        return self.testpmd.forwarding_drops()

    def stop(self):
        self.testpmd.stop()
