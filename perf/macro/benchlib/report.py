# SPDX-License-Identifier: BSD-3-Clause
"""Medians, spread, tables, progress."""

import json
import os
import statistics
import sys
import time


def summary(values, digits=3):
    """A median and how far the rounds were from it."""
    median = statistics.median(values)
    return {
        "median": round(median, digits),
        "min": round(min(values), digits),
        "max": round(max(values), digits),
        "spread_percent": round(100 * (max(values) - min(values)) / median, 1) if median else 0.0,
        "rounds": [round(v, digits) for v in values],
    }


class Progress:
    """One line a step, with the time that has passed, on stderr: stdout is for the result."""

    def __init__(self, total):
        self.total = total
        self.done = 0
        self.start = time.monotonic()

    def step(self, text):
        self.done += 1
        seconds = time.monotonic() - self.start
        print(f"[{self.done:3}/{self.total}] {seconds:5.0f} s  {text}", file=sys.stderr, flush=True)

    def note(self, text):
        print(f"{'':18}{text}", file=sys.stderr, flush=True)


def table(header, rows):
    widths = [max(len(str(r[i])) for r in [header, *rows]) for i in range(len(header))]
    lines = []
    for row in [header, ["-" * w for w in widths], *rows]:
        cells = [str(c).ljust(w) if i == 0 else str(c).rjust(w)
                 for i, (c, w) in enumerate(zip(row, widths))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def write_json(file, data):
    """Whole or not at all."""
    text = json.dumps(data, indent=2) + "\n"
    if file == "-":
        sys.stdout.write(text)
        return
    temporary = f"{file}.tmp{os.getpid()}"
    with open(temporary, "w", encoding="utf-8") as out:
        out.write(text)
    os.replace(temporary, file)
