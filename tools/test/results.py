# SPDX-License-Identifier: BSD-3-Clause
"""Cases, as GoogleTest and pytest report them in XML, and the table at the end."""
import os
import sys
import xml.etree.ElementTree as xml
from collections import namedtuple

# outcome: passed, failed or skipped; detail: why, for the last two.
Case = namedtuple("Case", "suite name outcome seconds detail", defaults=("",))


def from_xml(suite, path, prefix=""):
    """Cases of a JUnit file; both GoogleTest and pytest write one."""
    for case in xml.parse(path).getroot().iter("testcase"):
        name = prefix + ".".join(filter(None, (case.get("classname"), case.get("name"))))
        seconds = float(case.get("time") or 0)
        bad = [n for n in case if n.tag in ("failure", "error")]
        skip = next((n for n in case if n.tag == "skipped"), None)
        if bad:
            yield Case(suite, name, "failed", seconds, "\n".join((n.text or n.get("message") or "") for n in bad))
        elif skip is not None or case.get("status") == "notrun":
            reason = ((skip.get("message") or skip.text or "") if skip is not None else "disabled").strip()
            outcome = "skipped" if reason else "failed"  # a skip needs a reason
            yield Case(suite, name, outcome, seconds, reason or "skipped without a reason")
        else:
            yield Case(suite, name, "passed", seconds)


def count(cases, outcome):
    return sum(c.outcome == outcome for c in cases)


def last_line(cases):
    skipped = count(cases, "skipped")
    return f"{count(cases, 'passed')} passed, {count(cases, 'failed')} failed" + \
        (f", {skipped} skipped" if skipped else "")


def indent(text, lines=60):
    rows = text.strip().split("\n")
    if len(rows) > lines:
        rows = rows[:lines // 3] + [f"... {len(rows) - lines} lines ..."] + rows[-2 * lines // 3:]
    return "\n".join("    " + row for row in rows)


def report(cases, seconds):
    """Failures with their reasons, skips with theirs, a table, and the one line that counts."""
    for case in cases:
        if case.outcome == "failed":
            print(f"\nFAILED {case.suite}: {case.name}\n{indent(case.detail)}")
    skipped = [c for c in cases if c.outcome == "skipped"]
    if skipped:
        print("\nSkipped:")
        for case in skipped:
            print(f"  {case.suite}: {case.name}: {case.detail.splitlines()[0]}")
    print(f"\n{'suite':<16}{'passed':>8}{'failed':>8}{'skipped':>9}{'seconds':>9}")
    for suite in dict.fromkeys(c.suite for c in cases):
        own = [c for c in cases if c.suite == suite]
        print(f"{suite:<16}{count(own, 'passed'):>8}{count(own, 'failed'):>8}{count(own, 'skipped'):>9}"
              f"{seconds.get(suite, sum(c.seconds for c in own)):>9.1f}")
    print()
    print(last_line(cases), flush=True)


def show(case_or_text, ok=True):
    """Progress: one line, marked when it is bad news."""
    print(("  " if ok else "! ") + case_or_text, flush=True)


def tty():
    return sys.stdout.isatty() and os.environ.get("CI") is None
