# SPDX-License-Identifier: BSD-3-Clause
"""up and down: all of it or nothing, by name, and nothing stays behind."""
import json
import os
import signal

import fabric_lab as lab

LEAF_SPINE = os.path.join(lab.ROOT, "configs", "leaf-spine-2x2.yaml")


def test_up_makes_everything_inside_and_down_leaves_nothing(make):
    before = lab.machine()
    fabric = make("a")
    fabric.up(LEAF_SPINE)
    made = [x for x in lab.machine() - before if not x.startswith("process")]
    assert made and all(fabric.name in x for x in made), made  # no interface of ours among the machine's own
    assert {f"/run/netns/{fabric.name}-h{i}" for i in range(1, 5)} <= set(made)
    assert os.stat(f"/run/frond/{fabric.name}").st_mode & 0o777 == 0o700
    lab.frond("down", fabric.name)
    assert lab.left(before) == []


def test_down_ends_the_programs_of_hosts(make):
    before = lab.machine()
    fabric = make("p")
    fabric.up(LEAF_SPINE)
    sleeper = fabric.start("h1", "sleep", "1000")
    assert lab.eventually(lambda: os.readlink(f"/proc/{sleeper.pid}/exe").endswith("/sleep"))
    lab.frond("down", fabric.name)
    assert sleeper.wait(timeout=5) in (-signal.SIGTERM, -signal.SIGKILL)
    assert lab.left(before) == []


def test_down_after_kill_9(make):
    before = lab.machine()
    fabric = make("k")
    fabric.up(LEAF_SPINE)
    pid = fabric.status()["fabric"]["pid"]
    os.kill(pid, signal.SIGKILL)
    assert lab.eventually(lambda: not lab.alive(pid))
    states = {f["name"]: f["state"] for f in json.loads(lab.frond("list", "--json").stdout)["fabrics"]}
    assert states[fabric.name] != "running"
    lab.frond("down", fabric.name)
    assert lab.left(before) == []


def test_down_after_a_killed_up(make):
    """Whenever up itself is killed: down removes what it had made by then."""
    before = lab.machine()
    for number, pause in enumerate((0.001, 0.01, 0.03, 0.1)):
        fabric = make(f"u{number}")
        up = lab.subprocess.Popen([lab.FROND, "up", LEAF_SPINE, "--name", fabric.name], stdout=lab.subprocess.DEVNULL,
                                  stderr=lab.subprocess.DEVNULL)
        lab.time.sleep(pause)
        up.kill()
        up.wait()
        lab.time.sleep(0.3)
        lab.frond("down", fabric.name, check=False)
        assert lab.left(before) == [], f"killed after {pause} s"


def test_up_of_an_invalid_file_leaves_nothing(make, tmp_path):
    before = lab.machine()
    file = tmp_path / "bad.yaml"
    file.write_text("version: 1\nname: bad\ntopology: {type: leaf-spine, leafs: 2}\n")
    done = lab.frond("up", str(file), "--name", make("f").name, check=False)
    assert done.returncode == 1 and "bad.yaml:3:" in done.stdout + done.stderr and "leaves" in done.stdout + done.stderr
    assert lab.left(before) == []


def test_up_that_fails_half_way_leaves_nothing(make):
    """The third host's namespace is somebody else's: it stays, and nothing of ours does."""
    fabric = make("h")
    theirs = f"{fabric.name}-h3"
    lab.subprocess.run(["ip", "netns", "add", theirs], check=True)
    try:
        before = lab.machine()
        done = lab.frond("up", LEAF_SPINE, "--name", fabric.name, check=False)
        assert done.returncode != 0 and theirs in done.stdout + done.stderr, done
        assert lab.left(before) == [] and before <= lab.machine()
    finally:
        lab.subprocess.run(["ip", "netns", "del", theirs], check=True)


def test_up_of_a_name_that_runs_is_refused_and_harms_nothing(make):
    fabric = make("d")
    fabric.up(LEAF_SPINE)
    before = lab.machine()
    again = lab.frond("up", LEAF_SPINE, "--name", fabric.name, check=False)
    assert again.returncode != 0 and fabric.name in again.stderr
    assert lab.left(before) == []
    assert fabric.ping("h1", fabric.hosts()["h4"][0])[0] == 2


def test_two_fabrics_side_by_side(make):
    before = lab.machine()
    one, two = make("x"), make("y")
    for fabric in (one, two):
        fabric.up(LEAF_SPINE)
        fabric.wait_links()
    names = {f["name"] for f in json.loads(lab.frond("list", "--json").stdout)["fabrics"]}
    assert {one.name, two.name} <= names
    unsure = lab.frond("status", check=False)
    assert unsure.returncode != 0 and one.name in unsure.stderr and two.name in unsure.stderr
    assert one.hosts() == two.hosts()  # the same addresses; they do not meet
    for fabric in (one, two):
        assert fabric.ping("h1", "10.0.2.3")[0] == 2
    seen = two.sent("leaf1:p1", "leaf2:p2")
    assert one.ping("h1", "10.0.2.3", count=5)[0] == 5
    assert two.sent("leaf1:p1", "leaf2:p2") == seen
    lab.frond("down", one.name)
    assert two.ping("h1", "10.0.2.3")[0] == 2
    lab.frond("down", two.name)
    assert lab.left(before) == []
