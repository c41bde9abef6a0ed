# SPDX-License-Identifier: BSD-3-Clause
"""The machine: what it is, how quiet it is, and its hugepages for a while."""

import contextlib
import json
import os
import pathlib
import platform
import subprocess
import time

from .process import BenchError, shielded

HUGEPAGES = pathlib.Path("/proc/sys/vm/nr_hugepages")


def _field(path, key, default=""):
    for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == key:
            return value.strip()
    return default


def describe():
    hypervisor = " hypervisor" in _field("/proc/cpuinfo", "flags")
    return {
        "cpu": _field("/proc/cpuinfo", "model name", platform.processor()),
        "cores": os.cpu_count(),
        "tsc_mhz": round(float(_field("/proc/cpuinfo", "cpu MHz", "0")), 1),
        "memory_mib": int(_field("/proc/meminfo", "MemTotal", "0 kB").split()[0]) // 1024,
        "kernel": platform.release(),
        "virtual_machine": hypervisor,
        "hugepages_2m": int(HUGEPAGES.read_text()) if HUGEPAGES.exists() else 0,
    }


def package_version(package):
    done = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True,
                          text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else "not a package"


def frond_version(root, build):
    """The commit, whether the tree differs from it, and how the build was made."""

    def git(*args):
        done = subprocess.run(["git", "-C", str(root), *args], capture_output=True, text=True,
                              check=False)
        return done.stdout.strip() if done.returncode == 0 else ""

    version = {"commit": git("rev-parse", "--short=12", "HEAD") or "unknown",
               "modified": bool(git("status", "--porcelain", "--untracked-files=no"))}
    info = pathlib.Path(build) / "meson-info"
    with contextlib.suppress(OSError, ValueError):
        options = {o["name"]: o["value"]
                   for o in json.loads((info / "intro-buildoptions.json").read_text())}
        version["build"] = {k: options[k] for k in ("buildtype", "b_ndebug", "b_sanitize", "cpp_args")
                            if k in options}
        compilers = json.loads((info / "intro-compilers.json").read_text()) \
            if (info / "intro-compilers.json").exists() else {}
        if compilers:
            cpp = compilers["host"]["cpp"]
            version["compiler"] = f'{cpp["id"]} {cpp["version"]}'
    return version


def require_optimised(version, build):
    """Figures of a debug or sanitizer build would be wrong by a factor, silently."""
    options = version.get("build", {})
    if options.get("b_sanitize", "none") != "none" or options.get("buildtype") == "debug":
        raise BenchError(f"{build} is a {options.get('buildtype')} build with sanitizer "
                         f"'{options.get('b_sanitize')}': benchmarks need a release build")


def cpu_times():
    """Per CPU: (busy, total, stolen by the hypervisor), in ticks."""
    times = {}
    for line in pathlib.Path("/proc/stat").read_text(encoding="utf-8").splitlines():
        name, *fields = line.split()
        if name.startswith("cpu") and name != "cpu":
            ticks = [int(f) for f in fields[:8]]  # user nice system idle iowait irq softirq steal
            idle = ticks[3] + ticks[4]
            times[int(name[3:])] = (sum(ticks) - idle, sum(ticks), ticks[7])
    return times


def busy_percent(before, after, cpu):
    total = after[cpu][1] - before[cpu][1]
    return 100.0 * (after[cpu][0] - before[cpu][0]) / total if total > 0 else 0.0


def steal_percent(before, after, cpu):
    total = after[cpu][1] - before[cpu][1]
    return 100.0 * (after[cpu][2] - before[cpu][2]) / total if total > 0 else 0.0


def run_seconds(pid, cpu):
    """CPU time so far of the process's threads that are pinned to this CPU alone."""
    total = 0
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):  # a thread that has just ended
            if os.sched_getaffinity(int(task.name)) == {cpu}:
                total += int((task / "schedstat").read_text().split()[0])
    return total / 1e9


def load_before(seconds=1.0):
    """How busy the machine is with other things, in percent of all CPUs: the reader must know."""
    before = cpu_times()
    time.sleep(seconds)
    after = cpu_times()
    return round(sum(busy_percent(before, after, c) for c in after) / len(after), 1)


@contextlib.contextmanager
def hugepages(mebibytes):
    """At least so much free in 2 MiB pages; the setting is put back afterwards."""
    if not HUGEPAGES.exists():
        raise BenchError("this kernel has no hugepages: every contender would measure TLB misses")
    old = int(HUGEPAGES.read_text())
    free = int(_field("/proc/meminfo", "HugePages_Free", "0"))
    missing = max(0, mebibytes // 2 - free)
    try:
        if missing:
            try:
                HUGEPAGES.write_text(str(old + missing))
            except OSError as error:
                raise BenchError(f"cannot reserve hugepages ({error}); run as root, or set "
                                 f"vm.nr_hugepages={old + missing} first") from None
            free = int(_field("/proc/meminfo", "HugePages_Free", "0"))
            if free < mebibytes // 2:
                raise BenchError(f"only {free} of {mebibytes // 2} hugepages of 2 MiB could be had: "
                                 "memory is short or fragmented")
        yield int(HUGEPAGES.read_text())
    finally:
        if missing:
            with shielded():
                HUGEPAGES.write_text(str(old))
