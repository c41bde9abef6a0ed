# SPDX-License-Identifier: BSD-3-Clause
"""Linux's own TCP/IP across the fabric, and what the switches answer."""
import os
import re

import fabric_lab as lab
import pytest

LEAF_SPINE = os.path.join(lab.ROOT, "configs", "leaf-spine-2x2.yaml")
UPLINKS = ("leaf1:p3", "leaf1:p4")
NARROW = """\
version: 1
name: narrow
topology: {type: leaf-spine, leaves: 2, spines: 1, hosts_per_leaf: 1}
hosts: {mtu: 9000}
links:
  - {a: leaf1:p2, b: spine1:p1, mtu: 1500}
"""


def test_every_pair_pings(fabric):
    hosts = fabric.hosts()
    assert len(hosts) == 4
    bad = []
    for source in hosts:
        for target, addresses in hosts.items():
            for address in addresses if source != target else ():
                got, text = fabric.ping(source, address)
                if got != 2:
                    bad.append(f"{source} -> {address}: {text}")
    assert bad == []


@pytest.mark.parametrize("source, target, family, options", [
    ("h1", "h4", 0, ()), ("h1", "h4", 0, ("-R",)), ("h1", "h4", 1, ()), ("h1", "h4", 1, ("-R",)), ("h1", "h2", 0, ()),
    ("h2", "h3", 0, ("-P", "4")), ("h2", "h3", 0, ("--bidir",))])
def test_tcp(fabric, source, target, family, options):
    drops = fabric.drops()
    report = fabric.iperf(source, target, fabric.hosts()[target][family], *options)
    end = report["end"]
    sums = [end["sum_received"]] + ([end["sum_received_bidir_reverse"]] if "--bidir" in options else [])
    for one in sums:
        assert one["bytes"] > 1 << 20, one
    # A packet in a hundred at most is sent again: what overflowed a queue, not what was broken.
    assert lab.retransmits(report) * 100 <= end["sum_sent"]["bytes"] / 1400 + 1000, end["sum_sent"]
    new = {why: n - drops.get(why, 0) for why, n in fabric.drops().items() if n > drops.get(why, 0)}
    assert not [why for why in new if "checksum" in why[1] or "malformed" in why[1] or "truncated" in why[1]], new


def test_payload_is_intact(fabric):
    """Three megabytes by TCP comes out with the same hash, both ways, IPv4 and IPv6."""
    program = ("import socket,hashlib,sys\n"
               "s=socket.create_connection((sys.argv[1],7100)) if len(sys.argv)>1 else None\n"
               "if s:\n import random\n d=random.Random(7).randbytes(3<<20)\n s.sendall(d)\n"
               " s.shutdown(1)\n print(hashlib.sha256(d).hexdigest())\n"
               "else:\n l=socket.create_server(('::',7100),family=socket.AF_INET6,dualstack_ipv6=True)\n"
               " print('ready',flush=True)\n c,_=l.accept()\n h=hashlib.sha256()\n"
               " while d:=c.recv(65536): h.update(d)\n print(h.hexdigest())\n")
    for source, target in (("h1", "h4"), ("h4", "h1")):
        for address in fabric.hosts()[target]:
            receiver = fabric.start(target, lab.PYTHON, "-c", program)
            assert receiver.stdout.readline() == "ready\n"
            sent = fabric.exec(source, lab.PYTHON, "-c", program, address).stdout
            assert receiver.communicate(timeout=20)[0] == sent


def test_mtu(fabric):
    for address, header in zip(fabric.hosts()["h4"], (28, 48)):
        assert fabric.ping("h1", address, "-M", "do", "-s", str(1500 - header))[0] == 2
        got, text = fabric.ping("h1", address, "-M", "do", "-s", str(1501 - header))
        assert got == 0 and "essage too long" in text, text


def test_a_narrow_link_says_how_narrow_it_is(make, tmp_path):
    file = tmp_path / "narrow.yaml"
    file.write_text(NARROW)
    fabric = make("n")
    fabric.up(file)
    fabric.wait_links()
    four, six = fabric.hosts()["h2"]
    assert fabric.ping("h1", four, "-M", "do", "-s", "1472")[0] == 2
    got, text = fabric.ping("h1", four, "-M", "do", "-s", "4000")
    assert got == 0 and re.search(r"From 10\.0\.1\.0 .*[Ff]rag needed and DF set \(mtu = 1500\)", text), text
    got, text = fabric.ping("h1", six, "-M", "do", "-s", "4000")
    assert got == 0 and re.search(r"From fd00:0:0:1:: .*Packet too big: mtu=1500", text), text
    # TCP has learnt it.
    assert fabric.iperf("h1", "h2", six)["end"]["sum_received"]["bytes"] > 1 << 20


def test_ttl_runs_out_hop_by_hop(fabric):
    four, six = fabric.hosts()["h4"]
    _, text = fabric.ping("h1", four, "-t", "1", count=1)
    assert re.search(r"From 10\.0\.1\.0 .*Time to live exceeded", text), text
    _, text = fabric.ping("h1", six, "-t", "1", count=1)
    assert re.search(r"From fd00:0:0:1:: .*Time exceeded: Hop limit", text), text
    _, text = fabric.ping("h1", four, "-t", "2", count=1)
    spine_addresses = {a.split("/")[0] for p, i in fabric.interfaces().items() if re.match("spine.:p1", p)
                       for a in i["addresses"]}
    answered = re.search(r"From (\S+) .*Time to live exceeded", text)
    assert answered and answered[1] in spine_addresses, text  # the address where it came in
    _, text = fabric.ping("h1", four, "-t", "3", count=1)
    answered = re.search(r"From (\S+) .*Time to live exceeded", text)
    leaf2 = {a.split("/")[0] for p, i in fabric.interfaces().items() if p in ("leaf2:p3", "leaf2:p4")
             for a in i["addresses"]}
    assert answered and answered[1] in leaf2, text
    assert fabric.ping("h1", four, "-t", "4", count=1)[0] == 1


@pytest.mark.parametrize("address, says", [
    ("192.0.2.1", r"From 10\.0\.1\.0 .*Destination Net Unreachable"),
    ("2001:db8::1", r"From fd00:0:0:1:: .*Destination unreachable: No route")])
def test_no_route_is_answered(fabric, address, says):
    got, text = fabric.ping("h1", address, count=1)
    assert got == 0 and re.search(says, text), text


def test_a_silent_neighbour_is_unreachable(make):
    """The leaf that would deliver asks for its neighbour, in vain, and says so."""
    fabric = make("s")
    fabric.up(LEAF_SPINE)
    fabric.exec("h4", "ip", "link", "set", "eth0", "arp", "off")
    fabric.wait_links()
    fabric.exec("h4", "ip", "neighbour", "flush", "all")
    got, text = fabric.ping("h1", "10.0.2.3", "-W", "8", count=1)
    assert got == 0 and re.search(r"From 10\.\S+ .*Destination Host Unreachable", text), text
    assert fabric.drops()[("neighbor", "neighbor_unresolved")] >= 1


def test_switches_answer_echo_on_each_address(fabric):
    """Those of the leaf, of its neighbours, and those towards the hosts of another leaf."""
    silent = []
    for port, interface in fabric.interfaces().items():
        if port.startswith("leaf1") or port in ("spine1:p1", "spine2:p1", "leaf2:p1", "leaf2:p2"):
            silent += [f"{port} {a}" for a in interface["addresses"] if not fabric.ping("h1", a.split("/")[0], count=1)[0]]
    assert silent == []


def test_flows_spread_and_each_keeps_its_path(fabric):
    address = fabric.hosts()["h3"][0]
    before = fabric.sent(*UPLINKS)
    report = fabric.probe("h1", "h3", address, seconds=0.6, interval_us=30000, flows=400).finish()
    packets = [a - b for a, b in zip(fabric.sent(*UPLINKS), before)]
    assert report["lost"] == 0 and report["reordered"] == 0, report
    for n in packets:
        assert abs(n / (sum(packets) / 2) - 1) <= 0.25, packets
    # One flow: all of it at one port, beside the few packets that BFD sends at both (a hundred a second).
    before = fabric.sent(*UPLINKS)
    begin = lab.time.monotonic()
    report = fabric.probe("h1", "h3", address, seconds=1.0, interval_us=500, flows=1).finish()
    packets = sorted(a - b for a, b in zip(fabric.sent(*UPLINKS), before))
    others = 150 * (lab.time.monotonic() - begin) + 20
    assert report["lost"] == 0 and report["reordered"] == 0, report
    assert packets[1] >= report["sent"] and packets[0] < others < report["sent"], packets


@pytest.mark.parametrize("tags", [[(0, 5)], [(100, 3)], [(100, 1), (200, 7)]])
def test_tags_and_priorities_survive(fabric, tmp_path, tags):
    """Frames with 802.1Q tags, made by scapy in h1, are routed to h4 with the tags as they were."""
    hosts, ports = fabric.hosts(), fabric.interfaces()
    out = tmp_path / "h4.pcap"
    capture = fabric.start("h4", "tcpdump", "-i", "eth0", "-Q", "in", "-U", "-w", str(out), "-c", "3",
                           *["vlan", "and"] * len(tags), "udp", "port", "7200")
    assert "listening" in capture.stderr.readline()
    lab.time.sleep(0.2)
    stack = "/".join(f"Dot1Q(vlan={v},prio={p})" for v, p in tags)
    fabric.exec("h1", lab.PYTHON, "-c",
                "from scapy.all import *\n"
                f"sendp(Ether(src='{ports['h1:eth0']['mac']}',dst='{ports['leaf1:p1']['mac']}')/{stack}"
                f"/IP(src='{hosts['h1'][0]}',dst='{hosts['h4'][0]}')/UDP(sport=7201,dport=7200)/b'tagged',"
                "iface='eth0',count=3,verbose=0)")
    capture.wait(timeout=10)
    from scapy.all import Dot1Q, rdpcap
    frames = rdpcap(str(out))
    assert len(frames) == 3
    for frame in frames:
        seen, layer = [], frame.getlayer(Dot1Q)
        while isinstance(layer, Dot1Q):
            seen.append((layer.vlan, layer.prio))
            layer = layer.payload
        assert seen == tags and frame.load == b"tagged"
