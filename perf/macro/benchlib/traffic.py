# SPDX-License-Identifier: BSD-3-Clause
"""The traffic of `bench switch`, and what a correct switch makes of it."""

import random
import struct

FLOWS = 512
TTL = 64
FRAME = 60  # without FCS: a 64-byte frame
ROUTER_MAC = bytes.fromhex("020000000101")
HOST_MAC = bytes.fromhex("020000000102")
PREFIX = "10.0.2.0/24"
# The two ways to PREFIX: the switch's own MAC there, its neighbour's MAC, their addresses.
PATHS = [
    {"mac": "02:00:00:00:0a:01", "neighbour": "02:00:00:00:0a:02",
     "address": "10.254.0.0/31", "gateway": "10.254.0.1"},
    {"mac": "02:00:00:00:0b:01", "neighbour": "02:00:00:00:0b:02",
     "address": "10.254.0.2/31", "gateway": "10.254.0.3"},
]
INGRESS = {"mac": "02:00:00:00:01:01", "address": "10.0.1.254/24"}


def mac(text):
    return bytes.fromhex(text.replace(":", ""))


def checksum(data):
    """RFC 1071."""
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def ipv4(source, destination, ttl, ident, length):
    header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, length, ident, 0x4000, ttl, 17, 0,
                         source, destination)
    return header[:10] + struct.pack("!H", checksum(header)) + header[12:]


def flows(seed=1):
    """FLOWS different 5-tuples between hosts of 10.0.1.0/24 and 10.0.2.0/24."""
    rng = random.Random(seed)
    chosen = set()
    while len(chosen) < FLOWS:
        chosen.add((bytes([10, 0, 1, 1 + 2 * rng.randrange(16)]),
                    bytes([10, 0, 2, 1 + 2 * rng.randrange(16)]),
                    rng.randrange(1024, 65536), rng.randrange(1024, 65536)))
    return sorted(chosen, key=lambda f: rng.random())


def frame(flow, ident):
    source, destination, sport, dport = flow
    payload = bytes(FRAME - 14 - 20 - 8)
    length = 8 + len(payload)
    udp = struct.pack("!HHHH", sport, dport, length, 0) + payload
    pseudo = source + destination + struct.pack("!BBH", 0, 17, length)
    # RFC 768: a computed zero is sent as all ones.
    udp = udp[:6] + struct.pack("!H", checksum(pseudo + udp) or 0xffff) + udp[8:]
    return (ROUTER_MAC + HOST_MAC + b"\x08\x00" +
            ipv4(source, destination, TTL, ident, 20 + length) + udp)


def routed(packet, path):
    """What must come out at `path` for this packet: RFC 1812 5.2.2 and 5.3.1."""
    header = packet[14:34]
    new = ipv4(header[12:16], header[16:20], header[8] - 1, struct.unpack("!H", header[4:6])[0],
               struct.unpack("!H", header[2:4])[0])
    return mac(path["neighbour"]) + mac(path["mac"]) + packet[12:14] + new + packet[34:]


def write_pcap(file, packets):
    with open(file, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        for i, packet in enumerate(packets):
            out.write(struct.pack("<IIII", 0, i, len(packet), len(packet)) + packet)


def read_pcap(file):
    with open(file, "rb") as source:
        data = source.read()
    if len(data) < 24:
        return []
    magic = data[:4]
    if magic in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1"):
        order = "<"
    elif magic in (b"\xa1\xb2\xc3\xd4", b"\xa1\xb2\x3c\x4d"):
        order = ">"
    else:
        raise ValueError(f"{file} is not a pcap file")
    packets = []
    at = 24
    while at + 16 <= len(data):
        _, _, kept, _ = struct.unpack(order + "IIII", data[at:at + 16])
        packets.append(data[at + 16:at + 16 + kept])
        at += 16 + kept
    return packets


def check_egress(sent, prelude, files):
    """Compares what came out, file by file (a file a path), with what had to.

    Returns (what is wrong, as sentences; flows by path). Each packet of `sent` must have left once,
    by one of the paths, with every byte as `routed` says; all packets of a flow by the same path;
    both paths used. Those of `prelude` may have left or not, but not wrongly.
    """
    expected = [{routed(p, path): p for p in [*prelude, *sent]} for path in PATHS]
    may_repeat = set(prelude)
    wrong = []
    left = {}        # packet -> how often
    flow_paths = {}  # 5-tuple -> paths
    for index, file in enumerate(files):
        for packet in read_pcap(file):
            if packet[12:14] != b"\x08\x00":
                continue  # what a switch says for itself: ARP, neighbour discovery
            original = expected[index].get(packet)
            if original is None:
                if len(wrong) < 5:
                    wrong.append(f"path {index}: {explain(packet, expected[index])}")
                continue
            left[original] = left.get(original, 0) + 1
            flow_paths.setdefault(original[26:38], set()).add(index)
    missing = sum(1 for p in sent if p not in left)
    twice = sum(1 for p, n in left.items() if n > 1 and p not in may_repeat)
    unstable = sum(1 for paths in flow_paths.values() if len(paths) > 1)
    by_path = [sum(1 for paths in flow_paths.values() if index in paths)
               for index in range(len(files))]
    if missing:
        wrong.append(f"{missing} of {len(sent)} packets did not come out")
    if twice:
        wrong.append(f"{twice} packets came out more than once")
    if unstable:
        wrong.append(f"{unstable} flows changed their path")
    # Not a test of the hash's quality, only of its being one.
    if any(n < len(flow_paths) // 4 for n in by_path):
        wrong.append(f"the paths carried {by_path} flows: less than a quarter on one of them")
    return wrong, by_path


def explain(packet, expected):
    """How this packet differs from the nearest right one (same addresses, ports and ident)."""
    for good in expected:
        if good[18:20] == packet[18:20] and good[26:38] == packet[26:38]:
            names = [(0, 6, "destination MAC"), (6, 12, "source MAC"), (12, 14, "ether type"),
                     (22, 23, "TTL"), (24, 26, "IP header checksum"), (40, 42, "UDP checksum")]
            bad = [f"{name} {packet[a:b].hex(':')} instead of {good[a:b].hex(':')}"
                   for a, b, name in names if packet[a:b] != good[a:b]]
            return ", ".join(bad) or f"{len(packet)} bytes differ from the {len(good)} expected"
    return f"a packet that nobody sent: {packet[:42].hex()}"
