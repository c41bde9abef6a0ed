# SPDX-License-Identifier: BSD-3-Clause
"""The suites: each a function of a Run that yields Cases. The order in SUITES is the order of a run."""
import glob
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed

from results import Case, from_xml, show

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
REAPER = [sys.executable, os.path.join(HERE, "reaper.py")]

SANITIZER = {
    "ASAN_OPTIONS": "abort_on_error=1:detect_stack_use_after_return=1:strict_string_checks=1:"
                    "check_initialization_order=1:detect_leaks=1:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1:abort_on_error=1",
    "LSAN_OPTIONS": f"suppressions={ROOT}/tests/support/lsan.supp:print_suppressions=0",
}


class Run:
    """What was asked for, and where things are."""

    def __init__(self, words, kind, fuzz_seconds):
        self.words, self.kind, self.fuzz_seconds = words, kind, fuzz_seconds
        self.slow = False  # the slow lints too
        self.out = os.path.join(ROOT, "build", "test")
        os.makedirs(self.out, exist_ok=True)
        self.left = []

    def wants(self, name):
        """Does a word stand in this name? Without words: all."""
        return not self.words or any(w in name for w in self.words)

    def command(self, name, words, timeout, env=None):
        """Runs it under the reaper. Returns (status, output, seconds); status None: out of time."""
        left = os.path.join(self.out, f"{name.replace('/', '_')}.left")
        start = time.monotonic()
        child = subprocess.Popen([*REAPER, left, *words], cwd=ROOT, env={**os.environ, **(env or {})},
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        try:
            out, _ = child.communicate(timeout=timeout)
            status = child.returncode
        except subprocess.TimeoutExpired:
            child.terminate()
            try:
                out, _ = child.communicate(timeout=15)
            except subprocess.TimeoutExpired:
                child.kill()
                out, _ = child.communicate()
            status = None
        self.note_left(name, left)
        return status, out.decode("utf-8", "replace"), time.monotonic() - start

    def note_left(self, name, path):
        if os.path.exists(path):
            with open(path) as f:
                self.left += [f"{name}: {line.strip()}" for line in f]
            os.unlink(path)

    def environment(self, kind):
        return {"FROND_BUILD": os.path.join(ROOT, "build", kind), **(SANITIZER if kind == "asan" else {})}


def build(kind, *targets):
    """Everything, or just the targets. The Case has the end of the log."""
    show(f"building build/{kind}")
    start = time.monotonic()
    done = subprocess.run(["./dev", "build", kind, *targets], cwd=ROOT, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    seconds = time.monotonic() - start
    ok = done.returncode == 0
    show(f"built build/{kind} in {seconds:.0f} s" if ok else f"build/{kind} does not build", ok)
    errors = "\n".join([line for line in done.stdout.split("\n") if not line.startswith("[")][-80:])
    return Case("build", kind, "passed" if ok else "failed", seconds, errors)


# Minutes of CPU a run, and its first pass over the whole tree is still to be shown: with `./dev lint`
# and `./dev soak`, not with every test run.
SLOW_LINTS = ("tidy",)


def lint(run):
    """The lints, and their self-tests: a planted violation is found."""
    names = subprocess.run(["tools/lint/run.py", "--list"], cwd=ROOT, capture_output=True, text=True,
                           check=True).stdout.split()
    if subprocess.run(["./dev", "lint", "--list"], cwd=ROOT, capture_output=True).returncode != 0:
        show("the sanitizer build does not configure: lints that compile guess their flags", False)
    for name in names:
        if name in SLOW_LINTS and name not in run.words and not run.slow:
            continue
        for what, flags in ((name, []), (f"{name} self-test", ["--self-test"])):
            if not run.wants(name):
                continue
            status, out, seconds = run.command("lint", ["tools/lint/run.py", "--only", name, *flags], 1800)
            findings = [line for line in out.split("\n") if line and " findings in " not in line]
            show(f"lint      {what:<28}{seconds:7.1f} s" + ("" if status == 0 else f"  {len(findings)} findings"),
                 status == 0)
            yield Case("lint", what, "passed" if status == 0 else "failed", seconds, out)


def meson_tests(run, kind, suite):
    """Every test that meson knows, in this build; GoogleTest's cases one by one."""
    tests = json.loads(subprocess.run(["meson", "introspect", "--tests", f"build/{kind}"], cwd=ROOT, check=True,
                                      capture_output=True, text=True).stdout)
    tests = [t for t in tests if run.wants(t["name"])]

    def one(test):
        report = os.path.join(run.out, f"{suite}-{test['name']}.xml")
        if os.path.exists(report):
            os.unlink(report)
        gtest = test["protocol"] == "gtest"
        words = test["cmd"] + ([f"--gtest_output=xml:{report}", "--gtest_brief=1"] if gtest else [])
        limit = max(60, test["timeout"]) * (4 if kind == "asan" else 1)
        status, out, seconds = run.command(f"{suite}-{test['name']}", words, limit,
                                           {**run.environment(kind), **test["env"]})
        cases = list(from_xml(suite, report, f"{test['name']}: ")) if gtest and os.path.exists(report) else []
        if not gtest:
            cases = [Case(suite, test["name"], "passed" if status == 0 else "failed", seconds, out)]
        elif status != 0 and not any(c.outcome == "failed" for c in cases):
            why = f"out of time after {limit} s" if status is None else f"exit status {status}"
            cases.append(Case(suite, f"{test['name']}: (program)", "failed", seconds, f"{why}\n{out}"))
        elif not cases:
            cases = [Case(suite, test["name"], "failed", seconds, "it ran no test")]
        failed = sum(c.outcome == "failed" for c in cases)
        show(f"{suite:<10}{test['name']:<28}{seconds:7.1f} s  {len(cases)} cases" +
             (f", {failed} failed" if failed else ""), not failed)
        return cases

    for parallel in (True, False):
        with ThreadPoolExecutor(os.cpu_count() if parallel else 1) as pool:
            for future in as_completed([pool.submit(one, t) for t in tests if t["is_parallel"] == parallel]):
                yield from future.result()


def unit(run):
    yield from meson_tests(run, run.kind, "unit")


def sanitizer(run):
    yield from meson_tests(run, "asan", "sanitizer")


def fuzz(run):
    """Each fuzzer for a while, over its seeds; it must have run and found nothing."""
    programs = sorted(p for p in glob.glob(os.path.join(ROOT, "build/asan/tests/fuzz/*_fuzz")) if os.path.isfile(p))

    def one(program):
        name = os.path.basename(program)
        work = os.path.join(ROOT, "build", "fuzz", name)
        os.makedirs(os.path.join(work, "corpus"), exist_ok=True)
        seeds = [d for d in [os.path.join(ROOT, "tests", "fuzz", "corpus", name)] if os.path.isdir(d)]
        words = [program, f"-max_total_time={run.fuzz_seconds}", "-timeout=10", "-rss_limit_mb=2048",
                 "-print_final_stats=1", f"-artifact_prefix={work}/", os.path.join(work, "corpus"), *seeds]
        status, out, seconds = run.command(f"fuzz-{name}", words, run.fuzz_seconds + 120, run.environment("asan"))
        runs = next((int(line.split()[1]) for line in out.split("\n") if "number_of_executed_units" in line), 0)
        ok = status == 0 and runs > 0
        show(f"fuzz      {name:<28}{seconds:7.1f} s  {runs} inputs", ok)
        return Case("fuzz", name, "passed" if ok else "failed", seconds, out)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(one, [p for p in programs if run.wants(os.path.basename(p))])


def python_tests(run, suite, folder, limit=300):
    """pytest over a folder, shown as it goes; limit: seconds a test."""
    files = sorted(glob.glob(os.path.join(ROOT, folder, "**", "test_*.py"), recursive=True))
    files = [f for f in files if run.wants(os.path.basename(f))]
    if not files:
        return
    report, left = (os.path.join(run.out, suite + end) for end in (".xml", ".left"))
    if os.path.exists(report):
        os.unlink(report)
    child = subprocess.Popen([*REAPER, left, sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "-o",
                              "junit_family=xunit1", f"--timeout={limit}", f"--junitxml={report}", *files],
                             cwd=ROOT, env={**os.environ, **run.environment(run.kind)}, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    out = []
    for line in child.stdout:
        out.append(line)
        if "::" in line and any(w in line for w in ("PASSED", "FAILED", "ERROR", "SKIPPED")) and "%]" in line:
            show(f"{suite:<10}{line.split('::', 1)[1].rsplit('[', 1)[0].rstrip()}",
                 "PASSED" in line or "SKIPPED" in line)
    child.wait()
    run.note_left(suite, left)
    cases = list(from_xml(suite, report)) if os.path.exists(report) else []
    yield from cases
    if child.returncode not in (0, 1) or not cases:
        yield Case(suite, "(pytest)", "failed", 0, f"exit status {child.returncode}\n{''.join(out[-60:])}")


def tools(run):
    yield from python_tests(run, "tools", "tests/tools")


def system(run):
    yield from python_tests(run, "system", "tests/system")


def conformance(run):
    yield from python_tests(run, "conformance", "tests/conformance")


def soak(run):
    seconds = int(os.environ.get("FROND_SOAK_SECONDS", "600"))
    kills = int(os.environ.get("FROND_SOAK_KILLS", "1000"))
    yield from python_tests(run, "soak", "tests/soak", limit=300 + max(4 * seconds, 6 * kills))


def slow_lints(run):
    """clang-tidy over the product."""
    run.slow, run.words = True, list(SLOW_LINTS)
    yield from lint(run)


def determinism(run):
    """The same bytes from both compilers, debug and release; another hash from another seed."""
    seen = {}
    for kind in ("release", "debug", "clang", "asan"):
        build_case = build(kind, "lib/fabric/fabricd")
        yield build_case
        if build_case.outcome == "passed":
            programs = glob.glob(os.path.join(ROOT, "build", kind, "**", "fabricd"), recursive=True)
            words = [*programs[:1], "sim", "configs/leaf-spine-2x2.yaml", "--seed", "7", "--json"]
            status, seen[kind], _ = run.command(f"determinism-{kind}", words, 600, run.environment(kind))
            if status != 0:
                yield Case("determinism", kind, "failed", 0, seen[kind])
    hashes = {kind: json.loads(out).get("trace_hash") for kind, out in seen.items() if out.startswith("{")}
    same = len(hashes) == 4 and len(set(hashes.values())) == 1 and None not in hashes.values()
    yield Case("determinism", "trace_hash", "passed" if same else "failed", 0, repr(hashes))


# name: (function, the builds that it needs). "": the kind that was asked for.
SUITES = {
    "lint": (lint, []),
    "tools": (tools, []),
    "unit": (unit, [""]),
    "sanitizer": (sanitizer, ["asan"]),
    "fuzz": (fuzz, ["asan"]),
    "system": (system, [""]),
    "conformance": (conformance, [""]),
    "soak": (soak, [""]),
    "determinism": (determinism, []),
    "slow-lints": (slow_lints, []),
}
LONG = ("soak", "determinism", "slow-lints")  # ./dev soak: not part of a whole run
