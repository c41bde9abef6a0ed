# SPDX-License-Identifier: BSD-3-Clause
"""Processes that cannot outlive the benchmark, and what has to be undone when it ends."""

import contextlib
import ctypes
import os
import pathlib
import queue
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time

PR_SET_PDEATHSIG = 1


class BenchError(Exception):
    """A sentence for the user; the benchmark stops."""


def quote(argv):
    return " ".join(shlex.quote(str(a)) for a in argv)


def _child_setup(cpus):
    def setup():
        # Own session: Ctrl-C reaches the driver, which then stops its children in order.
        os.setsid()
        # And if the driver is killed outright, the kernel ends the child.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if cpus is not None:
            os.sched_setaffinity(0, cpus)

    return setup


class Child:
    """A program that is asked over stdin and answers in lines on stdout (stderr goes along)."""

    def __init__(self, argv, log, name=None, env=None, cpus=None):
        self.argv = [str(a) for a in argv]
        self.name = name or os.path.basename(self.argv[0])
        self.log = pathlib.Path(log)
        self.lines = queue.Queue()
        self.process = subprocess.Popen(
            self.argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env={**os.environ, **(env or {})}, text=True, errors="replace", bufsize=1,
            preexec_fn=_child_setup(cpus))
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        with open(self.log, "a", encoding="utf-8") as log:
            for line in self.process.stdout:
                log.write(line)
                log.flush()
                self.lines.put(line.rstrip("\n"))
        self.lines.put(None)

    def say(self, command):
        try:
            self.process.stdin.write(command + "\n")
            self.process.stdin.flush()
        except (BrokenPipeError, ValueError) as error:
            raise BenchError(f"{self.name} is gone{self.tail()}") from error

    def wait_for(self, wanted, seconds=30):
        """The lines up to and with the first for which wanted(line) is true."""
        seen = []
        deadline = time.monotonic() + seconds
        while True:
            try:
                line = self.lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise BenchError(f"{self.name}: no answer for {seconds} s{self.tail()}") from None
            if line is None:
                raise BenchError(f"{self.name} ended early{self.tail()}")
            seen.append(line)
            if wanted(line):
                return seen

    def tail(self, count=12):
        try:
            lines = self.log.read_text(encoding="utf-8").splitlines()[-count:]
        except OSError:
            return ""
        return "; the end of its output:\n    " + "\n    ".join(lines) if lines else ""

    def stop(self, command=None, seconds=10):
        """Orderly first, then not. Always ends with the process gone and reaped."""
        if self.process.poll() is None and command is not None:
            with contextlib.suppress(BenchError):
                self.say(command)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(seconds)
        for sig, patience in ((signal.SIGTERM, 5), (signal.SIGKILL, 5)):
            if self.process.poll() is not None:
                break
            self.process.send_signal(sig)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(patience)
        self.reader.join(5)
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        self.process.stdout.close()
        return self.process.returncode


def run(argv, seconds=60, env=None, cpus=None):
    """A command that must succeed; its stdout."""
    try:
        done = subprocess.run([str(a) for a in argv], capture_output=True, text=True,
                              timeout=seconds, env={**os.environ, **(env or {})}, check=False,
                              preexec_fn=_child_setup(cpus))
    except FileNotFoundError:
        raise BenchError(f"{argv[0]} is not installed") from None
    except subprocess.TimeoutExpired:
        raise BenchError(f"{quote(argv)} did not end within {seconds} s") from None
    if done.returncode != 0:
        raise BenchError(f"{quote(argv)} failed: {(done.stderr or done.stdout).strip()}")
    return done.stdout


@contextlib.contextmanager
def orderly_exit():
    """SIGTERM and SIGHUP end the benchmark like Ctrl-C does: through every `finally`."""

    def interrupt(signum, frame):
        raise KeyboardInterrupt

    old = {s: signal.signal(s, interrupt) for s in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)}
    try:
        yield
    finally:
        # A second Ctrl-C must not cut the clean-up short; it has ended by now.
        for s, handler in old.items():
            signal.signal(s, handler)


@contextlib.contextmanager
def shielded():
    """Clean-up that a second Ctrl-C does not interrupt."""
    old = {s: signal.signal(s, signal.SIG_IGN)
           for s in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)}
    try:
        yield
    finally:
        for s, handler in old.items():
            signal.signal(s, handler)


@contextlib.contextmanager
def scratch_directory(keep=False):
    # Short: a Unix socket's path has 107 characters.
    path = pathlib.Path(tempfile.mkdtemp(prefix="frond-bench-"))
    try:
        yield path
    finally:
        with shielded():
            if not keep:
                shutil.rmtree(path, ignore_errors=True)
