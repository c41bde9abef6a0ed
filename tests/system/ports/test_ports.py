# SPDX-License-Identifier: BSD-3-Clause
"""Linux's own TCP/IP and scapy's frames through each kind of port, both ways."""
import glob
import os
import subprocess
import textwrap
import time

import pytest

from cross import eventually, sh


def wait_up(cross):
    assert eventually(lambda: cross.up() == [True, True]), cross.look()
    cross.base = cross.drops()


def all_traffic(lab, cross, megabits, mtu=1500):
    """Ping, TCP and UDP, IPv4 and IPv6, in both directions; nothing may be refused by the hosts."""
    for address in ("10.9.0.2", "fd00:9::2"):
        assert " 0% packet loss" in lab.ping("a", address), address
    for source, target, last in (("a", "b", 2), ("b", "a", 1)):
        for address in (f"10.9.0.{last}", f"fd00:9::{last}"):
            report = lab.iperf(source, address, target)
            assert report["end"]["sum_received"]["bytes"] > 1_000_000, (source, address)
    udp = lab.iperf("a", "10.9.0.2", "b", "-u", "-b", f"{megabits}M", "-l", "1000")
    assert udp["end"]["sum"]["packets"] - udp["end"]["sum"]["lost_packets"] > 100
    assert lab.refused("a", "b") == 0
    look = cross.look()
    assert max(p["longest"] for p in look["ports"]) <= mtu + 14


def settle(cross, allowed=()):
    """No drop but those allowed, and no packet is lost in the process."""
    drops = {name: n for name, n in cross.drops().items() if n > cross.base.get(name, 0) and name not in allowed}
    assert drops == {}
    assert cross.close() == 0


@pytest.mark.parametrize("kind", ["af_packet", "packet", "af_xdp"])
def test_veth_with_default_settings(lab, kind):
    lab.cables()
    netns = lab.ns("mid")
    cross = lab.cross(f"{kind}:p0,netns={netns}", f"{kind}:p1,netns={netns}")
    wait_up(cross)
    all_traffic(lab, cross, 20)
    settle(cross, allowed=("kernel_full",))


@pytest.mark.parametrize("options", ["", ",no-offloads", ",mtu=9000"])
def test_our_tap(lab, options):
    lab.make("a", "b")
    cross = lab.cross(f"netdev:eth0,netns={lab.ns('a')}{options}", f"netdev:eth0,netns={lab.ns('b')}{options}")
    lab.address("a", 1)
    lab.address("b", 2)
    wait_up(cross)
    all_traffic(lab, cross, 20, mtu=9000 if "mtu" in options else 1500)
    settle(cross)


def test_tap_of_dpdk(lab):
    """DPDK's own tap driver; our tap at the other side."""
    lab.make("a", "b")
    cross = lab.cross(f"tap:eth0,netns={lab.ns('a')}", f"netdev:eth0,netns={lab.ns('b')}")
    lab.address("a", 1)
    lab.address("b", 2)
    wait_up(cross)
    all_traffic(lab, cross, 20)
    settle(cross)


@pytest.mark.parametrize("kind", ["memif", "vhost"])
def test_two_processes_by_shared_memory(lab, kind, tmp_path):
    lab.make("a", "b")
    socket = tmp_path / "s"
    far = f"memif:{socket},server" if kind == "memif" else f"vhost:{socket}"
    near = f"memif:{socket}" if kind == "memif" else f"virtio-user:{socket}"
    one = lab.cross(f"netdev:eth0,netns={lab.ns('a')}", far)
    two = lab.cross(near, f"netdev:eth0,netns={lab.ns('b')}")
    lab.address("a", 1)
    lab.address("b", 2)
    wait_up(one)
    wait_up(two)
    all_traffic(lab, one, 20)
    settle(two, allowed=("port_gone",))
    assert eventually(lambda: one.up() == [True, False]), "the peer has ended"
    lab.ping("a", "10.9.0.2", 1)
    assert one.process.poll() is None
    settle(one, allowed=("port_gone",))


def free_hugepages():
    total = 0
    for path in glob.glob("/sys/kernel/mm/hugepages/hugepages-*"):
        with open(path + "/free_hugepages") as f:
            total += int(f.read()) * int(path.rsplit("-", 1)[1].removesuffix("kB"))
    return total // 1024


def test_virtio_user_with_hugepages(lab, tmp_path):
    if free_hugepages() < 400:
        pytest.skip("needs 400 MiB of free hugepages")
    before = set(glob.glob("/var/run/dpdk/*")) | set(glob.glob("/dev/hugepages/*"))
    lab.make("a", "b")
    one = lab.cross(f"netdev:eth0,netns={lab.ns('a')}", f"vhost:{tmp_path}/s", ["--hugepages"])
    two = lab.cross(f"virtio-user:{tmp_path}/s", f"netdev:eth0,netns={lab.ns('b')}", ["--hugepages"])
    lab.address("a", 1)
    lab.address("b", 2)
    wait_up(one)
    wait_up(two)
    assert " 0% packet loss" in lab.ping("a", "10.9.0.2")
    two.process.kill()  # a crash
    assert eventually(lambda: one.up() == [True, False])
    settle(one, allowed=("port_gone",))
    assert set(glob.glob("/var/run/dpdk/*")) | set(glob.glob("/dev/hugepages/*")) <= before


FRAMES = """
    from scapy.all import Ether, Dot1Q, Dot1AD, IP, IPv6, UDP, Raw, sendp
    e = Ether(src="02:00:00:00:00:0a", dst="02:00:00:00:00:0b")
    body = IP(src="10.9.0.1", dst="10.9.0.2") / UDP(sport=7, dport=7) / Raw(b"x" * 60)
    frames = [e / Dot1Q(vlan=100, prio=5) / body,
              e / Dot1Q(vlan=0, prio=3) / body,
              e / Dot1Q(vlan=4094, prio=7, id=1) / IPv6(src="fd00:9::1", dst="fd00:9::2") / UDP() / Raw(b"y" * 60),
              e / Dot1Q(vlan=7, prio=1) / Dot1Q(vlan=8, prio=2) / body]
"""


@pytest.mark.parametrize("kind", ["af_packet", "packet", "tap", "netdev"])
def test_tags_and_priorities_survive(lab, kind):
    """What scapy sends at a leaves at b with the same bytes."""
    if kind in ("af_packet", "packet"):
        lab.cables()
        netns = lab.ns("mid")
        cross = lab.cross(f"{kind}:p0,netns={netns}", f"{kind}:p1,netns={netns}")
    else:
        lab.make("a", "b")
        cross = lab.cross(f"{kind}:eth0,netns={lab.ns('a')}", f"{kind}:eth0,netns={lab.ns('b')}")
        lab.address("a", 1)
        lab.address("b", 2)
    wait_up(cross)
    receiver = subprocess.Popen(
        ["ip", "netns", "exec", lab.ns("b"), "/usr/bin/python3", "-c", textwrap.dedent(RECEIVE)], text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert receiver.stdout.readline() == "ready\n"
    sent = lab.run("a", f"/usr/bin/python3 -c '{textwrap.dedent(FRAMES)}\nfor f in frames: print(bytes(f).hex()); "
                        "sendp(f, iface=\"eth0\", verbose=0)'").split()
    time.sleep(0.3)
    got = receiver.communicate("\n", timeout=10)[0].split()
    got = [g for g in got if g[12:24] == "02000000000a"]
    assert [g[:len(s)] for g, s in zip(got, sent)] == sent
    assert len(got) == len(sent) == 4


# A raw socket sees the tag only in auxdata, so the receiver puts it back, as tcpdump does.
RECEIVE = """
    import socket, struct, sys
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    s.setsockopt(263, 8, 1)   # SOL_PACKET, PACKET_AUXDATA
    s.bind(("eth0", 0))
    s.setsockopt(263, 1, struct.pack("iHH8s", socket.if_nametoindex("eth0"), 1, 0, b""))  # promiscuous
    print("ready", flush=True)
    sys.stdin.readline()
    s.setblocking(False)
    while True:
        try:
            frame, aux, _, address = s.recvmsg(70000, 256)
        except BlockingIOError:
            break
        if address[2] == 4:      # what this host sends itself
            continue
        for level, kind, data in aux:
            status, _, _, _, _, tci, tpid = struct.unpack("IIIHHHH", data[:20])
            if status & 16:      # TP_STATUS_VLAN_VALID
                frame = frame[:12] + struct.pack("!HH", tpid or 0x8100, tci) + frame[12:]
        print(frame.hex(), flush=True)
"""


@pytest.mark.parametrize("kind", ["af_packet", "packet", "af_xdp"])
def test_peers_deleted_while_traffic_runs(lab, kind):
    lab.cables()
    netns = lab.ns("mid")
    cross = lab.cross(f"{kind}:p0,netns={netns}", f"{kind}:p1,netns={netns}")
    wait_up(cross)
    flood = subprocess.Popen(["ip", "netns", "exec", lab.ns("a"), "iperf3", "-u", "-b", "20M", "-c", "10.9.0.2", "-t", "3"],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    flood2 = subprocess.Popen(["ip", "netns", "exec", lab.ns("a"), "ping", "-f", "-w", "2", "10.9.0.2"],
                              stdout=subprocess.DEVNULL)
    try:
        time.sleep(0.4)
        sh(f"ip -n {lab.ns('b')} link del eth0")
        assert eventually(lambda: cross.up() == [True, False])
        time.sleep(0.2)
        assert cross.process.poll() is None
        sh(f"ip -n {lab.ns('a')} link del eth0")
        assert eventually(lambda: cross.up() == [False, False])
    finally:
        for process in (flood, flood2):
            process.kill()
            process.wait()
    drops = cross.drops()
    assert drops.get("port_gone", 0) + drops.get("packet_gone", 0) > 0, drops
    assert cross.close() == 0


def test_a_port_that_appears_later(lab):
    lab.make("a", "b", "mid")
    netns = lab.ns("mid")
    cross = lab.cross(f"af_packet:p0,netns={netns},wait", f"af_packet:p1,netns={netns},wait")
    assert cross.up() == [False, False]
    for i, host in enumerate("ab"):
        lab.veth(host, f"p{i}")
        lab.address(host, i + 1)
    wait_up(cross)
    assert " 0% packet loss" in lab.ping("a", "10.9.0.2")
    assert cross.close() == 0


def test_refusals_are_sentences(lab):
    lab.cables(mtu=9000)
    netns = lab.ns("mid")
    other = f"af_packet:p1,netns={netns}"
    for port, words in ((f"af_packet:p9,netns={netns}", "there is no interface 'p9'"),
                        (f"af_xdp:p0,netns={netns}", "MTU 9000, af_xdp carries at most 3072"),
                        (f"af_xdp:p0,netns={netns},mtu=4000", "MTU 4000 is not possible"),
                        ("af_packet:p0,netns=no-such-namespace", "no network namespace"),
                        ("virtio-user:/no/such/socket", "there is no socket")):
        with pytest.raises(RuntimeError) as refusal:
            lab.cross(port, other)
        assert words in str(refusal.value)


def test_af_xdp_at_its_largest_mtu(lab):
    lab.cables(mtu=3072)
    netns = lab.ns("mid")
    cross = lab.cross(f"af_xdp:p0,netns={netns}", f"af_xdp:p1,netns={netns}")
    wait_up(cross)
    assert " 0% packet loss" in lab.run("a", "ping -qnc3 -i0.05 -W2 -M do -s 3044 10.9.0.2", check=False)
    settle(cross)


def test_a_ring_that_is_too_small_truncates_by_name(lab):
    lab.cables()
    netns = lab.ns("mid")
    small = ",args=blocksz=4096,framesz=2048,framecnt=64"
    cross = lab.cross(f"af_packet:p0,netns={netns}{small}", f"af_packet:p1,netns={netns}")
    wait_up(cross)
    assert " 0% packet loss" in lab.ping("a", "10.9.0.2")
    lab.iperf("a", "10.9.0.2", "b")  # crawls: its super-frames are lost, retransmissions are not
    assert cross.look()["ports"][0]["drops"]["port_truncated"] > 0
    assert lab.refused("a", "b") == 0
    assert cross.close() == 0


def test_nothing_is_left_after_a_crash(lab):
    before = set(glob.glob("/var/run/dpdk/*"))
    lab.make("a", "b")
    cross = lab.cross(f"netdev:eth0,netns={lab.ns('a')}", f"netdev:eth0,netns={lab.ns('b')}")
    cross.process.kill()
    cross.process.wait()
    assert eventually(lambda: "eth0" not in lab.run("a", "ip link"))
    assert set(glob.glob("/var/run/dpdk/*")) <= before


def test_side_by_side(lab):
    lab.make("a", "b")
    crosses = [lab.cross(f"netdev:e{i},netns={lab.ns('a')}", f"netdev:e{i},netns={lab.ns('b')}") for i in range(3)]
    affinity = os.sched_getaffinity(0)
    for cross in crosses:
        for task in os.listdir(f"/proc/{cross.process.pid}/task"):
            assert os.sched_getaffinity(int(task)) == affinity
        assert cross.close() == 0
