# SPDX-License-Identifier: BSD-3-Clause
"""What the commands say is what happened: trace, capture, status, and the shape of their JSON."""
import json
import signal

import fabric_lab as lab
import pytest

UPLINKS = ("leaf1:p3", "leaf1:p4")


@pytest.mark.parametrize("family", (0, 1))
def test_trace_is_where_packets_go(fabric, family):
    """For flows with known ports, the uplink that trace names is the one whose counter moves."""
    address = fabric.hosts()["h3"][family]
    send = ("import socket,sys\n"
            "s=socket.socket(socket.AF_INET6 if ':' in sys.argv[1] else socket.AF_INET,socket.SOCK_DGRAM)\n"
            "s.bind(('',int(sys.argv[2])))\n"
            "for i in range(1000):\n s.sendto(b'x'*64,(sys.argv[1],7300))\n"
            " if i % 50 == 49: import time; time.sleep(0.002)\n")
    seen = set()
    for sport in range(20000, 20006):
        report = fabric.json("trace", *(["-6"] if family else []), "--sport", str(sport), "--dport", "7300", "h1", "h3")
        assert report["delivered"], report
        hops = [(h["node"], h["in"], h["out"]) for h in report["hops"]]
        assert [h[0] for h in hops][::2] == ["leaf1", "leaf2"] and len(hops) == 3, hops
        chosen = f"leaf1:{hops[0][2]}"
        seen.add(chosen)
        before = fabric.sent(*UPLINKS)
        fabric.exec("h1", lab.PYTHON, "-c", send, address, str(sport))
        moved = dict(zip(UPLINKS, (a - b for a, b in zip(fabric.sent(*UPLINKS), before))))
        assert moved[chosen] >= 1000 and sum(moved.values()) - moved[chosen] < 500, (chosen, moved)
    assert seen == set(UPLINKS)


def test_trace_of_what_would_not_arrive(fabric):
    before = fabric.drops()
    done = fabric.run("trace", "--ttl", "1", "h1", "h4", check=False)
    assert done.returncode == 1 and "ttl" in done.stdout.lower(), done.stdout
    done = fabric.run("trace", "--dst", "192.0.2.1", "h1", check=False)
    assert done.returncode == 1 and "route" in done.stdout, done.stdout
    assert {k: v for k, v in fabric.drops().items() if k[1] != "ipv6_multicast"} == \
        {k: v for k, v in before.items() if k[1] != "ipv6_multicast"}  # nothing was counted


def capture(fabric, tmp_path, port, action):
    """What tshark reads of a capture that runs while action() does."""
    out = tmp_path / "c.pcapng"
    running = lab.subprocess.Popen([lab.FROND, "capture", "--name", fabric.name, port, "-w", str(out)],
                                   stdin=lab.subprocess.DEVNULL, stdout=lab.subprocess.PIPE,
                                   stderr=lab.subprocess.PIPE, text=True)
    fabric.children.append(running)
    assert lab.eventually(lambda: out.exists() and out.stat().st_size > 0)
    lab.time.sleep(0.3)
    action()
    lab.time.sleep(0.3)
    running.send_signal(signal.SIGINT)
    _, error = running.communicate(timeout=10)
    assert running.returncode in (0, -signal.SIGINT), error
    text = lab.subprocess.run(["tshark", "-r", str(out), "-T", "json", "-n"], check=True, stdout=lab.subprocess.PIPE,
                              stderr=lab.subprocess.DEVNULL).stdout
    return json.loads(text, object_pairs_hook=lambda pairs: dict(reversed(pairs)))


def test_capture_has_both_directions_and_the_dropped(fabric, tmp_path):
    hosts = fabric.hosts()

    def action():
        assert fabric.ping("h1", hosts["h4"][0], count=3)[0] == 3
        fabric.ping("h1", "192.0.2.77", count=1)
    frames = [f["_source"]["layers"] for f in capture(fabric, tmp_path, "leaf1:p1", action)]
    echo = [f for f in frames if "icmp" in f and f["icmp"].get("icmp.type") in ("8", "0")]
    ways = [(f["ip"]["ip.src"], f["ip"]["ip.dst"], f["icmp"]["icmp.type"]) for f in echo]
    assert ways.count((hosts["h1"][0], hosts["h4"][0], "8")) == 3, ways
    assert ways.count((hosts["h4"][0], hosts["h1"][0], "0")) == 3, ways
    dropped = [f for f in frames if "no_route" in json.dumps(f)]
    assert len(dropped) == 1 and "192.0.2.77" in json.dumps(dropped), frames
    assert "dropped: route ip_no_route" in json.dumps(dropped)
    # The answer to it left by the same port.
    assert any("icmp" in f and f["icmp"].get("icmp.type") == "3" for f in frames)
    flags = {f["frame"].get("frame.packet_flags_tree", {}).get("frame.packet_flags_direction") for f in echo
             if f not in dropped}
    assert len(flags) == 2, flags  # in and out are told apart


def test_capture_of_a_pipe(fabric):
    """capture -w - | tshark, as its help says."""
    shell = lab.subprocess.Popen(
        f"{lab.FROND} capture --name {fabric.name} leaf1:p1 -c 4 -w - | tshark -n -r - -T fields -e icmp.type", shell=True,
        stdout=lab.subprocess.PIPE, stderr=lab.subprocess.DEVNULL, text=True)
    lab.time.sleep(0.7)
    fabric.ping("h1", fabric.hosts()["h4"][0], count=4)
    out, _ = shell.communicate(timeout=20)
    assert {"8", "0"} <= set(out.split())


STATUS = {
    "": {"schema", "fabric", "nodes", "links"},
    "fabric": {"name", "mode", "version", "dpdk", "config", "pid", "started_ns", "now_ns", "seed", "workers", "busy_ratio",
               "lost_ns", "fidelity"},
    "node": {"name", "kind", "role", "netns", "interfaces"},
    "interface": {"name", "admin", "oper", "down_reason", "peer", "attachment", "mac", "addresses", "mtu", "speed_bps",
                  "last_change_ns", "queue_bytes", "queue_limit_bytes", "counters", "drops"},
    "counters": {"in_octets", "in_pkts", "in_unicast_pkts", "in_broadcast_pkts", "in_multicast_pkts", "in_errors",
                 "in_discards", "in_fcs_errors", "out_octets", "out_pkts", "out_unicast_pkts", "out_broadcast_pkts",
                 "out_multicast_pkts", "out_errors", "out_discards", "carrier_transitions"},
    "drop": {"direction", "stage", "reason", "packets"},
    "link": {"a", "b", "up", "rate_bps", "delay_ns", "impairable"},
    "end": {"node", "port", "impairment"},
    "impairment": {"loss", "corrupt", "duplicate", "reorder", "reorder_delay_ns", "delay_ns", "jitter_ns", "silent", "seed"},
}


def test_status_json_has_its_keys(fabric):
    fabric.ping("h1", "192.0.2.77", count=1)
    status = fabric.status()
    assert status["schema"] == "frond.status/1"
    seen = {"": [status], "fabric": [status["fabric"]], "node": status["nodes"], "link": status["links"]}
    seen["interface"] = [i for n in status["nodes"] for i in n["interfaces"]]
    seen["counters"] = [i["counters"] for i in seen["interface"]]
    seen["drop"] = [d for i in seen["interface"] for d in i["drops"]]
    seen["end"] = [link[side] for link in status["links"] for side in "ab"]
    seen["impairment"] = [e["impairment"] for e in seen["end"]]
    for what, objects in seen.items():
        assert objects, what
        for one in objects:
            assert STATUS[what] <= set(one), f"{what} has no {STATUS[what] - set(one)}"
    assert len(status["nodes"]) == 8 and len(status["links"]) == 8
    assert ("route", "ip_no_route") in fabric.drops()


def test_other_json(fabric):
    listed = json.loads(lab.frond("list", "--json").stdout)
    mine = [f for f in listed["fabrics"] if f["name"] == fabric.name]
    assert listed["schema"] == "frond.list/1" and len(mine) == 1
    assert {"name", "state", "pid", "config"} <= set(mine[0]) and mine[0]["state"] == "running"
    down = fabric.json("link", "leaf2:p4", "down")
    assert {"schema", "node", "port", "admin"} <= set(down) and (down["schema"], down["admin"]) == ("frond.link/1", "down")
    assert fabric.json("link", "leaf2:p4", "up")["admin"] == "up"
    events = fabric.events()
    keys = {"schema", "sequence", "time_ns", "kind", "node", "port", "mechanism", "detection_ns", "text"}
    assert events and all(keys <= set(e) and e["schema"] == "frond.event/1" for e in events)
    assert [e["sequence"] for e in events] == sorted({e["sequence"] for e in events})
    trace = fabric.json("trace", "h1", "h4")
    assert {"schema", "delivered", "outcome", "hops"} <= set(trace)
    assert {"node", "in", "out", "verdict", "stage", "lines"} <= set(trace["hops"][0])
    impaired = fabric.json("impair", "leaf1:p3")
    assert impaired["schema"] == "frond.impair/1" and len(impaired["directions"]) == 2
    for wrong in (("status", "no-such-node"), ("link", "leaf1:p99", "down"), ("trace", "h1", "h99")):
        done = fabric.run(wrong[0], "--json", *wrong[1:], check=False)
        error = json.loads(done.stdout)
        assert done.returncode != 0 and error["schema"] == "frond.error/1" and error["code"] and error["message"], done


def test_counters_agree_with_what_was_sent(fabric):
    before = fabric.interfaces()
    report = fabric.probe("h1", "h2", fabric.hosts()["h2"][0], seconds=0.5, interval_us=5000, flows=10).finish()
    after = fabric.interfaces()
    assert report["sent"] == report["received"] == 1000, report
    for port, way in (("leaf1:p1", "in"), ("leaf1:p2", "out")):
        more = {k: after[port]["counters"][f"{way}_{k}"] - before[port]["counters"][f"{way}_{k}"]
                for k in ("unicast_pkts", "octets")}
        assert 1000 <= more["unicast_pkts"] <= 1010, more  # ARP and the like beside them
        assert 1000 * 122 <= more["octets"] <= 1010 * 130, more  # 80 of payload, UDP, IP, Ethernet
