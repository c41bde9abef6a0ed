# SPDX-License-Identifier: BSD-3-Clause
"""The test runner itself: it counts what it should, and misses nothing that is left behind."""
import os
import signal
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RUNNER = os.path.join(ROOT, "tools", "test")
sys.path.insert(0, RUNNER)
import leftovers  # noqa: E402
import results  # noqa: E402

GTEST = """<?xml version="1.0"?><testsuites tests="4"><testsuite name="A">
<testcase name="good" status="run" result="completed" time="0.5" classname="A"/>
<testcase name="bad" status="run" result="completed" time="0" classname="A"><failure message="1 != 2"/></testcase>
<testcase name="skip" status="run" result="skipped" classname="A"><skipped message="no KVM"/></testcase>
<testcase name="off" status="notrun" result="suppressed" time="0" classname="A"/></testsuite></testsuites>"""


def test_cases_are_counted_one_by_one(tmp_path):
    path = tmp_path / "g.xml"
    path.write_text(GTEST)
    cases = list(results.from_xml("unit", path, "fib: "))
    assert [c.outcome for c in cases] == ["passed", "failed", "skipped", "skipped"]
    assert cases[0].name == "fib: A.good" and cases[1].detail == "1 != 2"
    assert results.last_line(cases) == "1 passed, 1 failed, 2 skipped"
    assert results.last_line(cases[:2]) == "1 passed, 1 failed"


def test_a_skip_without_a_reason_fails(tmp_path):
    path = tmp_path / "g.xml"
    path.write_text(GTEST.replace('<skipped message="no KVM"/>', "<skipped/>"))
    assert [c.outcome for c in results.from_xml("unit", path)][2] == "failed"


def reaped(tmp_path, *command):
    report = tmp_path / "left"
    done = subprocess.run([sys.executable, os.path.join(RUNNER, "reaper.py"), report, *command], timeout=30)
    return done.returncode, report.read_text()


def test_a_daemon_that_stays_is_named_and_ended(tmp_path):
    pid = tmp_path / "pid"
    status, left = reaped(tmp_path, "sh", "-c", f"setsid sh -c 'echo $$ >{pid}; exec sleep 97' & sleep 0.3; exit 3")
    assert status == 3
    assert "sleep 97" in left and f"process {pid.read_text().strip()}:" in left
    assert not os.path.exists(f"/proc/{pid.read_text().strip()}")


def test_a_daemon_that_ends_soon_is_no_leftover(tmp_path):
    assert reaped(tmp_path, "sh", "-c", "setsid sleep 0.5 & exit 0") == (0, "")


def test_orphans_are_buried_at_once(tmp_path):
    # A program that waits for a daemon's end must not wait for a zombie.
    script = "setsid sh -c 'exit 0' & p=$!; sleep 0.2; (exit 0); [ ! -d /proc/$p ] || grep -q Z /proc/$p/stat"
    assert reaped(tmp_path, "sh", "-c", script)[0] == 0


def test_what_is_new_on_the_machine_is_seen():
    before = leftovers.look()
    name = f"/dev/shm/frond-test-{os.getpid()}"
    with open(name, "w"):
        assert f"shared memory {name}" in leftovers.since(before, patience=0.2)
    os.unlink(name)
    assert f"shared memory {name}" not in leftovers.since(before, patience=0.2)


def test_a_namespace_is_seen():
    before, name = leftovers.look(), f"frond-test-{os.getpid()}"
    subprocess.run(["ip", "netns", "add", name], check=True)
    try:
        assert f"namespace /run/netns/{name}" in leftovers.since(before, patience=0.2)
    finally:
        subprocess.run(["ip", "netns", "del", name], check=True)
    assert not [line for line in leftovers.since(before) if name in line]


def test_names_that_mean_nothing_fail():
    done = subprocess.run([sys.executable, os.path.join(RUNNER, "run.py"), "tools", "no-such-thing"],
                          capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stdout.rstrip().split("\n")[-1] == "0 passed, 1 failed"


def test_who_will_not_end_is_ended(tmp_path):
    report = tmp_path / "left"
    child = subprocess.Popen([sys.executable, os.path.join(RUNNER, "reaper.py"), report, "sh", "-c",
                              "trap '' TERM; sleep 96; sleep 95"])
    time.sleep(0.5)
    child.terminate()
    assert child.wait(timeout=30) == 128 + signal.SIGKILL
    assert "sleep 9" in report.read_text()
