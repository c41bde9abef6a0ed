#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The comparison of egress packets finds what is wrong, and nothing else."""

import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from benchlib import traffic  # noqa: E402


class Egress(unittest.TestCase):
    def setUp(self):
        self.flows = traffic.flows()
        self.sent = [traffic.frame(f, ident) for ident in (1, 2) for f in self.flows]
        self.prelude = [traffic.frame(f, 0) for f in self.flows]
        # A right switch: every other flow by the second path.
        path_of = {f: i % 2 for i, f in enumerate(self.flows)}
        self.out = [[], []]
        for packet in self.sent:
            flow = (packet[26:30], packet[30:34], int.from_bytes(packet[34:36], "big"),
                    int.from_bytes(packet[36:38], "big"))
            path = path_of[flow]
            self.out[path].append(traffic.routed(packet, traffic.PATHS[path]))

    def check(self):
        with tempfile.TemporaryDirectory() as directory:
            files = [pathlib.Path(directory) / f"{i}.pcap" for i in range(2)]
            for file, packets in zip(files, self.out):
                traffic.write_pcap(file, packets)
            return traffic.check_egress(self.sent, self.prelude, files)

    def change(self, at, value):
        packet = bytearray(self.out[0][3])
        packet[at:at + len(value)] = value
        self.out[0][3] = bytes(packet)

    def assert_wrong(self, words):
        wrong, _ = self.check()
        self.assertTrue(any(words in w for w in wrong), wrong)

    def test_frames(self):
        packet = self.sent[0]
        self.assertEqual(len(packet), 60)
        self.assertEqual(traffic.checksum(packet[14:34]), 0)
        pseudo = packet[26:34] + bytes([0, 17]) + packet[38:40]
        self.assertEqual(traffic.checksum(pseudo + packet[34:]), 0)
        self.assertEqual(len(set(self.flows)), 512)

    def test_right(self):
        self.assertEqual(self.check(), ([], [256, 256]))

    def test_prelude_is_free(self):
        self.out[0] += [traffic.routed(self.prelude[0], traffic.PATHS[0])] * 2
        self.assertEqual(self.check()[0], [])

    def test_its_own_words_are_free(self):
        self.out[1].append(b"\xff" * 6 + traffic.mac(traffic.PATHS[1]["mac"]) + b"\x08\x06" + bytes(46))
        self.assertEqual(self.check()[0], [])

    def test_time_to_live(self):
        self.change(22, b"\x40")
        self.assert_wrong("TTL 40 instead of 3f")
        self.assert_wrong("1 of 1024 packets did not come out")

    def test_checksum(self):
        self.change(24, b"\xff\xff")
        self.assert_wrong("IP header checksum ff:ff instead of")

    def test_macs(self):
        self.change(0, traffic.ROUTER_MAC)
        self.assert_wrong("destination MAC 02:00:00:00:01:01 instead of 02:00:00:00:0a:02")
        self.change(6, traffic.ROUTER_MAC)
        self.assert_wrong("source MAC")

    def test_payload(self):
        self.change(50, b"x")
        self.assert_wrong("bytes differ")

    def test_a_stranger(self):
        self.change(30, b"\x0b")
        self.assert_wrong("a packet that nobody sent")

    def test_missing_and_twice(self):
        self.out[1][0] = self.out[1][1]
        self.assert_wrong("1 of 1024 packets did not come out")
        self.assert_wrong("1 packets came out more than once")

    def test_a_flow_that_moves(self):
        moved = self.out[0].pop()
        original = next(p for p in self.sent if traffic.routed(p, traffic.PATHS[0]) == moved)
        self.out[1].append(traffic.routed(original, traffic.PATHS[1]))
        self.assert_wrong("1 flows changed their path")

    def test_one_path_only(self):
        self.out = [[traffic.routed(p, traffic.PATHS[0]) for p in self.sent], []]
        self.assert_wrong("less than a quarter")


if __name__ == "__main__":
    unittest.main()
