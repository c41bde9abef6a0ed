# SPDX-License-Identifier: BSD-3-Clause
"""What a contender of `bench switch` is: something that forwards a feed and counts."""

import dataclasses
import pathlib
import re
import time


@dataclasses.dataclass
class Feed:
    """Where packets come from and go to. kind: "pcap" (DPDK's pcap and null drivers in the
    contender's own process) or "vhost" (sockets that the contender serves, in `directory`)."""

    kind: str
    directory: pathlib.Path
    ingress: str = ""                 # devargs, pcap only
    egress: list = dataclasses.field(default_factory=list)

    def devargs(self):
        if self.kind == "pcap":
            return [self.ingress, *self.egress]
        return [f"net_vhost{i},iface={socket},queues=1" for i, socket in enumerate(self.sockets())]

    def sockets(self):
        return [self.directory / name for name in ("in", "a", "b")]


def endless(pcap, directory):
    return Feed("pcap", directory, f"net_pcap0,rx_pcap={pcap},infinite_rx=1",
                ["net_null0,no-rx=1", "net_null1,no-rx=1"])


def finite(pcap, directory):
    """Each packet once, and what leaves is kept."""
    files = [directory / "egress0.pcap", directory / "egress1.pcap"]
    feed = Feed("pcap", directory, f"net_pcap0,rx_pcap={pcap}",
                [f"net_pcap{i + 1},tx_pcap={file}" for i, file in enumerate(files)])
    return feed, files


class Contender:
    """start(feed), go(), sample() -> packets that have left since then, stop()."""

    key = ""
    title = ""
    paths = 2

    def __init__(self, cpu, main_cpu, log_directory):
        self.cpu = cpu            # of the data path, and nothing else
        self.main_cpu = main_cpu  # of all its other threads
        self.logs = pathlib.Path(log_directory)
        self.command_lines = []

    def log(self, name=None):
        return self.logs / f"{name or self.key}.log"

    def remember(self, text):
        # $DIR is a scratch directory of one run, $TMP that of the benchmark.
        text = re.sub(re.escape(str(self.logs)) + r"/(check|pcap|vhost|stages)[\w-]*", "$DIR", text)
        text = text.replace(str(self.logs), "$TMP")
        if text not in self.command_lines:
            self.command_lines.append(text)

    def start(self, feed):
        """Everything ready, nothing forwarded yet."""
        raise NotImplementedError

    def go(self):
        raise NotImplementedError

    def sample(self):
        raise NotImplementedError

    def dropped(self):
        """Packets that should have left and did not, since the start."""
        return 0

    def detail(self):
        """What the contender itself says about its cost; goes into the JSON."""
        return {}

    def reset_detail(self):
        """The cost is to be counted from here."""

    def stop(self):
        raise NotImplementedError


def timed(sample):
    """(time, packets): the time in the middle of the question and its answer. The same clock for
    all contenders; the error, half an answer's few milliseconds, is a thousandth."""
    before = time.monotonic()
    packets = sample()
    after = time.monotonic()
    return (before + after) / 2, packets


def wait_until_quiet(contender, seconds=10, still=0.5):
    """Until its counter has moved and then stood still: a finite feed has gone through."""
    deadline = time.monotonic() + seconds
    last, since = -1, time.monotonic()
    while time.monotonic() < deadline:
        count = contender.sample()
        if count != last:
            last, since = count, time.monotonic()
        elif count > 0 and time.monotonic() - since > still:
            break
        time.sleep(0.1)
    return last
