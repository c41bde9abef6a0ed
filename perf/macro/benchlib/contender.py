# SPDX-License-Identifier: BSD-3-Clause
"""What a contender of `bench switch` is: something that forwards a feed and counts."""

import collections
import dataclasses
import pathlib
import re
import time
import typing


class Device(typing.NamedTuple):
    """A DPDK device: net_DRIVERn; vhost has a socket."""

    driver: str
    arguments: str
    socket: str = ""


@dataclasses.dataclass
class Feed:
    """Where packets come from and go to: one device in, then the devices out. kind: "pcap" (DPDK's
    pcap and null drivers in the contender's own process) or "vhost" (sockets that the contender
    serves, in `directory`)."""

    kind: str
    directory: pathlib.Path
    devices: list

    def devargs(self):
        """As DPDK spells them; numbered by driver."""
        seen = collections.Counter()
        result = []
        for device in self.devices:
            name = f"net_{device.driver}{seen[device.driver]}"
            seen[device.driver] += 1
            socket = f",iface={device.socket}" if device.socket else ""
            result.append(f"{name}{socket},{device.arguments}")
        return result


def endless(pcap, directory):
    return Feed("pcap", directory, [Device("pcap", f"rx_pcap={pcap},infinite_rx=1"),
                                    Device("null", "no-rx=1"), Device("null", "no-rx=1")])


def finite(pcap, directory):
    """Each packet once, and what leaves is kept."""
    files = [directory / "egress0.pcap", directory / "egress1.pcap"]
    return Feed("pcap", directory, [Device("pcap", f"rx_pcap={pcap}"),
                                    *(Device("pcap", f"tx_pcap={file}") for file in files)]), files


def vhost(directory):
    return Feed("vhost", directory, [Device("vhost", "queues=1", str(directory / name))
                                     for name in ("in", "a", "b")])


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

    def process_id(self):
        """Whose threads the data path is among."""
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
