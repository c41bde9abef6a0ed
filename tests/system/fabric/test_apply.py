# SPDX-License-Identifier: BSD-3-Clause
"""A changed file is a difference: what it does not touch loses no packet."""
import os

import fabric_lab as lab

BEFORE = """\
version: 1
name: change
topology: {type: leaf-spine, leaves: 2, spines: 2, hosts_per_leaf: 2}
"""
AFTER = """\
version: 1
name: change
topology: {type: leaf-spine, leaves: 2, spines: 2, hosts_per_leaf: 2}
nodes:
  h9: {type: host}
links:
  - {a: leaf1:p1, b: h1, rate: 100M}
  - {a: leaf2:p9, b: h9, rate: 1G}
"""


def test_apply_changes_just_the_difference(make, tmp_path):
    left = lab.machine()
    one, two = tmp_path / "one.yaml", tmp_path / "two.yaml"
    one.write_text(BEFORE)
    two.write_text(AFTER)
    fabric = make("c")
    fabric.up(one)
    fabric.wait_links()
    hosts = fabric.hosts()
    macs = {p: i["mac"] for p, i in fabric.interfaces().items()}
    probe = fabric.probe("h2", "h3", hosts["h3"][0], seconds=2.5, interval_us=2000, flows=8)
    lab.time.sleep(0.5)

    dry = fabric.json("apply", "--dry-run", str(two))
    assert dry["changes"] and not dry["applied"] and "h9" not in fabric.hosts()
    done = fabric.json("apply", str(two))
    assert done["applied"] and done["changes"] == dry["changes"]
    fabric.wait_links()
    assert lab.eventually(lambda: fabric.ping("h1", fabric.hosts()["h9"][0], count=1)[0] == 1)
    ports = fabric.interfaces()
    assert ports["leaf1:p1"]["speed_bps"] == 100_000_000 and ports["leaf2:p9"]["peer"] == "h9:eth0"
    assert {p: ports[p]["mac"] for p in macs} == macs
    assert lab.mbps(fabric.iperf("h1", "h4", hosts["h4"][0])) < 110  # the new rate holds

    assert fabric.json("apply", str(two))["changes"] == []  # again: nothing to do
    back = fabric.json("apply", str(one))
    assert back["applied"]
    assert "h9" not in fabric.hosts() and fabric.interfaces()["leaf1:p1"]["speed_bps"] == 1_000_000_000
    assert not os.path.exists(f"/run/netns/{fabric.name}-h9")

    report = probe.finish()
    assert report["lost"] == 0 and report["sent"] == 8 * 1250, report
    lab.frond("down", fabric.name)
    assert lab.left(left) == []


def test_an_invalid_file_changes_nothing(make, tmp_path):
    one, bad = tmp_path / "one.yaml", tmp_path / "bad.yaml"
    one.write_text(BEFORE)
    bad.write_text(AFTER.replace("rate: 100M", "rat: 100M"))
    fabric = make("b")
    fabric.up(one)
    fabric.wait_links()
    done = fabric.run("apply", str(bad), check=False)
    assert done.returncode != 0 and "bad.yaml:7:" in done.stdout + done.stderr, done
    assert "rate" in done.stdout + done.stderr
    assert "h9" not in fabric.hosts() and fabric.interfaces()["leaf1:p1"]["speed_bps"] == 1_000_000_000
    assert fabric.ping("h1", fabric.hosts()["h4"][0])[0] == 2
