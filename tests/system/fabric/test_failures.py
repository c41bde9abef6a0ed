# SPDX-License-Identifier: BSD-3-Clause
"""Links that fail under traffic, with and without notice, and links that are impaired.

Times are judged in windows in which the CPU kept up with the line; a failure that was repaired in
time on a machine that did not is good as well."""
import math

import fabric_lab as lab
import pytest

LIMIT_MS = 50
TRIES = 5
ENDS = ("leaf1:p3", "spine1:p1")
UPLINKS = ("leaf1:p3", "leaf1:p4")


def under_traffic(fabric, breaks):
    """Breaks a link under 4 TCP streams: (reports of the probes of both directions, link-down events, bytes)."""
    hosts = fabric.hosts()
    since = max((e["sequence"] for e in fabric.events()), default=0)
    server = fabric.iperf_server("h4")
    client = fabric.start("h2", "iperf3", "-c", hosts["h4"][0], "-P", "4", "-b", "50M", "-t", "3", "-J")
    probes = [fabric.probe("h1", "h3", hosts["h3"][0], seconds=2.0, flows=16),
              fabric.probe("h3", "h1", hosts["h1"][1], seconds=2.0, flows=16)]
    lab.time.sleep(0.8)
    breaks()
    reports = [p.finish() for p in probes]
    events = [e for e in fabric.events() if e["sequence"] > since and e["kind"] == "link-down" and
              f"{e['node']}:{e['port']}" in ENDS]
    out, _ = client.communicate(timeout=20)
    lab.stop(server, patience=2)
    streams = lab.json.loads(out)["end"]["streams"]
    return reports, events, [s["receiver"]["bytes"] for s in streams]


def recovered_in_time(reports, events, streams, mechanisms, windows):
    """Was the loss window short? It may be long only where the CPU did not keep up; the rest always holds."""
    assert {f"{e['node']}:{e['port']}" for e in events} == set(ENDS), events
    assert {e["mechanism"] for e in events} <= mechanisms, events
    assert len(streams) == 4 and min(streams) > 1 << 20, streams
    for r in reports:
        # Only the flows of the broken path were hit, and they use the other one now.
        assert r["flows"] == 16 and r["lowest_end"] == r["rounds"] - 1, r
    window = max(r["loss_window_ms"] for r in reports)
    cpu = sum(r["cpu_bound_ms"] for r in reports)
    windows.append((window, cpu))
    assert window < LIMIT_MS or cpu, f"packets were lost for {window} ms, and the CPU kept up"
    return window < LIMIT_MS


@pytest.mark.parametrize("breaks, undo, mechanisms", [
    (("link", "leaf1:p3", "down"), ("link", "leaf1:p3", "up"), {"admin", "carrier"}),
    (("link", "spine1:p1", "down"), ("link", "spine1:p1", "up"), {"admin", "carrier"}),
    (("impair", "leaf1:p3", "silent"), ("impair", "leaf1:p3", "--clear"), {"bfd"}),
    # One direction only: the end that hears nothing says so in its own BFD packets.
    (("impair", "leaf1:p3", "silent", "--direction", "out"), ("impair", "leaf1:p3", "--clear"), {"bfd"})])
def test_a_link_fails_under_traffic(fabric, breaks, undo, mechanisms):
    windows = []
    for _ in range(TRIES):
        reports, events, streams = under_traffic(fabric, lambda: fabric.run(*breaks))
        fabric.run(*undo)
        fabric.wait_links()
        for event in events:
            if event["mechanism"] == "bfd" and "silent" in event["text"]:
                assert 20e6 <= event["detection_ns"], event  # not sooner than three intervals less jitter
        if recovered_in_time(reports, events, streams, mechanisms, windows):
            if "bfd" in mechanisms:
                assert any(r["lost"] for r in reports), reports  # it was broken indeed
                assert any(r["flows_with_loss"] < 16 for r in reports), reports
            return
    pytest.fail(f"no window in {TRIES} in which the CPU kept up (lost ms, behind by ms): {windows}")


@pytest.mark.parametrize("end", ["leaf1-p3", "spine1-p1"])
def test_a_veth_is_deleted_under_traffic(make, tmp_path, end):
    """The cable of a link between switches goes while both ends of it are in use, and takes the other end along."""
    file = tmp_path / "veth.yaml"
    with open(lab.os.path.join(lab.ROOT, "configs", "leaf-spine-2x2.yaml")) as f:
        file.write_text(f.read() + "links:\n  - {a: leaf1:p3, b: spine1:p1, driver: veth}\n")
    windows = []
    for attempt in range(TRIES):
        fabric = make(f"v{attempt}")
        fabric.up(file)
        fabric.wait_links()
        before = fabric.sent(*ENDS)
        asked = []

        def delete():
            asked.append(lab.time.time_ns())
            lab.subprocess.run(["ip", "-n", f"frond-{fabric.name}", "link", "del", end], check=True, timeout=10)

        reports, events, streams = under_traffic(fabric, delete)
        sent = [a - b for a, b in zip(fabric.sent(*ENDS), before)]
        assert min(sent) > 1000, sent  # the cable was in use, both ways
        states = fabric.interfaces()
        assert {(states[p]["oper"], states[p]["down_reason"]) for p in ENDS} == {("down", "carrier")}, states
        assert all(states[p]["oper"] == "up" for p in states if p not in ENDS), states
        noticed = [(e["time_ns"] - asked[0]) / 1e6 for e in events]
        print(f"{end}: lost for {max(r['loss_window_ms'] for r in reports):g} ms, noticed after "
              f"{min(noticed):.1f} to {max(noticed):.1f} ms by {events[0]['mechanism']}; {events[0]['text']}")
        # The kernel tells of the second end up to 30 ms after the first; BFD may be sooner.
        assert "carrier" in {e["mechanism"] for e in events}, events
        good = recovered_in_time(reports, events, streams, {"carrier", "bfd"}, windows)
        assert all("routes followed within" in e["text"] for e in events), events
        if good:
            assert 0 <= min(noticed) and max(noticed) < LIMIT_MS, noticed  # what a shell needs to start included
            fabric.close()
            return
        fabric.close()
    pytest.fail(f"no window in {TRIES} in which the CPU kept up (lost ms, behind by ms): {windows}")


def test_a_link_that_is_down_is_not_used_and_comes_back(fabric):
    address = fabric.hosts()["h3"][0]
    fabric.run("link", "leaf1:p3", "down")
    states = fabric.interfaces()
    assert states["leaf1:p3"]["admin"] == "down" and states["leaf1:p3"]["oper"] == "down"
    assert states["leaf1:p3"]["down_reason"] == "admin"
    assert lab.eventually(lambda: fabric.interfaces()["spine1:p1"]["down_reason"] == "carrier")
    before = fabric.sent(*UPLINKS)
    report = fabric.probe("h1", "h3", address, seconds=0.3, interval_us=10000, flows=32).finish()
    packets = [a - b for a, b in zip(fabric.sent(*UPLINKS), before)]
    assert report["lost"] == 0 and packets[0] == 0 and packets[1] >= report["sent"], (report, packets)
    fabric.run("link", "leaf1:p3", "up")
    fabric.wait_links()
    before = fabric.sent(*UPLINKS)
    report = fabric.probe("h1", "h3", address, seconds=0.3, interval_us=10000, flows=64).finish()
    packets = [a - b for a, b in zip(fabric.sent(*UPLINKS), before)]
    assert report["lost"] == 0 and min(packets) > report["sent"] / 4, (report, packets)


def test_other_flows_keep_their_path(fabric):
    """Resilient: when one path dies, flows of the other neither move nor lose a packet."""
    address = fabric.hosts()["h3"][0]
    probe = fabric.probe("h1", "h3", address, seconds=1.5, interval_us=5000, flows=32)
    lab.time.sleep(0.6)
    fabric.run("impair", "leaf1:p3", "silent")
    report = probe.finish()
    fabric.run("impair", "leaf1:p3", "--clear")
    fabric.wait_links()
    assert 4 <= report["flows_with_loss"] <= 28, report
    assert report["lowest_end"] == report["rounds"] - 1, report


def bounds(n, p, sigmas=5.0):
    slack = sigmas * math.sqrt(n * p * (1 - p)) + 1
    return n * p - slack, n * p + slack


def test_loss_is_as_it_was_asked_for(fabric):
    """5 % on the way to h3's port; a second impairment replaces the first; cleared, nothing is lost."""
    address = fabric.hosts()["h3"][0]
    for share, words in ((0.05, ("loss=5%", "seed=7")), (0.2, ("loss=0.2",))):
        done = fabric.json("impair", "leaf2:p1", "--direction", "out", *words)
        assert abs(done["directions"][0]["impairment"]["loss"] - share) < 1e-6
        assert [d["node"] + ":" + d["port"] for d in done["directions"]] == ["leaf2:p1"]
        report = fabric.probe("h1", "h3", address, seconds=1.0, interval_us=8000, flows=32).finish()
        low, high = bounds(report["sent"], share)
        assert low <= report["lost"] <= high, (report, low, high)
        # The way back is not touched: a ping loses what its requests lose.
    fabric.run("impair", "leaf2:p1", "--clear")
    report = fabric.probe("h1", "h3", address, seconds=0.3, interval_us=10000, flows=32).finish()
    assert report["lost"] == 0, report


def test_duplicates_and_corruption(fabric):
    address = fabric.hosts()["h3"][0]
    fabric.run("impair", "spine1:p2", "--direction", "out", "duplicate=10%")
    fabric.run("impair", "spine2:p2", "--direction", "out", "duplicate=10%")
    report = fabric.probe("h1", "h3", address, seconds=1.0, interval_us=10000, flows=32).finish()
    for port in ("spine1:p2", "spine2:p2"):
        fabric.run("impair", port, "--clear")
    low, high = bounds(report["sent"], 0.1)
    assert report["lost"] == 0 and low <= report["duplicates"] <= high, (report, low, high)


def test_delay(fabric):
    address = fabric.hosts()["h3"][0]
    fabric.run("impair", "leaf2:p1", "delay=20ms")  # both ways
    got, text = fabric.ping("h1", address, count=3)
    fabric.run("impair", "leaf2:p1", "--clear")
    fastest = float(text.rsplit("=", 1)[1].split("/")[0])
    assert got == 3 and fastest >= 40, text


@pytest.mark.parametrize("words, says", [
    (("leaf1:p3", "los=5%"), "did you mean loss"), (("leaf1:p3", "loss=150%"), "loss"), (("leaf9:p3", "loss=1%"), "leaf9"),
    (("leaf1:p77", "loss=1%"), "p77")])
def test_wrong_impairments_change_nothing(fabric, words, says):
    before = fabric.status()["links"]
    done = fabric.run("impair", *words, check=False)
    assert done.returncode != 0 and says in done.stderr, done
    assert [(k["a"]["impairment"], k["b"]["impairment"]) for k in fabric.status()["links"]] == \
        [(k["a"]["impairment"], k["b"]["impairment"]) for k in before]
