# SPDX-License-Identifier: BSD-3-Clause
"""Leaf-spine in four processes and as many namespaces: what the demo shows of one process, and what fails apart.

Windows of loss are judged by the best of a few tries: four processes share this machine's cores with the
programs that measure them."""
import glob
import os
import signal

import pytest
from split import SWITCHES, lab

LIMIT_MS = 50
TRIES = 5


def mesh(fabric):
    """Pings of all pairs of hosts by both families: [(from, to, address)] of those that lost a packet."""
    return [(a, b, address) for a in fabric.places for b, addresses in fabric.hosts().items() if a != b
            for address in addresses if fabric.ping(a, address)[0] != 2]


def received(fabric, *ports):
    """Unicast frames that came into each of the ports."""
    all_ports = fabric.interfaces()
    return [all_ports[p]["counters"]["in_unicast_pkts"] for p in ports]


def downs(fabric, node, since=0):
    return [e for e in fabric.events_of(node) if e["kind"] == "link-down" and e["sequence"] > since]


def last(fabric, node):
    return max((e["sequence"] for e in fabric.events_of(node)), default=0)


def uplinks(fabric, leaf):
    """Its ports to spine1 and spine2."""
    ports = {i["peer"].split(":")[0]: p for p, i in fabric.interfaces().items() if p.startswith(leaf) and i["peer"]}
    return ports["spine1"], ports["spine2"]


def test_four_processes_and_namespaces(each):
    pids = {each.status_of(node)["fabric"]["pid"] for node in SWITCHES}
    namespaces = {os.readlink(f"/proc/{pid}/ns/net") for pid in pids}
    assert len(pids) == len(namespaces) == 4
    assert os.readlink("/proc/self/ns/net") not in namespaces


def test_all_pairs_ping(each):
    assert mesh(each) == []


@pytest.mark.parametrize("family", [0, 1])
def test_iperf_both_ways_across_the_spines(each, family):
    hosts = each.hosts()
    first, final = list(hosts)[0], list(hosts)[-1]
    for source, target, leaf in ((first, final, "leaf1"), (final, first, "leaf2")):
        before = each.sent(*uplinks(each, leaf))
        report = each.iperf(source, target, hosts[target][family], "-P", "16", seconds=2)
        sent = [a - b for a, b in zip(each.sent(*uplinks(each, leaf)), before)]
        octets = report["end"]["sum_received"]["bytes"]
        assert octets > 10 << 20, report["end"]
        assert sum(sent) * 1500 > octets and min(sent) > 1000, (sent, octets)


def test_flows_spread_over_the_spines(each):
    hosts = each.hosts()
    first, final = list(hosts)[0], list(hosts)[-1]
    before = each.sent(*uplinks(each, "leaf1"))
    # A round of the probe is a burst: no more than the 256 frames of an af_packet ring.
    report = each.probe(first, final, hosts[final][0], seconds=1.0, interval_us=60000, flows=240).finish()
    sent = [a - b for a, b in zip(each.sent(*uplinks(each, "leaf1")), before)]
    assert report["lost"] == 0, report
    for n in sent:  # BFD's own packets are few beside 3,840
        assert abs(n / (sum(sent) / 2) - 1) <= 0.25, sent


def break_it(fabric, how, undo, source, target, node):
    """Probes of 16 flows from source to target while how() breaks something: (report, link-down events of node)."""
    since = last(fabric, node)
    probe = fabric.probe(source, target, fabric.hosts()[target][0], seconds=2.0, flows=16)
    lab.time.sleep(0.8)
    how()
    report = probe.finish()
    events = downs(fabric, node, since)
    undo()
    fabric.wait_links()
    return report, events


def held(fabric, *arguments):
    """Until a loss window was under the limit; every try must have kept all flows."""
    windows = []
    for _ in range(TRIES):
        report, events = break_it(fabric, *arguments)
        assert events and report["flows"] == 16 and report["lowest_end"] == report["rounds"] - 1, (report, events)
        windows.append(report["loss_window_ms"])
        if windows[-1] < LIMIT_MS:
            return report, events
    pytest.fail(f"packets were lost for {windows} ms")


@pytest.mark.parametrize("variant", ["af_packet", "memif"])
def test_a_local_failure_moves_the_flows(make, variant):
    """leaf1 sends over the other spine at once; its status and events say why."""
    fabric = make(variant)
    said = []

    def cut():
        fabric.command("leaf1", "link", "leaf1:p3", "down")
        state = fabric.interfaces()["leaf1:p3"]
        said.append((state["admin"], state["oper"], state["down_reason"]))
    report, events = held(fabric, cut, lambda: fabric.command("leaf1", "link", "leaf1:p3", "up"), "h1", "h3", "leaf1")
    assert set(said) == {("down", "down", "admin")}
    assert [(e["port"], e["mechanism"]) for e in events] == [("p3", "admin")], events
    assert mesh(fabric) == []


def test_a_cable_that_loses_its_carrier(make):
    fabric = make("af_packet")

    def carrier(state):
        return lambda: split_link(fabric, "spine1", "spine1-p1", state)
    report, events = held(fabric, carrier("down"), carrier("up"), "h1", "h3", "leaf1")
    assert events[0]["port"] == "p3" and events[0]["mechanism"] in ("carrier", "bfd"), events
    assert mesh(fabric) == []


def split_link(fabric, node, device, state):
    fabric.inside(node, "ip", "link", "set", device, state)


def test_a_silent_failure_is_found_by_bfd(make):
    fabric = make("af_packet")
    report, events = held(fabric, lambda: fabric.command("leaf1", "impair", "leaf1:p3", "silent"),
                          lambda: fabric.command("leaf1", "impair", "leaf1:p3", "--clear"), "h1", "h3", "leaf1")
    assert [(e["port"], e["mechanism"]) for e in events] == [("p3", "bfd")], events
    assert 0 < report["lost"] and (report["flows_with_loss"] < 16 or report["cpu_bound_ms"]), report


def holds(claim, fabric, source, target, address, **options):
    """claim(report of a probe of 32 flows, frames sent by leaf2's uplinks, drops of spine1) holds. A try that was
    disturbed may fail it: a switch that waits for its CPU misses BFD's packets, or overflows a ring."""
    seen = []
    for _ in range(TRIES):
        since = {node: last(fabric, node) for node in SWITCHES}
        ports = uplinks(fabric, "leaf2")
        sent, drops = fabric.sent(*ports), spine1_drops(fabric)
        report = fabric.probe(source, target, address, interval_us=10000, flows=32, **options).finish()
        sent = [a - b for a, b in zip(fabric.sent(*ports), sent)]
        drops = {k: n - drops.get(k, 0) for k, n in spine1_drops(fabric).items() if n > drops.get(k, 0)}
        if claim(report, sent, drops):
            return
        seen.append((report, sent, drops))
        changed = since != {node: last(fabric, node) for node in SWITCHES}
        assert changed or report["cpu_bound_ms"] > 0, lab.json.dumps(seen[-1])
        fabric_settles(fabric)
    pytest.fail(f"each try was disturbed, and none held: {seen}")


def fabric_settles(fabric):
    """Until all links are as they were meant to be: what is down is so by an admin, here or at the other end."""
    lab.eventually(lambda: all(i["oper"] == "up" or p in ("leaf1:p3", "spine1:p1", "leaf2:p3", "spine1:p2")
                               for p, i in fabric.interfaces().items()), 5)


def whole(fabric, *way):
    holds(lambda report, sent, drops: report["lost"] == 0 and report["flows"] == 32, fabric, *way, seconds=0.3)


def spine1_drops(fabric):
    """What spine1 dropped of what leaf2 sent it, by reason."""
    return {d["reason"]: d["packets"] for d in fabric.interfaces()["spine1:p2"]["drops"]}


def test_a_remote_failure_loses_the_flows_of_that_path(make):
    """Until a routing daemon tells leaf2 that spine1 has lost leaf1: docs/switchd.md says so."""
    fabric = make("af_packet")
    address = fabric.hosts()["h1"][0]
    assert mesh(fabric) == []  # the leaves know their hosts: what waits for ARP is a bounded queue
    fabric.command("leaf1", "link", "leaf1:p3", "down")
    assert lab.eventually(lambda: fabric.interfaces()["spine1:p1"]["oper"] == "down")

    def whole_flows(report, sent, drops):
        """Those that leaf2 hashes to spine1 lose everything, each a drop there; the others nothing."""
        missing = 32 - report["flows"]
        return (min(sent) > report["rounds"] and 4 <= missing <= 28 and report["flows_with_loss"] == 0 and
                report["lost"] == missing * report["rounds"] and drops == {"ecmp_no_member": report["lost"]})
    holds(whole_flows, fabric, "h3", "h1", address, seconds=0.5)
    assert fabric.interfaces()["leaf2:p3"]["oper"] == "up"
    # Told by hand, leaf2 uses the other spine.
    fabric.command("leaf2", "link", "leaf2:p3", "down")
    whole(fabric, "h3", "h1", address)
    fabric.command("leaf2", "link", "leaf2:p3", "up")
    # From leaf1, which knows, nothing is lost; and when the link is back, leaf2's flows are as well.
    whole(fabric, "h1", "h3", fabric.hosts()["h3"][0])
    fabric.command("leaf1", "link", "leaf1:p3", "up")
    fabric.wait_links()
    whole(fabric, "h3", "h1", address)


@pytest.mark.parametrize("variant", ["af_packet", "memif"])
def test_a_killed_spine(make, variant):
    """Both leaves see their own link die, so all flows go on; started again, it carries its share."""
    fabric = make(variant)
    report, events = held(fabric, lambda: fabric.end("spine1", signal.SIGKILL), lambda: fabric.begin("spine1"), "h1", "h3",
                          "leaf1")
    assert {e["port"] for e in events} == {"p3"} and {e["mechanism"] for e in events} <= {"bfd", "carrier"}, events
    assert all(daemon.poll() is None for daemon in fabric.daemons.values()) and len(fabric.daemons) == 4
    before = fabric.sent("leaf1:p3", "leaf1:p4")
    report = fabric.probe("h1", "h3", fabric.hosts()["h3"][0], seconds=0.3, interval_us=10000, flows=64).finish()
    sent = [a - b for a, b in zip(fabric.sent("leaf1:p3", "leaf1:p4"), before)]
    assert report["lost"] == 0 and min(sent) > report["sent"] / 4, (report, sent)
    assert mesh(fabric) == []


@pytest.mark.parametrize("variant", ["af_packet", "memif"])
def test_a_killed_leaf(make, variant):
    """Its hosts are cut off and nobody else; the same command brings them back."""
    fabric = make(variant)
    hosts = fabric.hosts()
    assert fabric.end("leaf2", signal.SIGKILL) == -signal.SIGKILL
    assert lab.eventually(lambda: fabric.interfaces()["spine1:p2"]["oper"] == "down")
    assert fabric.ping("h1", hosts["h3"][0])[0] == 0
    assert fabric.ping("h1", hosts["h2"][0])[0] == 2 and fabric.ping("h2", hosts["h1"][1])[0] == 2
    assert all(daemon.poll() is None for daemon in fabric.daemons.values())
    fabric.begin("leaf2")
    fabric.wait_links()
    assert mesh(fabric) == []


@pytest.mark.parametrize("variant", ["af_packet", "memif"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_when_told_and_leaves_nothing(make, variant, number):
    before = lab.machine()
    fabric = make(variant)
    for node in SWITCHES:
        assert fabric.end(node, number) == 0
    assert glob.glob(f"{fabric.directory}/run/*/mgmt.sock") == []
    assert [p for p in os.listdir(fabric.directory) if p.startswith("leaf") and not p.endswith(".log")] == []
    for node in SWITCHES:
        with open(f"{fabric.directory}/{node}.log") as log:
            assert log.read() == ""
    fabric.close()
    assert lab.left(before) == []


def test_frond_finds_and_ends_one(make):
    fabric = make("af_packet")
    assert "leaf2" in lab.frond("list", env={**os.environ, "FROND_RUN_DIR": f"{fabric.directory}/run"}).stdout
    fabric.command("leaf2", "down")
    assert fabric.daemons.pop("leaf2").wait(timeout=10) == 0
    assert not os.path.exists(f"{fabric.directory}/run/leaf2")


def test_refusals_are_sentences(make):
    fabric = make("af_packet", up=False)
    for words, says in ((["--node", "leaf9"], "has no switch 'leaf9'"), ([], "--node is required")):
        done = lab.subprocess.run([fabric.program, fabric.file, *words], capture_output=True, text=True, timeout=30)
        assert done.returncode != 0 and says in done.stderr, done
