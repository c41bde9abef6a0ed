# SPDX-License-Identifier: BSD-3-Clause
"""run.py [WHAT...]: runs the suites and ends in 'N passed, N failed'.

WHAT: nothing (all, as CI does); fast (lints and unit tests); release (all but the sanitizer build); asan (all
of it on the sanitizer build); list; or names: of suites, of test programs, of files, or parts of such."""
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import leftovers  # noqa: E402
from results import Case, report, show  # noqa: E402
from suites import LONG, SUITES, Run, build  # noqa: E402

SETS = {
    "fast": ["lint", "unit"],
    "release": [s for s in SUITES if s not in ("sanitizer", "fuzz", *LONG)],
    "asan": ["unit", "fuzz", "system", "conformance"],
}


def choose(words):
    """(suites to run, kind of build, words that select within them)."""
    if not words:
        return [s for s in SUITES if s not in LONG], "release", []
    if len(words) == 1 and words[0] in SETS:
        return SETS[words[0]], "asan" if words[0] == "asan" else "release", []
    named = [s for s in SUITES if s in words]
    tests = [w for w in words if w not in SUITES]
    # Names of tests alone: wherever they are, the sanitizer build and what takes long excepted.
    return named or ["lint", "tools", "unit", "system", "conformance"], "release", tests


def main():
    words = sys.argv[1:]
    if words == ["list"]:
        print("\n".join([*SETS, *SUITES]))
        return 0
    names, kind, selection = choose(words)
    run = Run(selection, kind, int(os.environ.get("FROND_FUZZ_SECONDS", "10")))
    cases, seconds = [], {}
    try:
        run_suites(run, names, kind, cases, seconds)
    except KeyboardInterrupt:
        cases.append(Case("run", "interrupted", "failed", 0, "by the keyboard; what follows was not run"))
    if all(c.suite == "build" and c.outcome == "passed" for c in cases):
        cases.append(Case("run", " ".join(words), "failed", 0, "no test goes by that name: ./dev test list"))
    report(cases, seconds)
    return 1 if any(c.outcome == "failed" for c in cases) else 0


def run_suites(run, names, kind, cases, seconds):
    """Adds to cases and seconds. What a suite needs and does not build is a failure, and the others still run."""
    built = {}
    for name in names:
        suite, needs = SUITES[name]
        for one in (n or kind for n in needs):
            if one not in built:
                built[one] = build(one)
                cases.append(built[one])
        if any(built[n or kind].outcome == "failed" for n in needs):
            continue
        before, start = leftovers.look(), time.monotonic()
        own = []
        try:
            for case in suite(run):
                own.append(case)
        except Exception as error:  # a broken suite is a failure, and the others still run
            own.append(Case(name, "(suite)", "failed", 0, repr(error)))
        cases += own
        seconds[name] = time.monotonic() - start
        if own:
            left = run.left + leftovers.since(before)
            run.left = []
            cases.append(Case("leftovers", name, "failed" if left else "passed", 0, "\n".join(left)))
            if left:
                show(f"{name} left {len(left)} things behind: {left[0]}", False)


if __name__ == "__main__":
    sys.exit(main())
