# SPDX-License-Identifier: BSD-3-Clause
"""reaper.py REPORT COMMAND...: runs COMMAND as init would, and names the processes that it leaves behind.

Orphans of COMMAND become our children (PR_SET_CHILD_SUBREAPER), so none escapes by a double fork. They get
two seconds to end; what then still runs is written to REPORT, a line each, and killed."""
import ctypes
import os
import signal
import sys
import time

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
PATIENCE = 8  # seconds that a command has to clean up once it is told to end


def descendants():
    """{pid: command line} of all that descends from this process and is no zombie."""
    parent, name = {}, {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as f:
                state, ppid = f.read().rsplit(")", 1)[1].split()[:2]
            with open(f"/proc/{pid}/cmdline") as f:
                name[int(pid)] = f.read().replace("\0", " ").strip()
        except OSError:
            continue
        if state != "Z":
            parent[int(pid)] = int(ppid)
    found = {}
    for pid in parent:
        up = parent.get(pid)
        while up and up != os.getpid():
            up = parent.get(up)
        if up:
            found[pid] = name[pid]
    return found


def reap(until):
    """Buries the dead until `until` is one of them; returns its status, or None without children."""
    while True:
        try:
            pid, status = os.waitpid(-1, 0)
        except ChildProcessError:
            return None
        if pid == until:
            return os.waitstatus_to_exitcode(status)


def bury():
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def main():
    report, command = sys.argv[1], sys.argv[2:]
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    child = os.posix_spawnp(command[0], command, os.environ, setsigdef=[signal.SIGINT])
    # Who stops us means the command; it cleans up first.
    def stop(number, _):
        os.kill(child, number)
        signal.alarm(PATIENCE)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    signal.signal(signal.SIGALRM, lambda *_: os.kill(child, signal.SIGKILL))
    status = reap(child)
    patience = time.monotonic() + 2
    while descendants() and time.monotonic() < patience:
        bury()
        time.sleep(0.05)
    left = descendants()
    with open(report, "w") as f:
        f.writelines(f"process {pid}: {name}\n" for pid, name in sorted(left.items()))
    while left:
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)
        bury()
        left = descendants()
    sys.exit(status if status >= 0 else 128 - status)


if __name__ == "__main__":
    main()
